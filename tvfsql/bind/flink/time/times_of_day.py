"""Expressions of type TIME, which Spark has too. A TIME does not carry over into another day."""

from __future__ import annotations

import re

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import Made, made
from tvfsql.bind.flink.time.wall_clock import CLOCK, EPOCH, INSTANT, wall_clock
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values.types import INT, STRING, UNKNOWN, SqlType, Time

UNITS = ("HOUR", "MINUTE", "SECOND", "MILLISECOND")


def cast_to_time(node: exp.Cast, source: SqlType, target: SqlType) -> Made:
    """CAST(x AS TIME(p)). A literal keeps the digits that are written."""
    word = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    is_literal = isinstance(node.this, exp.Literal) and "start" not in node.meta
    if is_literal and (found := re.search(r"\.(\d{1,6})", node.this.name)):
        target = Time(len(found[1]))
    if source == INSTANT:
        return made(f"CAST({wall_clock('{0}')} AS {target.ddl})", [node.this], target)
    if source not in (STRING, UNKNOWN, CLOCK) and not isinstance(source, Time):
        raise UnsupportedError(f"{source.flink} cannot be cast to TIME", hint="CAST(ts AS TIME)")
    text = f"{word}({{0}} AS {target.ddl})"
    if source == STRING and not is_literal:  # an hour alone is a time
        clock = "IF({0} RLIKE '^\\\\s*[0-9]{1,2}\\\\s*$', CONCAT(TRIM({0}), ':00'), {0})"
        text = f"{word}({clock} AS {target.ddl})"
    if source == CLOCK:  # Flink counts backwards before 1970
        text = f"IF({{0}} < {EPOCH}, RAISE_ERROR('no TIME of a TIMESTAMP before 1970'), {text})"
    return made(text, [node.this], target)


def moved(node: exp.Binary, kind: SqlType) -> Made:
    """A TIME plus or minus an interval."""
    sign = "+" if isinstance(node, exp.Add) else "-"
    return made(_carried(f"{sign} {{1}}", kind), [node.left, node.right], kind)


def on_first_day(time: exp.Expr) -> Made:
    """The TIMESTAMP of a TIME: on 1970-01-01."""
    return made(f"({EPOCH} + ({{0}} - TIME '00:00:00'))", [time], CLOCK)


def _carried(moved: str, kind: SqlType) -> str:
    """The TIME {0} moved: midnight comes after 23:59."""
    return f"CAST(TIMESTAMP_NTZ '2000-01-01 00:00:00' + ({{0}} - TIME '00:00:00') {moved} AS {kind.ddl})"


def added(unit: str, amount: exp.Expr, time: exp.Expr, kind: SqlType) -> Made:
    """TIMESTAMPADD(unit, amount, time)."""
    _check(unit)
    width = "INTERVAL '0.001' SECOND" if unit == "MILLISECOND" else f"INTERVAL '1' {unit}"
    return made(_carried(f"+ {{1}} * {width}", kind), [time, amount], kind)


def between(unit: str, start: exp.Expr, end: exp.Expr) -> Made:
    """TIMESTAMPDIFF(unit, start, end)."""
    _check(unit)
    return made(f"CAST(TIME_DIFF('{unit}', {{0}}, {{1}}) AS INT)", [start, end], INT)


def rounded(unit: str, time: exp.Expr, kind: SqlType, *, up: bool) -> Made:
    """FLOOR and CEIL(time TO unit)."""
    _check(unit)
    floor = f"TIME_TRUNC('{unit}', {{0}})"
    later = f"IF({floor} = {{0}}, {{0}}, {floor} + INTERVAL '1' {unit})" if unit != "MILLISECOND" else "{0}"
    return made(f"CAST({later if up else floor} AS {kind.ddl})", [time], kind)


def _check(unit: str) -> None:
    if unit not in UNITS:
        raise UnsupportedError(f"a TIME has no {unit}", hint=", ".join(UNITS))
