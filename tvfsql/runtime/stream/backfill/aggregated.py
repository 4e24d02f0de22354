"""The history of a table, aggregated by Spark to the slices or intervals that a window operator of a stream merges.

A stream starts from partials of single rows (`local_slices`). Partials merge in any order, so the rows of a slice may
as well be merged by Spark before: the result looks like one row of the stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tvfsql.plan.window import Session, TumbleMonths, Window
from tvfsql.runtime.frames.assigned_windows import local_time, month_windows
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.merge.partials import Merge

SPAN = "$span"  # a group of rows that share a slice, or that are in one session
FIRST, LAST = "$first", "$last"


def aggregated(
    rows: DataFrame, window: Window, *, time: str, keys: Sequence[str], merges: Mapping[str, Merge], zone: str = ""
) -> DataFrame:
    """Rows with `keys`, `time` and a partial for each entry of `merges`, merged as far as Spark can.

    In: as in `local_slices`. Out: the same columns. Of rows without a time nothing is left. A slice has one row for
    each key, at the time of its first row. A session has two rows per gap-sized part of it: the first has the partials,
    the second only shows that the session goes on. Partials of Python aggregates and of sessions with a maximum
    duration stay as they are.
    """
    chosen = rows.select(*map(column_of, (*keys, time, *merges))).where(column_of(time).isNotNull())
    if not all(isinstance(kind, str) for kind in merges.values()) or (isinstance(window, Session) and window.limit):
        return chosen
    is_instant = rows.schema[time].dataType == T.TimestampType()
    clock = local_time(time, zone) if zone and is_instant else column_of(time)
    merged = [_merged(kind, column_of(name)).alias(name) for name, kind in merges.items()]
    groups = chosen.withColumn(SPAN, _span(clock, window)).groupBy(*map(column_of, keys), column_of(SPAN))
    if not isinstance(window, Session):
        return groups.agg(F.min(column_of(time)).alias(time), *merged).select(*map(column_of, chosen.columns))
    ends = (F.min_by(column_of(time), clock), F.max_by(column_of(time), clock))
    found = groups.agg(*(end.alias(name) for name, end in zip((FIRST, LAST), ends, strict=True)), *merged)
    first, last = column_of(FIRST), column_of(LAST)
    both = F.when(first < last, F.array(first, last)).otherwise(F.array(first))
    apart = found.withColumn(time, F.explode(both))
    partials = (F.when(column_of(time) == first, column_of(name)).alias(name) for name in merges)
    return apart.select(*map(column_of, keys), column_of(time), *partials)


def _span(clock: Column, window: Window) -> Column:
    """The end of a row's slice; for sessions, of the part of time as long as the gap, whose rows share a session."""
    if isinstance(window, TumbleMonths):
        return month_windows(clock, window).getField("end")
    width, offset = (window.gap, 0) if isinstance(window, Session) else (window.slice_size, window.offset)
    size, start = f"{width} milliseconds", offset % width
    return F.window(clock, size, size, *([f"{start} milliseconds"] if start else [])).getField("end")


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
        case "concat" | "bag":
            return F.when(F.count(partial) > 0, F.flatten(F.collect_list(partial)))
        case "distinct":
            return F.when(F.count(partial) > 0, F.flatten(F.collect_set(partial)))
    raise AssertionError(kind)
