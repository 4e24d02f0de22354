"""Windows of a stream that also emit results before their end, and again when late rows arrive.

Everything is computed from increments: one row per key and window, from the rows that arrived since the window last
fired. Rows that open windows have not emitted yet are in slices, as in `SlicingWindows`; an early fire empties them. A
row that is late for only some of its windows is in LATE_ROWS for these, and in a slice for the others. Purging emits
the increments. Accumulating adds them to what was emitted last, which EMITTED_WINDOW keeps exactly: computing sums of
floating-point numbers again might give another result. Source: semantics.md#late-rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from tvfsql.plan.stream import Firing
from tvfsql.plan.tables.internal_columns import BEFORE
from tvfsql.runtime.arrow.batches import joined, key_codes
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.stream.operator.messages import Emit, Fire, Late
from tvfsql.runtime.stream.operator.protocol import MOST_OPEN, KeyGroup
from tvfsql.runtime.stream.state.chunk_index import Key, Kind
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.windows.delays import Delays
from tvfsql.runtime.stream.windows.slice_tree import slice_key
from tvfsql.runtime.stream.windows.slicing import SlicingWindows

FIRE_ROWS = 500_000  # about how many rows are made at a time
FAN = 4  # what was emitted is rewritten with what is emitted now if it has at most so many times the rows


class FiringWindows(KeyGroup):
    """`SlicingWindows` that also fire early and late.

    Fires are emitted at the end of the micro-batch, once per key and window. `now` is the processing time of the
    micro-batch in epoch ms. A delay starts with the first row that the key group has not emitted. Emits the keys,
    `$slice` (the window end as a number of slices) and partials. When accumulating also `before`, a struct of the
    partials that were emitted last; NULL the first time.
    """

    def __init__(self, windows: SlicingWindows, firing: Firing, now: int) -> None:
        super().__init__(windows.context, windows.store)
        self.windows, self.firing = windows, firing
        self.span, self.layout, self.counts = windows.span, windows.layout, windows.counts
        self.fires: list[Fire] = []
        self.delays = Delays(self.store, now)

    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        """Take slices. Rows may be late for some windows, and in time for others."""
        fired, closed = self.windows.fired, self._closed
        for number, batch in self.windows.in_time(payloads, closed):
            last = self.span.last(number)
            if fired is None or last > fired:
                self.windows.tree.add(number, batch)
            if fired is not None:
                ended = self.span.latest(min(fired, last))
                if ended >= self.span.first(number) and (closed is None or ended > closed):
                    self.store.append(Key(Kind.LATE_ROWS, fired), batch)

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        """Fire the windows that end, and those that close with late rows. `finish` emits both."""
        before = self._closed
        self.fires += self.windows.advance(messages)
        closed = self._closed
        if closed is not None and closed != before:
            self.fires += self._late_rows(before, closed)
            self._drop([key for key in self._keys(Kind.LATE_ROWS) if self._is_over(key, closed)])
        yield from ()

    def finish(self) -> Iterator[Emit | Late]:
        """Fire late rows and open windows whose delay has passed, and emit everything that has fired."""
        fired, early = self.windows.fired, self.firing.early
        if self.delays.is_due(Kind.LATE_SINCE, self.firing.late, waiting=bool(self._keys(Kind.LATE_ROWS))):
            assert fired is not None
            self.fires += self._late_rows(self._closed, fired)
            self._drop(self._keys(Kind.LATE_ROWS))
        if early is not None and self.delays.is_due(Kind.EARLY_SINCE, early, waiting=bool(self._keys(Kind.SLICE))):
            self.fires.append(self._open())
            self._drop(self.store.keys(Kind.SLICE, Kind.SLICE_RUN))
        self.counts.rows_out = 0
        for fresh in self._increments(self.fires):
            self.counts.rows_out += fresh.num_rows
            yield Emit(fresh if self.firing.purge else self._accumulated(fresh))
        closed = self._closed
        self._drop(key for key in self._keys(Kind.EMITTED_WINDOW) if closed is not None and key.number <= closed)
        yield from self.windows.finish()

    @property
    def newest_end(self) -> int | None:
        fired, newest = self.windows.fired, self.windows.newest_end
        emitted = self.store.numbers(Kind.EMITTED_WINDOW)
        ends = [self.span.end(number) for number in emitted if fired is None or number > fired]
        return max([*ends, *([] if newest is None else [newest])], default=None)

    @property
    def next_end(self) -> int | None:
        """The end of the next window that will fire with rows that it has not emitted."""
        return self.windows.next_end

    @property
    def due(self) -> int | None:
        return self.delays.due

    @property
    def open_ends(self) -> list[int]:
        fired = self.windows.fired
        emitted = (number for number in self.store.numbers(Kind.EMITTED_WINDOW) if fired is None or number > fired)
        return sorted({*self.windows.open_ends, *emitted})[: MOST_OPEN + 1]

    @property
    def open_slices(self) -> int:
        return self.windows.open_slices

    @property
    def _closed(self) -> int | None:
        """The last slice up to which windows are closed: windows that end there or before accept no more rows. None: no
        watermark."""
        watermark = self.store.valve.watermark
        if watermark is None:
            return None
        lateness = 0 if watermark == END_OF_INPUT else self.firing.lateness
        return self.span.number(watermark + 1 - lateness)

    def _open(self) -> Fire:
        """A fire of all rows in slices, for the windows that have not ended."""
        slices = sorted(self.store.numbers(Kind.SLICE))
        fired = self.windows.fired
        first = self.span.first(slices[0])
        if fired is not None:
            first = max(first, self.span.latest(fired) + self.span.stride)
        rows = self.layout.by_key([batch for number in slices for batch in self.store.read(slice_key(number))])
        return Fire(rows, self.span.end(first), self.span.end(self.span.last(slices[-1])))

    def _late_rows(self, closed: int | None, upto: int) -> list[Fire]:
        """Fires of the late rows, for windows that end after `closed` (None: all) and at or before `upto`."""
        found = []
        for key in self._keys(Kind.LATE_ROWS):
            rows = self.layout.by_key(self.store.read(key))
            first = self.span.first(int(self.layout.slices(rows).min()))
            if closed is not None:
                first = max(first, self.span.latest(closed) + self.span.stride)
            last = self.span.latest(min(key.number, upto))
            if first <= last:
                found.append(Fire(rows, self.span.end(first), self.span.end(last)))
        return found

    def _is_over(self, late: Key, closed: int) -> bool:
        """Whether all windows that the rows under a key of LATE_ROWS are late for have closed."""
        newest = max(int(self.layout.slices(rows).max()) for rows in self.store.read(late))
        return self.span.latest(min(late.number, self.span.last(newest))) <= closed

    def _increments(self, fires: Sequence[Fire]) -> Iterator[pa.RecordBatch]:
        """One row per key and window, merged from all fires."""
        if not fires:
            return
        rows = sum(map(self.windows.fired_windows.count, fires))
        first = self.span.number(min(fire.first_end for fire in fires))
        last = self.span.number(max(fire.last_end for fire in fires))
        pieces = min(last - first, rows // FIRE_ROWS) + 1
        for piece in range(pieces):
            ends = [self.span.end(first + (last + 1 - first) * at // pieces) for at in (piece, piece + 1)]
            parts = (
                Fire(fire.slices, max(fire.first_end, ends[0]), min(fire.last_end, ends[1] - 1))
                for fire in fires
                if fire.first_end < ends[1] and ends[0] <= fire.last_end
            )
            made = [self._numbered(batch) for part in parts for batch in self._whole(part)]
            if made:
                yield self.layout.merged(made)

    def _whole(self, fire: Fire) -> Iterator[pa.RecordBatch]:
        return self.windows.fired_windows.windows(fire, mergeable=True)

    def _numbered(self, made: pa.RecordBatch) -> pa.RecordBatch:
        """The kernel's windows, with their end as a number of slices."""
        micros: Ints = made.column("window_end").view(pa.int64()).to_numpy()
        columns = [column for name, column in zip(made.schema.names, made.columns, strict=True) if name not in BOUNDS]
        keys = self.layout.keys
        return self.layout.batch(columns[:keys], self.span.numbers(micros // 1000), columns[keys:])

    def _accumulated(self, fresh: pa.RecordBatch) -> pa.RecordBatch:
        """The increments, added to what was emitted last. The result is kept while its window may change."""
        windows = np.unique(self.layout.slices(fresh)).tolist()
        keys = (Key(Kind.EMITTED_WINDOW, number) for number in windows)
        emitted = [self.layout.newest(self.store.read(key)) for key in keys if key in self.store]
        before = joined(emitted) if emitted else fresh.slice(0, 0)
        old, new = self._codes(before, fresh)
        touched = np.isin(old, new)
        changed = before.filter(pa.array(touched))
        now = self.layout.merged([changed, fresh])
        for number, batch in self.layout.by_slice(now).items():
            if self._closed is None or number > self._closed:
                self.store.append(Key(Kind.EMITTED_WINDOW, number), batch, self._newest, FAN)
        old, new = self._codes(changed, now)
        order = np.argsort(new)
        at = np.full(now.num_rows, -1)
        at[order[np.searchsorted(new[order], old)]] = np.arange(changed.num_rows)
        partials = changed.take(pa.array(at, mask=at < 0)).columns[self.layout.keys + 1 :]
        names = [name for name, _ in self.layout.merges]
        return now.append_column(BEFORE, pa.StructArray.from_arrays(partials, names=names, mask=pa.array(at < 0)))

    def _newest(self, batches: Sequence[pa.RecordBatch], every: bool) -> pa.RecordBatch:
        return self.layout.newest(batches)

    def _codes(self, one: pa.RecordBatch, other: pa.RecordBatch) -> tuple[Ints, Ints]:
        """Numbers for the rows of two batches, equal for equal keys and windows."""
        both = [pa.concat_arrays([one.column(place), other.column(place)]) for place in range(self.layout.keys + 1)]
        codes = key_codes(both, one.num_rows + other.num_rows)
        return codes[: one.num_rows], codes[one.num_rows :]

    def _keys(self, kind: Kind) -> list[Key]:
        return sorted(self.store.keys(kind))

    def _drop(self, keys: Iterable[Key]) -> None:
        for key in list(keys):
            self.store.drop(key)


BOUNDS = ("window_start", "window_end")
