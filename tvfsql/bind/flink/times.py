"""Flink's time and date functions. An instant is a TIMESTAMP_LTZ, Spark's timestamp. Its wall-clock time is that of
`table.local-time-zone`, whatever the zone of Spark's session is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby

from tvfsql.bind.flink.function import Function, literal_of, same
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values.types import UNKNOWN, SqlType, is_decimal, is_integer, is_number

EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
INSTANT, CLOCK = "timestamp", "timestamp_ntz"


def read_date(word: str) -> str:
    """Parse the text {0} as a DATE with CAST or TRY_CAST. The year 12 is '12'."""
    padded = "CONCAT(REPEAT('0', 5 - INSTR(CONCAT(TRIM({0}), '-'), '-')), TRIM({0}))"
    return f"{word}(IF({{0}} RLIKE '^\\\\s*[0-9]{{1,3}}(-[0-9]{{1,2}}){{0,2}}\\\\s*$', {padded}, {{0}}) AS DATE)"


def wall_clock(instant: str) -> str:
    """The wall-clock time (timestamp_ntz) of an instant. Arithmetic on the epoch avoids Spark's session zone."""
    return f"TIMESTAMPADD(MICROSECOND, UNIX_MICROS(FROM_UTC_TIMESTAMP({instant}, {{zone}})), {EPOCH})"


def instant_at(clock: str) -> str:
    """The instant at which clocks show that time. A skipped time maps to after the gap; of a repeated time it is the
    first.
    """
    return f"TO_UTC_TIMESTAMP(TIMESTAMP_MICROS(TIMESTAMPDIFF(MICROSECOND, {EPOCH}, {clock})), {{zone}})"


def in_utc(instant: str) -> str:
    """The wall-clock time of an instant in UTC."""
    return f"TIMESTAMPADD(MICROSECOND, UNIX_MICROS({instant}), {EPOCH})"


def of_utc(clock: str) -> str:
    """The instant at which clocks in UTC show that time. Spark counts days and months of instants in its session's
    zone, and Flink in UTC.
    """
    return f"TIMESTAMP_MICROS(TIMESTAMPDIFF(MICROSECOND, {EPOCH}, {clock}))"


def to_millis(time: str) -> str:
    """A time without the digits that a TIMESTAMP(3) cannot hold."""
    return f"TIME_BUCKET(INTERVAL '0.001' SECOND, {time})"


def later(clock: str) -> str:
    """The instant at which clocks show that time; of a repeated time the second one."""
    after = f"{instant_at(clock)} + INTERVAL '1' HOUR"
    return f"IF({wall_clock(after)} = {clock}, {after}, {instant_at(clock)})"


def on_clock(template: str, *, back: bool = False) -> Callable[..., str | None]:
    """A function of the wall-clock time: `template` takes {0} as timestamp_ntz. With `back`, an instant gives an
    instant.
    """

    def of(kind: SqlType, *_: SqlType) -> str | None:
        if kind == INSTANT:
            clock = wall_clock("{0}")
            made = template.replace("{0}", clock)
            # by the instant's own offset from UTC
            return f"TIMESTAMPADD(MICROSECOND, TIMESTAMPDIFF(MICROSECOND, {clock}, {made}), {{0}})" if back else made
        if back and kind == UNKNOWN:
            return None
        return template.replace("{0}", "CAST({0} AS TIMESTAMP_NTZ)" if kind != CLOCK else "{0}")

    return of


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
        day = "{0}" if kind == "date" else str(on_clock(DAY)(kind))
        return f"CAST({OF_DATE[unit].replace('{0}', day)} AS BIGINT)"

    return of


def is_time_of_day(kind: SqlType) -> bool:
    return kind.startswith("time(")


def date_of(clock: str) -> str:
    """The date of a wall-clock time, as CAST computes it."""
    return DAY.replace("{0}", clock)


DEFAULT = "'yyyy-MM-dd HH:mm:ss'"
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


PATTERNS = "fails for letters that Spark's formats do not have"
ZONES = re.compile("[zZxXOV]")
LETTERS = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+")
# the US week of a day: it begins on Sunday and belongs to the year of its Saturday
SATURDAY = "DATE_ADD(CAST({0} AS DATE), 7 - DAYOFWEEK({0}))"
OF_WEEKS = {
    "c": "DAYOFWEEK({0})",
    "W": "((DAYOFMONTH({0}) + DAYOFWEEK(TRUNC({0}, 'MM')) - 2) DIV 7 + 1)",
    "n": "CAST(EXTRACT(SECOND FROM {0}) * 1000000000 % 1000000000 AS INT)",
    "N": "(TIMESTAMPDIFF(MICROSECOND, CAST(CAST({0} AS DATE) AS TIMESTAMP_NTZ), {0}) * 1000)",
    "A": "TIMESTAMPDIFF(MILLISECOND, CAST(CAST({0} AS DATE) AS TIMESTAMP_NTZ), {0})",
    "Y": f"YEAR({SATURDAY})",
    "w": f"(DAYOFYEAR({SATURDAY}) + 6) DIV 7",
    "e": "DAYOFWEEK({0})",
    "u": "YEAR({0})",
}
NARROW = ("EEEEE", "MMMMM", "LLLLL")
UNREADABLE = "fails if the text cannot be parsed and the format has more than numbers"


