"""Top-N of rows without windows: the best rows of each partition so far. A micro-batch emits what it has changed.

The state has rows in buckets of the hash of their partition. If rows only come, it has those within the limit: a row
behind it never gets a better rank. Of changes it has all rows, because a row that goes lets the next one in. With a
retention a partition that had no rows for so long is forgotten. Source: semantics.md#top-n-without-windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Unpack

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.stream import ONE_INPUT, StreamContext, StreamOptions
from tvfsql.plan.tables.internal_columns import ALWAYS, OP
from tvfsql.plan.values.times import duration
from tvfsql.runtime.arrow.batches import joined
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.arrow.ranks import DIRECTIONS
from tvfsql.runtime.stream.exchange.rows_by_key import HASH, late_type, own_columns, rows_by_key, without_late
from tvfsql.runtime.stream.operator.messages import Emit
from tvfsql.runtime.stream.operator.operator import apply_operator
from tvfsql.runtime.stream.operator.protocol import KeyGroup, Operator
from tvfsql.runtime.stream.rows.ranks.changes import RankChanges, Ranked, remaining
from tvfsql.runtime.stream.rows.ranks.of_windows import Limit
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.hash_buckets import BUCKET_ROWS, HashBuckets, hashes_of
from tvfsql.runtime.stream.state.idle_keys import IdleKeys, touched
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.processing_time import passed


def updating_top_n_stream(
    rows: DataFrame,
    function: str,
    *,
    partition: Sequence[str],
    order: Mapping[str, str],
    ranks: tuple[int, int],
    shown: Sequence[str],
    rank: str | None = None,
    ties: Mapping[str, str] | None = None,
    sign: str | None = None,
    key: Sequence[str] | None = None,
    newest: bool = False,
    pairs: bool = True,
    retention: int = 0,
    name: str = "tvfsql_best",
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """Exchange and TopN: the changes of the rows whose rank within `partition` is in `ranks` (inclusive).

    In: any columns, and those of `with_processing_time`. `order` and `ties` map columns to directions (DIRECTIONS).
    `function` is row_number, rank or dense_rank; only row_number uses `ties`. With `newest` the row that came last has
    rank 1, whatever `order` is. `sign` names a column that is 1 in a row that comes and -1 in one that goes; None: rows
    only come.
    Out: the columns `shown`, the rank as a BIGINT column `rank`, if given, and `$op`: +I, -D, or -U and +U for rows
    with one rank, or with one `key` if the rank is not shown. Without `pairs` all are +I and -D. A partition without
    rows for `retention` ms of processing time is forgotten; 0: never.
    """
    context = StreamContext(**options)
    own = [column for column in own_columns(rows) if column not in (sign, ALWAYS)]
    directions = {**order, **(ties or {})}.items() if not newest else ()
    keys = tuple((own.index(column), *DIRECTIONS[direction]) for column, direction in directions)
    numbers = tuple(map(own.index, partition)), tuple(map(own.index, shown))
    by_rank = pairs and function == "row_number" and (rank is not None or ranks[0] == ranks[1])
    pairing = tuple(map(own.index, key)) if pairs and key is not None and not by_rank else None
    changes = RankChanges(*numbers, rank is not None, by_rank, pairing)
    limit = Limit(function, numbers[0], keys, len(order), ranks[1])
    operator = BestRows(len(own), limit, ranks[0], changes, sign is not None, newest, retention, context)
    about = f"rankRange=[rankStart={ranks[0]}, rankEnd={ranks[1]}]"
    about += f", retention=[{duration(retention)}]" if retention else ""
    description = Description("TopN", tuple(partition), about=about, inputs=tuple(context.inputs))
    sent = [*own, *([sign] if sign is not None else []), ALWAYS]
    by_key = rows_by_key(rows, context, columns=sent, keys=partition, time=ALWAYS, arrived=newest)
    fields = [rows.schema[column] for column in shown]
    fields += [T.StructField(rank, T.LongType())] if rank is not None else []
    schema = T.StructType([*fields, T.StructField(OP, T.StringType())])
    return apply_operator(by_key, operator, description, schema, name=name, late=late_type(rows, context))


@dataclass(frozen=True)
class BestRows(Operator):
    """The Top-N of rows with `columns` columns, from rank `first` on. Behind these come the sign of changes if they
    are `signed`, a time, and with `newest` the number of the row in its micro-batch. `retention` is in ms; 0: for ever.
    """

    columns: int
    limit: Limit
    first: int
    changes: RankChanges
    signed: bool = False
    newest: bool = False
    retention: int = 0
    context: StreamContext = ONE_INPUT
    bucket_rows: int = BUCKET_ROWS

    def open(self, state: State, timers: TimerState | None, now: int) -> BestOfPartitions:
        return BestOfPartitions(self, ChunkStore(state, joined, self.context.inputs), now)

    def watermark_at(self, now: int) -> int:
        return passed(now)

    def ranked(self, rows: pa.RecordBatch, older: int) -> Ranked:
        """The rows up to the limit, in order. The first `older` of them are those of state, in order."""
        if not rows.num_rows:
            return Ranked(rows, np.zeros(0, dtype=np.int64))
        if not self.newest:
            return Ranked(*self.limit([rows]))
        age = np.arange(rows.num_rows)
        age[older:] = -age[: rows.num_rows - older] - 1
        last = rows.num_columns
        by_age = Limit("row_number", self.limit.partition, ((last, False, True),), 1, self.limit.last)
        found, ranks = by_age([rows.append_column(str(last), pa.array(age))])
        return Ranked(found.select(range(last)), ranks)


class BestOfPartitions(KeyGroup):
    """The partitions of one key group. `now` is the processing time of the micro-batch in epoch ms."""

    def __init__(self, spec: BestRows, store: ChunkStore, now: int) -> None:
        super().__init__(spec.context, store)
        self.spec, self.now = spec, now
        self.buckets = HashBuckets(store, spec.bucket_rows)
        self.idle = IdleKeys(self.buckets, spec.retention, now)
        self.waiting: list[pa.RecordBatch] = []

    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        rows = without_late(joined(payloads))
        self.counts.rows_in += rows.num_rows
        self.waiting.append(rows)

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        self.store.valve.advance(messages)
        yield from ()

    def finish(self) -> Iterator[Emit]:
        self.idle.forget()
        fresh, self.waiting = self.waiting, []
        rows = joined(fresh) if fresh else None
        if rows is None or not rows.num_rows:
            return
        if self.spec.newest:
            rows = rows.take(pa.array(np.argsort(rows.column(self._arrived).to_numpy(), kind="stable")))
        changes = self._changes(rows)
        self.counts.rows_out += changes.num_rows
        if changes.num_rows:
            yield Emit(changes)

    @property
    def newest_end(self) -> int | None:
        return None

    @cached_property
    def _kept(self) -> list[str]:
        return [*map(str, range(self.spec.columns)), HASH]

    @property
    def _arrived(self) -> int:
        return self.spec.columns + self.spec.signed + 1

    def _changes(self, fresh: pa.RecordBatch) -> pa.RecordBatch:
        """Rank new rows and those of state, and replace these. Returns the changes."""
        spec = self.spec
        stored = self.buckets.of(hashes_of(fresh))
        known = [rows.filter(pa.array(~self.idle.among(rows))).select(self._kept) for rows in stored]
        old = joined([*known, fresh.select(self._kept).slice(0, 0)])
        rows = joined([old, fresh.select(self._kept)])
        if spec.signed:
            rows = remaining(rows, self._signs(fresh, old.num_rows), spec.columns)
        before, after = spec.ranked(old, old.num_rows), spec.ranked(rows, old.num_rows)
        kept = touched(rows if spec.signed else after.rows, self.now)
        self.buckets.put(kept, stored)
        return spec.changes.between(before.since(spec.first), after.since(spec.first))

    def _signs(self, fresh: pa.RecordBatch, older: int) -> Ints:
        return np.concatenate([np.ones(older, dtype=np.int64), fresh.column(self.spec.columns).to_numpy()])
