"""Watermarks of the rows of a stream, and rows without a time. Source: semantics.md#watermarks and #null-times."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tvfsql.plan.tables.internal_columns import CHANNEL, CONTROL, MARKS, ROW, WATERMARK
from tvfsql.plan.values.scalar import bare
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.stream.time.control_channel import with_control
from tvfsql.runtime.stream.time.valve import ALL

# The times that windows take: those of Flink's years, and a year at either end, as an instant may be in another zone.
FIRST, END = "TIMESTAMP_NTZ '0000-01-01 00:00:00'", "TIMESTAMP_NTZ '+10001-01-01 00:00:00'"
# The counters of rows without a time, by the value of `table.exec.source.rowtime-null-handling`.
NULL_TIMES = {"DROP": "numNullRowTimeRecordsDropped", "SKIP_WATERMARK": "numNullRowTimeRecordsSkipped"}


def with_watermarks(
    rows: DataFrame,
    table: str,
    *,
    time: str,
    watermark: str,
    nulls: str = "FAIL",
    name: str = "",
    on_event: bool = False,
    ends: str = "",
) -> DataFrame:
    """The rows of a table, each with its watermark, and the control rows of the query.

    In: `time` and `watermark` are SQL over the columns of `rows`; both result in timestamps.
    Out: as in `with_control`, and `$watermark`, which is NULL in rows whose time is NULL. `nulls` says what happens to
    these: FAIL fails the query with a DataError, DROP drops them, SKIP_WATERMARK keeps them outside all windows. The
    query's progress reports their number as one of NULL_TIMES, under `name`, by default tvfsql_<table>. A time before
    FIRST or from END on is dropped too with DROP, and else fails the query.
    A row in which the column `ends` (bigint) is negative deletes another one, and may lack a time.
    With `on_event` each row also has `$row`, a number of its own, which is NULL in control rows. Whatever copies rows
    copies it too, so the operator finds the last copy of a row, after which the row's watermark counts.
    """
    both = with_control(rows.withColumn(ROW, F.rand()) if on_event else rows, table)
    at = F.expr(time)
    timeless = F.col(CONTROL).isNull() & at.isNull()
    if ends:
        timeless &= column_of(ends) > 0
    far = F.col(CONTROL).isNull() & ~((at >= F.expr(FIRST)) & (at < F.expr(END)))
    own = F.when(at.isNotNull(), F.expr(watermark))
    if nulls == "FAIL":
        failure = F.when(timeless, F.raise_error(F.lit(f"[TVFSQL_NULL_ROWTIME] {time}"))).when(far, _far(time))
        if bare(time) in rows.columns:  # an operator with a `delay` reads the time, but not the watermark
            return both.withColumn(bare(time), failure.otherwise(at)).withColumn(WATERMARK, own)
        return both.withColumn(WATERMARK, failure.otherwise(own))
    if nulls == "DROP":
        timeless |= F.coalesce(far, F.lit(False))
    else:
        own = F.when(far, _far(time)).otherwise(own)
    counted = both.observe(name or f"tvfsql_{table}", F.count_if(timeless).alias(NULL_TIMES[nulls]))
    kept = counted.where(~timeless) if nulls == "DROP" else counted
    return kept.withColumn(WATERMARK, own)


def _far(time: str) -> Column:
    return F.raise_error(F.concat(F.lit(f"[TVFSQL_FAR_TIME] {time}: "), F.expr(time).cast("string")))


def with_processing_time(rows: DataFrame, table: str) -> DataFrame:
    """The rows of a table and the control rows of the query, for operators in processing time.

    Out: as in `with_watermarks`, but `$watermark` is NULL: the watermark is the time of the micro-batch.
    """
    return with_control(rows, table).withColumn(WATERMARK, F.lit(None).cast("timestamp_ntz"))


def drop_null_times(rows: DataFrame, time: str, *, name: str) -> DataFrame:
    """The rows of a stream whose `time` is not NULL. The query's progress reports the number of the others under
    `name`."""
    missing = column_of(time).isNull()
    return rows.observe(name, F.count_if(missing).alias(NULL_TIMES["DROP"])).where(~missing)


# UNION ALL of several streams that feed one operator.


def union_streams(*sides: DataFrame) -> DataFrame:
    """UNION ALL of streams with watermark columns. The channels of the sides stay separate.

    In: sides with the same columns in the same order, including the watermark columns of `with_watermarks`.
    Out: the same columns. `$channel` is never NULL and starts with the number of its side: `1/`, `2/` ... These
    prefixes are the operator's inputs (`Valve`). A message for all channels becomes a message for all channels of its
    side.
    """
    return reduce(DataFrame.union, (of_side(side, f"{i}/") for i, side in enumerate(sides, 1)))


def of_side(side: DataFrame, name: str) -> DataFrame:
    """The same rows, with `name` prefixed to their channels, and the columns MARKS at the end, in one order."""
    whole = F.when(F.col(CONTROL).isNotNull(), F.lit(ALL)).otherwise(F.lit(""))
    own = [column for column in side.columns if column not in MARKS]
    marks = [mark for mark in MARKS if mark in side.columns]
    named = side.withColumn(CHANNEL, F.concat(F.lit(name), F.coalesce(F.col(CHANNEL), whole)))
    return named.select(*map(column_of, (*own, *marks)))
