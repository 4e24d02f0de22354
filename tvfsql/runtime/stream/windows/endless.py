"""Groups without a window: the rows of a key belong to one window that never ends, and each micro-batch emits what it
has changed.

The state has a row for each key: its merged partials, and when it last had rows. They are in buckets of the hash of
their key, so a micro-batch reads the buckets of its keys, and appends what it has changed. With a retention a key that
had no rows for so long (processing time) is forgotten: its next row starts anew, whatever the borders of micro-batches.
All buckets are looked through once per retention. Source: semantics.md#groups-without-a-window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from tvfsql.errors import UnsupportedError
from tvfsql.plan.stream import ONE_INPUT, StreamContext
from tvfsql.plan.tables.internal_columns import BEFORE
from tvfsql.runtime.arrow.batches import joined, key_codes
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.arrow.spark_hash import xxhash64
from tvfsql.runtime.merge.kernel import BATCH_ROWS
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.exchange.rows_by_key import HASH
from tvfsql.runtime.stream.operator.messages import Emit, Fire
from tvfsql.runtime.stream.operator.protocol import KeyGroup, Operator
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.hash_buckets import BUCKET_ROWS, CHANGE, HashBuckets
from tvfsql.runtime.stream.state.idle_keys import TOUCHED, IdleKeys, touched
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.processing_time import passed
from tvfsql.runtime.stream.windows.slicing import with_operations


@dataclass(frozen=True)
class EndlessOperator(Operator):
    """GroupAggregate. `rows` is the partial of `layout` that counts rows. `lacking` has the partials that rows in state
    may lack. `retention` is in ms; 0: forever."""

    layout: SliceRows
    rows: str
    context: StreamContext = ONE_INPUT
    lacking: Mapping[str, pa.Array] = field(default_factory=dict)
    retention: int = 0
    bucket_rows: int = BUCKET_ROWS

    def open(self, state: State, timers: TimerState | None, now: int) -> EndlessGroups:
        columns = [*self.layout.names, HASH, TOUCHED, CHANGE]
        store = ChunkStore(state, joined, self.context.inputs, columns=columns, lacking=self.lacking)
        return EndlessGroups(self, store, now)

    def watermark_at(self, now: int) -> int:
        return passed(now)

    def unpack(self, emitted: Fire | Emit) -> Iterator[pa.RecordBatch]:
        """Keys and what results need of merged partials; if results are replaced, also `before` and `$op`, as
        `WindowChanges` has them."""
        assert isinstance(emitted, Emit), emitted
        keys, names = self.layout.keys, self.layout.names
        for start in range(0, emitted.rows.num_rows, BATCH_ROWS):
            rows = emitted.rows.slice(start, BATCH_ROWS)
            columns = dict(zip(names[:keys], rows.columns, strict=False))
            partials = dict(zip(names[keys + 1 :], rows.columns[keys + 1 :], strict=False))
            if BEFORE in rows.schema.names:
                yield with_operations(columns, partials, rows.column(BEFORE))
            else:
                yield pa.RecordBatch.from_pydict(columns | partials)


class EndlessGroups(KeyGroup):
    """The groups of one key group. They emit what results need of their merged partials when rows have come; with
    changes also `before`, a struct of what was emitted last, NULL the first time. Without changes a group is emitted
    once. `now` is the processing time of the micro-batch in epoch ms."""

    def __init__(self, spec: EndlessOperator, store: ChunkStore, now: int) -> None:
        super().__init__(spec.context, store)
        self.spec, self.layout, self.now = spec, spec.layout, now
        self.buckets = HashBuckets(store, spec.bucket_rows)
        self.idle = IdleKeys(self.buckets, spec.retention, now)
        self.waiting: list[pa.RecordBatch] = []

    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        self.waiting += payloads

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        self.store.valve.advance(messages)
        yield from ()

    def finish(self) -> Iterator[Emit]:
        self.idle.forget()
        if not self.waiting:
            return
        fresh, self.waiting = self.layout.merged(self.waiting, into=0), []
        self.counts.rows_in += self.layout.total(fresh, self.spec.rows)
        before = self._known(fresh)
        now = self.layout.merged([before, fresh], into=0) if before is not None else fresh
        hashes = self._hashes(now)
        self.buckets.put(touched(now.append_column(HASH, pa.array(hashes)), self.now))
        was = self._places(now, before)
        now, before = self.layout.results(now), self.layout.results(before) if before else None
        if not self.context.emits_changes:
            now = now.filter(pa.array(was < 0))
        elif before is None:
            now = now.append_column(BEFORE, self._before(now, was))
        else:
            now = now.append_column(BEFORE, self._before(before, was))
        self.counts.rows_out += now.num_rows
        if now.num_rows:
            yield Emit(now)

    @property
    def newest_end(self) -> int | None:
        return None

    def _known(self, fresh: pa.RecordBatch) -> pa.RecordBatch | None:
        """The rows in state whose keys have the hashes of new ones; None if there are none."""
        found = [
            rows.filter(pa.array(~self.idle.among(rows))).select(self.layout.names)
            for rows in self.buckets.of(self._hashes(fresh))
        ]
        found = [rows for rows in found if rows.num_rows]
        return joined(found) if found else None

    def _places(self, now: pa.RecordBatch, before: pa.RecordBatch | None) -> Ints:
        """For each group its row in `before`; -1: it has none."""
        at = np.full(now.num_rows, -1)
        if before is not None:
            keys = range(self.layout.keys)
            both = [pa.concat_arrays([before.column(place), now.column(place)]) for place in keys]
            codes = key_codes(both, before.num_rows + now.num_rows)
            old, new = codes[: before.num_rows], codes[before.num_rows :]
            order = np.argsort(new)
            at[order[np.searchsorted(new[order], old)]] = np.arange(before.num_rows)
        return at

    def _before(self, rows: pa.RecordBatch, at: Ints) -> pa.Array:
        names = [name for name, _ in self.layout.merges]
        taken = rows.take(pa.array(np.maximum(at, 0))) if rows.num_rows else rows
        partials = taken.columns[self.layout.keys + 1 :]
        return pa.StructArray.from_arrays(partials, names=names, mask=pa.array(at < 0))

    def _hashes(self, rows: pa.RecordBatch) -> Ints:
        """The hash of the key of each group; one for all if their type has none."""
        try:
            return xxhash64(rows.columns[: self.layout.keys], rows.num_rows)
        except UnsupportedError:
            return np.zeros(rows.num_rows, dtype=np.int64)
