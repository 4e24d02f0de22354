"""Functions that parse text as times: those that parse like Java's SimpleDateFormat, and TO_TIMESTAMP, which does
not.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sqlglot import exp

from tvfsql.bind.flink.function import require_text
from tvfsql.bind.flink.lowered_call import Made, made, runtime_call
from tvfsql.bind.flink.time.formats import DEFAULT, read, shown_as
from tvfsql.bind.flink.time.wall_clock import CLOCK, later, to_millis, wall_clock
from tvfsql.plan.values.types import BIGINT, BOOLEAN, DATE, STRING, SqlType, is_number
from tvfsql.plan.values.zone_names import known_zone
from tvfsql.runtime.functions.time_patterns import pieces

PLAIN = DEFAULT.strip("'")
LEAST = "-9223372036854775807L - 1"
SECONDS = f"IF({{1}} IS NULL, NULL, COALESCE(UNIX_SECONDS({later('{0}')}), {LEAST}))"
# java.sql.Timestamp and Date parse it: a field that is too large carries over
CARRIED = (
    "IF({0} RLIKE '^[0-9][0-9][0-9][0-9]-0?([1-9]|1[0-2])-(0?[1-9]|[12][0-9]|3[01])"
    "( [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}([.][0-9]{1,9})?)?$', "
    "TRANSFORM(ARRAY(SPLIT({0}, '[- :]')), part -> CAST(DATE_ADD(MAKE_DATE(INT(part[0]), INT(part[1]), 1), "
    "INT(part[2]) - 1) AS TIMESTAMP_NTZ) + MAKE_DT_INTERVAL(0, INT(COALESCE(GET(part, 3), '0')), "
    "INT(COALESCE(GET(part, 4), '0')), CAST(COALESCE(GET(part, 5), '0') AS DECIMAL(18, 6))))[0], NULL)"
)


def from_text(name: str, arguments: list[exp.Expr], kinds: list[SqlType]) -> exp.Expr | None:
    """Return a call that parses text as a time. None for another call, or if the pattern has more than numbers."""
    if name in ("UNIX_TIMESTAMP", "CONVERT_TZ") and kinds and (is_number(kinds[0]) or kinds[0] == BOOLEAN):
        require_text(name, kinds[0])
    match name, arguments:
        case "UNIX_TIMESTAMP", [text]:
            return made(SECONDS, [_lenient(text, PLAIN), text], BIGINT)
        case "UNIX_TIMESTAMP", [text, exp.Literal() as pattern] if pieces(pattern.name):
            return made(SECONDS, [_lenient(text, pattern.name), text], BIGINT)
        case "TO_DATE", [text, exp.Literal() as pattern] if pieces(pattern.name):
            return made("CAST({0} AS DATE)", [_lenient(text, pattern.name)], DATE)
        case "DATE_FORMAT", [text, pattern] if kinds[0] == STRING:
            literal = pattern.name if isinstance(pattern, exp.Literal) else None
            return made(shown_as("{0}", replace(STRING, literal=literal)), [_lenient(text, PLAIN), pattern], STRING)
        case "CONVERT_TZ", [text, zone, other]:
            instant = later("{0}").replace("{zone}", "{1}")
            shown = f"DATE_FORMAT({wall_clock(instant).replace('{zone}', '{2}')}, {DEFAULT})"
            return made(shown, [_lenient(text, PLAIN), _zone(zone), _zone(other)], STRING)
        case "TO_TIMESTAMP", [text, exp.Literal() as pattern]:
            return _timestamp(text, pattern)
    return None


def _zone(name: exp.Expr) -> exp.Expr:
    if isinstance(name, exp.Literal):
        return exp.Literal.string(known_zone(name.name) or "")
    return runtime_call("java_zone", [name], STRING)


def _lenient(text: exp.Expr, pattern: str) -> exp.Expr:
    return runtime_call("lenient_time", [text, exp.Literal.string(pattern)], CLOCK)


def _timestamp(text: exp.Expr, pattern: exp.Literal) -> Made:
    """TO_TIMESTAMP(text, pattern): a day beyond the end of its month becomes the month's last day."""
    if pattern.name == PLAIN:
        two = "[0-9][0-9]"
        exact = f"IF({{0}} RLIKE '^{two}{two}-{two}-{two} {two}:{two}:{two}$', {read('{0}')}, NULL)"
    else:
        exact, end = _exact("{0}"), _month_end(pattern.name)
        if fraction := re.search(r"sS+$", pattern.name):  # Spark does not read digits of a second after digits
            digits = len(fraction[0]) - 1
            apart = f"CONCAT(LEFT({{0}}, CHAR_LENGTH({{0}}) - {digits}), '.', RIGHT({{0}}, {digits}))"
            pattern = exp.Literal.string(f"{pattern.name[:-digits]}.{fraction[0][1:]}")
            exact, end = f"IF(CHAR_LENGTH({{0}}) > {digits}, {_exact(apart)}, NULL)", end and apart.replace("{0}", end)
        if end:
            exact = f"COALESCE({exact}, {_exact(end)})"
    return made(to_millis(f"COALESCE({exact}, {CARRIED})"), [text, pattern], CLOCK)


def _exact(text: str) -> str:
    return f"IF(TRY_TO_TIMESTAMP({text}, {{1}}) IS NULL, NULL, TO_TIMESTAMP_NTZ({text}, {{1}}))"


def _month_end(pattern: str) -> str:
    """Return SQL for the text {0} with a day beyond its month's end replaced by the last one; the pattern must be of
    fixed width.
    """
    places: dict[str, int] = {}
    at = 1
    for piece in pieces(pattern) or ():
        if piece.is_field and len(piece.text) < 2:
            break
        places[piece.text] = at
        at += len(piece.text)
    if not {"yyyy", "MM", "dd"} <= {*places}:
        return ""
    year, month, day = (f"SUBSTRING({{0}}, {places[each]}, {len(each)})" for each in ("yyyy", "MM", "dd"))
    last = f"CAST(DAY(LAST_DAY(TRY_CAST(CONCAT({year}, '-', {month}) AS DATE))) AS STRING)"
    return f"IF({day} IN ('29', '30', '31'), OVERLAY({{0}} PLACING {last} FROM {places['dd']} FOR 2), NULL)"
