"""Refuses literals that name no date, no time or no interval, as Flink does. Spark would fail on them only when it
runs, or ignore a part, such as the zone of a TIMESTAMP.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from itertools import pairwise

from lark import Token
from sqlglot import exp

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError
from tvfsql.syntax.checks.units import not_a_unit
from tvfsql.syntax.interval import FINER_UNITS, UNITS, refuse_wrong, unit_of
from tvfsql.syntax.places import span_of
from tvfsql.syntax.tokens import closing, place_of
from tvfsql.syntax.type_words import declared_type, place

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
AMOUNT = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]+)")
AMOUNTS = re.compile(rf"\s*(?:{AMOUNT.pattern}\s*)+")  # Spark's INTERVAL '1 day 2 hours'


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
        if not AMOUNTS.fullmatch(text):
            raise SqlSyntaxError(f"INTERVAL '{text}' has no unit", span=Span(start, end), hint=f"INTERVAL '{text}' DAY")
        for amount, unit in AMOUNT.findall(text):
            _refuse_amount(amount, Span(start, end), _unit(unit, start, end))
        return
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


# The types that CAST makes, read by the reader of CREATE TABLE: sqlglot skips parts of types that it does not know.


CASTS = ("CAST", "TRY_CAST")


def refuse_wrong_types(tokens: Sequence[Token]) -> None:
    """Raise SqlSyntaxError or UnsupportedError for a CAST to something that is not a type."""
    for i, token in enumerate(tokens[:-1]):
        if token.type != "NAME" or token.upper() not in CASTS or tokens[i + 1] != "(":
            continue
        end = closing(tokens, i + 1)
        depth, after = 0, None
        for at in range(i + 2, end):
            depth += {"OPEN": 1, "CLOSE": -1}.get(tokens[at].type, 0)
            if depth == 0 and tokens[at].upper() == "AS" and tokens[at].type != "QUOTED":
                after = at + 1
        if after is None:
            raise SqlSyntaxError(f"AS and a type are missing in {token.upper()}", span=place_of(tokens[end]))
        words = tokens[after:end]
        declared_type(words, place(words, place_of(tokens[end])))
        if any(word.upper() == "MULTISET" for word in words):
            raise UnsupportedError("CAST to MULTISET is not supported", span=place(words, place_of(tokens[end])))


# Commas with nothing before or after them. sqlglot would skip them, and with them what was forgotten.


BEFORE_A_LIST = ("SELECT", "DISTINCT", "BY", "FROM", "WHEN")
AFTER_A_LIST = ("FROM", "WHERE", "HAVING", "UNION", "EXCEPT", "INTERSECT")


def refuse_idle_commas(tokens: Sequence[Token]) -> None:
    """Raise SqlSyntaxError for a comma that is not between two items."""
    for before, token in pairwise(tokens):
        if token.type == "COMMA" and _begins_list(before):
            raise SqlSyntaxError("something is missing before this comma", span=place_of(token), hint="leave it out")
        if before.type == "COMMA" and (token in (")", "]") or token.upper() in AFTER_A_LIST):
            raise SqlSyntaxError(f"unexpected {token}", span=place_of(token), hint="leave out the comma before it")
    if tokens and tokens[-1].type == "COMMA":
        raise SqlSyntaxError("nothing follows this comma", span=place_of(tokens[-1]))


def _begins_list(token: Token) -> bool:
    return token.type == "COMMA" or token in ("(", "[") or (token.type == "NAME" and token.upper() in BEFORE_A_LIST)
