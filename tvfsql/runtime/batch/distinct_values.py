"""Distinct values of sliding windows, without a set per window."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegralType, LongType, StructField, StructType, TimestampNTZType

from tvfsql.plan.columns import SLICE_END
from tvfsql.plan.window import Cumulate, Hop
from tvfsql.runtime.frames.column_names import column_of, interval_of
from tvfsql.runtime.merge.value_runs import Unrepeated, ValueRuns


def distinct_changes(
    values: DataFrame, window: Hop | Cumulate, *, keys: Sequence[str], count: str, total: str | None = None
) -> DataFrame:
    """The change of the number (and the sum) of distinct values from slice to slice.

    In: `keys`, `value`, `slice_end` (timestamp_ntz), without NULL values. A row may repeat.
    Out: `keys`, `slice_end`, `count` (bigint) and, if requested, `total` (the sum of values). Each is the change at
    that slice, so its running sum at the end of a window is the window's distinct count (merge kind `running`). A key
    and slice may have several rows.
    HOP: a value counts in the windows from each slice that contains it until the next such slice, or until the window
    size has passed. CUMULATE: from its first slice in the cycle. Source: architecture.md#slices.
    """
    kind = values.schema["value"].dataType
    if isinstance(kind, IntegralType):
        values = values.withColumn("value", F.col("value").cast("bigint"))  # an INT has no -(-2147483648)
    if isinstance(window, Cumulate):
        return _first_of_cycles(values, window, keys, count, total)
    fields = [*(values.schema[key] for key in keys), StructField(SLICE_END, TimestampNTZType())]
    fields += [StructField(count, LongType())]
    fields += [StructField(total, values.schema["value"].dataType)] if total is not None else []
    columns = [column_of(name) for name in (*keys, "value", SLICE_END)]
    # mapInArrow cannot find a column with a dot or a backtick in its name
    numbered = values.select(*columns).toDF(*map(str, range(len(columns))))
    seen = numbered.mapInArrow(Unrepeated(), numbered.schema)
    *keyed, slice_end = seen.columns
    ordered = seen.repartition(*keyed).sortWithinPartitions(*keyed, slice_end)
    return ordered.mapInArrow(ValueRuns(len(keys), window.size, total is not None), StructType(fields))


def _first_of_cycles(
    values: DataFrame, window: Cumulate, keys: Sequence[str], count: str, total: str | None
) -> DataFrame:
    """`distinct_changes` of CUMULATE."""
    columns = [column_of(key) for key in keys]
    cycle = F.window(
        F.col(SLICE_END) - interval_of(1),
        f"{window.size} milliseconds",
        startTime=f"{window.offset % window.size} milliseconds",
    )
    first = values.groupBy(*columns, "value", cycle).agg(F.min(SLICE_END).alias(SLICE_END))
    sums = [F.count("*").alias(count)]
    sums += [F.sum("value").alias(total)] if total is not None else []
    return first.groupBy(*columns, SLICE_END).agg(*sums)
