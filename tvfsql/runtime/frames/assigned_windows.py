"""Window columns that Spark's window() does not make, and the handling of rows without a time."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tvfsql.plan.window import Cumulate, Hop, Sliced, Tumble, TumbleMonths
from tvfsql.runtime.frames.column_names import column_of, interval_of
from tvfsql.runtime.host.spark_versions import time_bucket


def cumulate_windows(time: str | Column, window: Cumulate) -> Column:
    """One struct<start, end> (timestamp_ntz) for each CUMULATE window that contains `time` (timestamp_ntz). It is an
    explode(), so each row is copied once per window. Source: semantics.md#slices."""
    return F.explode(_of_cumulate(F.col(time) if isinstance(time, str) else time, window))


def _of_cumulate(ts: Column, window: Cumulate) -> Column:
    shift, step, size = (interval_of(ms) for ms in (window.offset, window.step, window.size))
    cycle = time_bucket(size, ts - shift) + shift
    first = time_bucket(step, ts - shift) + shift + step
    ends = F.sequence(first, cycle + size, step)
    return F.transform(ends, lambda end: F.struct(cycle.alias("start"), end.alias("end")))


def windows_or_null(time: str | Column, window: Sliced) -> Column:
    """One struct<start, end> (timestamp_ntz) for each window that contains `time` (timestamp_ntz), or one NULL if there
    is none, so that control rows are kept. Source: semantics.md#slices."""
    ts = F.col(time) if isinstance(time, str) else time
    if isinstance(window, Cumulate):
        return F.explode_outer(_of_cumulate(ts, window))
    if isinstance(window, TumbleMonths):
        return F.when(ts.isNotNull(), month_windows(ts, window))
    return F.explode_outer(_of_hop(ts, window))


def hop_windows(time: str | Column, window: Hop) -> Column:
    """One struct<start, end> (timestamp_ntz) for each HOP window that contains `time` (timestamp_ntz). It is an
    explode(), which drops rows between windows; Spark's window() takes no slide longer than the size."""
    return F.explode(_of_hop(F.col(time) if isinstance(time, str) else time, window))


def _of_hop(ts: Column, window: Tumble | Hop) -> Column:
    """The same for TUMBLE and HOP as an array; NULL between two windows."""
    size, slide = window.size, window.slide if isinstance(window, Hop) else window.size
    shift, wide, step = interval_of((window.offset + size) % slide), interval_of(size), interval_of(slide)
    first = time_bucket(step, ts - shift) + shift + step
    last = time_bucket(step, ts + wide - shift) + shift
    ends = F.when(last >= first, F.sequence(first, last, step))
    return F.transform(ends, lambda end: F.struct((end - wide).alias("start"), end.alias("end")))


def month_windows(time: str | Column, window: TumbleMonths) -> Column:
    """The struct<start, end> (timestamp_ntz) of the calendar window that contains `time` (timestamp_ntz)."""
    ts = F.col(time) if isinstance(time, str) else time
    begins = F.make_ym_interval(F.lit(0), F.lit(window.start)), interval_of(window.offset)
    size = F.make_ym_interval(F.lit(0), F.lit(window.months))
    first = time_bucket(size, ts - begins[1] - begins[0]) + begins[0]
    return F.struct((first + begins[1]).alias("start"), (first + size + begins[1]).alias("end"))


def local_time(time: str, zone: str) -> Column:
    """The wall clock (timestamp_ntz) of `zone` at the instants of a timestamp column.

    Computed from the epoch, so Spark's session zone has no effect.
    """
    shifted = F.unix_micros(F.from_utc_timestamp(column_of(time), zone))
    return F.timestamp_add("MICROSECOND", shifted, F.expr("TIMESTAMP_NTZ '1970-01-01 00:00:00'"))


def with_local_times(rows: DataFrame, zone: str) -> DataFrame:
    """The rows, with each instant (timestamp) replaced by its wall-clock time (timestamp_ntz) in `zone`."""
    instants = [name for name, kind in rows.dtypes if kind == "timestamp"]
    return rows.withColumns({name: local_time(name, zone) for name in instants}) if instants else rows


def refuse_null_times(rows: DataFrame, time: str) -> DataFrame:
    """The same rows. A row whose `time` is NULL fails the query with DataError.

    This is `table.exec.source.rowtime-null-handling` = FAIL, semantics.md#null-times.
    """
    message = F.lit(f"[TVFSQL_NULL_ROWTIME] {time}")
    return rows.withColumn(time, F.coalesce(column_of(time), F.raise_error(message)))


def drop_null_times(rows: DataFrame, time: str) -> DataFrame:
    """The rows whose `time` is not NULL. The others are counted as numNullRowTimeRecordsDropped."""
    from tvfsql.runtime.frames.dead_letters import counted

    return counted(rows, f"numNullRowTimeRecordsDropped ({time})", column_of(time).isNull()).where(
        column_of(time).isNotNull()
    )
