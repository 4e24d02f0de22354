"""Rows of a stream on their way to an operator that keeps rows by key: payloads by key group, and what channels say.

What `LocalSlices` is to aggregates: here rows travel as they are, with the hash of their key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tvfsql.plan.window import Tumble
from tvfsql.runtime.columns import Ints
from tvfsql.runtime.expressions import column_of
from tvfsql.runtime.stream.by_group import CHUNK_ROWS, ByKeyGroup
from tvfsql.runtime.stream.control import CHANNEL, CONTROL, WATERMARK, with_now
from tvfsql.runtime.stream.groups import key_group_labels
from tvfsql.runtime.stream.said import Said
from tvfsql.runtime.stream.slice_rows import joined, sort_order, with_nulls
from tvfsql.runtime.stream.spans import Span

HASH = "$hash"
SIDE = "side"  # of a payload, in the metadata of its schema
MARKS = (WATERMARK, CONTROL, CHANNEL)
EVERY_MS = Span(Tumble(1))  # a watermark that moves at all passes the end of one of these


def rows_by_key(
    rows: DataFrame, *, keys: Sequence[str], time: str, key_groups: int, on_event: bool = False, side: str = ""
) -> DataFrame:
    """The rows of a micro-batch in payloads by key group.

    In: any columns, among them `keys` and `time` (a timestamp; rows where it is NULL bring their watermark and nothing
    else), and `$watermark`, `$control` and `$channel` as `with_watermarks` makes them.
    Out: as `local_slices`; a payload holds all columns but those three, by number, and `$hash`: that of the keys.
    With `on_event` a watermark counts from the row after it, in the order of the source, whose rows then pass
    through one task. Else it counts from the next micro-batch. Of an operator with several inputs the payloads know
    their `side`.
    """
    own = own_columns(rows)
    labels = key_group_labels(key_groups if keys else 1)
    hashed = F.xxhash64(*map(column_of, keys)) if keys else F.lit(0).cast("bigint")
    at = F.pmod(hashed, F.lit(len(labels))).cast("int") + 1
    group = F.element_at(F.array(*map(F.lit, labels)), at).cast("int")
    chosen = rows.select(*map(column_of, own), hashed, group, *map(column_of, MARKS))
    # mapInArrow cannot find a column with a dot or a backtick in its name
    numbered = chosen.toDF(*map(str, range(len(chosen.columns))))
    if on_event:
        numbered = numbered.coalesce(1)
    local = LocalRows(len(own), own.index(time), labels, on_event, side)
    parts = [
        ("key_group", T.IntegerType()),
        ("seq", T.LongType()),
        ("channel", T.StringType()),
        ("watermark", T.LongType()),
        ("payload", T.BinaryType()),
    ]
    return with_now(numbered.mapInArrow(local, T.StructType([T.StructField(*part) for part in parts])))


def own_columns(rows: DataFrame) -> list[str]:
    """The columns besides the marks."""
    return [name for name in rows.columns if name not in MARKS]


def zone_of(rows: DataFrame, time: str) -> str:
    """On whose wall clock an operator has these times: that of UTC if they are instants, "" if of no zone."""
    return "UTC" if rows.schema[time].dataType == T.TimestampType() else ""


def side_of(payload: Any) -> str:
    """The side whose rows a payload holds."""
    side: str = payload.schema.metadata[SIDE.encode()].decode()
    return side


@dataclass(frozen=True)
class LocalRows(ByKeyGroup):
    """What `mapInArrow` runs. In, by position: `columns` columns of the row, of which `time` is its time, the hash of
    its key, its key group, $watermark, $control, $channel. With `on_event` a new seq begins wherever a watermark moves.
    """

    columns: int
    time: int
    key_groups: tuple[int, ...]
    on_event: bool = False
    side: str = ""
    chunk_rows: int = CHUNK_ROWS

    def _marks(self, batch: Any) -> tuple[Any, Any, Any]:
        watermark, control, channel = batch.columns[self.columns + 2 :]
        return channel, watermark.cast(pa.timestamp("us")).view(pa.int64()), control

    def _ends(self, said: Said, batch: Any) -> list[int]:
        return said.ends(*self._marks(batch), EVERY_MS)

    def _placed(self, batch: Any) -> Any:
        return batch.filter(batch.column(self.time).is_valid())

    def _grouped(self, waiting: list[Any]) -> tuple[Any, Ints]:
        rows = joined(waiting)
        groups: Ints = rows.column(self.columns + 1).to_numpy().astype(np.int64)
        order = sort_order([groups])
        names = [*map(str, range(self.columns)), HASH]
        columns = [with_nulls(column) for column in rows.columns[: self.columns + 1]]
        own = pa.RecordBatch.from_arrays(columns, names=names).take(pa.array(order))
        return own.replace_schema_metadata({SIDE: self.side}) if self.side else own, groups[order]
