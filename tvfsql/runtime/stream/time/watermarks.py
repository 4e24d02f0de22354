"""A stream's rows by their time: the watermark that each brings, and those without a time where no watermark is asked
for. Source: semantics.md#watermarks and #null-times."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tvfsql.plan.columns import CONTROL, WATERMARK
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.stream.time.control_channel import with_control

# What rows without a time are counted as, by `table.exec.source.rowtime-null-handling`.
NULL_TIMES = {"DROP": "numNullRowTimeRecordsDropped", "SKIP_WATERMARK": "numNullRowTimeRecordsSkipped"}


def with_watermarks(
    rows: DataFrame, table: str, *, time: str, watermark: str, nulls: str = "FAIL", name: str = ""
) -> DataFrame:
    """The rows of a table with the watermark that each brings, and the control rows of the query.

    In: `time` and `watermark` are SQL over the columns of `rows`, with timestamps as results.
    Out: as `with_control`, and `$watermark`. A row whose time is NULL brings none. `nulls` decides about it: FAIL fails
    the query with a DataError, DROP drops it, SKIP_WATERMARK keeps it, outside all windows. The number of such rows is
    in the progress of the query, as one of NULL_TIMES, under `name`, by default tvfsql_<table>.
    """
    both = with_control(rows, table)
    at = F.expr(time)
    timeless = F.col(CONTROL).isNull() & at.isNull()
    mark = F.when(at.isNotNull(), F.expr(watermark))
    if nulls == "FAIL":
        return both.withColumn(
            WATERMARK, F.when(timeless, F.raise_error(F.lit(f"[TVFSQL_NULL_ROWTIME] {time}"))).otherwise(mark)
        )
    counted = both.observe(name or f"tvfsql_{table}", F.count_if(timeless).alias(NULL_TIMES[nulls]))
    kept = counted.where(~timeless) if nulls == "DROP" else counted
    return kept.withColumn(WATERMARK, mark)


def with_processing_time(rows: DataFrame, table: str) -> DataFrame:
    """The rows of a table and the control rows of the query, for operators that follow processing time.

    Out: as `with_watermarks`, but rows bring no watermark, since the watermark is the time of their micro-batch.
    """
    return with_control(rows, table).withColumn(WATERMARK, F.lit(None).cast("timestamp_ntz"))


def drop_null_times(rows: DataFrame, time: str, *, name: str) -> DataFrame:
    """The rows of a stream whose `time` is not NULL. The number of the others is in its progress, under `name`."""
    missing = column_of(time).isNull()
    return rows.observe(name, F.count_if(missing).alias(NULL_TIMES["DROP"])).where(~missing)
