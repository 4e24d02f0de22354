"""Frames of ROWS, and those without a bound: what the state has of each key, and the rows that wait for rows that
follow.

The state has the last rows of each key, in buckets of the hash of the key. The first of them has the merged partials of
all rows of the key up to it. A row whose frame goes on behind it waits until so many rows of its key have followed; it
is one of the last rows then, and the state has all its columns.

With a retention a key that had no rows for longer is forgotten: its next row starts anew, whatever the borders of
micro-batches, and rows that wait leave with the rows that there are. All buckets are looked through for such keys now
and then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import joined
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.merge.partials import prepare
from tvfsql.runtime.merge.ranges import Ranges
from tvfsql.runtime.merge.scans import OrderedRows
from tvfsql.runtime.stream.rows.over.kept_rows import KeptRows, Part, results
from tvfsql.runtime.stream.state.chunk_store import ChunkStore
from tvfsql.runtime.stream.state.hash_buckets import HashBuckets, hashes_of
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

WAITS = "$waits"  # in kept rows: whether the row waits
LOOKS = 4  # how often in a retention all keys are looked through, if rows wait


@dataclass(frozen=True)
class KeyFrames:
    """The frames `parts` of rows with `columns` columns. `retention` is in ms of event time; 0: forever."""

    parts: tuple[Part, ...]
    kept: KeptRows
    columns: int
    retention: int
    bucket_rows: int

    @cached_property
    def awaited(self) -> int:
        """For how many rows of its key a row waits."""
        return max((frame.following for frame, _ in self.parts), default=0)

    @cached_property
    def last_rows(self) -> int:
        """How many last rows of a key later frames need."""
        bounds = (frame.end if frame.start is None else frame.start for frame, _ in self.parts)
        return max(1, *bounds) + self.awaited

    @cached_property
    def waiting(self) -> tuple[int, ...]:
        """The columns that the state has of a row that waits: those that are no results of these frames."""
        made = {number for _, partials in self.parts for number, _, _ in partials}
        return tuple(i for i in range(self.columns) if i not in made) if self.awaited else ()

    @property
    def step(self) -> int:
        """From one look at all keys to the next, in ms of event time."""
        return max(1, self.retention // LOOKS) if self.awaited else self.retention

    def left_until(self, now: int) -> int | None:
        """The time up to which all rows have left, when the watermark is `now`; None: that is not known. A row waits
        for at most `awaited` rows, for each of them as long as the retention."""
        if not self.awaited or now >= END_OF_INPUT:
            return now
        return now // self.step * self.step - self.awaited * self.retention if self.retention else None

    def new(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Kept rows for rows that have not been there."""
        kept = self.kept.of(rows, self.parts)
        for i in self.waiting:
            kept = kept.append_column(_own(i), rows.column(i))
        return kept.append_column(WAITS, pa.array(np.ones(rows.num_rows, dtype=np.bool_))) if self.awaited else kept

    def forgetting(self, rows: OrderedRows) -> OrderedRows:
        """The rows, where a key that had none for longer than the retention starts anew."""
        if not self.retention:
            return rows
        gap = np.diff(rows.micros, prepend=rows.micros[:1])
        return OrderedRows(rows.first | (gap > self.retention * 1000), rows.micros)


def _own(number: int) -> str:
    return f"own {number}"


