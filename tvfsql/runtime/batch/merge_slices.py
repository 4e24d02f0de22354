"""Slices to windows as a DataFrame operation, which emitted code calls for HOP and CUMULATE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame

from tvfsql.plan.tables.internal_columns import RANGE, SLICE_END
from tvfsql.plan.window import MANY_COPIES, Cumulate, Hop, Several, Tumble
from tvfsql.runtime.batch.sizes import tasks_of
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.frames.window_schema import window_schema
from tvfsql.runtime.merge.partials import KINDS, Merge, are_kinds
from tvfsql.runtime.merge.several_windows import kernel_of


def merge_slices(
    slices: DataFrame,
    window: Tumble | Hop | Cumulate | Several,
    *,
    keys: Sequence[str],
    merges: Mapping[str, Merge],
    rows: str,
) -> DataFrame:
    """One row per key and window with data, from partial aggregates per key and slice.

    In: `keys` (NULL and NaN are ordinary keys), `slice_end` (timestamp_ntz) and a column with a partial for each entry
    of `merges`. An entry's value is its merge kind: one of `partials.KINDS`, or a user's aggregate. `rows` names one of
    them, a sum: the number of input rows in the slice. A slice without rows (NULL or 0) opens no window. A slice may
    have several rows. With the key `$range` (timestamp_ntz) only the windows of each slice's own time range are made.
    Out: keys, window_start, window_end (timestamp_ntz, end exclusive), merged partials. Sums have the types of Spark's
    sums: bigint, double, decimal(38, s). An exact sum that overflows fails the query with DataError.
    With `emit_only_on_change`, only the steps in which rows arrived are returned, with a column `before`: a struct of
    the previous step's merged partials, NULL in the first step. The caller decides whether a result differs.
    Of several windows each has its rows, with the string `window_name` after the keys.
    """
    if merges.get(rows) != "sum" or not are_kinds(merges.values()):
        raise AssertionError(f"{rows} must be a sum, and all merge kinds in {', '.join(KINDS)}: {dict(merges)}")
    columns = [column_of(name) for name in (*keys, SLICE_END, *merges)]
    by: list[Column | int] = [*map(column_of, keys)] or [1]
    if keys and (RANGE in keys or window.copies >= MANY_COPIES):
        by = [tasks_of(slices, window.copies), *by]
    spread = slices.select(*columns).repartition(*by)  # type: ignore[arg-type]
    ordered = spread.sortWithinPartitions(*map(column_of, (*keys, SLICE_END)))
    # mapInArrow cannot find a column with a dot or a backtick in its name
    numbered = ordered.toDF(*map(str, range(len(columns))))
    kernel = kernel_of(window, tuple(keys), tuple(merges.items()), rows)
    return numbered.mapInArrow(kernel, window_schema(slices.schema, window, keys, merges))
