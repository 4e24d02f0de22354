"""Slices to windows over a stream of Arrow batches in bounded memory: the function for `mapInArrow`.

Rows arrive in the order of (key, slice_end). They are processed in chunks. After each chunk, only those rows of the
last key are kept that open windows may still need. The windows of the last row are not emitted yet, because the next
row decides how many there are: a window is final when a later row of its key is past its end, or when the key changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.errors import DataError
from tvfsql.plan.tables.internal_columns import BEFORE, RANGE, SLICE_END
from tvfsql.plan.window import Cumulate, Hop, time_ranges
from tvfsql.runtime.arrow.columns import Ints, Mask, changes, flags
from tvfsql.runtime.merge.partials import Merge, prepare
from tvfsql.runtime.merge.ranges import Partial, Ranges, latest
from tvfsql.runtime.merge.window_ends import Reach, reach

CHUNK_ROWS = 200_000
CHUNK_BYTES = 256 << 20
BATCH_ROWS = 200_000
BATCH_BYTES = 64 << 20
TIMESTAMP = pa.timestamp("us")
EMITTED = "$emitted"  # the column that flags rows of steps that were emitted earlier


@dataclass(frozen=True)
class SliceKernel:
    """Merges the slices of each key to windows. In: keys, slice_end, partials, in this order, under any names.

    `merge_slices` describes the columns. `merges` are pairs (column, merge kind). The sizes, in rows or bytes, bound
    memory and never change a result. A chunk is at least as large as the rows that are kept from the previous one, so
    no row is read more than a few times. `ends` limits the windows to those that end between the two (epoch ms,
    inclusive); a key `$range` limits them to those of its time range (`plan.window.time_ranges`). With `emitted` there
    is a last column that flags the rows of the last step that was emitted earlier; they are the first rows of their
    key. With `mergeable` the partials of the windows will be merged again; else they have what results need.
    """

    window: Hop | Cumulate
    keys: tuple[str, ...]
    merges: tuple[tuple[str, Merge], ...]
    rows: str
    chunk_rows: int = CHUNK_ROWS
    chunk_bytes: int = CHUNK_BYTES
    batch_rows: int = BATCH_ROWS
    batch_bytes: int = BATCH_BYTES
    ends: tuple[int, int] | None = None
    emitted: bool = False
    mergeable: bool = False

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        feed = Feed(batch.rename_columns(self.names) for batch in batches)
        carried = Carried()
        while True:
            fresh = feed.take(max(self.chunk_rows, carried.rows), max(self.chunk_bytes, carried.bytes))
            chunk = self.chunk(fresh, carried)
            if chunk is None:
                return
            yield from chunk.windows()
            if not fresh:
                return
            carried = chunk.carry()

    @property
    def names(self) -> list[str]:
        """The columns that it reads."""
        flagged = (EMITTED,) if self.emitted else ()
        return [*self.keys, SLICE_END, *(name for name, _ in self.merges), *flagged]

    def chunk(self, fresh: Sequence[pa.RecordBatch], carried: Carried) -> Chunk | None:
        """The rows that the chunk before carried, and fresh ones; the last chunk if there are none. None: no rows."""
        if not carried.batches and not fresh:
            return None
        table = pa.Table.from_batches([*carried.batches, *fresh])
        return Chunk(self, table.combine_chunks(), carried, final=not fresh)


@dataclass(frozen=True)
class Carried:
    """The rows that one chunk passes to the next."""

    batches: tuple[pa.RecordBatch, ...] = ()
    rows: int = 0
    bytes: int = 0

    @property
    def done(self) -> int:
        """The number of rows whose windows have been emitted: all but the last one."""
        return max(0, self.rows - 1)


class Chunk:
    """Some rows in order, ready to emit their windows."""

    def __init__(self, kernel: SliceKernel, table: pa.Table, carried: Carried, *, final: bool) -> None:
        self.kernel = kernel
        self.table = table
        filled = flags(pc.greater(self._column(kernel.rows), 0))
        ends = self._ends_of_ranges() if RANGE in kernel.keys else kernel.ends
        self.reach: Reach = reach(kernel.window, self._milliseconds(SLICE_END), self._new_key(), filled, ends)
        self.partials: dict[str, Partial] = {
            name: prepare(kind, name, self._column(name), self.reach.blocks) for name, kind in kernel.merges
        }
        counts = self.reach.counts.copy()
        counts[: carried.done] = 0
        if not final:
            counts[-1] = 0
        self.upto = np.cumsum(counts)
        self.already = self.upto - counts

    def windows(self) -> Iterator[pa.RecordBatch]:
        """The output batches, made one by one: a chunk of isolated rows may have a thousand windows per row."""
        for start in range(0, int(self.upto[-1]), self.kernel.batch_rows):
            stop = min(start + self.kernel.batch_rows, int(self.upto[-1]))
            row, last_row = np.searchsorted(self.upto, (start, stop - 1), side="right")
            emits = np.diff(np.clip(self.upto[row : last_row + 1], start, stop), prepend=start).astype(np.int64)
            rows = np.repeat(np.arange(row, last_row + 1), emits)
            nth = np.arange(start, stop) - self.already[rows]
            yield from self._batches(rows, self.reach.first[rows] + nth * self.reach.stride)

    def carry(self) -> Carried:
        """The rows that later windows of the last key may need."""
        rest = self.table.slice(self.reach.kept)
        if not (self.kernel.mergeable or self.kernel.window.emit_only_on_change):  # these take the step before too
            for name, part in self.partials.items():
                rows = rest.column(name).chunk(0)
                held = part.carried(rows)
                if held is not rows:
                    rest = rest.set_column(rest.schema.get_field_index(name), name, held)
        return Carried(tuple(rest.to_batches()), rest.num_rows, rest.nbytes)

    def _batches(self, rows: Ints, ends: Ints) -> Iterator[pa.RecordBatch]:
        ranges = self.reach.ranges(rows, ends)
        starts = self.reach.starts(rows, ends)
        cuts = self._cuts(ranges)
        for a, b in pairwise(cuts):
            at, some = pa.array(rows[a:b]), ranges.part(a, b)
            columns = {name: self._column(name).take(at) for name in self.kernel.keys}
            columns["window_start"] = self._timestamps(starts[a:b])
            columns["window_end"] = self._timestamps(ends[a:b])
            for name, partial in self.partials.items():
                columns[name] = self._merged(partial, some)
            if self.kernel.window.emit_only_on_change:
                columns[BEFORE] = self._before(rows[a:b])
            yield pa.RecordBatch.from_pydict(columns)

    def _merged(self, partial: Partial, ranges: Ranges) -> pa.Array:
        return partial.over(ranges) if self.kernel.mergeable else partial.of_windows(ranges)

    @cached_property
    def _step_before(self) -> Ints:
        """For each row the last row of the previous step in the same cycle; -1 if there is none."""
        emits = self.reach.counts > 0
        if self.kernel.emitted:
            emits |= flags(self._column(EMITTED))
        before = np.append(-1, latest(emits)[:-1])
        return np.where(before >= self.reach.since, before, -1)

    def _before(self, rows: Ints) -> pa.Array:
        """What the previous step had, as a struct; NULL if there is none."""
        before = self._step_before[rows]
        last, since = np.maximum(before, self.reach.since[rows]), self.reach.since[rows]
        ranges = Ranges(self.reach.blocks, since, last + 1, since, anchored=True)
        parts = [self._merged(partial, ranges) for partial in self.partials.values()]
        return pa.StructArray.from_arrays(parts, names=list(self.partials), mask=pa.array(before < 0))

    def _cuts(self, ranges: Ranges) -> list[int]:
        """Where to split so that no batch is larger than `batch_bytes`, except a single row."""
        whole = self.kernel.mergeable
        parts = self.partials.values()
        of_parts = [part.bytes_over(ranges) if whole else part.bytes_of_windows(ranges) for part in parts]
        sizes = [size for size in of_parts if size is not None]
        if not sizes:
            return [0, len(ranges)]
        upto = np.cumsum(sum(sizes))
        cuts = [0]
        while cuts[-1] < len(ranges):
            spent = int(upto[cuts[-1] - 1]) if cuts[-1] else 0
            fits = int(np.searchsorted(upto, spent + self.kernel.batch_bytes, side="right"))
            cuts.append(max(cuts[-1] + 1, fits))
        return cuts

    def _ends_of_ranges(self) -> tuple[Ints, Ints]:
        """For each row the first and the last end of the windows that its time range makes."""
        end = self._milliseconds(RANGE)
        return end - time_ranges(self.kernel.window).slide, end - self.kernel.window.slice_size

    def _milliseconds(self, name: str) -> Ints:
        column = self._column(name)
        if column.null_count:
            raise AssertionError(f"{name} is NULL, but rows without a time are in no window")
        micros: Ints = column.cast(TIMESTAMP).view(pa.int64()).to_numpy()
        return micros // 1000

    def _new_key(self) -> Mask:
        new = np.zeros(self.table.num_rows, dtype=np.bool_)
        new[0] = True
        for name in self.kernel.keys:
            new |= changes(self._column(name))
        return new

    def _timestamps(self, slices: Ints) -> pa.Array:
        window = self.kernel.window
        return pa.array((slices * window.slice_size + window.offset) * 1000).view(TIMESTAMP)

    def _column(self, name: str) -> pa.Array:
        column = self.table.column(name)
        if column.num_chunks > 1:  # Arrow's limit for one array of strings
            raise DataError(f"the rows of one window have more than 2 GiB of {name}")
        return column.chunk(0)


class Feed:
    """Splits and combines batches to pieces of a requested size."""

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self.batches = (batch for batch in batches if batch.num_rows)
        self.rest: pa.RecordBatch | None = None

    def take(self, rows: int, size: int) -> list[pa.RecordBatch]:
        """The next batches: `rows` rows in all, or fewer once they have `size` bytes; empty at the end."""
        taken: list[pa.RecordBatch] = []
        while rows > 0 and size > 0:
            batch = self.rest if self.rest is not None else next(self.batches, None)
            if batch is None:
                break
            self.rest = batch.slice(rows) if batch.num_rows > rows else None
            taken.append(batch.slice(0, rows))
            rows -= taken[-1].num_rows
            size -= taken[-1].nbytes
        return taken
