"""Distinct counts of sliding windows, without a set per window."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F
from pyspark.sql.types import IntegralType

from tvfsql.plan.columns import SLICE_END
from tvfsql.plan.window import Cumulate, Hop
from tvfsql.runtime.frames.column_names import column_of, interval_of


def distinct_changes(
    values: DataFrame, window: Hop | Cumulate, *, keys: Sequence[str], count: str, total: str | None = None
) -> DataFrame:
    """The change of the number (and the sum) of distinct values from slice to slice.

    In: `keys`, `value`, `slice_end` (timestamp_ntz), each combination once, without NULL values.
    Out: `keys`, `slice_end`, `count` (bigint) and, if requested, `total` (the sum of values). Each is the change at
    that slice, so its running sum at the end of a window is the window's distinct count (merge kind `running`).
    HOP: a value counts in the windows from each slice that contains it until the next such slice, or until the window
    size has passed. CUMULATE: from its first slice in the cycle. Source: architecture.md#slices.
    """
    columns = [column_of(key) for key in keys]
    if isinstance(values.schema["value"].dataType, IntegralType):
        values = values.withColumn("value", F.col("value").cast("bigint"))  # an INT has no -(-2147483648)
    if isinstance(window, Cumulate):
        cycle = F.window(
            F.col(SLICE_END) - interval_of(1),
            f"{window.size} milliseconds",
            startTime=f"{window.offset % window.size} milliseconds",
        )
        changes = (
            values.groupBy(*columns, "value", cycle)
            .agg(F.min(SLICE_END).alias(SLICE_END))
            .withColumn("change", F.lit(1))
        )
    else:
        later = F.lead(SLICE_END).over(Over.partitionBy(*columns, "value").orderBy(SLICE_END))
        gone = F.least(later, F.col(SLICE_END) + interval_of(window.size))
        both = F.array(_change(F.col(SLICE_END), 1), _change(F.col("gone"), -1))
        changes = values.withColumn("gone", gone).select(*columns, "value", F.inline(both))
    sums = [F.sum("change").alias(count)]
    if total is not None:
        sums.append(F.sum(F.when(F.col("change") > 0, F.col("value")).otherwise(-F.col("value"))).alias(total))
    summed = changes.groupBy(*columns, SLICE_END).agg(*sums)
    # a value that leaves and enters at the same slice changes nothing
    changed = F.lit(False)
    for name in filter(None, (count, total)):
        changed = changed | (column_of(name) != 0)
    return summed.where(changed)


def _change(slice_end: Column, by: int) -> Column:
    return F.struct(slice_end.alias(SLICE_END), F.lit(by).alias("change"))
