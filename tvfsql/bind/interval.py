"""INTERVAL literals in trees."""

from __future__ import annotations

from sqlglot import exp

from tvfsql.syntax.interval import parse_interval, unit_of


def length_of(interval: exp.Interval) -> tuple[int, int]:
    """(milliseconds, months) of an INTERVAL literal. Raises ValueError, with a message for users, for others."""
    unit = interval.args.get("unit")
    words = [unit.this, unit.expression] if isinstance(unit, exp.IntervalSpan) else [unit]
    units = [unit_of(word.name) if word is not None else None for word in words]
    if units[0] is None or not isinstance(interval.this, exp.Literal):
        raise ValueError("this interval has no unit" if units[0] is None else "this interval is no literal")
    return parse_interval(interval.this.name, units[0], units[1] if len(units) > 1 else None)
