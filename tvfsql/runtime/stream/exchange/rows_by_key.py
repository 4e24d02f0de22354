"""The local phase of operators that keep rows by key: rows travel as they are, with the hash of their key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.columns import MARKS
from tvfsql.plan.stream import StreamContext
from tvfsql.plan.window import Tumble
from tvfsql.runtime.arrow.batches import joined, sort_order, with_nulls
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.stream.exchange.local_phase import hash_of, local_phase
from tvfsql.runtime.stream.time.channel_messages import ChannelWatermarks, WatermarkColumns
from tvfsql.runtime.stream.time.slice_clock import Span

HASH = "$hash"
SIDE = "side"  # of a payload, in the metadata of its schema
EVERY_MS = Span(Tumble(1))  # a watermark that moves at all passes the end of one of these


def rows_by_key(
    rows: DataFrame, context: StreamContext, *, keys: Sequence[str], time: str, side: str = ""
) -> DataFrame:
    """The rows of a micro-batch in payloads by key group.

    In: any columns, among them `keys` and `time` (a timestamp; rows where it is NULL bring their watermark and nothing
    else), and the watermark columns. Out: as `local_phase`; a payload has all columns but the watermark columns, by
    number, and `$hash`: that of the keys. Of an operator with several inputs the payloads know their `side`.
    """
    own = own_columns(rows)
    strategy = LocalRows(len(own), own.index(time), side)
    return local_phase(rows, [*map(column_of, own), hash_of(keys)], strategy, context, keys=keys)


def own_columns(rows: DataFrame) -> list[str]:
    """The columns besides the watermark columns."""
    return [name for name in rows.columns if name not in MARKS]


def zone_of(rows: DataFrame, time: str) -> str:
    """On whose wall clock an operator has these times: that of UTC if they are instants, "" if of no zone."""
    return "UTC" if rows.schema[time].dataType == T.TimestampType() else ""


def side_of(payload: pa.RecordBatch) -> str:
    """The side whose rows a payload has."""
    return (payload.schema.metadata or {})[SIDE.encode()].decode()


@dataclass(frozen=True)
class LocalRows:
    """A `LocalStrategy`. It takes `columns` columns of the row, of which `time` is its time, and the hash of its key.
    With `on_event` a new seq begins wherever a watermark moves."""

    columns: int
    time: int
    side: str = ""

    def cuts(self, heard: ChannelWatermarks, watermarks: WatermarkColumns, rows: pa.RecordBatch) -> list[int]:
        return heard.slice_cuts(watermarks, EVERY_MS)

    def placed(self, rows: pa.RecordBatch, key_groups: pa.Array) -> pa.RecordBatch:
        return rows.append_column("key_group", key_groups).filter(rows.column(self.time).is_valid())

    def payload(self, waiting: Sequence[pa.RecordBatch]) -> tuple[pa.RecordBatch, Ints]:
        rows = joined(waiting)
        groups: Ints = rows.column(self.columns + 1).to_numpy().astype(np.int64)
        order = sort_order([groups])
        names = [*map(str, range(self.columns)), HASH]
        columns = [with_nulls(column) for column in rows.columns[: self.columns + 1]]
        own = pa.RecordBatch.from_arrays(columns, names=names).take(pa.array(order))
        return own.replace_schema_metadata({SIDE: self.side}) if self.side else own, groups[order]
