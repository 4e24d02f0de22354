"""Durations as text: parses an option such as `10 s` into milliseconds, and formats milliseconds for EXPLAIN."""

from __future__ import annotations

import re

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
