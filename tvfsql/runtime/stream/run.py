"""Bounded streams: run until all is read, then say that the input has ended, so that the last windows fire."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tvfsql.runtime.stream.control import END_OF_INPUT, FOLDER, advance
from tvfsql.runtime.stream.quiet import quiet_java

COUNTERS = ("numLateRecordsDropped",)
OBSERVED = "tvfsql"  # how the names begin under which window operators tell what they did
PROGRESS = "spark.sql.streaming.numRecentProgressUpdates"
ALL = "1000000"  # counters are added up over a run: none of its progress reports may be forgotten


def run_to_end(
    spark: SparkSession, build: Callable[[], DataStreamWriter], checkpoint: Path, *, flush: bool = True
) -> dict[str, int]:
    """Run the stream that `build` makes over all that its sources have now. Gives its counters.

    With `flush` the input then ends: every window fires, and rows that come later are late. Without, open
    windows stay in the checkpoint for the next run. Killed at any moment, the next call goes on from there.
    """
    folder = checkpoint / "control"
    folder.mkdir(parents=True, exist_ok=True)
    counts = dict.fromkeys(COUNTERS, 0)
    with _channel(spark, folder), quiet_java(spark):
        _run(build(), checkpoint, counts)
        if flush:
            if not list(folder.glob("*.json")):
                advance(folder, END_OF_INPUT)
            _run(build(), checkpoint, counts)
    return counts


def start(spark: SparkSession, build: Callable[[], DataStreamWriter], checkpoint: Path) -> StreamingQuery:
    """Start the stream that `build` makes and let it run."""
    folder = checkpoint / "control"
    folder.mkdir(parents=True, exist_ok=True)
    with _channel(spark, folder):
        return build().option("checkpointLocation", str(checkpoint / "spark")).start()


@contextmanager
def _channel(spark: SparkSession, folder: Path) -> Iterator[None]:
    kept = spark.conf.get(PROGRESS)
    spark.conf.set(FOLDER, str(folder))
    spark.conf.set(PROGRESS, ALL)
    try:
        yield
    finally:
        spark.conf.unset(FOLDER)
        spark.conf.set(PROGRESS, str(kept))


def _run(writer: DataStreamWriter, checkpoint: Path, counts: dict[str, int]) -> None:
    query = writer.option("checkpointLocation", str(checkpoint / "spark")).trigger(availableNow=True).start()
    query.awaitTermination()
    for progress in query.recentProgress:
        observed: dict[str, Any] = progress["observedMetrics"] or {}
        for operator, metrics in observed.items():
            if operator.startswith(OBSERVED):
                for name in counts:
                    counts[name] += int(metrics[name] or 0)
