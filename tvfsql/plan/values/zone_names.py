"""Names of time zones, for the compiler and for the runtime: those of the time zone database, fixed offsets, and those
that Java has besides.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

# names that Java has besides those of the time zone database
SHORT = frozenset(
    "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST".split()
)
OFFSET = re.compile(r"GMT([+-])(\d{1,2})(?::?([0-5]\d))?")
FIXED = re.compile(r"(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::?([0-5]\d))?", re.IGNORECASE)
WIDEST = 18 * 60  # minutes: the largest offset of Java and Spark


@cache
def regions() -> frozenset[str]:
    """The names of the time zone database."""
    return frozenset(available_timezones())


def zone_name(text: str) -> str | None:
    """The zone that a text names, as Spark, Arrow and `zone_of` take it: a region, or an offset as `+08:00`. None if
    there is none. An offset may be written as `GMT+08:00`, which is Flink's form, `UTC+8` or `+0800`.
    """
    if text in regions():
        return text
    found = FIXED.fullmatch(text)
    if found is None or int(found[2]) * 60 + int(found[3] or 0) > WIDEST:
        return None
    return f"{found[1]}{int(found[2]):02}:{found[3] or '00'}"


def zone_of(name: str) -> tzinfo:
    """The zone of a name that `zone_name` has returned."""
    if name[0] not in "+-":
        return ZoneInfo(name)
    sign = -1 if name[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(name[1:3]), minutes=int(name[4:])))


@cache
def _zones() -> frozenset[str]:
    return regions() | SHORT


@cache
def largest_change(name: str) -> timedelta:
    """The most by which the clock of a zone has been changed at once, from the year 1800 to 2100."""
    zone, day = zone_of(name), datetime(1800, 1, 1)
    days = (zone.utcoffset(day + timedelta(days=each)) or timedelta() for each in range(300 * 366))
    return max((abs(later - earlier) for earlier, later in pairwise(days)), default=timedelta())


def known_zone(name: str | None) -> str | None:
    """The zone as Spark writes it; GMT if Java's TimeZone does not know the name. None for None."""
    if name is None:
        return None
    if found := OFFSET.fullmatch(name):
        hours = int(found[2])
        return f"{found[1]}{hours:02}:{found[3] or '00'}" if hours < 24 else "GMT"
    return name if name in _zones() else "GMT"
