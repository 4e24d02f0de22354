"""The frames of OVER as ranges of rows, which are in order of partition and time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from tvfsql.plan.over import ROWS, Frame
from tvfsql.runtime.arrow.columns import Ints, Mask, presence
from tvfsql.runtime.merge.ranges import Blocks, Partial, Ranges, latest


@dataclass(frozen=True)
class OrderedRows:
    """Rows in order: `first` flags the first row of each partition, `micros` are their times (epoch microseconds)."""

    first: Mask
    micros: Ints

    def blocks(self, frame: Frame) -> Blocks:
        """The blocks that `ranges` needs: the partitions, cut into pieces as long as the frame. Those of RANGE are
        fixed on the time line, so that floats are added in one order, however rows are divided into micro-batches."""
        if frame.start is None:
            return Blocks(self.first)
        if frame.unit == ROWS:
            return Blocks(self.first | (self._place % (frame.start + 1) == 0))
        block = self.micros // (frame.start * 1000 + 1)
        return Blocks(self.first | (np.diff(block, prepend=block[:1]) != 0))

    def ranges(self, frame: Frame, blocks: Blocks, rows: Ints) -> Ranges:
        """The frame of each of some rows. It is empty where `frame.end` is before the start of the partition."""
        starts = self._start[rows]
        lo, hi = starts, rows + 1
        if frame.unit == ROWS:
            if frame.start is not None:
                lo = np.maximum(rows - frame.start, starts)
            hi = np.maximum(rows + 1 - frame.end, lo)
        else:
            if frame.start is not None:
                clock = self._clock(frame.start * 1000)
                lo = np.searchsorted(clock, clock[rows] - frame.start * 1000)
            hi = self._next_time[rows]
        return Ranges(blocks, lo, hi, starts, anchored=frame.start is None)

    @cached_property
    def _start(self) -> Ints:
        return latest(self.first)

    @cached_property
    def _place(self) -> Ints:
        return np.arange(len(self.first)) - self._start

    @cached_property
    def _next_time(self) -> Ints:
        """For each row the next one with another time or partition."""
        new = np.append(self.first[1:] | (np.diff(self.micros) != 0), True)
        ends = np.flatnonzero(new) + 1
        found: Ints = ends[np.searchsorted(ends, np.arange(len(new)), side="right")]
        return found

    def _clock(self, width: int) -> Ints:
        """A clock that continues over all partitions and skips gaps: on it, frames of this width cannot overlap with
        another partition, and it does not overflow."""
        gap = np.diff(self.micros, prepend=self.micros[:1])
        clock: Ints = np.cumsum(np.where(self.first, width + 1, np.minimum(gap, width + 1)))
        return clock


class Nearest(Partial):
    """`first` and `last`: the first or the last value of a range that is not NULL, in the order of the rows."""

    def __init__(self, column: pa.Array, *, last: bool) -> None:
        self.column, self.last = column, last
        present = presence(column)
        self.present = np.ones(len(column), dtype=np.bool_) if present is None else present

    def over(self, ranges: Ranges) -> pa.Array:
        if self.last:
            at = latest(self.present)[np.maximum(ranges.hi - 1, 0)]
            found = (at >= ranges.lo) & (ranges.hi > ranges.lo)
        else:
            at = len(self.present) - 1 - latest(self.present[::-1])[::-1]
            at = at[np.minimum(ranges.lo, len(at) - 1)]
            found = at < ranges.hi
        return self.column.take(pa.array(at, mask=~found))
