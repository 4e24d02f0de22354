"""Blocks of rows, and ranges over them: where scans restart, and which rows a window contains.

The method is van Herk's (1992). The rows are cut into blocks as long as a window. Any window is then the end of one
block, the start of the next, or both. With running aggregates of each block from both sides, a window costs one merge,
whatever its size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.columns import Ints, Mask, presence


@dataclass(frozen=True)
class Blocks:
    """Rows cut into blocks. `first[i]` is True if row i starts one; `first[0]` is always True."""

    first: Mask

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def number(self) -> Ints:
        """For each row the number of its block, from 0."""
        return np.cumsum(self.first, dtype=np.int64) - 1

    @cached_property
    def start(self) -> Ints:
        """For each row the first row of its block."""
        return latest(self.first)

    @cached_property
    def last(self) -> Mask:
        """Which rows are the last of their block."""
        return np.append(self.first[1:], True)

    @cached_property
    def position(self) -> Ints:
        """For each row the number of rows before it in its block."""
        return np.arange(len(self)) - self.start

    @cached_property
    def reversed(self) -> Blocks:
        """The same blocks for the rows in reverse order: a scan over them is a suffix scan."""
        return Blocks(self.last[::-1])


@dataclass(frozen=True)
class Ranges:
    """Ranges [lo, hi) of rows: the end of a block, the start of one, or an end and the next block's start.

    `since` is the row where the running total of a range starts: the first row of its run, at or before lo. `anchored`:
    each range starts where its block does, so no suffix is needed. `whole`: the ranges are the blocks, in order, so
    each row is in one of them. Scans raise AssertionError for ranges of another shape.
    """

    blocks: Blocks
    lo: Ints
    hi: Ints
    since: Ints
    anchored: bool = False
    whole: bool = False

    @classmethod
    def of_blocks(cls, blocks: Blocks) -> Ranges:
        """Each block as a range."""
        starts = np.flatnonzero(blocks.first)
        stops = np.append(starts[1:], len(blocks)) if len(blocks) else starts
        return cls(blocks, starts, stops, starts, anchored=True, whole=True)

    def __len__(self) -> int:
        return len(self.lo)

    @cached_property
    def suffix(self) -> Ints | None:
        """The row whose suffix scan is the left part; if there is none, the neutral entry at `len(blocks)`."""
        return None if self.anchored else np.where(self._across | self._to_the_end, self.lo, len(self.blocks))

    @cached_property
    def prefix(self) -> Ints:
        """The row whose prefix scan is the right part; if there is none, the neutral entry at `len(blocks)`."""
        if self.anchored:
            return self.hi - 1
        return np.where(self._across | ~self._to_the_end, self.hi - 1, len(self.blocks))

    @cached_property
    def _across(self) -> Mask:
        number = self.blocks.number
        further = number[self.hi - 1] - number[self.lo]
        if (further > 1).any():
            raise AssertionError("a range spans more than two blocks")
        across: Mask = further == 1
        return across

    @cached_property
    def _to_the_end(self) -> Mask:
        # Checked before "from the start", because a chunk may begin in the middle of a block; no range of a chunk
        # contains a block whose end is cut off. So floats are added in one order, however rows are chunked.
        ends: Mask = ~self._across & self.blocks.last[self.hi - 1]
        begins = self.lo[~self._across & ~ends]
        if (self.blocks.start[begins] != begins).any():
            raise AssertionError("a range is inside a block: it touches neither end")
        return ends

    def at(self, numbers: Ints) -> Ranges:
        """The ranges with these numbers."""
        return Ranges(self.blocks, self.lo[numbers], self.hi[numbers], self.since[numbers], self.anchored)

    def part(self, start: int, stop: int) -> Ranges:
        """The ranges with numbers [start, stop)."""
        cut = slice(start, stop)
        return Ranges(self.blocks, self.lo[cut], self.hi[cut], self.since[cut], self.anchored)


@dataclass(frozen=True, kw_only=True)
class SlotRanges(Ranges):
    """Ranges over slots of time, which are the `blocks`: the end of a slot, whole slots, and the start of a slot.

    `cut`: which ranges start with the end of a slot. The ranges with the numbers `having` have whole slots, which are
    the ranges `between` over the slots. So what they are merged from depends on times alone.
    """

    cut: Mask
    having: Ints
    between: Ranges

    @cached_property
    def suffix(self) -> Ints:
        return np.where(self.cut, self.lo, len(self.blocks))

    @cached_property
    def prefix(self) -> Ints:
        return self.hi - 1


class Partial:
    """A column of partials over rows in (key, time) order, ready to be merged over any ranges of them.

    The rows may be a chunk of slices in batch, or chunks of state on a stream. Results are partials of the same kind,
    so they can be merged further.
    """

    def over(self, ranges: Ranges) -> pa.Array:
        """One merged value per range, as an Arrow array; NULL for a range without values."""
        raise AssertionError(f"{type(self).__name__} does not implement over()")

    def bytes_over(self, ranges: Ranges) -> Ints | None:
        """The approximate size of each merged value; None if it does not grow with the range."""
        return None

    def of_windows(self, ranges: Ranges) -> pa.Array:
        """What a finished window needs of the merged value of each range: by default all of it."""
        return self.over(ranges)

    def of_rows(self, rows: Ranges) -> pa.Array:
        """The same of each row, whose value `over` has made. `rows`: each row as a range."""
        return self.of_windows(rows)

    def bytes_of_windows(self, ranges: Ranges) -> Ints | None:
        """The approximate size of each value of `of_windows`, as `bytes_over` gives it."""
        return self.bytes_over(ranges)

    def carried(self, rows: pa.Array) -> pa.Array:
        """What windows that stop behind all rows need of the last ones, `rows`: by default all of it."""
        return rows


class Presence:
    """Whether a range has any value that is not NULL, in one subtraction."""

    def __init__(self, column: pa.Array) -> None:
        present = presence(column)
        self.seen: Ints | None = None
        if present is not None:
            self.seen = np.zeros(len(present) + 1, dtype=np.int64)
            np.cumsum(present, out=self.seen[1:])

    def over(self, ranges: Ranges) -> Mask | None:
        """For each range, whether it has a value; None if all ranges have one."""
        return None if self.seen is None else self.seen[ranges.hi] > self.seen[ranges.lo]


def latest(flags: Mask) -> Ints:
    """For each row the nearest flagged row at or before it; -1 if there is none."""
    return np.maximum.accumulate(np.where(flags, np.arange(len(flags)), -1))


# Values at given ranks of many ranges of rows, without sorting each range.
#
# The rows are put into a wavelet matrix (Claude, Navarro and Ordonez, 2015): level by level, from the highest bit of
# the values' codes to the lowest, rows with the bit 0 come before those with the bit 1, both in their given order. A
# range of rows stays a range on each level, so a rank is followed through the levels by counting. All ranks of all
# ranges take a level together. The cost is (rows + ranks) x bits, whatever the length of the ranges, so windows that
# overlap cost no more than others.


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
