"""Java's names of time zones, for the compiler and for the runtime."""

from __future__ import annotations

import re
from functools import cache
from zoneinfo import available_timezones

# names that Java has besides those of the time zone database
SHORT = frozenset(
    "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST".split()
)
OFFSET = re.compile(r"GMT([+-])(\d{1,2})(?::?([0-5]\d))?")


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones()) | SHORT


def known_zone(name: str | None) -> str | None:
    """The zone as Spark writes it; GMT if Java's TimeZone does not know the name. None for None."""
    if name is None:
        return None
    if found := OFFSET.fullmatch(name):
        hours = int(found[2])
        return f"{found[1]}{hours:02}:{found[3] or '00'}" if hours < 24 else "GMT"
    return name if name in _zones() else "GMT"
