"""Temporal join of two streams: each row of the left side with the version of the right side that was valid at its
time.

A row waits until the watermark, the smaller one of both sides, passes its time: no earlier version can come then. It is
emitted with the last version of its key that is not later. Of each key the state keeps the last version that the
watermark has passed, and all later ones. Source: semantics.md#temporal-joins.

For example, orders in euros or dollars, joined with the rates of both:

    arrives           watermark  is emitted
    EUR 114 at 100           90
    order EUR at 105         90
    EUR 116 at 110           90
    order EUR at 112         90
    order USD at 112         90
                            107  order at 105 with 114
    EUR 115 at 106          107  (late: it is the version from 106 on for rows that are still to come)
    order EUR at 109        107
                            115  order at 109 with 115, order at 112 with 116; with left the order in USD, alone
    order EUR at 114        115  (late: dropped and counted)

In the end the state holds one version, EUR 116.

Versions are in state in buckets of the hash of their key, rows that wait in slots of time. A micro-batch reads the
slots that the watermark has reached, and the buckets of their keys and of new versions. Versions that count no more are
dropped when their bucket is read. The end of a version (a delete) is kept like a version, as in Flink: a late version
before it must not count after it. A late version is not dropped: it counts for rows that are still to come, as in
Flink. It is counted as `late_versions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from tvfsql.plan.joins import KINDS
from tvfsql.plan.stream import TWO_INPUTS, StreamContext, StreamOptions
from tvfsql.runtime.arrow.batches import joined, key_codes, rows_of_piece, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.arrow.ranks import sort_codes
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.stream.exchange.rows_by_key import (
    late_type,
    side_of,
    without_late,
    zone_of,
)
from tvfsql.runtime.stream.operator.messages import Emit
from tvfsql.runtime.stream.operator.operator import apply_operator
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.rows.joins.two_sides import LEFT, RIGHT, TwoSides, codes_of_sides
from tvfsql.runtime.stream.rows.row_key_group import RowKeyGroup
from tvfsql.runtime.stream.state.chunk_index import Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.hash_buckets import BUCKET_ROWS, HashBuckets, hashes_of
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.state.waiting_rows import SLOT, WaitingRows
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT


def temporal_join_stream(
    left: DataFrame,
    right: DataFrame,
    *,
    on: Sequence[tuple[str, str]],
    times: tuple[str, str],
    kind: str = "inner",
    null_safe: Sequence[str] = (),
    ties: Sequence[str] = (),
    sign: str = "",
    name: str = "tvfsql_joined",
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """Exchange and TemporalJoin: each row of `left` with the last row of `right` that agrees in `on` and is not later.

    In: on each side any columns, and the watermark columns of `with_watermarks`. No other name may be on both sides.
    `on` lists pairs of columns of one type; NULL equals NULL if the left one is in `null_safe`. `kind` is inner or
    left. Of several versions of one time the one that is greatest in `ties`, columns of `right`, counts; of those that
    are equal in `ties` the last one to arrive. With `sign` a row of `right` in which that column is -1 is where the
    version before it ends.
    Out: the columns of both sides, without the watermark columns; with `marks` the operator adds its own. A row is
    emitted when the watermark, the smaller one of both sides, passes its time; with left, NULL stands for a version
    that is missing.
    Rows of the left side at or before the current watermark are late: they are dropped and counted. Late versions count
    from then on, and in numLateVersions. `inputs` are the prefixes of the sides' channels (`Valve`).
    """
    options.setdefault("inputs", TWO_INPUTS.inputs)
    context = StreamContext(**options)
    sides = TwoSides((left, right), on, times)
    operator = TemporalJoin(
        sides.widths,
        sides.key_positions,
        sides.time_positions,
        kind,
        tuple(pair[0] in null_safe for pair in on),
        tuple(map(sides.columns[RIGHT].index, ties)),
        sides.columns[RIGHT].index(sign) if sign else None,
        context,
    )
    description = Description(
        "TemporalJoin",
        tuple(f"{a} = {b}" for a, b in on),
        about=f"joinType=[{KINDS[kind]}]",
        zone=zone_of(left, times[LEFT]),
        inputs=tuple(context.inputs),
    )
    late = late_type(left, context)
    return apply_operator(sides.exchanged(context), operator, description, sides.schema, name=name, late=late)


@dataclass(frozen=True)
class TemporalJoin(Operator):
    """The parameters of a temporal join. Pairs are (left, right). Columns are numbers; `ties` and `sign` are those of
    the right side."""

    columns: tuple[int, ...]
    keys: tuple[tuple[int, ...], ...]
    times: tuple[int, ...]
    kind: str
    null_safe: tuple[bool, ...]
    ties: tuple[int, ...] = ()
    sign: int | None = None
    context: StreamContext = TWO_INPUTS
    slot: int = SLOT
    bucket_rows: int = BUCKET_ROWS

    def open(self, state: State, timers: TimerState | None, now: int) -> VersionedRows:
        return VersionedRows(self, ChunkStore(state, joined, self.context.inputs))

    def micros(self, rows: pa.RecordBatch, side: int) -> Ints:
        """The times of rows in epoch microseconds."""
        times: Ints = rows.column(self.times[side]).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        return times

    def in_order(self, versions: pa.RecordBatch) -> Ints:
        """The positions of versions by time, and of those of one time by `ties`."""
        ties = [sort_codes(versions.column(i), descending=False, nulls_first=True) for i in self.ties]
        return sort_order([self.micros(versions, RIGHT), *ties])

    def found(self, rows: pa.RecordBatch, versions: pa.RecordBatch) -> Ints:
        """The position of each row's version, of versions `in_order`; -1: it has none."""
        if not versions.num_rows:
            return np.full(rows.num_rows, -1)
        own = [[side.column(i) for i in keys] for side, keys in zip((rows, versions), self.keys, strict=True)]
        mine, theirs = codes_of_sides(own[LEFT], own[RIGHT], self.null_safe, (rows.num_rows, versions.num_rows))
        # a version's position in order stands for its time, so that a key and a time fit into one number
        size = versions.num_rows + 1
        lifted = theirs * size + np.arange(1, size)
        order = sort_order([lifted])
        before = np.searchsorted(self.micros(versions, RIGHT), self.micros(rows, LEFT), side="right")
        at = np.searchsorted(lifted[order], mine * size + before, side="right") - 1
        best = order[np.maximum(at, 0)]
        valid = (at >= 0) & (theirs[best] == mine)
        if self.sign is not None:
            valid &= versions.column(self.sign).to_numpy()[best] == 1
        return np.where(valid, best, -1)

    def counting(self, versions: pa.RecordBatch, watermark: int | None) -> Mask:
        """Which versions, `in_order`, can still count: of each key all that the watermark has not passed, and the last
        one that it has. Of several versions of one time only the last one counts."""
        keys = key_codes([versions.column(i) for i in self.keys[RIGHT]], versions.num_rows)
        micros = self.micros(versions, RIGHT)
        passed = np.zeros(len(micros), dtype=np.int64) if watermark is None else (micros // 1000 <= watermark) * 1
        order = sort_order([keys])
        keys, micros, passed = keys[order], micros[order], passed[order]
        same = (keys[1:] == keys[:-1]) & ((passed[1:] == 1) | (micros[1:] == micros[:-1]))
        kept = np.ones(len(order), dtype=np.bool_)
        kept[order[:-1][same]] = False
        for column, safe in zip(self.keys[RIGHT], self.null_safe, strict=True):
            if not safe:
                kept &= versions.column(column).is_valid().to_numpy(zero_copy_only=False)
        return kept


class VersionedRows(RowKeyGroup):
    """The rows that wait, and the versions, in one key group."""

    def __init__(self, spec: TemporalJoin, store: ChunkStore) -> None:
        super().__init__(spec.context, store)
        self.spec = spec
        self.waiting = WaitingRows(store, spec.times[LEFT], spec.slot, Kind.JOIN_SLOT, LEFT)
        self.buckets = HashBuckets(store, spec.bucket_rows)
        self.fresh: tuple[list[pa.RecordBatch], list[pa.RecordBatch]] = ([], [])

    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        for rows in payloads:
            side = LEFT if side_of(rows) == "1/" else RIGHT
            self.counts.rows_in += rows.num_rows
            if self.watermark is not None and side == LEFT:
                rows = self.in_time(rows, self.spec.times[LEFT], self.watermark)
            elif self.watermark is not None:
                self.counts.late_versions += int((self.spec.micros(rows, RIGHT) // 1000 <= self.watermark).sum())
            rows = without_late(rows)
            if rows.num_rows:
                self.fresh[side].append(rows)

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        before, watermark = self.watermark, self.store.valve.advance(messages)
        rows, versions = (joined(batches) if batches else None for batches in self.fresh)
        self.fresh = ([], [])
        due = [*self.waiting.released(rows, before, watermark)]
        if due or versions is not None:
            yield from self._join(joined(due) if due else None, versions, watermark)
        if watermark is not None and watermark >= END_OF_INPUT:
            self.buckets.clear()

    @property
    def newest_end(self) -> int | None:
        newest = self.waiting.newest
        return None if newest is None else newest + 1

    def _join(self, rows: pa.RecordBatch | None, fresh: pa.RecordBatch | None, watermark: int | None) -> Iterator[Emit]:
        """Emit rows with their versions, and take in new versions; there are rows or versions."""
        hashes = [hashes_of(batch) for batch in (rows, fresh) if batch is not None]
        buckets = np.unique(self.buckets.numbers(np.concatenate(hashes))).tolist()
        stored = [batch for batch in self.buckets.read(buckets) if batch.num_rows]
        every = [*stored, *([fresh] if fresh is not None else [])]
        if not every:
            if rows is not None and self.spec.kind == "left":
                yield from self._alone(rows)
            return
        versions = joined(every)
        order = self.spec.in_order(versions)
        versions = versions.take(pa.array(order))
        if rows is not None:
            yield from self._paired(rows, versions)
        kept = self.spec.counting(versions, watermark)
        is_new = order >= sum(batch.num_rows for batch in stored)
        self.buckets.update(versions.filter(pa.array(kept)), hashes_of(versions)[is_new | ~kept], stored)
        self.buckets.make_room()

    def _paired(self, rows: pa.RecordBatch, versions: pa.RecordBatch) -> Iterator[Emit]:
        found = self.spec.found(rows, versions)
        if self.spec.kind == "inner":
            rows, found = rows.filter(pa.array(found >= 0)), found[found >= 0]
        most = rows_of_piece([rows, versions])
        for at in range(0, len(found), most):
            of_rows = found[at : at + most]
            others = versions.take(pa.array(of_rows, mask=of_rows < 0))
            yield self._wide(rows.slice(at, most), others.columns[: self.spec.columns[RIGHT]])

    def _alone(self, rows: pa.RecordBatch) -> Iterator[Emit]:
        yield self._wide(rows, [pa.nulls(rows.num_rows)] * self.spec.columns[RIGHT])

    def _wide(self, rows: pa.RecordBatch, others: Sequence[pa.Array]) -> Emit:
        self.counts.rows_out += rows.num_rows
        every = [*rows.columns[: self.spec.columns[LEFT]], *others]
        return Emit(pa.RecordBatch.from_arrays(every, names=[*map(str, range(len(every)))]))
