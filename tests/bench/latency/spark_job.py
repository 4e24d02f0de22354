"""tvfsql or Spark's own windows, in a process of its own: says when the stream has started, stops it when stdin ends,
and tells its micro-batches and how many rows it dropped as late."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from tempfile import TemporaryDirectory

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

import tvfsql
from tests.bench.engines import size_and_slide
from tests.bench.latency.setup import Setup
from tvfsql.plan.stream import PACE_BETWEEN_WINDOWS
from tvfsql.runtime.local_spark.start import start_spark
from tvfsql.runtime.stream import Job, Source, counted_out, start_streams

Started = tuple[StreamingQuery, Callable[[], None], Callable[[], int]]  # with what stops it, and counts its late rows


def main(setup: Setup) -> None:
    query, stop, late = (of_tvfsql if setup.engine == "tvfsql" else of_spark)(setup)
    print("started", flush=True)
    sys.stdin.read()
    times = [each["durationMs"]["triggerExecution"] for each in query.recentProgress if ran(each)]
    print(json.dumps({"micro_batches": times, "late": late()}))
    stop()


def of_tvfsql(setup: Setup) -> Started:
    """The writer is that of an INSERT into the table of results. An INSERT from files would end with them, this one
    waits for more."""
    session = tvfsql.Session(mode="streaming")
    session.execute(";".join(setup.tables()))
    columns = ("window_start", "window_end", "k", "total", "n", "top")

    def rows(spark: SparkSession) -> DataFrame:
        return counted_out(session.sql(setup.select).dataframe()).select(F.to_csv(F.struct(*columns)).alias("value"))

    job = Job(
        lambda spark: to_results(rows(spark), setup),
        reads=[Source("bid")],
        endless=True,
        pace=setup.pace,
        between_windows=PACE_BETWEEN_WINDOWS if setup.pace else 0,
    )
    running = start_streams(session.spark, job)

    def late() -> int:
        return sum(each.added["numLateRecordsDropped"] for each in running.counts)

    return running.started()[0], running.stop, late


def of_spark(setup: Setup) -> Started:
    """Append mode; RocksDB and the settings of tvfsql's Spark."""
    spark = start_spark()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    columns = "ts TIMESTAMP, k INT, v BIGINT"
    if setup.folder:
        bid = spark.readStream.schema(columns).csv(setup.folder)
    else:
        topic = spark.readStream.format("kafka").option("kafka.bootstrap.servers", setup.servers)
        values = topic.option("subscribe", setup.source).option("startingOffsets", "earliest").load()
        bid = values.select(F.from_csv(F.col("value").cast("string"), columns).alias("row")).select("row.*")
    size, slide = (f"{ms} milliseconds" for ms in size_and_slide(setup.case.window))
    calls = (F.sum("v").alias("total"), F.count("*").alias("n"), F.max("v").alias("top"))
    windows = bid.withWatermark("ts", "0 seconds").groupBy("k", F.window("ts", size, slide)).agg(*calls)
    made = F.struct("window.start", "window.end", "k", "total", "n", "top")
    value = F.to_csv(made, {"timestampFormat": "yyyy-MM-dd HH:mm:ss.SSS"}).alias("value")
    scratch = TemporaryDirectory(prefix="tvfsql-bench-", ignore_cleanup_errors=True)
    writer = to_results(windows.select(value), setup).option("checkpointLocation", scratch.name)
    query = writer.trigger(processingTime=f"{setup.interval} milliseconds").start()

    def stop() -> None:
        query.stop()
        scratch.cleanup()

    def late() -> int:
        operators = (operator for progress in query.recentProgress for operator in progress["stateOperators"])
        return sum(operator["numRowsDroppedByWatermark"] for operator in operators)

    return query, stop, late


def ran(progress: StreamingQueryProgress) -> bool:
    return "addBatch" in progress["durationMs"]  # else it found no rows


def to_results(values: DataFrame, setup: Setup) -> DataStreamWriter:
    writer = values.writeStream.format("kafka").option("kafka.bootstrap.servers", setup.servers)
    return writer.option("topic", setup.results)


if __name__ == "__main__":
    main(Setup.of(sys.argv[1]))
