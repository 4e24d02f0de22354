"""A stream's rows by their time: the watermark that each brings, and those without a time where no watermark is asked
for. Source: semantics.md a.5 and e.2."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tvfsql.runtime.expressions import column_of
from tvfsql.runtime.stream.control import CONTROL, WATERMARK, with_control

# What rows without a time are counted as, by `table.exec.source.rowtime-null-handling`.
NULL_TIMES = {"DROP": "numNullRowTimeRecordsDropped", "SKIP_WATERMARK": "numNullRowTimeRecordsSkipped"}


def with_watermarks(
    rows: DataFrame, table: str, *, time: str, watermark: str, nulls: str = "FAIL", name: str = ""
) -> DataFrame:
    """The rows of a table with the watermark that each brings, and the query's control rows.

    In: `time` and `watermark`, timestamps, as SQL over the columns of `rows`. Out: as `with_control`, and `$watermark`.
    Rows whose time is NULL bring none; what else becomes of them is `nulls`: FAIL stops the query with a DataError,
    DROP leaves them out, SKIP_WATERMARK keeps them, though no window holds them. How many those were is in the
    query's progress, as one of NULL_TIMES, under the `name` tvfsql_<table> or another.
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
    """The rows of a table and the query's control rows, for operators that go by processing time.

    Out: as `with_watermarks`; rows bring no watermark, as that is the time of their micro-batch.
    """
    return with_control(rows, table).withColumn(WATERMARK, F.lit(None).cast("timestamp_ntz"))


def drop_null_times(rows: DataFrame, time: str, *, name: str) -> DataFrame:
    """The rows of a stream whose `time` is not NULL; how many the others were is in its progress, under `name`."""
    missing = column_of(time).isNull()
    return rows.observe(name, F.count_if(missing).alias(NULL_TIMES["DROP"])).where(~missing)
