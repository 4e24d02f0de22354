"""From slices to windows, as a DataFrame operation: what emitted code calls for HOP and CUMULATE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.window import Cumulate, Hop, Tumble, Window, of_slices
from tvfsql.runtime.exact import DIGITS
from tvfsql.runtime.expressions import column_of
from tvfsql.runtime.functions import AggregateFunction
from tvfsql.runtime.kernel import BEFORE, SliceKernel
from tvfsql.runtime.partials import KINDS, Merge, are_kinds


def merge_slices(
    slices: DataFrame, window: Tumble | Hop | Cumulate, *, keys: Sequence[str], merges: Mapping[str, Merge], rows: str
) -> DataFrame:
    """One row per key and window that holds data, out of partial aggregates per key and slice.

    In: `keys` (NULL and NaN are keys like any other), `slice_end` (timestamp_ntz) and a partial column for
    each entry of `merges`, which is its merge kind: one of `partials.KINDS`, or a user's aggregate. `rows` is one of
    them, a sum: how many input rows the slice holds; with none (NULL or 0) it brings no window about. A slice may
    have several rows.
    Out: keys, window_start, window_end (timestamp_ntz, end exclusive), the merged partials; sums are as wide
    as Spark's: bigint, double, decimal(38, s). Fails with DataError if an exact sum does not fit. With
    `emit_only_on_change` only the steps that rows arrived in, and `before`: a struct of the merged partials that
    the step before has, NULL in the first step. Whether a result differs is the caller's to say.
    """
    if merges.get(rows) != "sum" or not are_kinds(merges.values()):
        raise AssertionError(f"{rows} must be a sum, and all kinds among {', '.join(KINDS)}: {dict(merges)}")
    columns = [column_of(name) for name in (*keys, "slice_end", *merges)]
    spread = slices.select(*columns).repartition(*(map(column_of, keys) if keys else (1,)))
    ordered = spread.sortWithinPartitions(*map(column_of, (*keys, "slice_end")))
    # mapInArrow cannot find a column with a dot or a backtick in its name
    numbered = ordered.toDF(*map(str, range(len(columns))))
    kernel = SliceKernel(of_slices(window), tuple(keys), tuple(merges.items()), rows)
    return numbered.mapInArrow(kernel, window_schema(slices.schema, window, keys, merges))


def window_schema(
    slices: T.StructType, window: Window, keys: Sequence[str], merges: Mapping[str, Merge]
) -> T.StructType:
    """The columns of windows made of slices with these columns."""
    bounds = [T.StructField(name, T.TimestampNTZType()) for name in ("window_start", "window_end")]
    merged = [T.StructField(name, merged_type(kind, slices[name].dataType)) for name, kind in merges.items()]
    before = [T.StructField(BEFORE, T.StructType(merged))] if window.emit_only_on_change else []
    return T.StructType([*(T.StructField(name, slices[name].dataType) for name in keys), *bounds, *merged, *before])


def merged_type(kind: Merge, partial: T.DataType) -> T.DataType:
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
