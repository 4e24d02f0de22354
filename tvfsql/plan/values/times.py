"""Times as people see them: instants on the clock of a zone, and times of any year. Every printed time is made here."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

from tvfsql.plan.values.zone_names import zone_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WALL_EPOCH = datetime(1970, 1, 1)
MICROSECOND = timedelta(microseconds=1)
SECOND, DAY = 1_000_000, 86_400_000_000  # microseconds
CYCLE_DAYS, CYCLE_YEARS = 146_097, 400  # the Gregorian calendar repeats itself
# the instants (epoch microseconds) of which every zone has a clock that a datetime can show
FIRST, LAST = -719_161 * DAY, 2_932_895 * DAY

Clock = Callable[[int], int]  # its offset from UTC at an instant; both in microseconds


class FarTime(str):
    """A date or a time of a year that Python's datetime does not have, as text: `+10000-01-01 00:00:00.000`, `0000-...`
    for the year before 1, `-0043-...`. `micros`: the time as microseconds since 1970."""

    micros: int

    @classmethod
    def of(cls, micros: int, *, day: bool = False) -> FarTime:
        made = cls(_day_text(micros // DAY) if day else f"{_day_text(micros // DAY)} {_clock_text(micros % DAY)}")
        made.micros = micros
        return made


def clock_of(zone: str | None) -> Clock:
    """The clock of a zone; None: that of the machine, on which Spark gives instants to Python."""
    clock = None if zone is None else zone_of(zone)
    if zone == "UTC":
        return lambda instant: 0

    def offset(instant: int) -> int:
        moment = EPOCH + timedelta(microseconds=min(max(instant, FIRST), LAST))
        return (moment.astimezone(clock).utcoffset() or timedelta()) // MICROSECOND

    return offset


def instant_text(ms: int, zone: str) -> str:
    """An instant (epoch ms) on the clock of a zone: `2020-04-15 08:20:00.000`."""
    micros = ms * 1000
    return time_text(micros + clock_of(zone)(micros))


def time_text(micros: int) -> str:
    """A time without a zone, in microseconds since 1970, with milliseconds."""
    time = wall_time(micros)
    return time if isinstance(time, FarTime) else time.isoformat(" ", "milliseconds")


def wall_time(micros: int) -> datetime | FarTime:
    """A time without a zone, in microseconds since 1970."""
    try:
        return WALL_EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return FarTime.of(micros)


def wall_date(day: int) -> date | FarTime:
    """A date, in days since 1970."""
    try:
        return WALL_EPOCH.date() + timedelta(days=day)
    except OverflowError:
        return FarTime.of(day * DAY, day=True)


def micros_of(time: date | FarTime) -> int:
    """A time as microseconds since 1970, which is the order of times."""
    if isinstance(time, FarTime):
        return time.micros
    whole = time if isinstance(time, datetime) else datetime(time.year, time.month, time.day)
    return (whole.replace(tzinfo=None) - WALL_EPOCH) // MICROSECOND


def _day_text(day: int) -> str:
    """`2020-04-15`; years after 9999 have a sign, and the year before 1 is 0."""
    cycles, rest = divmod(day, CYCLE_DAYS)
    at = WALL_EPOCH.date() + timedelta(days=rest)
    year = at.year + cycles * CYCLE_YEARS
    text = f"+{year}" if year > 9999 else f"{year:04}" if year >= 0 else f"-{-year:04}"
    return f"{text}-{at.month:02}-{at.day:02}"


def _clock_text(micros: int) -> str:
    seconds, rest = divmod(micros, SECOND)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest // 1000:03}"


# Durations as text: parses an option such as `10 s` into milliseconds, and formats milliseconds for EXPLAIN.


UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms"))
_NAMES = {
    r"ms|milli(?:s|seconds?)?": 1,
    r"s|sec(?:onds?)?": 1_000,
    r"m|min(?:utes?)?": 60_000,
    r"h|hours?": 3_600_000,
    r"d|days?": 86_400_000,
}


def milliseconds(text: str) -> int | None:
    """Parse a duration such as `500 ms`, `10 s`, `5 min`, `1 h`; a bare number is milliseconds. None if it is not
    one.
    """
    found = re.fullmatch(r"(\d+)\s*([a-z]*)", text.strip().lower())
    if found is None:
        return None
    factor = next((factor for names, factor in _NAMES.items() if re.fullmatch(names, found[2] or "ms")), None)
    return None if factor is None else int(found[1]) * factor


def duration(ms: int) -> str:
    """Format milliseconds in the largest exact unit: 90000 is `90 s`, 86400000 is `1 d`."""
    width, unit = next((u for u in UNITS if ms % u[0] == 0 and ms != 0), UNITS[-1])
    return f"{ms // width} {unit}"


def calendar(months: int) -> str:
    """Format months, as years if they are whole: 12 is `1 year`, 18 is `18 months`."""
    count, unit = (months // 12, "year") if months % 12 == 0 and months else (months, "month")
    return f"{count} {unit}{'s' if abs(count) != 1 else ''}"
