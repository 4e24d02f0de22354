"""OVER aggregates of a stream: a row leaves when the watermark has passed its time, with the results of its frames.

Rows wait for the watermark as those of a sort do (`WaitingRows`), so they are in order of time, and of one time in
order of arrival, and every result is final. A row has the partials of its own values; those of a frame are merged from
them by the kernels that make windows of slices, so a result costs one merge, however long the frame is.

The state has the rows that wait, and of those that have left only what later frames need: key, time and partials.

- RANGE with a bound: the rows within the frame before the watermark, in slots of time, and of the slots of a wide frame
  also merged partials (`time_frames`).
- ROWS, and frames without a bound: of each key the last rows, in buckets of the hash of the key. The very last one has
  the merged partials of all rows of the key.

In processing time no row waits: a row leaves in its own micro-batch, in order of arrival, and its time is that of the
micro-batch.

With a retention a key that had no rows for longer is forgotten: its next row starts anew, whatever the borders of
micro-batches. All buckets are looked through once per retention.
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

from tvfsql.plan.over import RANGE, Frame
from tvfsql.plan.stream import ONE_INPUT, StreamContext, StreamOptions
from tvfsql.plan.values.times import duration
from tvfsql.runtime.arrow.batches import changes_in, joined, key_codes, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.frames.window_schema import of_windows
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.merge.partials import Merge, prepare
from tvfsql.runtime.merge.ranges import Ranges
from tvfsql.runtime.merge.scans import OrderedRows
from tvfsql.runtime.stream.exchange.rows_by_key import (
    HASH,
    late_type,
    own_columns,
    rows_by_key,
    zone_of,
)
from tvfsql.runtime.stream.operator.messages import Emit
from tvfsql.runtime.stream.operator.operator import apply_operator
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.rows.row_key_group import OrderedKeyGroup
from tvfsql.runtime.stream.rows.time_frames import TIME, Part, TimeFrames, merged_rows, take_over
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.hash_buckets import BUCKET_ROWS, HashBuckets, hashes_of
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.state.waiting_rows import SLOT
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

CHUNK_ROWS = 500_000  # rows that are computed together, if so many leave at once


def over_stream(
    rows: DataFrame,
    *,
    keys: Sequence[str],
    time: str,
    frames: Sequence[tuple[Frame, Mapping[str, Merge]]],
    retention: int = 0,
    name: str = "tvfsql_over",
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """Exchange and OverAggregate: the rows, in which the partials of `frames` are merged over these frames.

    In: any columns, and the watermark columns of `with_watermarks`. The partials are those of single rows, each with
    its merge kind, and belong to one frame. `retention` is in ms of event time; 0: forever.
    Out: the same columns, without the watermark columns; with `marks` the operator adds its own. In place of the
    partials of a row are those of its frame, as windows have them (`of_windows`).
    A row is emitted when the watermark has passed it. Rows at or before the current watermark are late: they are
    dropped and counted, or with `late` emitted apart. With `proctime` a row is emitted in its own micro-batch, whose
    time is in its column `time`, and none is late.
    """
    context = StreamContext(**options)
    own = own_columns(rows)
    parts = tuple(
        (frame, tuple((own.index(column), column, kind) for column, kind in merges.items())) for frame, merges in frames
    )
    operator = OverAggregate(len(own), tuple(map(own.index, keys)), own.index(time), parts, retention, context)
    about = [*(["PROCTIME"] if context.proctime else []), *(str(frame) for frame, _ in parts)]
    about += [f"retention {duration(retention)}"] if retention else []
    description = Description(
        "OverAggregate",
        tuple(keys),
        about=f"window=[{', '.join(about)}]",
        zone=zone_of(rows, time),
        inputs=tuple(context.inputs),
    )
    sent = rows_by_key(rows, context, columns=own, keys=keys, time=time, arrived=True)
    kinds = {column: kind for _, merges in frames for column, kind in merges.items()}
    schema = T.StructType(
        [
            T.StructField(column, of_windows(kinds[column], rows.schema[column].dataType))
            if column in kinds
            else rows.schema[column]
            for column in own
        ]
    )
    return apply_operator(sent, operator, description, schema, name=name, late=late_type(rows, context))


@dataclass(frozen=True)
class OverAggregate(Operator):
    """The aggregates over frames of rows with `columns` columns, followed by ARRIVED. `keys` and `time` are numbers of
    columns; `parts` has the partials of each frame: their number, their name for errors, and their merge kind."""

    columns: int
    keys: tuple[int, ...]
    time: int
    parts: tuple[Part, ...]
    retention: int = 0
    context: StreamContext = ONE_INPUT
    slot: int = SLOT
    bucket_rows: int = BUCKET_ROWS
    chunk_rows: int = CHUNK_ROWS

    def open(self, state: State, timers: TimerState | None, now: int) -> OverRows:
        return OverRows(self, ChunkStore(state, joined, self.context.inputs))

    @cached_property
    def by_time(self) -> tuple[Part, ...]:
        """The frames of RANGE with a bound."""
        return tuple(part for part in self.parts if part[0].unit == RANGE and part[0].start is not None)

    @cached_property
    def by_key(self) -> tuple[Part, ...]:
        """The other frames: ROWS, and those without a bound."""
        return tuple(part for part in self.parts if part not in self.by_time)

    @cached_property
    def time_frames(self) -> tuple[TimeFrames, ...]:
        return TimeFrames.of(self.by_time, tuple(f"k{i}" for i in self.keys), self.slot)

    @property
    def last_rows(self) -> int:
        """How many last rows of a key later frames need."""
        return max((frame.start or 1 for frame, _ in self.by_key), default=0)

    def kept(self, rows: pa.RecordBatch, parts: Sequence[Part]) -> pa.RecordBatch:
        """What state has of rows for the frames `parts`: hash, key, TIME and partials, under the numbers of columns.
        The partials of frames without a bound are those of merged rows."""
        micros = rows.column(self.time).cast(TIMESTAMP).view(pa.int64())
        columns = {HASH: rows.column(HASH), **{f"k{i}": rows.column(i) for i in self.keys}, TIME: micros}
        for frame, partials in parts:
            for number, name, kind in partials:
                column = rows.column(number)
                columns[str(number)] = merged_rows(kind, name, column) if frame.start is None else column
        return pa.RecordBatch.from_pydict(columns)

    def in_order(self, rows: pa.RecordBatch) -> tuple[Ints, OrderedRows]:
        """The positions of kept rows by key, those of a key in their order; and the rows in that order."""
        codes = key_codes([rows.column(f"k{i}") for i in self.keys], rows.num_rows)
        order = sort_order([codes])
        return order, OrderedRows(changes_in(codes[order]), rows.column(TIME).to_numpy()[order])

    def forgetting(self, rows: OrderedRows) -> OrderedRows:
        """The rows, where a key that had none for longer than the retention starts anew."""
        if not self.retention:
            return rows
        gap = np.diff(rows.micros, prepend=rows.micros[:1])
        return OrderedRows(rows.first | (gap > self.retention * 1000), rows.micros)


class OverRows(OrderedKeyGroup):
    """The rows of a key group that wait, and what later frames need of those that have left."""

    def __init__(self, spec: OverAggregate, store: ChunkStore) -> None:
        super().__init__(spec.context, store, time=spec.time, arrived=spec.columns, slot=spec.slot)
        self.spec = spec
        self.buckets = HashBuckets(store, spec.bucket_rows)
        take_over(store, spec.time_frames)

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        before = self.watermark
        gathered: list[pa.RecordBatch] = []
        for rows in self.released(messages):
            gathered.append(rows)
            if sum(batch.num_rows for batch in gathered) >= self.spec.chunk_rows:
                yield self._with_results(joined(gathered))
                gathered = []
        if gathered:
            yield self._with_results(joined(gathered))
        if self.watermark is not None and self.watermark != before:
            self._forget(before, self.watermark)

    def _with_results(self, rows: pa.RecordBatch) -> Emit:
        """The rows, which are in order, with the merged partials of their frames. Keeps what later frames need."""
        results = {**self._by_time(rows), **self._by_key(rows)}
        columns = [results.get(i, rows.column(i)) for i in range(self.spec.columns)]
        self.counts.rows_out += rows.num_rows
        return Emit(pa.RecordBatch.from_arrays(columns, names=[*map(str, range(self.spec.columns))]))

    def _by_time(self, rows: pa.RecordBatch) -> dict[int, pa.Array]:
        """The results over frames of RANGE with a bound, by the number of the partial."""
        spec, results = self.spec, dict[int, pa.Array]()
        if not spec.by_time:
            return results
        kept = spec.kept(rows, spec.by_time)
        for frames in spec.time_frames:
            new = frames.own(kept)
            both = joined([*frames.earlier(self.store, new), new])
            order, ordered = spec.in_order(both)
            results |= self._results(both, new.num_rows, order, ordered, frames.parts, slots=frames.wide)
            frames.add(self.store, new)
        return results

    def _by_key(self, rows: pa.RecordBatch) -> dict[int, pa.Array]:
        """The results over the other frames."""
        spec = self.spec
        if not spec.by_key:
            return {}
        new = spec.kept(rows, spec.by_key)
        buckets = np.unique(self.buckets.numbers(hashes_of(new))).tolist()
        stored = [batch for batch in self.buckets.read(buckets) if batch.num_rows]
        both = joined([*stored, new])
        order, ordered = spec.in_order(both)
        ordered = spec.forgetting(ordered)
        results = self._results(both, new.num_rows, order, ordered, spec.by_key)
        self.buckets.update(self._last_rows(both, order, ordered), hashes_of(new), stored)
        self.buckets.make_room()
        return results

    def _results(
        self,
        both: pa.RecordBatch,
        new: int,
        order: Ints,
        ordered: OrderedRows,
        parts: Sequence[Part],
        *,
        slots: bool = False,
    ) -> dict[int, pa.Array]:
        """The merged partials of the frames of the last `new` rows, in the order of these."""
        places = np.flatnonzero(order >= both.num_rows - new)
        back = np.argsort(order[places], kind="stable")
        made = {}
        for frame, partials in parts:
            blocks = ordered.blocks(frame, slots=slots)
            ranges = ordered.ranges(frame, blocks, places, slots=slots)
            for number, name, kind in partials:
                column = both.column(str(number)).take(pa.array(order))
                made[number] = prepare(kind, name, column, blocks).of_windows(ranges).take(pa.array(back))
        return made

    def _last_rows(self, both: pa.RecordBatch, order: Ints, ordered: OrderedRows) -> pa.RecordBatch:
        """Of each key the last rows since it started anew, the very last one with the merged partials of all."""
        spec = self.spec
        codes = key_codes([both.column(f"k{i}") for i in spec.keys], both.num_rows)[order]
        starts = np.flatnonzero(ordered.first)
        ends = np.append(starts[1:], len(order))
        is_last = np.append(codes[ends[:-1] - 1] != codes[np.minimum(ends[:-1], len(order) - 1)], True)
        starts, ends = starts[is_last], ends[is_last]
        lo = np.maximum(starts, ends - spec.last_rows)
        sizes = ends - lo
        kept = np.arange(int(sizes.sum())) + np.repeat(lo - (np.cumsum(sizes) - sizes), sizes)
        very_last = np.cumsum(sizes) - 1
        rows = both.take(pa.array(order[kept]))
        for frame, partials in spec.by_key:
            if frame.start is not None:
                continue
            blocks = ordered.blocks(frame)
            ranges = Ranges(blocks, starts, ends, starts, anchored=True)
            for number, name, kind in partials:
                column = both.column(str(number)).take(pa.array(order))
                merged = prepare(kind, name, column, blocks).over(ranges)
                at = np.zeros(len(kept), dtype=np.int64)
                at[very_last] = np.arange(len(very_last))
                mask = np.ones(len(kept), dtype=np.bool_)
                mask[very_last] = False
                place = rows.schema.get_field_index(str(number))
                rows = rows.set_column(place, str(number), merged.take(pa.array(at, mask=mask)))
        return rows

    def _forget(self, before: int | None, watermark: int) -> None:
        """Drop what no later frame needs."""
        for frames in self.spec.time_frames:
            frames.forget(self.store, watermark)
        retention = self.spec.retention
        if watermark >= END_OF_INPUT:
            self.buckets.clear()
        elif retention and (before is None or before // retention != watermark // retention):
            for number in self.buckets.every():
                stored = self.buckets.read([number])
                rows = joined(stored)
                codes = key_codes([rows.column(f"k{i}") for i in self.spec.keys], rows.num_rows)
                latest = np.full(int(codes.max(initial=0)) + 1, -(2**62))
                np.maximum.at(latest, codes, rows.column(TIME).to_numpy())
                idle: Mask = (latest // 1000 + retention <= watermark)[codes]
                if idle.any():
                    gone = np.unique(hashes_of(rows)[idle])
                    self.buckets.update(rows.filter(pa.array(~idle)), gone, stored)
