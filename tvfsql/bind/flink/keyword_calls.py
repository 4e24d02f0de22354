"""Flink's calls and operators with keywords, in Spark SQL: MAP[...], SIMILAR TO, OVERLAPS, intervals between times."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain

from sqlglot import exp

from tvfsql.bind.flink.function import holes
from tvfsql.bind.flink.lowered_call import Made, made
from tvfsql.bind.flink.operators.common_type import in_common_type, of_values
from tvfsql.bind.flink.time.fields import months_between
from tvfsql.bind.flink.time.wall_clock import INSTANT, in_utc, on_clock
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values.types import BOOLEAN, INTERVAL_MONTHS, INTERVAL_SECONDS, UNKNOWN, Interval, Map, SqlType
from tvfsql.syntax.calls import Words, decoded

TypeOf = Callable[[exp.Expr], SqlType]
MONTHS = ("YEAR", "MONTH")
# parts of SIMILAR TO in a Java regular expression
OPERATORS = {"%": "(?s:.*)", "_": ".", "$": "\\$", "\\": "\\\\"}
CLASSES = {
    "[:ALPHA:]": "\\p{Alpha}",
    "[:alpha:]": "\\p{Alpha}",
    "[:UPPER:]": "\\p{Upper}",
    "[:upper:]": "\\p{Upper}",
    "[:LOWER:]": "\\p{Lower}",
    "[:lower:]": "\\p{Lower}",
    "[:DIGIT:]": "\\d",
    "[:digit:]": "\\d",
    "[:ALNUM:]": "\\p{Alnum}",
    "[:alnum:]": "\\p{Alnum}",
    "[:SPACE:]": " ",
    "[:space:]": " ",
    "[:WHITESPACE:]": "\\s",
    "[:whitespace:]": "\\s",
}


def with_words(call: Words, type_of: TypeOf) -> Made:
    """MAP[...], MULTISET[...] and (a - b) DAY TO SECOND."""
    arguments = list(call.expressions)
    kinds = [type_of(argument) for argument in arguments]
    match call.name:
        case "MAP":
            if len(arguments) % 2:
                raise UnsupportedError("MAP[...] takes pairs of a key and a value", hint="MAP['a', 1, 'b', 2]")
            keys, values = (in_common_type(arguments[start::2], type_of) for start in (0, 1))
            key, value = of_values(keys, type_of), of_values(values, type_of)
            kind = Map(key, value, nullable=False) if key and value else UNKNOWN
            return made(
                f"MAP({holes(0, len(arguments))})", [*chain.from_iterable(zip(keys, values, strict=True))], kind
            )
        case "INTERVAL":
            return _between(call, kinds)
    raise UnsupportedError(f"{call.name} is not supported", hint="ARRAY[...]")


def _between(call: Words, kinds: list[SqlType]) -> Made:
    if kinds == [INSTANT, INSTANT]:
        later, earlier = in_utc("{0}"), in_utc("{1}")
    else:
        clocks = [on_clock("{0}")(kind) for kind in kinds]
        later, earlier = str(clocks[0]), str(clocks[1]).replace("{0}", "{1}")
    if call.option("UNIT") in MONTHS:
        months = months_between(earlier, later)
        return made(f"MAKE_YM_INTERVAL(0, {months})", list(call.expressions), INTERVAL_MONTHS)
    return made(f"({later} - {earlier})", list(call.expressions), INTERVAL_SECONDS)


def similar(node: exp.SimilarTo, escape: exp.Expr | None) -> Made:
    """x SIMILAR TO pattern, as a regular expression."""
    pattern = node.expression
    if not isinstance(pattern, exp.Literal):
        raise UnsupportedError("the pattern of SIMILAR TO must be a literal", hint="REGEXP(x, '...')")
    regex = _regex(pattern.name, escape.name if escape is not None else None)
    return made("({0} RLIKE {1})", [node.this, exp.Literal.string(f"\\A(?:{regex})\\z")], BOOLEAN)


def _regex(pattern: str, escape: str | None) -> str:
    """Turn the pattern of SIMILAR TO into a Java regular expression. % and _ mean the same as in LIKE; $ and a
    backslash are ordinary characters.
    """
    made, at, inside = "", 0, False
    while at < len(pattern):
        char = pattern[at]
        named = next((name for name in CLASSES if inside and pattern.startswith(name, at)), None)
        if char == escape:
            at += 1
            made += re.escape(pattern[at : at + 1])
        elif named:
            made += CLASSES[named]
            at += len(named) - 1
        elif char in "[]":
            inside = char == "["
            made += char
        else:
            made += char if inside else OPERATORS.get(char, char)
        at += 1
    return made


def overlaps(node: exp.Overlaps, type_of: TypeOf) -> exp.Expr:
    """(a, b) OVERLAPS (c, d): a period has two times, or a time and an interval. Flink swaps the times of a period
    unless a <= b, so also where one is NULL; the other one can still make the result FALSE.
    """
    ends = []
    for side in (node.this, node.expression):
        if not isinstance(side, exp.Tuple) or len(side.expressions) != 2:
            raise UnsupportedError("OVERLAPS takes two periods", hint="(a, b) OVERLAPS (c, d)")
        start, end = side.expressions
        if isinstance(end, exp.Interval) or isinstance(type_of(end), Interval):
            end = exp.Add(this=start.copy(), expression=end.copy())
        ends.append((start, end))
    (a, b), (c, d) = ends
    (first, last), (other_first, other_last) = (
        [f"CASE WHEN {{{i}}} <= {{{j}}} THEN {{{x}}} ELSE {{{y}}} END" for x, y in ((i, j), (j, i))]
        for i, j in ((0, 1), (2, 3))
    )
    return made(f"({last} >= {other_first} AND {other_last} >= {first})", [a, b, c, d], BOOLEAN)


def unicode_text(node: exp.UnicodeString) -> exp.Expr:
    r"""The text of U&'\00e4'. Raises UnsupportedError for a number that no character has."""
    escape = node.args.get("escape")
    try:
        return exp.Literal.string(decoded(node.name, escape.name if isinstance(escape, exp.Expr) else "\\"))
    except ValueError:
        raise UnsupportedError("no character has this number", hint="U&'\\00e4'") from None
