"""ChangelogNormalize: the changes of rows that have a key, from a source that says only what a row is now, or says some
changes twice. The state has the last row of each key. Source: semantics.md#changelogs-by-key.

For example, with the key k:

    arrives         is emitted
    k = a, x = 1    +I a 1
    k = a, x = 1               (as before)
    k = a, x = 2    -U a 1, +U a 2
    a is deleted    -D a 2
    a is deleted               (there is no such row)

All changes are emitted in their own micro-batch; no row is late here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.stream import ONE_INPUT, StreamContext, StreamOptions
from tvfsql.runtime.arrow.batches import changes_in, joined, key_codes, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.arrow.ranks import sort_codes
from tvfsql.runtime.stream.exchange.rows_by_key import HASH, own_columns, rows_by_key, zone_of
from tvfsql.runtime.stream.operator.messages import Emit
from tvfsql.runtime.stream.operator.operator import apply_operator
from tvfsql.runtime.stream.operator.protocol import KeyGroup, Operator
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.hash_buckets import BUCKET_ROWS, HashBuckets, hashes_of
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT


def normalized_stream(
    rows: DataFrame,
    *,
    keys: Sequence[str],
    ends: str,
    sign: str,
    time: str = "",
    arrival: Sequence[str] = (),
    kinds: bool = False,
    name: str = "tvfsql_normalized",
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """Exchange and ChangelogNormalize: what changes when each row replaces the one with the same `keys`.

    In: any columns, and the watermark columns of `with_watermarks`, or of `with_processing_time` if there is no event
    time (`time`). A row in which `ends` (bigint) is -1 deletes the row of its key; in all others it is 1. Rows of one
    micro-batch count in the order of the columns `arrival`, and then in that in which Spark has read them.
    Out: the columns except `ends`, `arrival` and the watermark columns, and `sign` (bigint): 1 for a row that is new,
    -1 for one that is replaced or deleted; with `kinds` it has the operation (string): +I, -U, +U or -D. With `marks`
    the operator adds its own watermark columns. The query's progress reports the counters under `name`.
    """
    context = StreamContext(**options)
    own = [column for column in own_columns(rows) if column not in (ends, *arrival)]
    operator = NormalizeChanges(len(own), tuple(map(own.index, keys)), len(arrival), context, kinds=kinds)
    inputs = tuple(context.inputs)
    zone = zone_of(rows, time) if time else ""
    description = Description("ChangelogNormalize", tuple(keys), zone=zone, inputs=inputs)
    columns = [*own, ends, *arrival]
    # a message that deletes a row may lack its time, and must pass; `ends` is NULL in control rows only
    sent = rows_by_key(rows, context, columns=columns, keys=keys, time=ends, arrived=True)
    schema = T.StructType(
        [*(rows.schema[each] for each in own), T.StructField(sign, T.StringType() if kinds else T.LongType())]
    )
    return apply_operator(sent, operator, description, schema, name=name)


@dataclass(frozen=True)
class NormalizeChanges(Operator):
    """Normalizes the changes of rows with `columns` columns; `keys` are the numbers of the key. Behind them come
    `ends`, so many columns of `arrival`, and the number of the row in its micro-batch."""

    columns: int
    keys: tuple[int, ...]
    arrival: int = 0
    context: StreamContext = ONE_INPUT
    bucket_rows: int = BUCKET_ROWS
    kinds: bool = False

    def open(self, state: State, timers: TimerState | None, now: int) -> RowsByKey:
        """A key group with the last row of each key."""
        return RowsByKey(self, ChunkStore(state, joined, self.context.inputs))

    def in_order(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Rows of a micro-batch in the order in which they came."""
        last = self.columns + 1 + self.arrival
        order = [sort_codes(rows.column(i), descending=False, nulls_first=True) for i in range(self.columns + 1, last)]
        return rows.take(pa.array(sort_order([*order, rows.column(last).to_numpy()])))

    def of_state(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The columns that are kept in state."""
        return rows.select([*map(str, range(self.columns)), HASH])


class RowsByKey(KeyGroup):
    """The last row of each key of one key group."""

    def __init__(self, spec: NormalizeChanges, store: ChunkStore) -> None:
        super().__init__(spec.context, store)
        self.spec = spec
        self.buckets = HashBuckets(store, spec.bucket_rows)
        self.waiting: list[pa.RecordBatch] = []

    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        rows = joined(payloads)
        self.counts.rows_in += rows.num_rows
        self.waiting.append(rows)

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        watermark = self.store.valve.advance(messages)
        waiting, self.waiting = self.waiting, []
        if waiting:
            yield from self._changes(self.spec.in_order(joined(waiting)))
        if watermark is not None and watermark >= END_OF_INPUT:
            self.buckets.clear()

    @property
    def newest_end(self) -> int | None:
        return None

    def _changes(self, fresh: pa.RecordBatch) -> Iterator[Emit]:
        """Put rows in the place of those with the same key, and emit what that changes."""
        stored = self.buckets.of(hashes_of(fresh))
        before = sum(batch.num_rows for batch in stored)
        rows = joined([*stored, self.spec.of_state(fresh)])
        signs = np.ones(rows.num_rows, dtype=np.int64)
        signs[before:] = fresh.column(self.spec.columns).to_numpy()
        key = key_codes([rows.column(i) for i in self.spec.keys], rows.num_rows)
        order = sort_order([key])  # the row in state first, then the new ones as they came
        first = changes_in(key[order])
        then = np.where(first, -1, np.concatenate([[-1], order[:-1]]))  # the row that each one replaces; -1: none
        then[(then >= 0) & (signs[then] < 0)] = -1
        now = np.where(signs[order] > 0, order, -1)
        now[order < before] = then[order < before] = -1  # these have been emitted
        same = self._equal(rows, now, then)
        yield from self._emitted(rows, np.stack([np.where(same, -1, then), np.where(same, -1, now)], axis=1))
        last = order[np.append(first[1:], True)]
        self.buckets.put(rows.take(pa.array(np.sort(last[signs[last] > 0]))), stored)

    def _equal(self, rows: pa.RecordBatch, now: Ints, then: Ints) -> Mask:
        """Where a row replaces an equal one."""
        codes = key_codes([rows.column(i) for i in range(self.spec.columns)], rows.num_rows)
        equal: Mask = (now >= 0) & (then >= 0) & (codes[now] == codes[then])
        return equal

    def _emitted(self, rows: pa.RecordBatch, changes: Ints) -> Iterator[Emit]:
        """Emit `changes`: pairs of positions in `rows`, of the row to retract and of the row to insert; -1: none."""
        at, signs = changes.ravel(), np.tile([-1, 1], len(changes))
        if self.spec.kinds:
            update = (changes >= 0).all(axis=1)
            signs = np.stack([np.where(update, "-U", "-D"), np.where(update, "+U", "+I")], axis=1).ravel()
        own = rows.take(pa.array(at[at >= 0]))
        self.counts.rows_out += own.num_rows
        columns = [*own.columns[: self.spec.columns], pa.array(signs[at >= 0])]
        if own.num_rows:
            yield Emit(pa.RecordBatch.from_arrays(columns, names=[*map(str, range(len(columns)))]))
