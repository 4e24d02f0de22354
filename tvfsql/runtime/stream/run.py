"""Streams that run: until all is read, so that the last windows fire too, or until they are told to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tvfsql.runtime.stream.control import END_OF_INPUT, FOLDER, advance
from tvfsql.runtime.stream.counts import Counts
from tvfsql.runtime.stream.quiet import quiet_java

POLL = 0.2  # seconds between looks at a query that runs
LAST = 0.02  # the same, for the end of the micro-batch after which it is to stop

_building = threading.Lock()  # a query's channel is a setting of the session while the query is made


@dataclass(frozen=True)
class Stream:
    """A stream to run. `build` makes its writer. Its state is in `checkpoint`; None: in a folder that goes with it.

    One that is not `endless` ends when all that its sources have is read. With `flush` its input then ends too:
    every window fires, and rows that come in a later run are late. Without, open windows wait there for the next run.
    """

    build: Callable[[], DataStreamWriter]
    checkpoint: Path | None = None
    endless: bool = False
    flush: bool = True


class Running:
    """Streams that run at once, each in a thread of its own. Killed at any moment, the next run goes on from there."""

    def __init__(self, spark: SparkSession, streams: Sequence[Stream]) -> None:
        self.spark = spark
        self.runs = [_Run(self, stream) for stream in streams]
        self.stopping, self.at_once = threading.Event(), threading.Event()
        self.failures: list[BaseException] = []
        self._threads = [threading.Thread(target=run.drive, name="tvfsql-stream", daemon=True) for run in self.runs]
        for thread in self._threads:
            thread.start()

    @property
    def counts(self) -> list[Counts]:
        """The counters of each stream, so far."""
        return [run.counts for run in self.runs]

    @property
    def active(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def wait(self) -> None:
        """Until all have ended. If one fails, the others are stopped, and what it raised is raised here.

        A KeyboardInterrupt (Ctrl-C) stops them after the micro-batch at hand and is then raised; a second one
        does not wait for that.
        """
        try:
            self._join()
        except KeyboardInterrupt:
            self.stop()
            raise
        if self.failures:
            raise self.failures[0]

    def stop(self) -> None:
        """Stop all after the micro-batch at hand; at once on a KeyboardInterrupt."""
        self.stopping.set()
        try:
            self._join()
        except KeyboardInterrupt:
            self.at_once.set()
            self._join()

    def started(self) -> list[StreamingQuery]:
        """The queries, once all have been started. Raises what kept one from it."""
        for run in self.runs:
            run.started.wait()
        if self.failures:
            self.wait()
        return [run.query for run in self.runs if run.query is not None]

    def _join(self) -> None:
        for thread in self._threads:
            thread.join()


class _Run:
    """One of them."""

    def __init__(self, running: Running, stream: Stream) -> None:
        self.running, self.stream = running, stream
        self.counts = Counts()
        self.started = threading.Event()
        self.query: StreamingQuery | None = None
        self.seen: int | None = None  # the last micro-batch that was counted

    def drive(self) -> None:
        """What the thread does."""
        try:
            with (
                quiet_java(self.running.spark),
                TemporaryDirectory(prefix="tvfsql-", ignore_cleanup_errors=True) as scratch,
            ):
                self._to_end(self.stream.checkpoint or Path(scratch))
        except BaseException as error:
            self.running.failures.append(error)
            self.running.stopping.set()
        finally:
            self.started.set()

    def _to_end(self, checkpoint: Path) -> None:
        control = checkpoint / "control"
        control.mkdir(parents=True, exist_ok=True)
        self._run(checkpoint, control)
        if self.stream.flush and not self.stream.endless and not self.running.stopping.is_set():
            if not list(control.glob("*.json")):
                advance(control, END_OF_INPUT)
            self._run(checkpoint, control)

    def _run(self, checkpoint: Path, control: Path) -> None:
        spark = self.running.spark
        with _channel(spark, control):
            writer = self.stream.build().option("checkpointLocation", str(checkpoint / "spark"))
            query = (writer if self.stream.endless else writer.trigger(availableNow=True)).start()
        self.query, self.seen = query, None
        self.started.set()
        while not query.awaitTermination(POLL):  # type: ignore[arg-type]  # seconds, whole or not
            self._count(query, control)
            if self.running.stopping.is_set():
                self._halt(query)
        self._count(query, control)

    def _count(self, query: StreamingQuery, control: Path) -> None:
        for progress in _fresh(query, self.seen):
            self.seen = progress["batchId"]
            self.counts.take(progress, control)

    def _halt(self, query: StreamingQuery) -> None:
        """Stop the query once the micro-batch that it is at has ended."""
        before = query.lastProgress
        while query.isActive and query.status["isTriggerActive"] and not self.running.at_once.is_set():
            if query.lastProgress != before:
                break
            time.sleep(LAST)
        query.stop()


def _fresh(query: StreamingQuery, seen: int | None) -> list[Any]:
    """The reports of the micro-batches after `seen`. There are others: that there was nothing to do."""
    last: Any = query.lastProgress
    if last is None:
        return []
    newest = last["batchId"] if _ran(last) else last["batchId"] - 1
    if newest == seen:
        return []
    if _ran(last) and newest - 1 == seen:
        return [last]
    return [each for each in query.recentProgress if _ran(each) and (seen is None or each["batchId"] > seen)]


def _ran(progress: Any) -> bool:
    return "addBatch" in progress["durationMs"]


@contextmanager
def _channel(spark: SparkSession, control: Path) -> Iterator[None]:
    with _building:
        spark.conf.set(FOLDER, str(control))
        try:
            yield
        finally:
            spark.conf.unset(FOLDER)
