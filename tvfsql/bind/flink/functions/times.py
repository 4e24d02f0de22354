"""Flink's time and date functions."""

from __future__ import annotations

import re

from tvfsql.bind.flink.function import Function, same
from tvfsql.bind.flink.time.fields import FIELDS, field_of
from tvfsql.bind.flink.time.formats import DEFAULT, ZONES, formatted, read, read_date, shown_as
from tvfsql.bind.flink.time.wall_clock import CLOCK, INSTANT, instant_at, later, to_millis, wall_clock
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

PATTERNS = "fails for letters that Spark's formats do not have"
UNREADABLE = "fails if the text cannot be parsed and the format has more than numbers"
FROM_TEXT = ""  # bind/flink/time/parsers.py
FAR_AWAY = "is NULL for a text that is not a date; Flink returns a day millions of years away"
OF_MICRO_BATCH = "is that before the micro-batch of the row (with on-event watermarks: before the row), on streams only"
CLOCKS = ("CURRENT_TIME", "LOCALTIME")
OF_DAY = dict.fromkeys(("HOUR", "MINUTE", "SECOND"), "dt tm ts tz")


def _from_unixtime(_: SqlType, pattern: SqlType) -> str:
    if re.search("[uF]", re.sub("'[^']*'", "", pattern.literal or "")):
        raise UnsupportedError("FROM_UNIXTIME cannot take u and F", hint="FROM_UNIXTIME(seconds, 'yyyy-MM-dd')")
    return shown_as(wall_clock("TIMESTAMP_SECONDS({0})"), pattern)


def _unix_timestamp(_: SqlType, pattern: SqlType) -> str:
    if ZONES.search(re.sub("'[^']*'", "", pattern.literal or "")):
        return "UNIX_SECONDS(TO_TIMESTAMP({0}, {1}))"
    return f"UNIX_SECONDS({later('TO_TIMESTAMP_NTZ({0}, {1})')})"


def _to_timestamp(_: SqlType, pattern: SqlType) -> str:
    return f"IF(TRY_TO_TIMESTAMP({{0}}, {{1}}) IS NULL, NULL, {to_millis('TO_TIMESTAMP_NTZ({0}, {1})')})"


def _instant(kind: SqlType, pattern: SqlType = types.UNKNOWN, zone: SqlType = types.UNKNOWN) -> str | None:
    """TO_TIMESTAMP_LTZ of seconds or milliseconds since 1970, or of a text, which is a wall-clock time in UTC."""
    if kind == types.STRING:
        clock = read("{0}") if not pattern else _to_timestamp(kind, pattern)
        return instant_at(clock).replace("{zone}", "{2}" if zone else "'UTC'")
    precision = pattern.literal if pattern else "3"
    if precision not in ("0", "3", "6") and not (precision is None and pattern == types.UNKNOWN):
        raise UnsupportedError("TO_TIMESTAMP_LTZ takes the precision 0, 3 or 6", hint="TO_TIMESTAMP_LTZ(millis, 3)")
    if precision == "6" and types.is_integer(kind):
        in_range = "{0} BETWEEN -62135596800000000L AND 253402300799999999L"
        return f"IF({in_range}, TIMESTAMP_MICROS({{0}}), NULL)"
    if not types.is_number(kind) or precision not in ("0", "3"):
        return None
    millis = f"TRY_CAST({{0}} * {1000 if precision == '0' else 1} AS BIGINT)"
    if types.is_integer(kind):
        millis = "CAST({0} AS BIGINT) * 1000" if precision == "0" else "{0}"
    elif types.is_decimal(kind):
        millis = f"CAST({{0}} AS BIGINT) * {1000 if precision == '0' else 1}"
    return f"IF({millis} BETWEEN -62135596800000 AND 253402300799999, TIMESTAMP_MILLIS({millis}), NULL)"


def _digits_of_instant(_: SqlType, pattern: SqlType) -> SqlType:
    """Microseconds have six digits; seconds, milliseconds and strings have three."""
    return types.TimestampLtz(6) if pattern.literal == "6" else INSTANT


def _current_watermark(_: SqlType) -> str:
    raise UnsupportedError(
        "CURRENT_WATERMARK cannot be called here",
        hint="SELECT ..., CURRENT_WATERMARK(ts) AS wm FROM t, in a subquery of its own",
    )


TIMES = (
    *(
        Function(f"{name}(time)", field_of(unit) or "", types.BIGINT, takes=OF_DAY.get(name))
        for name, unit in FIELDS.items()
    ),
    same("NOW()", INSTANT),
    Function("CURRENT_ROW_TIMESTAMP()", "CURRENT_TIMESTAMP()", INSTANT, "is the time of the query, not of the row"),
    *(Function(f"{name}()", f"CAST({wall_clock('CURRENT_TIMESTAMP()')} AS TIME(0))", types.Time(0)) for name in CLOCKS),
    Function("CURRENT_WATERMARK(rowtime)", _current_watermark, INSTANT, OF_MICRO_BATCH),
    Function("LOCALTIMESTAMP()", wall_clock("CURRENT_TIMESTAMP()"), CLOCK),
    Function("CURRENT_DATE()", f"CAST({wall_clock('CURRENT_TIMESTAMP()')} AS DATE)", types.DATE),
    Function("DATE_FORMAT(time, format)", formatted, types.STRING, PATTERNS, takes="s ts tz, s"),
    Function("FROM_UNIXTIME(seconds)", f"DATE_FORMAT({wall_clock('TIMESTAMP_SECONDS({0})')}, {DEFAULT})", types.STRING),
    Function("FROM_UNIXTIME(seconds, format)", _from_unixtime, types.STRING, PATTERNS),
    Function("UNIX_TIMESTAMP()", "UNIX_SECONDS(CURRENT_TIMESTAMP())", types.BIGINT),
    Function("UNIX_TIMESTAMP(string)", FROM_TEXT, types.BIGINT),
    Function("UNIX_TIMESTAMP(string, format)", _unix_timestamp, types.BIGINT, UNREADABLE),
    Function("TO_DATE(string)", read_date("TRY_CAST"), types.DATE),
    Function("TO_DATE(string, format)", "CAST(TRY_TO_TIMESTAMP({0}, {1}) AS DATE)", types.DATE, FAR_AWAY),
    Function("TO_TIMESTAMP(string)", read("{0}"), CLOCK),
    Function("TO_TIMESTAMP(string, format)", _to_timestamp, CLOCK),
    Function("TO_TIMESTAMP_LTZ(number)", _instant, INSTANT, takes="s i l d p"),
    Function("TO_TIMESTAMP_LTZ(number, precision)", _instant, _digits_of_instant, takes="i l d p s, i s"),
    Function("TO_TIMESTAMP_LTZ(string, format)", _instant, _digits_of_instant, takes="i l d p s, i s"),
    Function("TO_TIMESTAMP_LTZ(string, format, zone)", _instant, INSTANT),
    Function("CONVERT_TZ(string, from, to)", FROM_TEXT, types.STRING),
)
