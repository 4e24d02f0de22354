"""Windows without rows: one row for each window of a key between two windows with rows, or after the last one.

Batch and streams share `filled`: they only find, for each window with rows, which windows after it have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import window as W

from tvfsql.plan.gaps import LINEAR, PREVIOUS, ZERO
from tvfsql.plan.window import Cumulate, Hop, Tumble, step_of
from tvfsql.runtime.frames.column_names import column_of, interval_of
from tvfsql.runtime.host.spark_versions import time_bucket

# The columns that `filled` reads: which windows after its own a row stands for (bigint, 0: its own), from FIRST to
# LAST, and how many windows later the next one with rows is (STEPS; NULL: that is not known, or the key ends before).
FIRST, LAST, STEPS = "$first", "$last", "$steps"
AT = "$at"  # which of these windows a row of the result is for


def next_of(column: str) -> str:
    """The column with the value of a LINEAR column in the next window with rows."""
    return f"$$next {column}"


def fill_gaps(
    rows: DataFrame,
    window: Tumble | Hop | Cumulate,
    *,
    keys: Sequence[str],
    properties: Mapping[str, str],
    values: Mapping[str, str],
    retention: int | None = None,
) -> DataFrame:
    """The rows of windows, one for each combination of `keys` and window, and rows for windows without rows.

    `properties` are the columns that hold the `start`, the `end` and the `time` of the window, `values` says what the
    other columns have in windows without rows (`plan.gaps`). `retention` in ms: windows of a key are filled so long
    after its last window with rows; None: only those between two windows with rows.
    Out: the same columns.
    """
    end = next(name for name, kind in properties.items() if kind == "end")
    over = W.Window.partitionBy(*(map(column_of, keys) if keys else [F.lit(0)])).orderBy(column_of(end))
    step = step_of(window)
    to_next = F.timestamp_diff("MILLISECOND", column_of(end), F.lead(column_of(end)).over(over))
    steps = (to_next / step).cast("bigint")
    linear = [name for name, how in values.items() if how == LINEAR]
    timed = rows.withColumns({STEPS: steps, **{next_of(name): F.lead(column_of(name)).over(over) for name in linear}})
    if retention is None:
        last = F.coalesce(column_of(STEPS) - 1, F.lit(0))
    else:
        most = retention // step
        last = F.coalesce(F.least(column_of(STEPS) - 1, F.lit(most)), F.lit(most))
        timed = timed.withColumn(STEPS, F.when(column_of(STEPS) - 1 <= most, column_of(STEPS)))
    ranges = {FIRST: F.lit(0).cast("bigint"), LAST: last.cast("bigint")}
    return filled(timed.withColumns(ranges), window, rows.columns, properties=properties, values=values)


def filled(
    rows: DataFrame,
    window: Tumble | Hop | Cumulate,
    columns: Sequence[str],
    *,
    properties: Mapping[str, str],
    values: Mapping[str, str],
) -> DataFrame:
    """The rows of the windows that rows with FIRST, LAST and, for LINEAR, STEPS and `next_of` stand for.

    Rows without FIRST, control rows, stay as they are. Out: `columns`.
    """
    each = rows.withColumn(AT, F.explode_outer(F.sequence(column_of(FIRST), column_of(LAST))))
    at, end = column_of(AT), next(name for name, kind in properties.items() if kind == "end")
    shift = interval_of(step_of(window)) * at
    kinds = {field.name: field.dataType for field in rows.schema}

    def of_window(name: str) -> Column:
        if properties[name] == "start" and isinstance(window, Cumulate):
            offset, last = interval_of(window.offset), column_of(end) + shift - interval_of(1)
            return time_bucket(interval_of(window.size), last - offset) + offset
        return column_of(name) + shift

    def value(name: str) -> Column:
        own, how = column_of(name), values[name]
        if how == LINEAR:
            return (own + (column_of(next_of(name)) - own) * at / column_of(STEPS)).cast(kinds[name])
        return F.lit(0 if how == ZERO else None).cast(kinds[name])

    def made(name: str) -> Column:
        if name not in properties and values.get(name, PREVIOUS) == PREVIOUS:
            return column_of(name)
        without_rows = of_window(name) if name in properties else value(name)
        return F.when(at > 0, without_rows).otherwise(column_of(name)).alias(name)

    return each.select(*map(made, columns))