def read(text: str, *, millis: bool = True) -> str:
    """TO_TIMESTAMP: parse a text as a wall-clock time; a day beyond the end of its month becomes its last day. With
    `millis` further digits are dropped.
    """
    shape = "'^\\\\d\\\\d\\\\d\\\\d-\\\\d{1,2}-\\\\d{1,2}( \\\\d{1,2}:\\\\d{1,2}:\\\\d{1,2}(\\\\.\\\\d{1,9})?)?$'"
    late = "'^(\\\\d\\\\d\\\\d\\\\d-\\\\d{1,2})-(29|30|31)( .*)?$'"
    month_end = f"LAST_DAY(TRY_CAST(REGEXP_EXTRACT({text}, {late}, 1) AS DATE))"
    clamped = f"TRY_CAST(CONCAT({month_end}, REGEXP_EXTRACT({text}, {late}, 3)) AS TIMESTAMP_NTZ)"
    next_day = f"TRY_CAST(LEFT({text}, INSTR({text}, ' ')) AS TIMESTAMP_NTZ) + INTERVAL '1' DAY"
    midnight = f"IF({text} RLIKE ' 24:00?:00?(\\\\.0+)?$', {next_day}, NULL)"
    found = f"COALESCE(TRY_CAST({text} AS TIMESTAMP_NTZ), {clamped}, {midnight})"
    return f"IF({text} RLIKE {shape}, {to_millis(found) if millis else found}, NULL)"


def formatted(kind: SqlType, pattern: SqlType) -> str | None:
    return shown_as(str(on_clock("{0}")(kind)), pattern)


def shown_as(clock: str, pattern: SqlType) -> str:
    """Format a wall-clock time with a Java pattern; weeks are those of the US."""
    literal = literal_of(pattern)
    parts = [found[0] for found in LETTERS.finditer(literal or "")]
    if any(ZONES.match(part) for part in parts):
        raise UnsupportedError("a TIMESTAMP has no zone to format", hint="DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')")
    if not any(_is_ours(part) for part in parts):
        return f"DATE_FORMAT({clock}, {{1}})"
    texts = []
    for is_week, group in groupby(parts, key=_is_ours):
        if not is_week:
            text = "".join(group).replace("'", "''")
            texts.append(f"DATE_FORMAT({clock}, '{text}')")
            continue
        for part in group:
            if part in NARROW:
                texts.append(f"LEFT(DATE_FORMAT({clock}, '{part[:3]}'), 1)")
                continue
            if part in ("eee", "eeee", "ccc", "cccc"):
                texts.append(f"DATE_FORMAT({clock}, '{'E' * len(part)}')")
                continue
            number = f"CAST({OF_WEEKS[part[0]].replace('{0}', clock)} AS STRING)"
            if part in ("YY", "uu"):
                number = f"RIGHT({number}, 2)"
            texts.append(
                f"LPAD({number}, GREATEST({len(part)}, CHAR_LENGTH({number})), '0')" if len(part) > 1 else number
            )
    return texts[0] if len(texts) == 1 else f"CONCAT({', '.join(texts)})"


def _is_ours(part: str) -> bool:
    """Whether Spark's formats lack this part of a pattern, or mean something else by it."""
    return part[0] in OF_WEEKS or part in NARROW


def _from_unixtime(_: SqlType, pattern: SqlType) -> str:
    if re.search("[uF]", re.sub("'[^']*'", "", literal_of(pattern) or "")):
        raise UnsupportedError("FROM_UNIXTIME cannot take u and F", hint="FROM_UNIXTIME(seconds, 'yyyy-MM-dd')")
    return shown_as(wall_clock("TIMESTAMP_SECONDS({0})"), pattern)


def _unix_timestamp(_: SqlType, pattern: SqlType) -> str:
    if ZONES.search(re.sub("'[^']*'", "", literal_of(pattern) or "")):
        return "UNIX_SECONDS(TO_TIMESTAMP({0}, {1}))"
    return f"UNIX_SECONDS({later('TO_TIMESTAMP_NTZ({0}, {1})')})"


def _to_timestamp(_: SqlType, pattern: SqlType) -> str:
    return f"IF(TRY_TO_TIMESTAMP({{0}}, {{1}}) IS NULL, NULL, {to_millis('TO_TIMESTAMP_NTZ({0}, {1})')})"


