"""Values at given ranks of many ranges of rows, without sorting each range.

The rows are put into a wavelet matrix (Claude, Navarro and Ordonez, 2015): level by level, from the highest bit of the
values' codes to the lowest, rows with the bit 0 come before those with the bit 1, both in their given order. A range of
rows stays a range on each level, so a rank is followed through the levels by counting. All ranks of all ranges take a
level together. The cost is (rows + ranks) x bits, whatever the length of the ranges, so windows that overlap cost no
more than others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tvfsql.runtime.arrow.columns import Ints, Mask

PIECE = 1 << 15  # ranks


class Found(NamedTuple):
    """For each rank the code of its value, and the ranks [first, stop) that this value has in the range."""

    codes: Ints
    first: Ints
    stop: Ints


class _Level(NamedTuple):
    """`zeros[i]`: how many of the first i rows have the bit 0. `numbers[i]`: how often they occur."""

    bit: int
    zeros: Ints
    numbers: Ints


class RankedRanges:
    """Rows with a code from 0 to `top`, each of which occurs so many times (`numbers`, not negative)."""

    def __init__(self, codes: Ints, numbers: Ints, top: int) -> None:
        once = bool((numbers == 1).all())
        self.before = _running(numbers)
        self.levels: list[_Level] = []
        for bit in reversed(range(max(1, int(top).bit_length()))):
            zero = (codes >> bit) & 1 == 0
            zeros = _running(zero)
            self.levels.append(_Level(bit, zeros, zeros if once else _running(np.where(zero, numbers, 0))))
            order = np.concatenate([np.flatnonzero(zero), np.flatnonzero(~zero)])
            codes, numbers = codes[order], numbers[order]
        self.sorted = _running(numbers)

    def totals(self, lo: Ints, hi: Ints) -> Ints:
        """How often all rows of each range [lo, hi) occur."""
        return self.before[hi] - self.before[lo]

    def at(self, lo: Ints, hi: Ints, ranks: Ints) -> Found:
        """The values at these ranks (0: the least) of the ranges [lo, hi). Each rank must be below the total."""
        pieces = [
            self._piece(lo[i : i + PIECE], hi[i : i + PIECE], ranks[i : i + PIECE]) for i in range(0, len(lo), PIECE)
        ]
        if not pieces:
            return Found(*(np.zeros(0, dtype=np.int64) for _ in Found._fields))
        return Found(*map(np.concatenate, zip(*pieces, strict=True)))

    def _piece(self, lo: Ints, hi: Ints, ranks: Ints) -> Found:
        """The same for a few ranks, which stay in the processor's cache from level to level."""
        left, codes = ranks, np.zeros(len(ranks), dtype=np.int64)
        for bit, zeros, numbers in self.levels:
            low, high = zeros[lo], zeros[hi]
            below = high - low if numbers is zeros else numbers[hi] - numbers[lo]
            one = left >= below
            codes += one.astype(np.int64) << bit
            left = np.where(one, left - below, left)
            lo, hi = np.where(one, zeros[-1] + lo - low, low), np.where(one, zeros[-1] + hi - high, high)
        first = ranks - left
        return Found(codes, first, first + self.sorted[hi] - self.sorted[lo])


def _running(numbers: Ints | Mask) -> Ints:
    total = np.zeros(len(numbers) + 1, dtype=np.int64)
    np.cumsum(numbers, out=total[1:])
    return total
