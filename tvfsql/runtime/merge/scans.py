"""Merges without an inverse, by prefix and suffix scans: minimum, maximum, floating-point sums, moments."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tvfsql.plan.over import ROWS, Frame
from tvfsql.runtime.arrow.batches import changes_in
from tvfsql.runtime.arrow.columns import Ints, Mask, presence, structs
from tvfsql.runtime.arrow.order import scale
from tvfsql.runtime.merge.ranges import Blocks, Partial, Presence, Ranges, SlotRanges, latest

# A value per row, in as many arrays as the merge needs. A scan has one more entry, the neutral value.
Columns = tuple[NDArray[Any], ...]


class Scanned(Partial):
    """An associative merge with a neutral value, by prefix and suffix scans."""

    def __init__(self, rows: Columns, blocks: Blocks) -> None:
        self.rows = rows
        self.blocks = blocks

    @abstractmethod
    def merge(self, left: Columns, right: Columns) -> Columns:
        """Row by row, `left` followed by `right`."""

    @abstractmethod
    def neutral(self) -> tuple[float, ...]:
        """The value that does not change what it is merged with, one number for each array of the rows."""

    def scan(self, rows: Columns, blocks: Blocks, *, backward: bool = False) -> Columns:
        """For each row the merge of its block up to the row, by doubling: log2(longest block) passes."""
        done = tuple(row.copy() for row in rows)
        position, step = blocks.position, 1
        todo = np.flatnonzero(position >= step)
        while len(todo):
            near, far = tuple(row[todo] for row in done), tuple(row[todo - step] for row in done)
            merged = self.merge(near, far) if backward else self.merge(far, near)
            for row, new in zip(done, merged, strict=True):
                row[todo] = new
            step *= 2
            todo = todo[position[todo] >= step]
        return done

    @cached_property
    def prefixes(self) -> Columns:
        return self._with_neutral(self.scan(self.rows, self.blocks))

    @cached_property
    def suffixes(self) -> Columns:
        backwards = tuple(row[::-1] for row in self.rows)
        scanned = self.scan(backwards, self.blocks.reversed, backward=True)
        return self._with_neutral(tuple(row[::-1] for row in scanned))

    def merged(self, ranges: Ranges) -> Columns:
        """The merge of each range: the suffix of one block followed by the prefix of the next, or of a later one."""
        with np.errstate(invalid="ignore", over="ignore"):  # inf - inf is NaN, as in SQL
            right = tuple(row[ranges.prefix] for row in self.prefixes)
            if isinstance(ranges, SlotRanges):
                right = self.merge(self._between(ranges), right)
            if ranges.suffix is None:
                return right
            return self.merge(tuple(row[ranges.suffix] for row in self.suffixes), right)

    def _between(self, ranges: SlotRanges) -> Columns:
        """The merge of the whole slots of each range."""
        slots = copy(self)
        slots.rows = tuple(row[:-1][ranges.blocks.last] for row in self.prefixes)
        slots.blocks = ranges.between.blocks
        vars(slots).pop("prefixes"), vars(slots).pop("suffixes", None)
        pairs = zip(slots.rows, self.neutral(), strict=True)
        found = tuple(np.full(len(ranges), one, dtype=row.dtype) for row, one in pairs)
        if len(ranges.having):
            for row, merged in zip(found, slots.merged(ranges.between), strict=True):
                row[ranges.having] = merged
        return found

    def _with_neutral(self, rows: Columns) -> Columns:
        return tuple(np.append(row, row.dtype.type(one)) for row, one in zip(rows, self.neutral(), strict=True))


class FloatSum(Scanned):
    """`sum` of floating-point numbers, as double. It avoids differences, in which digits cancel, and inf and NaN would
    stay."""

    def __init__(self, column: pa.Array, blocks: Blocks) -> None:
        values = column.fill_null(-0.0).to_numpy().astype(np.float64, copy=False)
        super().__init__((values,), blocks)
        self.presence = Presence(column)

    def merge(self, left: Columns, right: Columns) -> Columns:
        return (left[0] + right[0],)

    def neutral(self) -> tuple[float, ...]:
        return (-0.0,)  # 0.0 would turn a sum of -0.0 into 0.0

    def over(self, ranges: Ranges) -> pa.Array:
        (total,) = self.merged(ranges)
        present = self.presence.over(ranges)
        return pa.array(total, mask=None if present is None else ~present)


class Moments(Scanned):
    """`moments`: count, mean, and sum of squared deviations, as struct<n: bigint, mean: double, m2: double>.

    Merged by the formula of Chan, Golub and LeVeque (1979), which stays accurate where sums of squares cancel.
    """

    def __init__(self, column: pa.Array, blocks: Blocks) -> None:
        parts = structs(column)
        self.type = parts.type
        fields = dict(zip((field.name for field in self.type), parts.flatten(), strict=True))
        n, mean, m2 = (fields[name].fill_null(0).to_numpy() for name in ("n", "mean", "m2"))
        super().__init__((n, mean, m2), blocks)
        self.presence = Presence(column)

    def merge(self, left: Columns, right: Columns) -> Columns:
        (n_left, mean_left, m2_left), (n_right, mean_right, m2_right) = left, right
        n = n_left + n_right
        share = n_right / np.maximum(n, 1)
        delta = mean_right - mean_left
        mean, m2 = mean_left + delta * share, m2_left + m2_right + delta * delta * (n_left * share)
        # if one side is empty, the result is the other one, even if that is infinite
        from_left, from_right = n_right == 0, n_left == 0
        mean = np.where(from_left, mean_left, np.where(from_right, mean_right, mean))
        return n, mean, np.where(from_left, m2_left, np.where(from_right, m2_right, m2))

    def neutral(self) -> tuple[float, ...]:
        return (0, 0.0, 0.0)

    def over(self, ranges: Ranges) -> pa.Array:
        by_name = dict(zip(("n", "mean", "m2"), self.merged(ranges), strict=True))
        present = self.presence.over(ranges)
        mask = None if present is None else pa.array(~present)
        fields = list(self.type)
        return pa.StructArray.from_arrays([pa.array(by_name[f.name]) for f in fields], fields=fields, mask=mask)


class Extreme(Scanned):
    """`min` or `max` of a type with an order: values become codes from 1 up; 0 is NULL."""

    def __init__(self, column: pa.Array, blocks: Blocks, *, largest: bool) -> None:
        self.largest = largest
        self.scale = scale(column, len(column))
        codes = self.scale.codes if largest else self.scale.top - self.scale.codes
        present = presence(column)
        super().__init__((codes + 1 if present is None else np.where(present, codes + 1, 0),), blocks)
        self.may_be_null = present is not None

    def merge(self, left: Columns, right: Columns) -> Columns:
        return (np.maximum(left[0], right[0]),)

    def neutral(self) -> tuple[float, ...]:
        return (0,)

    def scan(self, rows: Columns, blocks: Blocks, *, backward: bool = False) -> Columns:
        """One pass: each block is lifted above the previous one, so a running maximum restarts there."""
        lift = blocks.number * (self.scale.top + 2)
        return (np.maximum.accumulate(rows[0] + lift) - lift,)

    def over(self, ranges: Ranges) -> pa.Array:
        if ranges.whole:  # one pass instead of two scans
            best = np.maximum.reduceat(self.rows[0], ranges.lo) if len(ranges) else self.rows[0][:0]
        else:
            (best,) = self.merged(ranges)
        present: Mask | None = best > 0 if self.may_be_null else None
        codes = np.maximum(best - 1, 0)
        return self.scale.decode(codes if self.largest else self.scale.top - codes, present)


# The frames of OVER as ranges of rows, which are in order of partition and time.

SLOTS = 50  # in a frame: slots of it have whole us, since a frame has whole ms


@dataclass(frozen=True)
class OrderedRows:
    """Rows in order: `first` flags the first row of each partition, `micros` are their times (epoch microseconds)."""

    first: Mask
    micros: Ints

    def blocks(self, frame: Frame, *, slots: bool = False) -> Blocks:
        """The blocks that `ranges` needs: the partitions, cut into pieces as long as the frame, or with `slots` as a
        part of it. Those of RANGE are fixed on the time line, so that floats are added in one order, however rows are
        divided into micro-batches."""
        if slots:
            number = self.micros // slot_of(frame)
            return Blocks(self.first | changes_in(number))
        if frame.start is None:
            return Blocks(self.first)
        if frame.unit == ROWS:
            return Blocks(self.first | (self._place % (frame.length + 1) == 0))
        block = self.micros // (frame.start * 1000 + 1)
        return Blocks(self.first | (np.diff(block, prepend=block[:1]) != 0))

    def ranges(self, frame: Frame, blocks: Blocks, rows: Ints, *, slots: bool = False) -> Ranges:
        """The frame of each of some rows. It is empty where it would be outside the partition. A frame of RANGE ends at
        the row. With `slots` there may be one row, at the start of a slot, for all rows of a slot that is not cut by a
        frame."""
        starts = self._start[rows]
        lo = starts
        if frame.unit == ROWS:
            stops = self._stop[rows]
            if frame.start is not None:
                lo = np.clip(rows - frame.start, starts, stops)
            hi = np.maximum(np.minimum(rows + 1 - frame.end, stops), lo)
        else:
            assert not frame.end, frame
            if frame.start is not None:
                clock = self._clock(frame.start * 1000)
                lo = np.searchsorted(clock, clock[rows] - frame.start * 1000)
            hi = self._next_time[rows]
        if slots:
            return self._slot_ranges(frame, blocks, rows, lo, hi)
        return Ranges(blocks, lo, hi, starts, anchored=frame.start is None)

    def _slot_ranges(self, frame: Frame, blocks: Blocks, rows: Ints, lo: Ints, hi: Ints) -> Ranges:
        """A frame has the end of the slot of its lower bound, the SLOTS - 1 slots that follow, and the start of that of
        the row."""
        number = self.micros // slot_of(frame)
        cut = number[lo] == number[rows] - SLOTS
        first, stop = blocks.number[lo] + cut, blocks.number[hi - 1]
        having = np.flatnonzero(first < stop)
        starts = np.flatnonzero(blocks.first)
        pieces = Blocks(self.first[starts] | changes_in(number[starts] // (SLOTS - 1)))
        between = Ranges(pieces, first[having], stop[having], first[having])
        return SlotRanges(blocks, lo, hi, self._start[rows], cut=cut, having=having, between=between)

    @cached_property
    def _start(self) -> Ints:
        return latest(self.first)

    @cached_property
    def _stop(self) -> Ints:
        """For each row the row behind the last one of its partition."""
        return len(self.first) - latest(np.append(self.first[1:], True)[::-1])[::-1]

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


def slot_of(frame: Frame) -> int:
    """The length of a slot of a frame of RANGE in us."""
    return frame.length * 1000 // SLOTS


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
