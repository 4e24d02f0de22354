"""The types of windows that are merged from partials."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import types as T

from tvfsql.plan.aggregate.chosen_values import Counted, Quantiles, result_of
from tvfsql.plan.aggregate.sketches import Kll, Sketch
from tvfsql.plan.tables.internal_columns import BEFORE, WINDOW_NAME
from tvfsql.plan.window import Endless, Several, Window
from tvfsql.runtime.arrow.batches import stable_type
from tvfsql.runtime.host.spark_versions import arrow_schema
from tvfsql.runtime.merge.exact_sums import DIGITS
from tvfsql.runtime.merge.partials import Merge
from tvfsql.runtime.udf import AggregateFunction


def window_schema(
    slices: T.StructType, window: Window, keys: Sequence[str], merges: Mapping[str, Merge]
) -> T.StructType:
    """The columns of windows that are merged from slices with these columns."""
    ends = () if isinstance(window, Endless) else ("window_start", "window_end")
    bounds = [T.StructField(name, T.TimestampNTZType()) for name in ends]
    if isinstance(window, Several):
        bounds.insert(0, T.StructField(WINDOW_NAME, T.StringType()))
    merged = [T.StructField(name, of_windows(kind, slices[name].dataType)) for name, kind in merges.items()]
    before = [T.StructField(BEFORE, T.StructType(merged))] if window.emit_only_on_change else []
    return T.StructType([*(T.StructField(name, slices[name].dataType) for name in keys), *bounds, *merged, *before])


def merged_type(kind: Merge, partial: T.DataType) -> T.DataType:
    """The type of merged partials of this merge kind."""
    match partial:
        case _ if isinstance(kind, AggregateFunction | Sketch):
            return T.BinaryType()
        case _ if kind != "sum":
            return partial
        case T.DecimalType():
            return T.DecimalType(DIGITS, partial.scale)
        case T.IntegralType():
            return T.LongType()
    return T.DoubleType()


def of_windows(kind: Merge, partial: T.DataType) -> T.DataType:
    """The type of what finished windows have of merged partials of this merge kind."""
    if isinstance(kind, Quantiles | Kll) and kind.results:
        value = T.LongType() if isinstance(kind, Kll) and kind.values == "bigint" else T.DoubleType()
        names = [*map(result_of, kind.fractions)]
        names += [result_of(fraction, discrete=True) for fraction in getattr(kind, "discrete", ())]
        return T.StructType([T.StructField(name, value) for name in names])
    if not isinstance(kind, Counted):
        return merged_type(kind, partial)
    assert isinstance(partial, T.ArrayType), partial
    fields = [T.StructField("n", T.LongType())]
    fields += [T.StructField("total", merged_type("sum", partial.elementType))] if kind.total else []
    return T.StructType(fields)


def neutral_partials(partials: T.StructType, zeros: Collection[str]) -> dict[str, pa.Array]:
    """For each partial an array of one value, that of no rows, as in state: 0 for the counts in `zeros`, else NULL."""
    return {
        part.name: pa.array([0 if part.name in zeros else None], stable_type(part.type))
        for part in arrow_schema(partials)
    }


# Types that allow NULL everywhere.


def nullable_type(kind: Any) -> Any:
    """A Spark type, as JSON, that allows NULL everywhere: the counterpart of `in_stable_type` for columns."""
    if isinstance(kind, list):
        return [nullable_type(part) for part in kind]
    if not isinstance(kind, dict):
        return kind
    changed = dict.fromkeys({"nullable", "containsNull"} & kind.keys(), True)
    return {name: part if name == "metadata" else nullable_type(part) for name, part in kind.items()} | changed
