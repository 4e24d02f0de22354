"""OVER aggregates of a stream: a row leaves when the watermark has passed its time, with the results of its frames.

Rows wait for the watermark as those of a sort do (`WaitingRows`), so they are in order of time, and of one time in
order of arrival, and every result is final. A row has the partials of its own values; those of a frame are merged from
them by the kernels that make windows of slices, so a result costs one merge, however long the frame is.

The state has the rows that wait, and of those that have left only what later frames need: key, time and partials.

- RANGE with a bound: the rows within the frame before the watermark, in slots of time, and of the slots of a wide frame
  also merged partials (`time_frames`).
- ROWS, and frames without a bound: of each key the last rows, the first of them with the merged partials of all rows up
  to it (`key_frames`).

A frame that goes on behind its row keeps the row back. For RANGE the row waits a second time, until the watermark has
passed the end of its frame; its partials are in the slots of time meanwhile. For ROWS it waits among the last rows of
its key.

In processing time no row waits: a row leaves in its own micro-batch, in order of arrival, and its time is that of the
micro-batch.
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
from tvfsql.runtime.arrow.batches import joined
from tvfsql.runtime.frames.window_schema import of_windows
from tvfsql.runtime.merge.partials import Merge
from tvfsql.runtime.stream.exchange.rows_by_key import late_type, own_columns, rows_by_key, zone_of
from tvfsql.runtime.stream.operator.messages import Emit
from tvfsql.runtime.stream.operator.operator import apply_operator
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.rows.over.kept_rows import KeptRows, Part, results
from tvfsql.runtime.stream.rows.over.key_frames import KeyFrames, RowsOfKeys
from tvfsql.runtime.stream.rows.over.time_frames import TimeFrames, asking, take_over
from tvfsql.runtime.stream.rows.row_key_group import OrderedKeyGroup, delayed
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.hash_buckets import BUCKET_ROWS
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.state.waiting_rows import SLOT, WaitingRows
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage

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
    A row is emitted when the watermark has passed it and the end of its frames of RANGE, and so many rows of its key
    have followed as its frames of ROWS have; or none has for `retention`. Rows at or before the current watermark are
    late: they are dropped and counted, or with `late` emitted apart. With `proctime` a row is emitted in its own
    micro-batch, whose time is in its column `time`, and none is late.
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
    def kept(self) -> KeptRows:
        return KeptRows(self.keys, self.time)

    @cached_property
    def time_frames(self) -> tuple[TimeFrames, ...]:
        return TimeFrames.of(self.by_time, self.kept.names, self.slot)

    @cached_property
    def key_frames(self) -> KeyFrames:
        """The other frames: ROWS, and those without a bound."""
        others = tuple(part for part in self.parts if part not in self.by_time)
        return KeyFrames(others, self.kept, self.columns, self.retention, self.bucket_rows)

    @cached_property
    def up_to_row(self) -> bool:
        """Whether all frames of RANGE end at their row."""
        return not any(frame.end for frame, _ in self.by_time)

    @cached_property
    def delay(self) -> int:
        """How long a row waits for rows that follow it in time, in ms."""
        return max((frame.following for frame, _ in self.by_time), default=0)


class OverRows(OrderedKeyGroup):
    """The rows of a key group that wait, and what later frames need of those that have left. `followed` has the rows
    that the watermark has passed, but not the end of their frames."""

    def __init__(self, spec: OverAggregate, store: ChunkStore) -> None:
        super().__init__(spec.context, store, time=spec.time, arrived=spec.columns, slot=spec.slot)
        self.spec = spec
        self.followed = WaitingRows(store, spec.time, spec.slot, level=1)
        self.of_keys = RowsOfKeys(spec.key_frames, store)
        take_over(store, spec.time_frames)

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        before = self._passed
        for rows in in_chunks(self._complete(messages), self.spec.chunk_rows):
            if (left := self._with_results(rows)) is not None:
                yield self._emit(left)
        now = self._passed
        if now is None or now == before:
            return
        for frames in self.spec.time_frames:
            frames.forget(self.store, now)
        for left in self.of_keys.look_through(before, now):
            yield self._emit(left)

    @property
    def _passed(self) -> int | None:
        """The time up to which frames of RANGE are complete (epoch ms)."""
        return delayed(self.watermark, self.spec.delay)

    @property
    def output_watermark(self) -> int | None:
        passed = self._passed
        return None if passed is None else self.spec.key_frames.left_until(passed)

    @property
    def newest_end(self) -> int | None:
        waiting = [each.newest for each in (self.waiting, self.followed)]
        newest = max((time for time in waiting if time is not None), default=None)
        return None if newest is None else newest + self.spec.delay + 1

    def _complete(self, messages: Iterable[ChannelMessage]) -> Iterator[pa.RecordBatch]:
        """The rows whose frames of RANGE are complete now, in order."""
        spec, before = self.spec, self._passed
        if spec.up_to_row:
            return self.released(messages)
        passed = [*self.released(messages)]
        rows = joined(passed) if passed else None
        if rows is not None:
            kept = spec.kept.of(rows, spec.by_time)
            for frames in spec.time_frames:
                frames.add(self.store, frames.own(kept))
        return self.followed.released(rows, before, self._passed)

    def _with_results(self, rows: pa.RecordBatch) -> pa.RecordBatch | None:
        """The rows that leave with or after `rows`, which are in order, with the merged partials of their frames. Keeps
        what later frames need."""
        made = self._by_time(rows)
        rows = pa.RecordBatch.from_arrays(
            [made.get(i, column) for i, column in enumerate(rows.columns)], names=rows.schema.names
        )
        if self.spec.key_frames.parts:
            return self.of_keys.add(rows)
        return rows.select(range(self.spec.columns))

    def _emit(self, rows: pa.RecordBatch) -> Emit:
        self.counts.rows_out += rows.num_rows
        return Emit(rows)

    def _by_time(self, rows: pa.RecordBatch) -> dict[int, pa.Array]:
        """The results over frames of RANGE with a bound, by the number of the partial."""
        spec, made = self.spec, dict[int, pa.Array]()
        if not spec.by_time:
            return made
        kept = spec.kept.of(rows, spec.by_time)
        for frames in spec.time_frames:
            new = frames.own(kept)
            stored = frames.stored(self.store, new)
            if spec.up_to_row:
                made |= self._results([*stored, new], new.num_rows, frames.parts, slots=frames.wide)
                frames.add(self.store, new)
            else:
                for frame, partials in frames.parts:
                    part = (frame.up_to_row, partials)
                    made |= self._results([*stored, asking(new, frame)], new.num_rows, [part], slots=frames.wide)
        return made

    def _results(
        self, kept: Sequence[pa.RecordBatch], new: int, parts: Sequence[Part], *, slots: bool
    ) -> dict[int, pa.Array]:
        """The merged partials of the frames of the last `new` of kept rows, in the order of these."""
        both = joined(kept)
        order, ordered = self.spec.kept.in_order(both, by_time=not self.spec.up_to_row)
        places = np.flatnonzero(order >= both.num_rows - new)
        back = pa.array(np.argsort(order[places], kind="stable"))
        made = results(both, order, ordered, places, parts, slots=slots)
        return {number: column.take(back) for number, column in made.items()}


def in_chunks(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The batches, joined to batches of at least so many rows, but for the last one."""
    gathered: list[pa.RecordBatch] = []
    for batch in batches:
        gathered.append(batch)
        if sum(each.num_rows for each in gathered) >= rows:
            yield joined(gathered)
            gathered = []
    if gathered:
        yield joined(gathered)
