"""What identifies a running stream to the tables that it fills."""

from __future__ import annotations

from pyspark.sql import SparkSession

FOLDER = "spark.tvfsql.control"  # the setting that names the running query's control channel
IDENTITY = "spark.tvfsql.stream"  # the setting with the id of the running query's stream


def stream_id(spark: SparkSession) -> tuple[str, str]:
    """Spark's id of the query whose micro-batch is being written, and the id of its stream, "" if it has none.

    The checkpoint keeps both, so a stream that is resumed has the same ones, at whatever path, and a new checkpoint has
    new ones. A copy that becomes a stream of its own has another id of the stream.
    """
    query: str | None = spark.sparkContext.getLocalProperty("sql.streaming.queryId")
    return str(query), spark.conf.get(IDENTITY, "") or ""


def stream_name(spark: SparkSession) -> str:
    """The same as a short text, which tables store."""
    query, stream = stream_id(spark)
    return f"{stream} {query}"


def run_id(spark: SparkSession) -> str | None:
    """The id of the run of the query whose micro-batch is being written: a restart is another run. None if no query
    writes. Spark runs the jobs of a run as a group of that name.
    """
    return spark.sparkContext.getLocalProperty("spark.jobGroup.id")
