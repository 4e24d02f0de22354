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

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tvfsql.errors import DataError
from tvfsql.runtime.local_spark.start import STATE_STORE, STREAMS
from tvfsql.runtime.stream.driver.end_of_input import EndOfInput
from tvfsql.runtime.stream.driver.idle_sources import Idleness, Source
from tvfsql.runtime.stream.driver.processing_time_triggers import Triggers
from tvfsql.runtime.stream.driver.quiet_worker import quiet_java
from tvfsql.runtime.stream.driver.source_files import came_after, missing_files
from tvfsql.runtime.stream.progress.counts import (
    MISSING,
    StreamCounts,
    counting,
    due,
    newest_window,
    table_reports,
)
from tvfsql.runtime.stream.progress.metrics import Report, StreamMetrics
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT, FOLDER, advance, ended, idle, trigger

POLL = 0.2  # seconds between looks at a query that runs
LAST = 0.02  # the same, for the end of the micro-batch after which it is to stop
BOUNDED = 0.05  # the same, where the end of the input is looked for

_building = threading.Lock()  # a query's channel is a setting of the session while the query is made


@dataclass(frozen=True)
class Stream:
    """A stream to run. `build` makes its writer. Its state is in `checkpoint`; None: in a folder that goes with it.

    One that is not `endless` ends when all that its sources have is read. With `flush` its input then ends too:
    every window fires, and rows that come in a later run are late. Without, open windows wait there for the next run.
    That takes one run of the query if all sources are files, and a second one if another source gets rows all the time.

    `sources` are the tables that it reads, in order; where one may be idle, windows do not wait for it, and once
    all are, the open windows end too if `idle_advance` says so. Its micro-batches start `interval` ms apart; 0: as soon
    as there are rows. `name` is that of its query; "": none. `report` gets its metrics after each micro-batch, under
    its name or `label`. One `beside` another counts, and obeys watermarks that are moved by hand, there.
    """

    build: Callable[[], DataStreamWriter]
    checkpoint: Path | None = None
    endless: bool = False
    flush: bool = True
    sources: tuple[Source, ...] = ()
    idle_advance: bool = True
    count_missing_files: bool = False
    interval: int = 0
    name: str = ""
    label: str = ""
    beside: bool = False
    report: Report | None = None

    @property
    def ends_in_one_run(self) -> bool:
        """Whether its input ends, and files are all that it reads."""
        return self.flush and not self.endless and not any(source.snapshot for source in self.sources)

    def writer(self, checkpoint: Path) -> DataStreamWriter:
        """Its writer, with all that is said here."""
        writer = self.build().option("checkpointLocation", str(checkpoint / "spark"))
        writer = writer.queryName(self.name) if self.name else writer
        if not self.endless:
            return writer if self.ends_in_one_run else writer.trigger(availableNow=True)
        return writer.trigger(processingTime=f"{self.interval} milliseconds") if self.interval else writer


class Running:
    """Streams that run at once, each in a thread of its own. Killed at any moment, the next run goes on from there."""

    def __init__(self, spark: SparkSession, streams: Sequence[Stream]) -> None:
        self.spark = spark
        self.drivers = [StreamDriver(self, stream) for stream in streams]
        self.stopping, self.at_once = threading.Event(), threading.Event()
        self.failures: list[BaseException] = []
        for driver in self.drivers:
            threading.Thread(target=driver.drive, name="tvfsql-stream", daemon=True).start()

    @property
    def counts(self) -> list[StreamCounts]:
        """The counters of each stream, so far, but for those that are `beside` others."""
        return [driver.counts for driver in self.drivers if not driver.stream.beside]

    @property
    def active(self) -> bool:
        return not all(driver.ended.is_set() for driver in self.drivers)

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
        drivers = [driver for driver in self.drivers if not driver.stream.beside]
        reading = (each for each in drivers if table in (None, *(source.table for source in each.stream.sources)))
        return [driver.control.absolute() for driver in reading if driver.control is not None]

    def started(self) -> list[StreamingQuery]:
        """The queries, once all have been started. Raises what kept one from it."""
        for driver in self.drivers:
            driver.started.wait()
        if self.failures:
            self.wait()
        return [driver.query for driver in self.drivers if driver.query is not None]

    def _join(self) -> None:
        for driver in self.drivers:
            driver.ended.wait()  # a Ctrl-C during Thread.join() would make the thread look as if it had ended


