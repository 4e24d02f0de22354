"""Exact sums of integers and decimals: the sum of a range is the difference of two running totals.

The totals are in limbs of 32 bits, summed in int64. Nothing overflows below 2^31 rows, and an intermediate total may be
larger than the result type. Only a result that does not fit is an overflow.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tvfsql.errors import DataError
from tvfsql.runtime.arrow.columns import Ints, Mask, fit_int64, from_integers, from_words, integers, words
from tvfsql.runtime.merge.ranges import Partial, Presence, Ranges

LOW = 0xFFFFFFFF
SAFE = float(2**62)
DIGITS = 38
BOUND = 10**DIGITS


class Totals:
    """Running totals of an integer or decimal column.

    Integers result in int64 and decimals in decimal(38, scale), as in Spark's SUM. Raises DataError if a
    result does not fit.
    """

    def __init__(self, name: str, column: pa.Array) -> None:
        self.name = name
        kind = column.type
        self.is_decimal = pa.types.is_decimal(kind)
        self.type = pa.decimal128(DIGITS, kind.scale) if pa.types.is_decimal(kind) else pa.int64()
        self.limbs = _limbs(column)

    @cached_property
    def totals(self) -> list[Ints]:
        """The running totals of each limb."""
        return [*map(_running, self.limbs)]

    def between(self, lo: Ints, hi: Ints) -> list[Ints]:
        """The totals of rows [lo, hi) in limbs, for `column`."""
        return [total[hi] - total[lo] for total in self.totals]

    def column(self, parts: list[Ints], present: Mask | None = None) -> pa.Array:
        """Totals in limbs as a column; NULL where not `present`."""
        for k in range(len(parts) - 1):
            parts[k + 1] += parts[k] >> 32
            parts[k] &= LOW
        if not self.is_decimal:
            return from_integers(self._as_int64(parts), self.type, present)
        low, high = self._as_words(parts)
        return from_words(low, high, self.type, present)

    def _as_int64(self, parts: list[Ints]) -> Ints:
        if len(parts) == 1:
            return parts[0]
        low, high = parts
        self._refuse(((high < -(2**31)) | (high >= 2**31)).any(), "bigint")
        return (high << 32) | low

    def _as_words(self, parts: list[Ints]) -> tuple[Ints, Ints]:
        if len(parts) == 1:
            return parts[0], parts[0] >> 63
        a, b, c, d = parts
        self._refuse(((d < -(2**31)) | (d >= 2**31)).any(), str(self.type))
        low, high = (b << 32) | a, (d << 32) | c
        self._refuse(_beyond(low.view(np.uint64), high).any(), str(self.type))
        return low, high

    def _refuse(self, overflow: np.bool_, kind: str) -> None:
        if overflow:
            raise DataError(
                f"the sum of {self.name} over a window does not fit {kind}",
                hint="CAST the argument to DOUBLE",
            )


class ExactSum(Totals, Partial):
    """`sum` of integers and decimals. NULLs are ignored, and the sum of only NULLs is NULL."""

    def __init__(self, name: str, column: pa.Array) -> None:
        super().__init__(name, column)
        self.presence = Presence(column)

    def over(self, ranges: Ranges) -> pa.Array:
        return self.column(self._of(ranges), self.presence.over(ranges))

    def _of(self, ranges: Ranges) -> list[Ints]:
        if ranges.whole:  # one pass instead of running totals
            return [_sums_of_pieces(limb, ranges.lo) for limb in self.limbs]
        return self.between(ranges.lo, ranges.hi)


def _limbs(column: pa.Array) -> list[Ints]:
    """The column in limbs, lowest first. A single limb if all sums fit into it."""
    if not pa.types.is_decimal(column.type):
        values = integers(column)
        return [values] if _sums_fit(values) else [values & LOW, values >> 32]
    low, high = words(column)
    if fit_int64(low, high) and _sums_fit(low):
        return [low]
    return [low & LOW, (low >> 32) & LOW, high & LOW, high >> 32]


def _sums_fit(values: Ints) -> bool:
    largest = max(abs(int(values.min())), abs(int(values.max()))) if len(values) else 0
    if largest * len(values) < SAFE:
        return True
    return float(np.abs(values.astype(np.float64)).sum()) < SAFE


def _sums_of_pieces(limb: Ints, starts: Ints) -> Ints:
    """The sum of each piece, for pieces that start at these rows and follow each other."""
    return np.add.reduceat(limb, starts) if len(starts) else limb[:0]


def _running(limb: Ints) -> Ints:
    """The totals before each row and after the last."""
    totals = np.zeros(len(limb) + 1, dtype=np.int64)
    np.cumsum(limb, out=totals[1:])
    return totals


def _beyond(low: NDArray[np.uint64], high: Ints) -> Mask:
    """Whether a 128-bit number has more than 38 digits."""
    mask = 2**64 - 1
    above: Mask = (high > BOUND >> 64) | ((high == BOUND >> 64) & (low >= np.uint64(BOUND & mask)))
    below: Mask = (high < -BOUND >> 64) | ((high == -BOUND >> 64) & (low <= np.uint64(-BOUND & mask)))
    return above | below
