"""Conditions on two times, as bounds of their difference: `a BETWEEN b - INTERVAL '5' MINUTE AND b`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tvfsql.plan.values.scalar import Ref, Scalar
from tvfsql.syntax.interval import parse_interval, unit_of

TOKENS = re.compile(r"'[^']*'|[<>=!]+|\w+|\S")


@dataclass(frozen=True)
class TimeBounds:
    """`first` minus `second` is at least `low` and at most `high` microseconds; None: unbounded."""

    first: str
    second: str
    low: int | None
    high: int | None

    def of(self, first: str, second: str) -> TimeBounds | None:
        """The bounds for these two columns in this order; None if they are about other columns."""
        if (self.first, self.second) == (first, second):
            return self
        if (self.second, self.first) != (first, second):
            return None
        return TimeBounds(first, second, *(None if end is None else -end for end in (self.high, self.low)))

    def both(self, other: TimeBounds) -> TimeBounds:
        """The bounds if both hold."""
        lows = [each.low for each in (self, other) if each.low is not None]
        highs = [each.high for each in (self, other) if each.high is not None]
        return TimeBounds(self.first, self.second, max(lows, default=None), min(highs, default=None))


def time_bounds(condition: Scalar) -> TimeBounds | None:
    """The bounds that a condition states, if it only compares two columns, plus or minus intervals; else None."""
    try:
        return _Reader(tuple(_tokens(condition))).condition()
    except _Other:
        return None


class _Other(Exception):
    """The condition has another form."""


@dataclass
class _Sum:
    """A sum: for each column how often it is added minus how often it is subtracted, and milliseconds."""

    columns: dict[str, int] = field(default_factory=dict)
    ms: int = 0

    def plus(self, other: _Sum, sign: int) -> _Sum:
        names = {*self.columns, *other.columns}
        counts = {name: self.columns.get(name, 0) + sign * other.columns.get(name, 0) for name in names}
        return _Sum({name: count for name, count in counts.items() if count}, self.ms + sign * other.ms)


@dataclass
class _Reader:
    tokens: tuple[str | Ref, ...]
    at: int = 0

    def condition(self) -> TimeBounds:
        first = self.sum()
        sign = self.next()
        if sign == "BETWEEN":
            low = self.sum()
            self.expect("AND")
            found = _bounds(first.plus(low, -1), ">=")
            most = _bounds(first.plus(self.sum(), -1), "<=").of(found.first, found.second)
            if most is None:
                raise _Other
            found = found.both(most)
        elif sign in ("<", "<=", ">", ">=", "="):
            found = _bounds(first.plus(self.sum(), -1), str(sign))
        else:
            raise _Other
        if self.at < len(self.tokens):
            raise _Other
        return found

    def sum(self) -> _Sum:
        total = self.term()
        while self.peek() in ("+", "-"):
            total = total.plus(self.term(), 1) if self.next() == "+" else total.plus(self.term(), -1)
        return total

    def term(self) -> _Sum:
        match self.next():
            case Ref(name):
                return _Sum({name: 1})
            case "(":
                inner = self.sum()
                self.expect(")")
                return inner
            case "INTERVAL":
                return _Sum({}, self.interval())
        raise _Other

    def interval(self) -> int:
        text, unit = str(self.next()).strip("'"), unit_of(str(self.next()))
        to = None
        if self.peek() == "TO":
            self.next()
            to = unit_of(str(self.next()))
            if to is None:
                raise _Other
        if unit is None:
            raise _Other
        try:
            ms, months = parse_interval(text, unit, to)
        except ValueError as error:
            raise _Other from error
        if months:
            raise _Other
        return ms

    def peek(self) -> str | Ref | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def next(self) -> str | Ref:
        found = self.peek()
        if found is None:
            raise _Other
        self.at += 1
        return found

    def expect(self, token: str) -> None:
        if self.next() != token:
            raise _Other


def _tokens(condition: Scalar) -> Iterator[str | Ref]:
    for part in condition.parts:
        if isinstance(part, str):
            yield from TOKENS.findall(part)
        elif isinstance(part, Ref):
            yield part
        else:
            raise _Other


def _bounds(difference: _Sum, sign: str) -> TimeBounds:
    """The bounds of `difference` compared with zero: one column minus another, and an interval."""
    by_count: Mapping[int, str] = {count: name for name, count in difference.columns.items()}
    if len(difference.columns) != 2 or {*by_count} != {1, -1}:
        raise _Other
    end = -difference.ms * 1000
    low = end + (sign == ">") if sign in (">", ">=", "=") else None
    high = end - (sign == "<") if sign in ("<", "<=", "=") else None
    return TimeBounds(by_count[1], by_count[-1], low, high)