class StreamDriver:
    """Drives one of them, in a thread: starts its query, counts what it does, and stops it."""

    def __init__(self, running: Running, stream: Stream) -> None:
        self.running, self.stream = running, stream
        self.counts = StreamCounts()
        self.metrics = StreamMetrics(stream.name or stream.label, stream.checkpoint)
        self.started, self.ended = threading.Event(), threading.Event()
        self.query: StreamingQuery | None = None
        self.control: Path | None = None
        self.seen: int | None = None  # the last micro-batch that was counted
        self.idleness: Idleness | None = None
        self.triggers = Triggers()
        self.end: EndOfInput | None = None  # if it is to be announced in this run
        self.began = 0.0  # seconds, on the driver's clock
        self.only_new = False  # whether all files of the last micro-batch came after that
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
        control.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.control = control
        ended(control)  # what is damaged is told before any row is read
        if self.stream.ends_in_one_run:
            self.end = EndOfInput(control)
            self._run(checkpoint, control)
            return
        self._run(checkpoint, control)
        if self.stream.flush and not self.stream.endless and not self.running.stopping.is_set():
            if not ended(control):
                advance(control, END_OF_INPUT)
            self._run(checkpoint, control)

    def _run(self, checkpoint: Path, control: Path) -> None:
        spark = self.running.spark
        if self.stream.endless and any((checkpoint / "spark" / "offsets").glob("[0-9]*")):
            trigger(control)  # the run before knew what is due
        with _settings(spark, control), counting(self.counts.sent):
            self.began = time.time()
            query = self.stream.writer(checkpoint).start()
        self.query, self.seen = query, None
        self.started.set()
        if self.stream.endless and any(source.timeout for source in self.stream.sources):
            self.idleness = Idleness(self.stream.sources, time.time())
        try:
            while not query.awaitTermination(BOUNDED if self.end else POLL):  # type: ignore[arg-type]  # seconds
                self._look(query, control)
                if self.end and self._has_ended(query, self.end):
                    query.stop()
                if self.running.stopping.is_set():
                    self._halt(query)
            self._look(query, control)
        except DataError:
            query.stop()
            raise

    def _has_ended(self, query: StreamingQuery, end: EndOfInput) -> bool:
        """Whether all is read and every window has fired. The first report is made when a query has looked around."""
        last = query.lastProgress
        if last is None:
            return False
        status = query.status  # asked for after the report: at rest, the query has found nothing new since then
        at_rest = not (status["isTriggerActive"] or status["isDataAvailable"])
        all_read = at_rest or self.only_new
        has_windows = len(last["sources"]) > len(table_reports(last, end.control))
        return end.look(self.seen, at_rest, all_read) if has_windows else all_read

    def _look(self, query: StreamingQuery, control: Path) -> None:
        """Count what is new, see which channels are idle, and what is due."""
        looked, status = time.time(), query.status
        at_rest = not (status["isTriggerActive"] or status["isDataAvailable"])
        turned = []
        for progress in _fresh(query, self.seen):
            self.seen = progress["batchId"]
            self.counts.take(progress, control)
            if self.stream.report is not None:
                self.stream.report(self.metrics.take(progress, self.counts))
            self._find_missing(progress, control)
            self.only_new = self.end is not None and came_after(self.began, progress, control.parent, control)
            if self.idleness:
                started = datetime.fromisoformat(progress["timestamp"]).timestamp()
                turned += self.idleness.micro_batch(table_reports(progress, control), started, time.time())
        if self.idleness:
            if at_rest:
                turned += self.idleness.nothing(looked)
            self._tell(turned, self.idleness.all_idle, control)
        if self.stream.endless and at_rest and self.triggers.wanted(due([self.counts]), self.seen, looked * 1000):
            trigger(control)

    def _find_missing(self, progress: StreamingQueryProgress, control: Path) -> None:
        """Look for files that were gone before they could be read. Raises DataError, unless they are to be counted."""
        if any(source.cleaned for source in self.stream.sources):
            return
        missing = missing_files(progress, control.parent, control)
        if missing and not self.stream.count_missing_files:
            others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise DataError(
                f"the file {missing[0]}{others} was deleted before it was read: its rows are not in the result",
                hint="a new --checkpoint reads what is there; SET 'tvfsql.source.missing-files' = 'COUNT' goes on",
            )
        self.counts.added[MISSING] += len(missing)

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


def _fresh(query: StreamingQuery, seen: int | None) -> list[StreamingQueryProgress]:
    """The reports of the micro-batches after `seen`. There are others: that there was nothing to do."""
    last = query.lastProgress
    if last is None:
        return []
    newest = last["batchId"] if _ran(last) else last["batchId"] - 1
    if newest == seen:
        return []
    if _ran(last) and newest - 1 == seen:
        return [last]
    return [each for each in query.recentProgress if _ran(each) and (seen is None or each["batchId"] > seen)]


def _ran(progress: StreamingQueryProgress) -> bool:
    return "addBatch" in progress["durationMs"]


@contextmanager
def _settings(spark: SparkSession, control: Path) -> Iterator[None]:
    """Settings of the session that a query takes with it when it starts: its channel, and the state store without which
    transformWithState does not run. They are put back, for the queries of others in the session."""
    with _building:
        wanted = {FOLDER: str(control.absolute())}
        if spark.conf.get(STATE_STORE) != STREAMS[STATE_STORE]:
            wanted[STATE_STORE] = STREAMS[STATE_STORE]
        before = {key: spark.conf.get(key, None) for key in wanted}
        try:
            for key, value in wanted.items():
                spark.conf.set(key, value)
            yield
        finally:
            for key, known in before.items():
                if known is None:
                    spark.conf.unset(key)
                else:
                    spark.conf.set(key, known)