class RowsOfKeys:
    """The last rows of the keys of a key group."""

    def __init__(self, frames: KeyFrames, store: ChunkStore) -> None:
        self.frames = frames
        self.buckets = HashBuckets(store, frames.bucket_rows)

    def add(self, rows: pa.RecordBatch) -> pa.RecordBatch | None:
        """Take in rows, in order. Returns those that leave, also earlier ones, in order of time, with the results of
        their frames."""
        buckets = np.unique(self.buckets.numbers(hashes_of(rows))).tolist()
        left = self._leaving(buckets, rows)
        self.buckets.make_room()
        return left

    def look_through(self, before: int | None, now: int) -> Iterator[pa.RecordBatch]:
        """Forget the keys that have ended when the watermark is `now`. Yields their rows that waited."""
        frames, ended = self.frames, now >= END_OF_INPUT
        passed = bool(frames.retention) and (before is None or before // frames.step != now // frames.step)
        for number in self.buckets.every() if passed or (ended and frames.awaited) else ():
            left = self._leaving([number], ended_at=now)
            if left is not None:
                yield left
        if ended:
            self.buckets.clear()

    def _leaving(
        self, buckets: Sequence[int], rows: pa.RecordBatch | None = None, ended_at: int | None = None
    ) -> pa.RecordBatch | None:
        """The rows of some buckets, and new ones, that leave. Those of keys that have ended at a time do not wait."""
        frames = self.frames
        stored = [batch for batch in self.buckets.read(buckets) if batch.num_rows]
        fresh = [] if rows is None else [frames.new(rows)]
        if not (stored or fresh):
            return None
        both = joined([*stored, *fresh])
        number = both.num_rows - sum(batch.num_rows for batch in fresh)
        order, ordered = frames.kept.in_order(both)
        ordered = frames.forgetting(ordered)
        runs = _Runs(frames, ordered, frames.kept.codes(both)[order], ended_at)
        waits = both.column(WAITS).to_numpy(zero_copy_only=False)[order] if frames.awaited else order >= number
        leaves = waits & runs.complete
        gone = runs.over[runs.of_row]
        changed = hashes_of(both)[order[(order >= number) | leaves | gone]]
        kept = self._last_rows(both, order, ordered, runs, waits & ~leaves)
        self.buckets.update(kept, changed, stored)
        places = np.flatnonzero(leaves)
        return self._with_results(both, rows, number, order, ordered, places) if len(places) else None

    def _with_results(
        self,
        both: pa.RecordBatch,
        rows: pa.RecordBatch | None,
        stored: int,
        order: Ints,
        ordered: OrderedRows,
        places: Ints,
    ) -> pa.RecordBatch:
        """The rows at some places, in order of time. If none waits, these are `rows`, which come behind the stored."""
        frames = self.frames
        at = order[places]
        back = np.lexsort((at, ordered.micros[places])) if frames.awaited else np.argsort(at, kind="stable")
        found = results(both, order, ordered, places, frames.parts)
        made = {number: column.take(pa.array(back)) for number, column in found.items()}
        for i in range(frames.columns):
            if i not in made and frames.awaited:
                made[i] = both.column(_own(i)).take(pa.array(at[back]))
            elif i not in made:
                assert rows is not None
                made[i] = rows.column(i).take(pa.array(at[back] - stored))
        return pa.RecordBatch.from_arrays([made[i] for i in range(frames.columns)], [*map(str, range(frames.columns))])

    def _last_rows(
        self, both: pa.RecordBatch, order: Ints, ordered: OrderedRows, runs: _Runs, waits: Mask
    ) -> pa.RecordBatch:
        """Of each key the last rows since it started anew, the first of them with the merged partials of all up to
        it."""
        frames = self.frames
        starts, stops = runs.starts[~runs.over], runs.stops[~runs.over]
        lo = np.maximum(starts, stops - frames.last_rows)
        sizes = stops - lo
        first = np.cumsum(sizes) - sizes
        kept = np.arange(int(sizes.sum())) + np.repeat(lo - first, sizes)
        rows = both.take(pa.array(order[kept]))
        for frame, partials in frames.parts:
            if frame.start is not None:
                continue
            blocks = ordered.blocks(frame)
            ranges = Ranges(blocks, starts, lo + 1, starts, anchored=True)
            for number, name, kind in partials:
                column = both.column(str(number)).take(pa.array(order))
                merged = prepare(kind, name, column, blocks).over(ranges)
                at = np.arange(len(kept))
                at[first] = len(kept) + np.arange(len(first))
                rows = _with(rows, str(number), pa.concat_arrays([rows.column(str(number)), merged]).take(pa.array(at)))
        if frames.awaited:
            waiting = waits[kept]
            rows = _with(rows, WAITS, pa.array(waiting))
            at = np.arange(len(kept))
            for i in frames.waiting:
                rows = _with(rows, _own(i), rows.column(_own(i)).take(pa.array(at, mask=~waiting)))
        return rows


class _Runs:
    """The rows of each key since it started anew, as ranges of rows in order: [starts, stops). `over`: which of them no
    later row continues. `of_row`: the run of each row. `complete`: which rows have the rows that they wait for."""

    def __init__(self, frames: KeyFrames, rows: OrderedRows, codes: Ints, ended_at: int | None) -> None:
        self.starts = np.flatnonzero(rows.first)
        self.stops = np.append(self.starts[1:], len(codes))
        self.over: Mask = np.append(codes[self.starts[1:]] == codes[self.starts[:-1]], False)
        if ended_at is not None:
            last = rows.micros[self.stops - 1] // 1000
            self.over |= (last + frames.retention <= ended_at) if frames.retention else ended_at >= END_OF_INPUT
        self.of_row = np.repeat(np.arange(len(self.starts)), self.stops - self.starts)
        followed = np.arange(len(codes)) + frames.awaited < self.stops[self.of_row]
        self.complete: Mask = followed | self.over[self.of_row]


def _with(rows: pa.RecordBatch, name: str, column: pa.Array) -> pa.RecordBatch:
    return rows.set_column(rows.schema.get_field_index(name), name, column)
