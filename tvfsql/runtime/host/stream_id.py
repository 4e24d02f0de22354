"""What identifies a running stream to the tables that it fills."""

from __future__ import annotations

from zlib import crc32

from pyspark.sql import SparkSession

FOLDER = "spark.tvfsql.control"  # the setting that names the running query's control channel


def stream_id(spark: SparkSession) -> tuple[str, str]:
    """The id of the query whose micro-batch is being written, and its control folder, "" if it has none.

    Spark keeps the id in the checkpoint, so a stream that is resumed has the same one, and a new checkpoint a new one.
    """
    query: str | None = spark.sparkContext.getLocalProperty("sql.streaming.queryId")
    return str(query), spark.conf.get(FOLDER, "") or ""


def stream_name(spark: SparkSession) -> str:
    """The same as a short text, which tables store."""
    query, control = stream_id(spark)
    return f"{crc32(control.encode()):08x} {query}"


def run_id(spark: SparkSession) -> str | None:
    """The id of the run of the query whose micro-batch is being written: a restart is another run. None if no query
    writes. Spark runs the jobs of a run as a group of that name.
    """
    return spark.sparkContext.getLocalProperty("spark.jobGroup.id")
