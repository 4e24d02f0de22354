"""Sessions as intervals of time with partials: rows, local sessions, and sessions in state all merge in the same way.

An interval reaches from its first row, `$start`, to its last row, `$last`; a single row is an interval. Two intervals
of a key that are at most the gap apart merge. This is associative and needs no order. If sessions have a maximum
length, it is not associative: then only rows of the same time are merged until the session is final. Times are epoch
microseconds inside; gap and limit are milliseconds. Source: semantics.md#sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from tvfsql.plan.tables.internal_columns import INTERVAL_LAST, INTERVAL_START
from tvfsql.runtime.arrow.batches import changes_in, joined, key_codes, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask, changes
from tvfsql.runtime.merge.partials import Merge, prepare
from tvfsql.runtime.merge.ranges import Blocks, Ranges

TIMESTAMP = pa.timestamp("us")


@dataclass(frozen=True)
class Intervals:
    """Makes and merges batches of intervals: `keys` key columns (`$0`, `$1`, ...), `$start` and `$last` (int64, epoch
    microseconds), and a column for each pair (partial, merge kind)."""

    keys: int
    merges: tuple[tuple[str, Merge], ...]
    gap: int
    limit: int | None = None

    @property
    def kept(self) -> Intervals:
        """The layout that merges intervals while more may come."""
        return self if self.limit is None else replace(self, gap=0, limit=None)

    @property
    def names(self) -> list[str]:
        return [*(f"${k}" for k in range(self.keys)), INTERVAL_START, INTERVAL_LAST, *(name for name, _ in self.merges)]

    def batch(
        self, keys: Sequence[pa.Array], starts: Ints, lasts: Ints, partials: Sequence[pa.Array]
    ) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([*keys, pa.array(starts), pa.array(lasts), *partials], self.names)

    def starts(self, batch: pa.RecordBatch) -> Ints:
        return _numbers(batch.column(self.keys))

    def lasts(self, batch: pa.RecordBatch) -> Ints:
        return _numbers(batch.column(self.keys + 1))

    def ends(self, batch: pa.RecordBatch) -> Ints:
        """The window ends of the intervals in epoch ms. A window closes 1 ms before its end."""
        return self._ends(self.starts(batch), self.lasts(batch)) // 1000

    def not_before(self, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """The intervals, with all times moved to `first` (epoch ms) or later."""
        for at, times in enumerate((self.starts(batch), self.lasts(batch)), self.keys):
            batch = batch.set_column(at, batch.schema.names[at], pa.array(np.maximum(times, first * 1000)))
        return batch

    def least_ends(self, batch: pa.RecordBatch) -> Ints:
        """A lower bound of the end of any window with each interval, in epoch ms."""
        return self.ends(batch) if self.limit is None else self.starts(batch) // 1000

    def first_end(self, batch: pa.RecordBatch) -> int:
        """A lower bound of the ends of all windows with one of the intervals, in epoch ms."""
        return int(self.least_ends(batch).min())

    def windows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Keys, window_start, window_end, partials."""
        ends = pa.array(self._ends(self.starts(batch), self.lasts(batch))).view(TIMESTAMP)
        starts = pa.array(self.starts(batch)).view(TIMESTAMP)
        names = [*self.names[: self.keys], "window_start", "window_end", *(name for name, _ in self.merges)]
        columns = [*batch.columns[: self.keys], starts, ends, *batch.columns[self.keys + 2 :]]
        return pa.RecordBatch.from_arrays(columns, names)

    def merged(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """One interval per session of a key. The result is grouped by key, in arbitrary order, and sorted by start
        within a key."""
        batch = joined(batches)
        codes = key_codes(batch.columns[: self.keys], batch.num_rows)
        starts = self.starts(batch)
        order = sort_order([codes, starts])
        return self._merged(batch, order, changes_in(codes[order]))

    def merged_in_order(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Like `merged`, for intervals that are already in the order of their keys and starts."""
        return self._merged(batch, None, self._new_key(batch))

    def last_session(self, batch: pa.RecordBatch) -> int:
        """The position where the last session starts, in intervals in the order of their keys and starts."""
        first, _ = self._sessions(self.starts(batch), self.lasts(batch), self._new_key(batch))
        return int(np.flatnonzero(first)[-1])

    def session_ends(self, batches: Sequence[pa.RecordBatch]) -> Ints:
        """For each interval the end (epoch ms) of the session that it belongs to, if all intervals are merged."""
        batch = joined([each.select(self.names[: self.keys + 2]) for each in batches])
        codes = key_codes(batch.columns[: self.keys], batch.num_rows)
        order = sort_order([codes, self.starts(batch)])
        starts, lasts = self.starts(batch)[order], self.lasts(batch)[order]
        first, reached = self._sessions(starts, lasts, changes_in(codes[order]))
        of_session = reached[_stops(np.flatnonzero(first), len(order)) - 1]
        ends = np.empty(len(order), dtype=np.int64)
        ends[order] = self._ends(starts[first], of_session)[np.cumsum(first) - 1] // 1000
        return ends

    def _merged(self, batch: pa.RecordBatch, order: Ints | None, new_key: Mask) -> pa.RecordBatch:
        starts, lasts = self.starts(batch), self.lasts(batch)
        if order is not None:
            starts, lasts = starts[order], lasts[order]
        first, reached = self._sessions(starts, lasts, new_key)
        ranges = Ranges.of_blocks(Blocks(first))
        heads = ranges.lo
        at = None if order is None else pa.array(order)
        of_heads = pa.array(heads if order is None else order[heads])
        keys = [column.take(of_heads) for column in batch.columns[: self.keys]]
        partials = []
        for (name, kind), column in zip(self.merges, batch.columns[self.keys + 2 :], strict=True):
            values = column if at is None else column.take(at)
            partials.append(prepare(kind, name, values, ranges.blocks).over(ranges))
        return self.batch(keys, starts[heads], reached[ranges.hi - 1], partials)

    def _new_key(self, batch: pa.RecordBatch) -> Mask:
        new_key = np.zeros(batch.num_rows, dtype=np.bool_)
        new_key[:1] = True
        for column in batch.columns[: self.keys]:
            new_key |= changes(column)
        return new_key

    def _sessions(self, starts: Ints, lasts: Ints, new_key: Mask) -> tuple[Mask, Ints]:
        """For intervals by key and start: which ones start a session, and the latest `$last` of the key so far."""
        reached = running_latest(lasts, new_key)
        first = new_key.copy()
        first[1:] |= starts[1:] - reached[:-1] > self.gap * 1000
        return (first if self.limit is None else cut(starts, first, self.limit * 1000)), reached

    def _ends(self, starts: Ints, lasts: Ints) -> Ints:
        ends = lasts + self.gap * 1000
        return ends if self.limit is None else np.minimum(ends, starts + self.limit * 1000)


def of_rows(
    layout: Intervals, keys: Sequence[pa.Array], times: pa.Array, partials: Sequence[pa.Array]
) -> pa.RecordBatch:
    """Rows as intervals, each of its own time (timestamp_ntz)."""
    micros = _numbers(times.cast(TIMESTAMP).view(pa.int64()))
    return layout.batch(keys, micros, micros, partials)


def cut(times: Ints, first: Mask, limit: int) -> Mask:
    """Where sessions start if none is longer than `limit`: at each `first` row of a run, and then at each next row of
    the run that is beyond the limit. All runs are processed at once, in steps that double."""
    run = np.cumsum(first, dtype=np.int64) - 1
    stops = _stops(np.flatnonzero(first), len(first))[run]
    following = np.minimum(_search(times, run, times + limit), stops)
    begins = np.append(first, False)  # one more place, for the end of the last run
    step = np.append(np.where(following < stops, following, len(first)), len(first))
    while (step < len(first)).any():
        begins[step[begins]] = True
        step = step[step]
    return begins[:-1]


def _search(times: Ints, run: Ints, wanted: Ints) -> Ints:
    """For each wanted time, the first row of the same run with that time or a later one; the run's end if there is
    none."""
    least = int(times.min()) if len(times) else 0
    width = int(wanted.max()) - least + 1 if len(times) else 1
    if len(times) and (int(run[-1]) + 1) * width < 2**62:
        lift = run * width - least
        found: Ints = np.searchsorted(times + lift, wanted + lift)
        return found
    found = np.empty(len(times), dtype=np.int64)
    for number in np.unique(run).tolist():  # times over tens of thousands of years
        rows = np.flatnonzero(run == number)
        found[rows] = rows[0] + np.searchsorted(times[rows], wanted[rows])
    return found


def running_latest(times: Ints, new_key: Mask) -> Ints:
    """The largest time of a key so far, for rows that are grouped by key."""
    if not len(times):
        return times
    number = np.cumsum(new_key, dtype=np.int64) - 1
    least, width = int(times.min()), int(times.max()) - int(times.min()) + 1
    if (int(number[-1]) + 1) * width < 2**62:  # each key is lifted above the previous one
        lift = number * width - least
        return np.maximum.accumulate(times + lift) - lift
    different, ranks = np.unique(times, return_inverse=True)
    lift = number * len(different)
    best: Ints = different[np.maximum.accumulate(ranks.astype(np.int64) + lift) - lift]
    return best


def _stops(heads: Ints, rows: int) -> Ints:
    """The end of each piece, for pieces that start at these rows."""
    return np.append(heads[1:], rows) if rows else heads


def _numbers(column: pa.Array) -> Ints:
    numbers: Ints = column.to_numpy()
    return numbers
