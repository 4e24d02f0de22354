"""Windows without rows: one row for each window of a key between two windows with rows, or after the last one. And rows
on a grid: one for each stretch of time between two rows that has none.

Batch and streams share `filled`: they only find, for each row, which windows after its own have none.
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
ROW = "row"  # the kind of the column with a row's own time, in place of those of its window


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


def fill_grid(
    rows: DataFrame,
    grid: Tumble,
    *,
    keys: Sequence[str],
    time: str,
    values: Mapping[str, str],
    ties: Sequence[str],
    limit: int | None = None,
    goes_on: bool = False,
) -> DataFrame:
    """The rows, and a row at the start of each window of `grid` that has none, between two rows of a key that are at
    most `limit` ms apart (None: whatever is between them).

    `goes_on`: rows are added after each row until it is `limit` ms old. `values` says what added rows have in columns
    besides `keys` and `time` (`plan.gaps`). Rows of one time are in the order of `ties`. Out: the same columns.
    """
    over = W.Window.partitionBy(*(map(column_of, keys) if keys else [F.lit(0)])).orderBy(
        column_of(time), *map(column_of, ties)
    )
    own, following = column_of(time), F.lead(column_of(time)).over(over)
    linear = [name for name, how in values.items() if how == LINEAR]
    near = following.isNotNull() if limit is None else _ms(own, following) <= limit
    leads = {name: F.lead(column_of(name)).over(over) for name in (time, *linear)}
    between = F.greatest(_steps(own, following, grid) - 1, F.lit(0))
    last = F.when(near, between).otherwise(0)
    if goes_on:
        assert limit is not None
        most = _steps(own, own + interval_of(limit), grid)
        last = F.when(following.isNotNull(), F.least(between, most)).otherwise(most)
    timed = rows.withColumns(
        {
            FIRST: F.lit(0).cast("bigint"),
            LAST: last.cast("bigint"),
            STEPS: F.lit(0),
            **({next_of(name): F.when(near, lead) for name, lead in leads.items()} if linear else {}),
        }
    )
    return filled(timed, grid, rows.columns, properties={time: ROW}, values=values)


def on_grid(time: Column, window: Tumble | Hop | Cumulate) -> Column:
    """The start of the window of `size` that a time is in."""
    offset = interval_of(window.offset)
    return time_bucket(interval_of(window.size), time - offset) + offset


def _ms(one: Column, other: Column) -> Column:
    return F.timestamp_diff("MILLISECOND", one, other)


def _steps(one: Column, other: Column, grid: Tumble) -> Column:
    """How many windows later the second time is."""
    return (_ms(on_grid(one, grid), on_grid(other, grid)) / grid.size).cast("bigint")


def filled(
    rows: DataFrame,
    window: Tumble | Hop | Cumulate,
    columns: Sequence[str],
    *,
    properties: Mapping[str, str],
    values: Mapping[str, str],
) -> DataFrame:
    """The rows of the windows that rows with FIRST, LAST and, for LINEAR, STEPS and `next_of` stand for.

    On a grid `properties` has the time of rows (ROW): an added row is at the start of its window. For LINEAR the time
    of the next row is in `next_of` it. Rows without FIRST, control rows, stay as they are. Out: `columns`.
    """
    each = rows.withColumn(AT, F.explode_outer(F.sequence(column_of(FIRST), column_of(LAST))))
    at, time = column_of(AT), next(name for name, kind in properties.items() if kind in ("end", ROW))
    shift = interval_of(step_of(window)) * at
    kinds = {field.name: field.dataType for field in rows.schema}

    def of_window(name: str) -> Column:
        if properties[name] == ROW:
            return on_grid(column_of(name), window) + shift
        if properties[name] == "start" and isinstance(window, Cumulate):
            return on_grid(column_of(time) + shift - interval_of(1), window)
        return column_of(name) + shift

    def value(name: str) -> Column:
        own, how = column_of(name), values[name]
        if how == LINEAR:
            part, whole = at, column_of(STEPS)
            if properties[time] == ROW:
                part = _ms(column_of(time), of_window(time))
                whole = _ms(column_of(time), column_of(next_of(time)))
            return (own + (column_of(next_of(name)) - own) * part / whole).cast(kinds[name])
        return F.lit(0 if how == ZERO else None).cast(kinds[name])

    def made(name: str) -> Column:
        if name not in properties and values.get(name, PREVIOUS) == PREVIOUS:
            return column_of(name)
        without_rows = of_window(name) if name in properties else value(name)
        return F.when(at > 0, without_rows).otherwise(column_of(name)).alias(name)

    return each.select(*map(made, columns))
