"""CURRENT_WATERMARK: each row of a stream with the watermark before it. Source: semantics.md#watermarks.

All rows are emitted in their own micro-batch, late ones too. The state is the watermark alone.
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
from tvfsql.plan.tables.internal_columns import LATE
from tvfsql.runtime.arrow.batches import joined
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.stream.exchange.rows_by_key import own_columns, rows_by_key, zone_of
from tvfsql.runtime.stream.operator.messages import Emit
from tvfsql.runtime.stream.operator.operator import apply_operator
from tvfsql.runtime.stream.operator.protocol import KeyGroup, Operator
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage

LATEST = 253402300799999  # the last ms of the year 9999: the watermark at the end of the input, as a timestamp


def current_watermark_stream(
    rows: DataFrame, *, time: str, column: str, name: str = "tvfsql_watermarks", **options: Unpack[StreamOptions]
) -> DataFrame:
    """The rows of a stream, each with the watermark that was current before it.

    In: any columns, and the watermark columns of `with_watermarks`. Rows whose `time` is NULL are dropped.
    Out: the same columns without the watermark columns, and `column`, of the type of `time`: the watermark before the
    row's micro-batch, or with `on_event` before the row; NULL before the first watermark. With `marks` the operator
    adds its own watermark columns. With `late` rows keep `$late`, for operators above. The query's progress reports the
    counters under `name`; no row is late here.
    """
    context = StreamContext(**options)
    own = [*own_columns(rows), *([LATE] if context.late else [])]
    operator = AddWatermark(len(own), own.index(time), context)
    inputs = tuple(context.inputs)
    description = Description("CurrentWatermark", (), about=f"time=[{time}]", zone=zone_of(rows, time), inputs=inputs)
    sent = rows_by_key(rows, context, columns=own, keys=[time], time=time)
    schema = T.StructType([*(rows.schema[each] for each in own), T.StructField(column, rows.schema[time].dataType)])
    return apply_operator(sent, operator, description, schema, name=name)


@dataclass(frozen=True)
class AddWatermark(Operator):
    """Adds the watermark to rows with `columns` columns. `time` is the number of their time column."""

    columns: int
    time: int
    context: StreamContext = ONE_INPUT

    def open(self, state: State, timers: TimerState | None, now: int) -> RowsWithWatermark:
        """A key group of this operator."""
        return RowsWithWatermark(self, ChunkStore(state, joined, self.context.inputs))

    def with_watermark(self, rows: pa.RecordBatch, watermark: int | None) -> pa.RecordBatch:
        """The rows and their watermark (epoch ms), as columns named by number."""
        at = pa.nulls(rows.num_rows, pa.int64())
        if watermark is not None:
            at = pa.array(np.full(rows.num_rows, min(watermark, LATEST) * 1000))
        columns = [*rows.columns[: self.columns], at.view(TIMESTAMP).cast(rows.column(self.time).type)]
        return pa.RecordBatch.from_arrays(columns, names=[*map(str, range(self.columns + 1))])


class RowsWithWatermark(KeyGroup):
    """The watermark of one key group, and the rows of its micro-batch."""

    def __init__(self, spec: AddWatermark, store: ChunkStore) -> None:
        super().__init__(spec.context, store)
        self.spec = spec
        self.waiting: list[pa.RecordBatch] = []

    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        rows = joined(payloads)
        self.counts.rows_in += rows.num_rows
        self.waiting.append(self.spec.with_watermark(rows, self.watermark))

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        self.store.valve.advance(messages)
        waiting, self.waiting = self.waiting, []
        for rows in waiting:
            self.counts.rows_out += rows.num_rows
            yield Emit(rows)

    @property
    def newest_end(self) -> int | None:
        return None
