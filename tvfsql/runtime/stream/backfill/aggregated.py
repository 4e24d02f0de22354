"""The history of a table, aggregated by Spark to the slices or intervals that a window operator of a stream merges.

A stream starts from partials of single rows (`local_slices`). Partials merge in any order, so the rows of a slice may
as well be merged by Spark before: the result looks like one row of the stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tvfsql.plan.aggregate.chosen_values import Counted, MostFrequent, Quantiles
from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.plan.tables.internal_columns import WATERMARK
from tvfsql.plan.window import Session, TumbleMonths, Window
from tvfsql.runtime.frames.assigned_windows import local_time, month_windows
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.merge.partials import Merge

SPAN, TIMELESS = "$span", "$timeless"  # a group of rows that share a slice or a session; rows without a time
MERGED_IN_SPARK = ("sum", "min", "max", "moments", "concat", "bag", "distinct")
FIRST, LAST, ROWS = "$first", "$last", "$rows"


def aggregated(
    rows: DataFrame,
    window: Window,
    observed: Observation,
    *,
    time: str,
    keys: Sequence[str],
    merges: Mapping[str, Merge],
    zone: str = "",
) -> DataFrame:
    """Rows with `keys`, `time`, a partial for each entry of `merges`, and `$watermark`, merged as far as Spark can.

    In: as in `local_slices`. Out: the same columns without watermarks. Of rows without a time nothing is left. A slice
    has one row for each key, at the time of its first row. A session has two rows per gap-sized part of it: the first
    has the partials, the second only shows that the session goes on. Partials that Spark cannot merge (of Python
    aggregates, sketches, pairs of numbers) and those of sessions with a maximum duration stay as they are. Spark
    observes the number of `rows` that it reads, and the largest `watermark` (epoch ms). It observes merged rows where
    it can: each row that it observes costs time.
    """
    chosen = rows.select(*map(column_of, (*keys, time, *merges, WATERMARK)))
    ours = [*map(column_of, keys), column_of(time), *map(column_of, merges)]
    if not all(map(_merges_in_spark, merges.values())) or (isinstance(window, Session) and window.limit):
        return _seen(chosen, observed, F.count(F.lit(1))).where(column_of(time).isNotNull()).select(*ours)
    is_instant = rows.schema[time].dataType == T.TimestampType()
    clock = local_time(time, zone) if zone and is_instant else column_of(time)
    # window() drops rows without a time, but their watermarks count
    some_time = F.coalesce(clock, F.expr("TIMESTAMP_NTZ '1970-01-01 00:00:00'"))
    spans = chosen.withColumns({SPAN: _span(some_time, window), TIMELESS: clock.isNull()})
    groups = spans.groupBy(*map(column_of, (*keys, SPAN, TIMELESS)))
    merged = [_merged(kind, column_of(name)).alias(name) for name, kind in merges.items()]
    merged += [F.max(column_of(WATERMARK)).alias(WATERMARK), F.count(F.lit(1)).alias(ROWS)]
    if not isinstance(window, Session):
        slices = groups.agg(F.min(column_of(time)).alias(time), *merged)
        return _seen(slices, observed, F.sum(ROWS)).where(~column_of(TIMELESS)).select(*ours)
    ends = (F.min_by(column_of(time), clock).alias(FIRST), F.max_by(column_of(time), clock).alias(LAST))
    found = _seen(groups.agg(*ends, *merged), observed, F.sum(ROWS)).where(~column_of(TIMELESS))
    first, last = column_of(FIRST), column_of(LAST)
    # in the hour that clocks repeat, the first one on the clock may be the later instant
    both = F.when(first != last, F.array(first, last)).otherwise(F.array(first))
    partials = (F.when(column_of(time) == first, column_of(name)).alias(name) for name in merges)
    return found.withColumn(time, F.explode(both)).select(*map(column_of, keys), column_of(time), *partials)


def _seen(rows: DataFrame, observed: Observation, count: Column) -> DataFrame:
    return rows.observe(observed, count.alias("rows"), F.max(_epoch_ms(rows)).alias("watermark"))


def _epoch_ms(rows: DataFrame) -> Column:
    """The watermark of each row in epoch ms, rounded down."""
    watermark = column_of(WATERMARK)
    if rows.schema[WATERMARK].dataType == T.TimestampType():
        return F.unix_millis(watermark)
    epoch = F.expr("TIMESTAMP_NTZ '1970-01-01 00:00:00'")
    return F.floor(F.timestamp_diff("MICROSECOND", epoch, watermark) / 1000)


def _span(clock: Column, window: Window) -> Column:
    """The end of a row's slice; for sessions, of the part of time as long as the gap, whose rows share a session."""
    if isinstance(window, TumbleMonths):
        return month_windows(clock, window).getField("end")
    width, offset = (window.gap, 0) if isinstance(window, Session) else (window.slice_size, window.offset)
    size, start = f"{width} milliseconds", offset % width
    return F.window(clock, size, size, *([f"{start} milliseconds"] if start else [])).getField("end")


def _merges_in_spark(kind: Merge) -> bool:
    """Whether `_merged` has the merge kind."""
    return kind in MERGED_IN_SPARK or isinstance(kind, TopRows | Quantiles | MostFrequent | Counted)


def _merged(kind: Merge, partial: Column) -> Column:
    """The merged partials of single rows. NULL if all of them are NULL."""
    match kind:
        case "sum":
            return F.sum(partial)
        case "min":
            return F.min(partial)
        case "max":
            return F.max(partial)
        case "moments":  # of single rows: their mean is the value
            value, number = partial.getField("mean"), F.count(partial)
            spread = F.var_pop(value) * number
            found = F.struct(number.alias("n"), F.avg(value).alias("mean"), spread.alias("m2"))
            return F.when(number > 0, found)
        case "concat" | "bag" | TopRows() | Quantiles() | MostFrequent():
            return F.when(F.count(partial) > 0, F.flatten(F.collect_list(partial)))
        case "distinct" | Counted():
            return F.when(F.count(partial) > 0, F.flatten(F.collect_set(partial)))
    raise AssertionError(kind)
