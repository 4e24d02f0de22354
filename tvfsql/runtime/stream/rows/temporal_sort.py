"""Sort of a stream by event time: each row leaves when the watermark has passed its time, in order.

Rows of one time are in the order of the other columns of ORDER BY, and after these in order of arrival: that of the
micro-batches, and within one that in which Spark has read them. Late rows are dropped. The state has the rows that the
watermark has not passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Unpack

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.stream import ONE_INPUT, StreamContext, StreamOptions
from tvfsql.runtime.arrow.batches import in_pieces, joined
from tvfsql.runtime.arrow.ranks import DIRECTIONS
from tvfsql.runtime.stream.exchange.rows_by_key import late_type, own_columns, rows_by_key, zone_of
from tvfsql.runtime.stream.operator.messages import Emit
from tvfsql.runtime.stream.operator.operator import apply_operator
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.rows.row_key_group import OrderedKeyGroup, in_order
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.state.waiting_rows import SLOT
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage


def temporal_sort_stream(
    rows: DataFrame,
    *,
    order: Mapping[str, str],
    name: str = "tvfsql_ordered",
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """Exchange and TemporalSort: the rows in `order`, columns with their directions (DIRECTIONS), by one task.

    In: any columns, and the watermark columns of `with_watermarks`. The first column of `order` is their time, and
    rises.
    Out: the same columns, without the watermark columns; with `marks` the operator adds its own. A row is emitted when
    the watermark has passed it, so the whole stream is in order. Rows at or before the current watermark are late: they
    are dropped and counted, or with `late` emitted apart.
    """
    context = StreamContext(**options)
    own = own_columns(rows)
    time = next(iter(order))
    keys = tuple((own.index(column), *DIRECTIONS[direction]) for column, direction in order.items())
    operator = TemporalSort(len(own), own.index(time), keys[1:], context)
    shown = ", ".join(f"{column} {direction.split('_')[0].upper()}" for column, direction in order.items())
    description = Description(
        "TemporalSort", about=f"orderBy=[{shown}]", zone=zone_of(rows, time), inputs=tuple(context.inputs)
    )
    sent = rows_by_key(rows, context, columns=own, keys=(), time=time, arrived=True)
    schema = T.StructType([rows.schema[column] for column in own])
    return apply_operator(sent, operator, description, schema, name=name, late=late_type(rows, context))


@dataclass(frozen=True)
class TemporalSort(Operator):
    """The sort of rows with `columns` columns, followed by ARRIVED. `time` is the number of their time column, `keys`
    are (column, descending, NULLs first)."""

    columns: int
    time: int
    keys: tuple[tuple[int, bool, bool], ...] = ()
    context: StreamContext = ONE_INPUT
    slot: int = SLOT

    def open(self, state: State, timers: TimerState | None, now: int) -> SortedRows:
        return SortedRows(self, ChunkStore(state, joined, self.context.inputs))

    def ordered(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        return in_order(rows, self.time, self.keys)


class SortedRows(OrderedKeyGroup):
    """The rows of a key group that wait."""

    def __init__(self, spec: TemporalSort, store: ChunkStore) -> None:
        super().__init__(spec.context, store, time=spec.time, arrived=spec.columns, slot=spec.slot)
        self.spec = spec

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        for rows in self.released(messages):
            self.counts.rows_out += rows.num_rows
            own = self.spec.ordered(rows).select(range(self.spec.columns))
            yield from map(Emit, in_pieces(own))
