"""Fields of dates and times, the start of a year, week or minute (FLOOR, CEIL), and months between two times."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import Made, made
from tvfsql.bind.flink.time.wall_clock import CLOCK, EPOCH, INSTANT, on_clock, wall_clock
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values.types import DATE, INT, STRING, UNKNOWN, SqlType, Time

# Flink counts the fields of times before 1970 backwards: 1969-12-31 23:30 has date 1970-01-01, hour 0 and minute -30.
SINCE = f"({{0}} - {EPOCH})"
DAY = f"DATE_FROM_UNIX_DATE(EXTRACT(DAY FROM {SINCE}))"
FIRST_OF_WEEK = "DATE_SUB({0}, DAYOFWEEK({0}) - 1)"
OF_DATE = {
    "YEAR": "YEAR({0})",
    "QUARTER": "QUARTER({0})",
    "MONTH": "MONTH({0})",
    "WEEK": "WEEKOFYEAR({0})",
    "DAY": "DAYOFMONTH({0})",
    "DOW": "DAYOFWEEK({0})",
    "DOY": "DAYOFYEAR({0})",
    "ISODOW": "EXTRACT(DAYOFWEEK_ISO FROM {0})",
    "ISOYEAR": "EXTRACT(YEAROFWEEK FROM {0})",
    "DECADE": "FLOOR(YEAR({0}) / 10)",
    "CENTURY": "FLOOR((YEAR({0}) + 99) / 100)",
    "MILLENNIUM": "FLOOR((YEAR({0}) + 999) / 1000)",
}
OF_CLOCK = {
    "HOUR": f"EXTRACT(HOUR FROM {SINCE})",
    "MINUTE": f"EXTRACT(MINUTE FROM {SINCE})",
    "SECOND": f"EXTRACT(SECOND FROM {SINCE})",
    "MILLISECOND": f"EXTRACT(SECOND FROM {SINCE}) * 1000 % 1000",
    "MICROSECOND": f"EXTRACT(SECOND FROM {SINCE}) * 1000000 % 1000000",
    "NANOSECOND": f"EXTRACT(SECOND FROM {SINCE}) * 1000000000 % 1000000000",
    "EPOCH": f"TIMESTAMPDIFF(SECOND, {EPOCH}, {{0}})",
}
FIELDS = {"DAYOFYEAR": "DOY", "DAYOFMONTH": "DAY", "DAYOFWEEK": "DOW"} | {
    unit: unit for unit in "YEAR QUARTER MONTH WEEK HOUR MINUTE SECOND".split()
}


def field_of(unit: str) -> Callable[..., str | None] | None:
    """EXTRACT(unit FROM x); None if Flink has no such unit."""
    if unit in OF_CLOCK and unit != "EPOCH":
        return on_clock(f"CAST({OF_CLOCK[unit]} AS BIGINT)")
    if unit not in OF_DATE and unit != "EPOCH":
        return None

    def of(kind: SqlType, *_: SqlType) -> str | None:
        if is_time_of_day(kind):
            raise UnsupportedError(f"a TIME has no {unit}", hint="EXTRACT(HOUR FROM time)")
        if unit == "EPOCH":
            return on_clock(f"CAST({OF_CLOCK[unit]} AS BIGINT)")(kind)
        day = "{0}" if kind == DATE else str(on_clock(DAY)(kind))
        return f"CAST({OF_DATE[unit].replace('{0}', day)} AS BIGINT)"

    return of


def is_time_of_day(kind: SqlType) -> bool:
    return isinstance(kind, Time)


def date_of(clock: str) -> str:
    """The date of a wall-clock time, as CAST computes it."""
    return DAY.replace("{0}", clock)


# FLOOR(x TO unit): the width of a bucket, and the start of one
BUCKETS = {
    "MILLENNIUM": ("INTERVAL '1000' YEAR", "1001-01-01"),
    "CENTURY": ("INTERVAL '100' YEAR", "1901-01-01"),
    "DECADE": ("INTERVAL '10' YEAR", "1970-01-01"),
    "YEAR": ("INTERVAL '1' YEAR", "1970-01-01"),
    "QUARTER": ("INTERVAL '3' MONTH", "1970-01-01"),
    "MONTH": ("INTERVAL '1' MONTH", "1970-01-01"),
    "WEEK": ("INTERVAL '7' DAY", "1970-01-04"),  # a Sunday
    "DAY": ("INTERVAL '1' DAY", "1970-01-01"),
    "HOUR": ("INTERVAL '1' HOUR", "1970-01-01"),
    "MINUTE": ("INTERVAL '1' MINUTE", "1970-01-01"),
    "SECOND": ("INTERVAL '1' SECOND", "1970-01-01"),
    "MILLISECOND": ("INTERVAL '0.001' SECOND", "1970-01-01"),
}
OF_DAYS = ("MILLENNIUM", "CENTURY", "DECADE", "YEAR", "QUARTER", "MONTH", "WEEK")  # units of the date, without the time


def floor_to(unit: str) -> str:
    width, start = BUCKETS[unit]
    return f"TIME_BUCKET({width}, {_rounded(unit)}, TIMESTAMP_NTZ '{start} 00:00:00')"


def ceil_to(unit: str) -> str:
    floor = floor_to(unit)
    later = f"{floor} + {BUCKETS[unit][0]}"
    of = _rounded(unit)
    return later if unit == "DECADE" else f"IF({floor} = {of}, {of}, {later})"


def _rounded(unit: str) -> str:
    """The part of a wall-clock time {0} that FLOOR and CEIL round."""
    return f"CAST({DAY} AS TIMESTAMP_NTZ)" if unit in OF_DAYS else "{0}"


def months_between(start: str, end: str) -> str:
    """Whole calendar months between two timestamp_ntz, counted as in Flink: the months between the dates, minus one if
    the dates are whole months apart and the end's time of day is earlier.
    """
    first, last = f"CAST({start} AS DATE)", f"CAST({end} AS DATE)"

    def of_dates(a: str, b: str) -> str:
        months = f"((YEAR({b}) - YEAR({a})) * 12 + MONTH({b}) - MONTH({a}))"
        return f"({months} - IF(ADD_MONTHS({a}, {months}) > {b}, 1, 0))"

    months = f"IF({last} >= {first}, {of_dates(first, last)}, -{of_dates(last, first)})"
    earlier = f"{end} - CAST({last} AS TIMESTAMP_NTZ) < {start} - CAST({first} AS TIMESTAMP_NTZ)"
    return f"({months} - IF(ADD_MONTHS({first}, {months}) = {last} AND {earlier}, 1, 0))"


# Expressions of type TIME, which Spark has too. A TIME does not carry over into another day.


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
