"""Refuses literals that name no date, no time or no interval, as Flink does. Spark would fail on them only when it
runs, or ignore a part, such as the zone of a TIMESTAMP.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator

from sqlglot import exp

from tvfsql.errors import Span, SqlSyntaxError
from tvfsql.syntax.checks.dialects import interval_hint
from tvfsql.syntax.checks.units import not_a_unit
from tvfsql.syntax.interval import FINER_UNITS, UNITS, refuse_wrong, unit_of
from tvfsql.syntax.places import span_of

WRITTEN = "written"  # in the meta of a literal's node: its words, each with its span
Word = tuple[str, int, int]

T = exp.DataType.Type
CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(:(?P<second>\d{1,2})(\.\d*)?)?"
DAY = r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
# By type: its name, the texts of its literals, and an example. As in Flink, and with T before a time, or no seconds.
TIMES = {
    T.DATE: ("DATE", DAY, "2020-04-15"),
    T.TIME: ("TIME", CLOCK, "08:05:00"),
    T.TIMESTAMP: ("TIMESTAMP", f"{DAY}([ T]{CLOCK})?", "2020-04-15 08:05:00"),
    T.TIMESTAMPNTZ: ("TIMESTAMP", f"{DAY}([ T]{CLOCK})?", "2020-04-15 08:05:00"),
    T.TIMESTAMPLTZ: ("TIMESTAMP_LTZ", f"{DAY}([ T]{CLOCK})?", "2020-04-15 08:05:00"),
    T.TIMESTAMPTZ: ("TIMESTAMP_LTZ", f"{DAY}([ T]{CLOCK})?", "2020-04-15 08:05:00"),
}
LIMITS = {"hour": 23, "minute": 59, "second": 59}


def refuse_invalid(tree: exp.Expr) -> None:
    """Raise SqlSyntaxError for the tree's first DATE, TIME, TIMESTAMP or INTERVAL literal that is not valid."""
    for node in tree.find_all(exp.Cast, exp.Interval):
        written = node.meta.get(WRITTEN)
        if written is None:  # it is a CAST, whose text is data
            continue
        if isinstance(node, exp.Interval):
            _refuse_interval(node, written)
        elif isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal):
            _refuse_time(node.this, *TIMES[node.to.this])


def _refuse_time(literal: exp.Literal, kind: str, pattern: str, example: str) -> None:
    text, place = literal.name, span_of(literal, Span(0, 0))
    found = re.fullmatch(rf"\s*{pattern}\s*", text, re.ASCII)
    if found is None:
        start = re.match(rf"\s*{pattern}", text, re.ASCII)
        hint = f"{kind} '{start[0].strip() if start else example}'"
        raise SqlSyntaxError(f"'{text}' is not a {kind}", span=place, hint=hint)
    for unit, limit in _limits(found):
        value = int(found[unit])
        if not limit[0] <= value <= limit[1]:
            raise SqlSyntaxError(
                f"there is no {unit} {found[unit]} in {kind} '{text}'",
                span=place,
                hint=f"{unit}s are {limit[0]:02} to {limit[1]}",
            )


def _limits(found: re.Match[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    """The smallest and the largest value of each unit in a text."""
    given = {unit: value for unit, value in found.groupdict().items() if value is not None}
    if "year" in given:
        yield "year", (1, 9999)
        yield "month", (1, 12)
        yield "day", (1, monthrange(int(given["year"]), int(given["month"]))[1])
    for unit, limit in LIMITS.items():
        if unit in given:
            yield unit, (0, limit)


def _refuse_interval(node: exp.Interval, written: tuple[Word, ...]) -> None:
    (text, start, end), *words = written
    literal = node.this.this if isinstance(node.this, exp.Neg) else node.this
    is_literal = isinstance(literal, exp.Literal)
    if is_literal and not words:
        hint, number = interval_hint(text), re.match(r"\s*[+-]?\d+", text)
        problem = "the unit of an INTERVAL must follow the quotes" if hint else f"INTERVAL '{text}' has no unit"
        hint = hint or f"INTERVAL '{number[0] if number else 1}' DAY"
        raise SqlSyntaxError(problem, span=Span(start, end), hint=hint)
    if isinstance(node.this, exp.Concat) and text != ")":  # INTERVAL '1' '2' DAY: two literals are one text
        raise SqlSyntaxError(
            f"unexpected '{text}' in an INTERVAL", span=Span(start, end), hint=f"INTERVAL '{text}' DAY"
        )
    units = [_unit(*word) for word in words if word[0].upper() != "TO"]
    if is_literal:
        _refuse_amount(text, Span(start, end), *units)


def _refuse_amount(text: str, place: Span, *units: str) -> None:
    try:
        refuse_wrong(text, *units)
    except ValueError as error:
        raise SqlSyntaxError(str(error), span=place) from None


def _unit(word: str, start: int, end: int) -> str:
    finer = word.lower().removesuffix("s")
    unit = finer if finer in FINER_UNITS else unit_of(word)
    if unit is None:
        raise not_a_unit(word, Span(start, end), UNITS)
    return unit
