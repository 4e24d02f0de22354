"""Streams that run: until all is read, so that the last windows fire too, or until they are told to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tvfsql.runtime.stream.control import END_OF_INPUT, FOLDER, advance, ended, idle, tick
from tvfsql.runtime.stream.counts import Counts, due, newest_window, of_tables
from tvfsql.runtime.stream.idle import Idleness, Source
from tvfsql.runtime.stream.quiet import quiet_java
from tvfsql.runtime.stream.ticks import Ticks

POLL = 0.2  # seconds between looks at a query that runs
LAST = 0.02  # the same, for the end of the micro-batch after which it is to stop

_building = threading.Lock()  # a query's channel is a setting of the session while the query is made


@dataclass(frozen=True)
class Stream:
    """A stream to run. `build` makes its writer. Its state is in `checkpoint`; None: in a folder that goes with it.

    One that is not `endless` ends when all that its sources have is read. With `flush` its input then ends too:
    every window fires, and rows that come in a later run are late. Without, open windows wait there for the next run.

    `sources` are the tables that it reads, in order; where one may be idle, windows do not wait for it, and once
    all are, the open windows end too if `idle_advance` says so.
    """

    build: Callable[[], DataStreamWriter]
    checkpoint: Path | None = None
    endless: bool = False
    flush: bool = True
    sources: tuple[Source, ...] = ()
    idle_advance: bool = True


class Running:
    """Streams that run at once, each in a thread of its own. Killed at any moment, the next run goes on from there."""

    def __init__(self, spark: SparkSession, streams: Sequence[Stream]) -> None:
        self.spark = spark
        self.runs = [_Run(self, stream) for stream in streams]
        self.stopping, self.at_once = threading.Event(), threading.Event()
        self.failures: list[BaseException] = []
        for run in self.runs:
            threading.Thread(target=run.drive, name="tvfsql-stream", daemon=True).start()

    @property
    def counts(self) -> list[Counts]:
        """The counters of each stream, so far."""
        return [run.counts for run in self.runs]

    @property
    def active(self) -> bool:
        return not all(run.ended.is_set() for run in self.runs)

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

    def controls(self, table: str | None) -> list[Path]:
        """The control folders of those that read a table; None: of all."""
        reading = (run for run in self.runs if table in (None, *(source.table for source in run.stream.sources)))
        return [run.control.absolute() for run in reading if run.control is not None]

    def started(self) -> list[StreamingQuery]:
        """The queries, once all have been started. Raises what kept one from it."""
        for run in self.runs:
            run.started.wait()
        if self.failures:
            self.wait()
        return [run.query for run in self.runs if run.query is not None]

    def _join(self) -> None:
        for run in self.runs:
            run.ended.wait()  # a Ctrl-C during Thread.join() would make the thread look as if it had ended


class _Run:
    """One of them."""

    def __init__(self, running: Running, stream: Stream) -> None:
        self.running, self.stream = running, stream
        self.counts = Counts()
        self.started, self.ended = threading.Event(), threading.Event()
        self.query: StreamingQuery | None = None
        self.control: Path | None = None
        self.seen: int | None = None  # the last micro-batch that was counted
        self.idleness: Idleness | None = None
        self.ticks = Ticks()
        self.advanced: int | None = None  # the end of the newest window when all sources were idle

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
            self.ended.set()

    def _to_end(self, checkpoint: Path) -> None:
        control = checkpoint / "control"
        control.mkdir(parents=True, exist_ok=True)
        self.control = control
        self._run(checkpoint, control)
        if self.stream.flush and not self.stream.endless and not self.running.stopping.is_set():
            if not ended(control):
                advance(control, END_OF_INPUT)
            self._run(checkpoint, control)

    def _run(self, checkpoint: Path, control: Path) -> None:
        spark = self.running.spark
        if self.stream.endless and any((checkpoint / "spark" / "offsets").glob("[0-9]*")):
            tick(control)  # what is due was said to the run before
        with _channel(spark, control):
            writer = self.stream.build().option("checkpointLocation", str(checkpoint / "spark"))
            query = (writer if self.stream.endless else writer.trigger(availableNow=True)).start()
        self.query, self.seen = query, None
        self.started.set()
        if self.stream.endless and any(source.timeout for source in self.stream.sources):
            self.idleness = Idleness(self.stream.sources, time.time())
        while not query.awaitTermination(POLL):  # type: ignore[arg-type]  # seconds, whole or not
            self._look(query, control)
            if self.running.stopping.is_set():
                self._halt(query)
        self._look(query, control)

    def _look(self, query: StreamingQuery, control: Path) -> None:
        """Count what is new, see which channels are idle, and what is due."""
        looked, status = time.time(), query.status
        at_rest = not (status["isTriggerActive"] or status["isDataAvailable"])
        turned = []
        for progress in _fresh(query, self.seen):
            self.seen = progress["batchId"]
            self.counts.take(progress, control)
            if self.idleness:
                started = datetime.fromisoformat(progress["timestamp"]).timestamp()
                turned += self.idleness.micro_batch(of_tables(progress, control), started, time.time())
        if self.idleness:
            if at_rest:
                turned += self.idleness.nothing(looked)
            self._tell(turned, self.idleness.all_idle, control)
        if self.stream.endless and at_rest and self.ticks.wanted(due([self.counts]), self.seen, looked * 1000):
            tick(control)

    def _tell(self, turned: list[str], all_idle: bool, control: Path) -> None:
        """Say which channels are idle; if all are, that event time has come to the end of the newest open window."""
        for channel in turned:
            idle(control, channel)
        newest = newest_window([self.counts])
        if all_idle and self.stream.idle_advance and newest is not None and newest != self.advanced:
            advance(control, newest - 1)
            self.advanced = newest

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
        spark.conf.set(FOLDER, str(control.absolute()))
        try:
            yield
        finally:
            spark.conf.unset(FOLDER)
