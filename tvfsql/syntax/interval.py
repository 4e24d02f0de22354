"""Interval literals: the text and the units of INTERVAL '...' UNIT [TO UNIT], in milliseconds."""

from __future__ import annotations

import re
from decimal import Decimal

from sqlglot import exp

UNIT_MS = {"day": 86_400_000, "hour": 3_600_000, "minute": 60_000, "second": 1_000}
UNIT_MONTHS = {"year": 12, "quarter": 3, "month": 1}
ORDER = ("day", "hour", "minute", "second")
UNITS = tuple(unit.upper() for unit in (*ORDER, "week", *UNIT_MONTHS))
NUMBER = r"\d+(\.\d+)?|\.\d+"
FINER_UNITS = {"millisecond": Decimal(1), "microsecond": Decimal("0.001")}  # of Spark, in expressions
LIMITS = {"hour": 24, "minute": 60, "second": 60}  # of a unit that follows a larger one
LONGEST_MS, LONGEST_MONTHS = 2**63 // 1_000, 2**31 - 1  # of Spark, whose intervals count microseconds and months


def unit_of(word: str) -> str | None:
    """The unit that a word names, in the singular; None if it is not a unit. WEEK is seven days."""
    unit = word.lower().removesuffix("s")
    return unit if unit.upper() in UNITS else None


def is_range(first: str, last: str) -> bool:
    """Whether `first` TO `last` are the units of an interval, the larger first; in any case and number."""
    units = tuple(unit_of(word) or "" for word in (first, last))
    if units == ("year", "month"):
        return True
    return all(unit in ORDER for unit in units) and ORDER.index(units[0]) < ORDER.index(units[1])


def parse_interval(text: str, unit: str, to: str | None = None) -> tuple[int, int]:
    """(milliseconds, months) of an interval literal. `text` has no quotes; units are those of `unit_of`.

    Raises ValueError, with a message for the user, if the text does not fit the units.
    """
    text = text.strip()
    sign = -1 if text.startswith("-") else 1
    text = _unsigned(text)
    if to is not None:
        ms = _compound(text, unit, to)
        if ms != int(ms):
            raise ValueError(f"'{text}' is finer than a millisecond")
        return sign * int(ms), 0
    if not re.fullmatch(NUMBER, text):
        raise ValueError(f"'{text}' is not a number")
    _refuse_long(text, unit)
    if unit in UNIT_MONTHS:
        if "." in text:
            raise ValueError(f"{unit.upper()} takes a whole number, not '{text}'")
        return 0, sign * int(text) * UNIT_MONTHS[unit]
    ms = Decimal(text) * _unit_ms(unit)
    if ms != int(ms):
        raise ValueError(f"'{text}' {unit.upper()} is finer than a millisecond")
    return sign * int(ms), 0


def length_of(interval: exp.Interval) -> tuple[int, int]:
    """(milliseconds, months) of an INTERVAL literal. Raises ValueError, with a message for users, for others."""
    unit = interval.args.get("unit")
    words = [unit.this, unit.expression] if isinstance(unit, exp.IntervalSpan) else [unit]
    units = [unit_of(word.name) if word is not None else None for word in words]
    if units[0] is None or not isinstance(interval.this, exp.Literal):
        raise ValueError("this interval has no unit" if units[0] is None else "this interval is no literal")
    return parse_interval(interval.this.name, units[0], units[1] if len(units) > 1 else None)


def refuse_wrong(text: str, unit: str, to: str | None = None) -> None:
    """Raise ValueError, as `parse_interval` does, for the text of an interval in an expression. There YEAR TO MONTH is
    allowed too, and only seconds have a fraction.
    """
    amount = _unsigned(text.strip())
    if (unit, to) == ("year", "month"):
        found = re.fullmatch(r"\d+-(\d+)", amount)
        if found is None or int(found[1]) > 11:
            raise ValueError(f"'{text}' is not an interval YEAR TO MONTH")
    elif to is not None:
        _compound(amount, unit, to)
    elif not re.fullmatch(NUMBER, amount):
        raise ValueError(f"'{text}' is not a number")
    elif unit != "second" and "." in amount:
        raise ValueError(f"{unit.upper()} takes a whole number, not '{text}'")
    elif len(amount.partition(".")[2]) > 9:
        raise ValueError(f"'{text}' is finer than a nanosecond")
    else:
        _refuse_long(amount, unit)


def _refuse_long(amount: str, unit: str) -> None:
    """Raise ValueError if a number of units is more than an interval can be."""
    one, longest = (UNIT_MONTHS[unit], LONGEST_MONTHS) if unit in UNIT_MONTHS else (_unit_ms(unit), LONGEST_MS)
    if Decimal(amount) * one > longest:
        raise ValueError(f"'{amount}' {unit.upper()} is too long: at most {int(longest / one)}")


def _unit_ms(unit: str) -> Decimal:
    return FINER_UNITS.get(unit) or Decimal(7 * UNIT_MS["day"] if unit == "week" else UNIT_MS[unit])


def _unsigned(text: str) -> str:
    return text[text[:1] in ("+", "-") :].strip()


def _compound(text: str, first: str, last: str) -> Decimal:
    """The milliseconds of `1 02:03` DAY TO MINUTE."""
    if not is_range(first, last) or first not in ORDER:
        raise ValueError(f"{first.upper()} TO {last.upper()} is not a range of units")
    units = ORDER[ORDER.index(first) : ORDER.index(last) + 1]
    days, blank, clock = text.partition(" ") if first == "day" else ("", "", text)
    values = [*([days] if blank else []), *clock.split(":")]
    digits = [r"\d+(\.\d{1,9})?" if unit == "second" else r"\d+" for unit in units]
    if len(values) != len(units) or not all(map(re.fullmatch, digits, values)):
        raise ValueError(f"'{text}' is not an interval {first.upper()} TO {last.upper()}")
    amounts = dict(zip(units, map(Decimal, values), strict=True))
    for unit in units[1:]:
        if amounts[unit] >= LIMITS[unit]:
            raise ValueError(f"'{text}' has more than {LIMITS[unit] - 1} {unit}s")
    length = sum((amount * UNIT_MS[unit] for unit, amount in amounts.items()), Decimal(0))
    if length > LONGEST_MS:
        raise ValueError(f"'{text}' is too long: at most {LONGEST_MS // UNIT_MS['day']} days")
    return length
