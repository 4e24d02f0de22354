"""Window aggregates computed the slow way: each row is copied into each window that contains it, and plain Python
aggregates.

This shares no code with tvfsql. Windows follow semantics.md#slices: TUMBLE and HOP windows start at `offset` plus a
multiple of the size or slide; CUMULATE windows start at `offset` plus a multiple of the size and end after each step. A
window without rows does not exist.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

EPOCH = datetime(1970, 1, 1)
Row = Mapping[str, Any]  # `ts` is its time in ms
Group = tuple[Any, ...]  # key values, then start and end of the window in ms


def at(ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=ms)


def interval(ms: int) -> str:
    return f"INTERVAL '{'-' if ms < 0 else ''}{abs(ms) // 1000}.{abs(ms) % 1000:03d}' SECOND"


@dataclass(frozen=True)
class Tumbling:
    size: int
    offset: int = 0

    def call(self, table: str) -> str:
        return f"TUMBLE(TABLE {table}, DESCRIPTOR(ts), {interval(self.size)}, {interval(self.offset)})"

    def holding(self, ts: int) -> Iterator[tuple[int, int]]:
        start = math.floor((ts - self.offset) / self.size) * self.size + self.offset
        assert start <= ts < start + self.size
        yield start, start + self.size


@dataclass(frozen=True)
class Hopping:
    slide: int
    size: int
    offset: int = 0

    def call(self, table: str) -> str:
        slide, size, offset = map(interval, (self.slide, self.size, self.offset))
        return f"HOP(TABLE {table}, DESCRIPTOR(ts), {slide}, {size}, {offset})"

    def holding(self, ts: int) -> Iterator[tuple[int, int]]:
        start = next(start for start in range(ts, ts - self.slide, -1) if (start - self.offset) % self.slide == 0) \
            if self.slide < 50 else self.offset + (ts - self.offset) // self.slide * self.slide  # fmt: skip
        while start + self.size > ts:
            yield start, start + self.size
            start -= self.slide


@dataclass(frozen=True)
class Cumulating:
    step: int
    size: int
    offset: int = 0
    only_on_update: bool = False

    def call(self, table: str) -> str:
        step, size, offset = map(interval, (self.step, self.size, self.offset))
        only = ", TRUE" if self.only_on_update else ""
        return f"CUMULATE(TABLE {table}, DESCRIPTOR(ts), {step}, {size}, {offset}{only})"

    def holding(self, ts: int) -> Iterator[tuple[int, int]]:
        start = self.offset + (ts - self.offset) // self.size * self.size
        yield from ((start, end) for end in range(start + self.step, start + self.size + 1, self.step) if ts < end)


Windows = Tumbling | Hopping | Cumulating
Aggregate = Callable[[Sequence[Row]], Any]


def groups(rows: Iterable[Row], windows: Windows, keys: Sequence[str]) -> dict[Group, list[Row]]:
    """The rows of each key and window, ordered by time, as tvfsql orders ties."""
    found: dict[Group, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["ts"]):
        for start, end in windows.holding(row["ts"]):
            found[(*(row[key] for key in keys), at(start), at(end))].append(row)
    if isinstance(windows, Cumulating) and windows.only_on_update:
        newest = timedelta(milliseconds=windows.step)
        return {
            group: held for group, held in found.items() if any(at(row["ts"]) >= group[-1] - newest for row in held)
        }
    return found


def values(rows: Iterable[Row], column: str, where: str | None = None) -> list[Any]:
    """The values of the column that are not NULL, of the rows for which the boolean column `where` holds."""
    return [row[column] for row in rows if row[column] is not None and (where is None or row[where])]


def order(value: Any) -> Any:
    """A sort key with Spark's order: NaN is the largest number, strings are compared by their bytes, NULL comes
    first.
    """
    if value is None:
        return (0, 0)
    if isinstance(value, float) and math.isnan(value):
        return (2, 0)
    return (1, value.encode() if isinstance(value, str) else value)


def by_time(rows: Iterable[Row], column: str, where: str | None = None, *, nulls: bool = False) -> list[Any]:
    """The values in order of time, ties in order of the values."""
    kept = [row for row in rows if (nulls or row[column] is not None) and (where is None or row[where])]
    return [row[column] for row in sorted(kept, key=lambda row: (row["ts"], order(row[column])))]


def total(found: Sequence[Any]) -> Any:
    if not found:
        return None
    with localcontext(prec=60):
        return math.fsum(found) if all(isinstance(v, float) and math.isfinite(v) for v in found) else sum(found)


def mean(found: Sequence[Any]) -> Any:
    """The average: of integers an integer, truncated; of decimals a decimal with at least six digits after the
    point.
    """
    if not found:
        return None
    whole = total(found)
    if isinstance(whole, int):
        return abs(whole) // len(found) * (1 if whole >= 0 else -1)
    if isinstance(whole, Decimal):
        with localcontext(prec=60):
            return (whole / len(found)).quantize(Decimal("0.000001"), ROUND_HALF_UP)
    return whole / len(found)


def variance(found: Sequence[Any], *, sample: bool) -> float | None:
    count = len(found) - sample
    if count < 1:
        return None
    with localcontext(prec=60):
        exact = [Decimal(value) for value in found]
        centre = sum(exact) / len(exact)
        return float(sum((value - centre) ** 2 for value in exact) / count)


def deviation(found: Sequence[Any], *, sample: bool) -> float | None:
    square = variance(found, sample=sample)
    return None if square is None else math.sqrt(square)


def largest(found: Sequence[Any]) -> Any:
    return max(found, key=order, default=None)


def smallest(found: Sequence[Any]) -> Any:
    return min(found, key=order, default=None)


def joined(found: Sequence[str], separator: str) -> str | None:
    return separator.join(found) if found else None