def _instant(kind: SqlType, pattern: SqlType = "", zone: SqlType = "") -> str | None:
    """TO_TIMESTAMP_LTZ of seconds or milliseconds since 1970, or of a text, which is a wall-clock time in UTC."""
    if kind == "string":
        clock = read("{0}") if pattern == "" else _to_timestamp(kind, pattern)
        return instant_at(clock).replace("{zone}", "{2}" if zone else "'UTC'")
    precision = literal_of(pattern) if pattern else "3"
    if precision not in ("0", "3", "6", None):
        raise UnsupportedError("TO_TIMESTAMP_LTZ takes the precision 0, 3 or 6", hint="TO_TIMESTAMP_LTZ(millis, 3)")
    if precision == "6" and is_integer(kind):
        in_range = "{0} BETWEEN -62135596800000000L AND 253402300799999999L"
        return f"IF({in_range}, TIMESTAMP_MICROS({{0}}), NULL)"
    if not is_number(kind) or precision not in ("0", "3"):
        return None
    millis = f"TRY_CAST({{0}} * {1000 if precision == '0' else 1} AS BIGINT)"
    if is_integer(kind):
        millis = "CAST({0} AS BIGINT) * 1000" if precision == "0" else "{0}"
    elif is_decimal(kind):
        millis = f"CAST({{0}} AS BIGINT) * {1000 if precision == '0' else 1}"
    return f"IF({millis} BETWEEN -62135596800000 AND 253402300799999, TIMESTAMP_MILLIS({millis}), NULL)"


def _current_watermark(_: SqlType) -> str:
    raise UnsupportedError(
        "CURRENT_WATERMARK cannot be called here",
        hint="SELECT ..., CURRENT_WATERMARK(ts) AS wm FROM t, in a subquery of its own",
    )


FROM_TEXT = ""  # bind/flink/time_parsers.py
FAR_AWAY = "is NULL for a text that is not a date; Flink returns a day millions of years away"


OF_MICRO_BATCH = "is that before the micro-batch of the row (with on-event watermarks: before the row), on streams only"
CLOCKS = ("CURRENT_TIME", "LOCALTIME")
TIMES = (
    *(Function(f"{name}(time)", field_of(unit) or "", "bigint") for name, unit in FIELDS.items()),
    same("NOW()", INSTANT),
    Function("CURRENT_ROW_TIMESTAMP()", "CURRENT_TIMESTAMP()", INSTANT, "is the time of the query, not of the row"),
    *(Function(f"{name}()", f"CAST({wall_clock('CURRENT_TIMESTAMP()')} AS TIME(0))", "time(0)") for name in CLOCKS),
    Function("CURRENT_WATERMARK(rowtime)", _current_watermark, INSTANT, OF_MICRO_BATCH),
    Function("LOCALTIMESTAMP()", wall_clock("CURRENT_TIMESTAMP()"), CLOCK),
    Function("CURRENT_DATE()", f"CAST({wall_clock('CURRENT_TIMESTAMP()')} AS DATE)", "date"),
    Function("DATE_FORMAT(time, format)", formatted, "string", PATTERNS),
    Function("FROM_UNIXTIME(seconds)", f"DATE_FORMAT({wall_clock('TIMESTAMP_SECONDS({0})')}, {DEFAULT})", "string"),
    Function("FROM_UNIXTIME(seconds, format)", _from_unixtime, "string", PATTERNS),
    Function("UNIX_TIMESTAMP()", "UNIX_SECONDS(CURRENT_TIMESTAMP())", "bigint"),
    Function("UNIX_TIMESTAMP(string)", FROM_TEXT, "bigint"),
    Function("UNIX_TIMESTAMP(string, format)", _unix_timestamp, "bigint", UNREADABLE),
    Function("TO_DATE(string)", read_date("TRY_CAST"), "date"),
    Function("TO_DATE(string, format)", "CAST(TRY_TO_TIMESTAMP({0}, {1}) AS DATE)", "date", FAR_AWAY),
    Function("TO_TIMESTAMP(string)", read("{0}"), CLOCK),
    Function("TO_TIMESTAMP(string, format)", _to_timestamp, CLOCK),
    Function("TO_TIMESTAMP_LTZ(number)", _instant, INSTANT),
    Function("TO_TIMESTAMP_LTZ(number, precision)", _instant, INSTANT),
    Function("TO_TIMESTAMP_LTZ(string, format)", _instant, INSTANT),
    Function("TO_TIMESTAMP_LTZ(string, format, zone)", _instant, INSTANT),
    Function("CONVERT_TZ(string, from, to)", FROM_TEXT, "string"),
)
