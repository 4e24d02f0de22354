"""Interval literals: the text and the units of INTERVAL '...' UNIT [TO UNIT], in milliseconds."""

from __future__ import annotations

import re
from decimal import Decimal

UNIT_MS = {"day": 86_400_000, "hour": 3_600_000, "minute": 60_000, "second": 1_000}
UNIT_MONTHS = {"year": 12, "quarter": 3, "month": 1}
ORDER = ("day", "hour", "minute", "second")
UNITS = tuple(unit.upper() for unit in (*ORDER, "week", *UNIT_MONTHS))


def unit_of(word: str) -> str | None:
    """The unit that a word names, in the singular; None if it is not a unit. WEEK is seven days."""
    unit = word.lower().removesuffix("s")
    return unit if unit.upper() in UNITS else None


def parse_interval(text: str, unit: str, to: str | None = None) -> tuple[int, int]:
    """(milliseconds, months) of an interval literal. `text` has no quotes; units are those of `unit_of`.

    Raises ValueError, with a message for the user, if the text does not fit the units.
    """
    text = text.strip()
    sign = -1 if text.startswith("-") else 1
    text = text[text[:1] in ("+", "-") :].strip()
    if to is not None:
        return sign * _compound(text, unit, to), 0
    if not re.fullmatch(r"\d+(\.\d+)?|\.\d+", text):
        raise ValueError(f"'{text}' is not a number")
    if unit in UNIT_MONTHS:
        if "." in text:
            raise ValueError(f"{unit.upper()} takes a whole number, not '{text}'")
        return 0, sign * int(text) * UNIT_MONTHS[unit]
    ms = Decimal(text) * (7 * UNIT_MS["day"] if unit == "week" else UNIT_MS[unit])
    if ms != int(ms):
        raise ValueError(f"'{text}' {unit.upper()} is finer than a millisecond")
    return sign * int(ms), 0


def _compound(text: str, first: str, last: str) -> int:
    if first not in ORDER or last not in ORDER or ORDER.index(first) >= ORDER.index(last):
        raise ValueError(f"{first.upper()} TO {last.upper()} is not a range of units")
    units = ORDER[ORDER.index(first) : ORDER.index(last) + 1]
    values = re.split(r"[ :]+", text)
    if len(values) != len(units) or not all(re.fullmatch(r"\d+(\.\d+)?", value) for value in values):
        raise ValueError(f"'{text}' is not an interval {first.upper()} TO {last.upper()}")
    ms = sum((Decimal(value) * UNIT_MS[unit] for value, unit in zip(values, units, strict=True)), Decimal(0))
    if ms != int(ms):
        raise ValueError(f"'{text}' is finer than a millisecond")
    return int(ms)
