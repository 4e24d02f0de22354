"""The types of windows that are merged from partials."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import types as T

from tvfsql.plan.tables.internal_columns import BEFORE
from tvfsql.plan.window import Window
from tvfsql.runtime.host.spark_versions import arrow_schema
from tvfsql.runtime.merge.exact_sums import DIGITS
from tvfsql.runtime.merge.partials import Merge
from tvfsql.runtime.udf.calls import AggregateFunction


def window_schema(
    slices: T.StructType, window: Window, keys: Sequence[str], merges: Mapping[str, Merge]
) -> T.StructType:
    """The columns of windows that are merged from slices with these columns."""
    bounds = [T.StructField(name, T.TimestampNTZType()) for name in ("window_start", "window_end")]
    merged = [T.StructField(name, merged_type(kind, slices[name].dataType)) for name, kind in merges.items()]
    before = [T.StructField(BEFORE, T.StructType(merged))] if window.emit_only_on_change else []
    return T.StructType([*(T.StructField(name, slices[name].dataType) for name in keys), *bounds, *merged, *before])


def merged_type(kind: Merge, partial: T.DataType) -> T.DataType:
    """The type of merged partials of this merge kind."""
    match partial:
        case _ if isinstance(kind, AggregateFunction):
            return T.BinaryType()
        case _ if kind not in ("sum", "running"):
            return partial
        case T.DecimalType():
            return T.DecimalType(DIGITS, partial.scale)
        case T.IntegralType():
            return T.LongType()
    return T.DoubleType()


def neutral_partials(partials: T.StructType, zeros: Collection[str], zone: str) -> dict[str, pa.Array]:
    """For each partial an array of one value, that of no rows: 0 for the counts in `zeros`, else NULL. Instants are in
    Spark's session time zone."""
    return {
        part.name: pa.array([0 if part.name in zeros else None], _in_zone(part.type, zone))
        for part in arrow_schema(partials)
    }


def _in_zone(kind: pa.DataType, zone: str) -> pa.DataType:
    """The type of a column as Spark passes it to Python: instants are in a time zone, and all parts may be NULL."""
    if pa.types.is_timestamp(kind) and kind.tz:
        return pa.timestamp("us", zone)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(part.name, _in_zone(part.type, zone)) for part in kind])
    if pa.types.is_list(kind):
        return pa.list_(pa.field(kind.value_field.name, _in_zone(kind.value_type, zone)))
    return kind
