"""The local phase of operators that keep rows by key: rows travel unchanged, with the hash of their key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tvfsql.plan.stream import StreamContext
from tvfsql.plan.tables.internal_columns import LATE, MARKS
from tvfsql.plan.window import Tumble
from tvfsql.runtime.arrow.batches import in_stable_type, joined, sort_order
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.stream.exchange.local_phase import hash_of, local_phase
from tvfsql.runtime.stream.time.channel_messages import ChannelWatermarks, WatermarkColumns
from tvfsql.runtime.stream.time.slice_clock import Span

HASH = "$hash"
ARRIVED = "$arrived"
SIDE = "side"  # the side of a payload's rows, in the metadata of its schema
EVERY_MS = Span(Tumble(1))  # slices of 1 ms: a watermark that moves passes the end of one


def rows_by_key(
    rows: DataFrame,
    context: StreamContext,
    *,
    columns: Sequence[str],
    keys: Sequence[str],
    time: str,
    side: str = "",
    arrived: bool = False,
) -> DataFrame:
    """The rows of a micro-batch in payloads by key group.

    In: `columns`, including `keys` and `time` (a timestamp; rows where it is NULL only contribute their watermark), and
    the watermark columns; with `late` `$late` too.
    Out: as in `local_phase`. A payload has the `columns`, named by number, and `$hash`, the hash of the keys; with
    `late` also `$late`. The payloads of operators with several inputs name their `side`.
    With `arrived` the last of the columns is ARRIVED (bigint): the number of a row in its micro-batch, in the order in
    which Spark has read them. A repeated micro-batch has the same numbers if its source is read in the same partitions,
    as files and topics are.
    """
    own = list(columns)
    if arrived:
        rows = rows.withColumn(ARRIVED, F.shiftleft(F.spark_partition_id().cast("bigint"), 33))
        own.append(ARRIVED)
    strategy = LocalRows(len(own), own.index(time), side, context.late and LATE not in own, arrived)
    late = [column_of(LATE)] if strategy.late else []
    return local_phase(rows, [*map(column_of, own), hash_of(keys), *late], strategy, context, keys=keys)


def own_columns(rows: DataFrame) -> list[str]:
    """The columns besides the watermark columns and `$late`."""
    return [name for name in rows.columns if name not in (*MARKS, LATE)]


def late_type(rows: DataFrame, context: StreamContext) -> T.StructType | None:
    """The type of `$late`; None without `late`."""
    kind = rows.schema[LATE].dataType if context.late else None
    assert kind is None or isinstance(kind, T.StructType), kind
    return kind


def zone_of(rows: DataFrame, time: str) -> str:
    """The zone of the operator's clock for a time column: "UTC" for instants, "" for times without a zone."""
    return "UTC" if rows.schema[time].dataType == T.TimestampType() else ""


def side_of(payload: pa.RecordBatch) -> str:
    """The side that the rows of a payload come from."""
    return (payload.schema.metadata or {})[SIDE.encode()].decode()


def without_late(payload: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of a payload without `$late`, which does not go into state."""
    return payload.drop_columns([LATE]) if LATE in payload.schema.names else payload


@dataclass(frozen=True)
class LocalRows:
    """A `LocalStrategy` that takes `columns` columns of the row, and the hash of its key. `time` is the number of its
    time column. With `late` there is also `$late`. With `on_event` a new seq starts wherever a watermark moves. With
    `arrived` the last column is ARRIVED: it comes with the number of the partition, and gets that of the row."""

    columns: int
    time: int
    side: str = ""
    late: bool = False
    arrived: bool = False

    def cuts(self, channels: ChannelWatermarks, watermarks: WatermarkColumns, rows: pa.RecordBatch) -> list[int]:
        return channels.slice_cuts(watermarks, EVERY_MS)

    def placed(self, rows: pa.RecordBatch, key_groups: pa.Array, first: int) -> pa.RecordBatch:
        if self.arrived:
            numbers = pc.add(rows.column(self.columns - 1), pa.array(np.arange(first, first + rows.num_rows)))
            rows = rows.set_column(self.columns - 1, rows.schema.names[self.columns - 1], numbers)
        return rows.append_column("key_group", key_groups).filter(rows.column(self.time).is_valid())

    def payload(self, waiting: Sequence[pa.RecordBatch]) -> tuple[pa.RecordBatch, Ints]:
        rows = joined(waiting)
        groups: Ints = rows.column("key_group").to_numpy().astype(np.int64)
        order = sort_order([groups])
        names = [*map(str, range(self.columns)), HASH, *([LATE] if self.late else [])]
        columns = [in_stable_type(column) for column in rows.columns[: len(names)]]
        own = pa.RecordBatch.from_arrays(columns, names=names).take(pa.array(order))
        return own.replace_schema_metadata({SIDE: self.side}) if self.side else own, groups[order]
