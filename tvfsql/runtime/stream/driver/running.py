"""Running streams: each runs until its input is read and its last windows have fired, or until it is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tvfsql.plan.stream import KEY_GROUPS
from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.cluster.files import LISTED, LocalPlace, Place
from tvfsql.runtime.host.input_checks import checking_input
from tvfsql.runtime.host.stream_id import FOLDER, IDENTITY
from tvfsql.runtime.local_spark import file_permissions
from tvfsql.runtime.local_spark.start import STATE_STORE, STREAMS
from tvfsql.runtime.stream.backfill import FOLDER as HISTORY
from tvfsql.runtime.stream.backfill import Backfill, Interrupted, backfilling
from tvfsql.runtime.stream.checkpoint.parallelism import (
    TASKS,
    keep_key_groups,
    kept_key_groups,
    refuse_other_number,
    usual_key_groups,
)
from tvfsql.runtime.stream.checkpoint.read_messages import ReadMessages
from tvfsql.runtime.stream.checkpoint.sink_log import add_tables, complete_logs
from tvfsql.runtime.stream.driver.checkpoints import claimed_manifest, finished, has_begun, manifest_in, planned
from tvfsql.runtime.stream.driver.first_rows import FirstRows, taking
from tvfsql.runtime.stream.driver.gate import Paced
from tvfsql.runtime.stream.driver.in_process import Triggers
from tvfsql.runtime.stream.driver.micro_batch_checks import MicroBatchChecks
from tvfsql.runtime.stream.driver.pace import Pace
from tvfsql.runtime.stream.driver.quiet_worker import quiet_java
from tvfsql.runtime.stream.driver.source_files import files_looked_up, missing_before
from tvfsql.runtime.stream.driver.stream import Stream
from tvfsql.runtime.stream.exchange.key_groups import KeyGroups, key_groups
from tvfsql.runtime.stream.lives.end_of_input import (
    Closed,
    fix_ends,
    found_nothing,
    logged_files,
    refuse_new_files,
    refuse_rows,
)
from tvfsql.runtime.stream.lives.listed_files import FileLists, listing_files, without_system
from tvfsql.runtime.stream.lives.table_lives import TableLives, is_read
from tvfsql.runtime.stream.progress.counts import (
    MISSING,
    StreamCounts,
    counting,
    due,
    new_reports,
    newest_window,
    table_reports,
)
from tvfsql.runtime.stream.progress.files_read import files_read
from tvfsql.runtime.stream.progress.metrics import StreamMetrics
from tvfsql.runtime.stream.progress.repeated_tasks import RepeatedTasks, repeated_tasks
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT, advance, ended, trigger
from tvfsql.runtime.stream.time.valve import ENDED

TASKS_THAT_LIST, ONE_BY_ONE = "spark.sql.sources.parallelPartitionDiscovery.threshold", str(2**31 - 1)
POLL = 0.2  # seconds between two looks at a running query
LAST = 0.02  # the same, while the query is to stop after its micro-batch
BOUNDED = 0.05  # the same, while waiting for the end of the input and no micro-batch runs

_building = threading.Lock()  # while a query is built, its control folder is a setting of the session


class Running:
    """Streams that run at the same time, each in its own thread. They may be killed at any moment: the next run
    resumes."""

    def __init__(self, spark: SparkSession, streams: Sequence[Stream]) -> None:
        self.spark = spark
        self.drivers = [StreamDriver(self, stream) for stream in streams]
        self.stopping, self.at_once = threading.Event(), threading.Event()
        self.failures: list[BaseException] = []
        self.running, self.lock = len(streams), threading.Lock()  # the number of those that have not ended
        self.watchers: list[Callable[[], None]] = []
        file_permissions.in_background(spark)
        for driver in self.drivers:
            threading.Thread(target=driver.drive, name="tvfsql-stream", daemon=True).start()

    @property
    def counts(self) -> list[StreamCounts]:
        """The counters of each stream so far, without those that are `beside` others."""
        return [driver.counts for driver in self.drivers if not driver.stream.beside]

    @property
    def active(self) -> bool:
        return not all(driver.ended.is_set() for driver in self.drivers)

    def wait(self) -> None:
        """Wait until all streams have ended. If one fails, the others are stopped, and its exception is raised here.

        A KeyboardInterrupt (Ctrl-C) stops the streams after the current micro-batch, and is then raised. A second one
        stops them at once.
        """
        try:
            self._join()
        except KeyboardInterrupt:
            self.stop()
            raise
        if self.failures:
            raise self.failures[0]

    def stop(self) -> None:
        """Stop all streams after the current micro-batch, or at once on a KeyboardInterrupt."""
        self.stopping.set()
        try:
            self._join()
        except KeyboardInterrupt:
            self.at_once.set()
            self._join()

    def when_ended(self, watcher: Callable[[], None]) -> None:
        """Call a function once all streams have ended, before `wait` returns."""
        with self.lock:
            ended = self.running == 0
            self.watchers += [] if ended else [watcher]
        if ended:
            watcher()

    def ending(self) -> None:
        """One of the streams is about to end."""
        with self.lock:
            self.running -= 1
            told = self.watchers if self.running == 0 else []
        for watcher in told:
            with suppress(Exception):
                watcher()

    def controls(self, table: str | None) -> list[Place]:
        """The control folders of the streams that read a table; None: of all streams."""
        drivers = [driver for driver in self.drivers if not driver.stream.beside]
        reading = (each for each in drivers if table in (None, *(source.table for source in each.stream.sources)))
        return [driver.control for driver in reading if driver.control is not None]

    def started(self) -> list[StreamingQuery]:
        """The queries, once all have been started. Raises the exception of a stream that could not start."""
        for driver in self.drivers:
            driver.started.wait()
        if self.failures:
            self.wait()
        return [driver.query for driver in self.drivers if driver.query is not None]

    def _join(self) -> None:
        for driver in self.drivers:
            driver.ended.wait()  # after a Ctrl-C during Thread.join() the thread would look as if it had ended


class StreamDriver:
    """Drives one stream in a thread: starts its query, counts what it does, and stops it."""

    def __init__(self, running: Running, stream: Stream) -> None:
        self.running, self.stream = running, stream
        self.counts = StreamCounts(keeps_late=stream.keeps_late)
        self.metrics = StreamMetrics(stream.name or stream.label, stream.checkpoint)
        self.checks = MicroBatchChecks(
            stream.checkpoint,
            stream.identity,
            self.counts,
            counts_missing=stream.count_missing_files,
            deletes_files=any(source.cleaned for source in stream.sources),
            spark=lambda: running.spark,
        )
        self.started, self.ended = threading.Event(), threading.Event()
        self.query: StreamingQuery | None = None
        self.control: Place | None = None
        self.seen: int | None = None  # the last counted micro-batch
        self.repeated: RepeatedTasks | None = None  # None: Spark repeats no task, or does not tell
        self.closed, self.closed_before = Closed(), False  # by any run; all tables, by an earlier one
        self.before = -1  # the last micro-batch that an earlier run has planned
        self.lives: TableLives | None = None  # None: this run announces nothing
        self.looked = 0.0  # when the lives were last looked at
        self.triggers = Triggers()
        self.read: ReadMessages | None = None  # None: the stream ends
        self.lists = FileLists()  # of tables whose files have an order of their own
        self.announces = False  # whether the run that reads everything announces the end
        self.only_run = False  # whether the end was announced before the run began
        self.first = None if stream.limit is None else FirstRows(stream.limit, stream.offset, stateful=stream.stateful)
        self.paced: Paced | None = None  # None: Spark starts its micro-batches as soon as there are rows
        self.advanced: int | None = None  # the end of the newest window when all sources last became idle

    def drive(self) -> None:
        """The body of the thread."""
        try:
            with (
                quiet_java(self.running.spark),
                TemporaryDirectory(prefix="tvfsql-", ignore_cleanup_errors=True) as scratch,
            ):
                try:
                    checkpoint = self.stream.checkpoint or LocalPlace(Path(scratch))
                    with checking_input(self.stream.identity, partial(self.checks.before, checkpoint)):
                        self._to_end(checkpoint)
                except BaseException as error:
                    self._give_up()
                    if isinstance(error, Exception):
                        self.checks.refuse_moved(error)
                    raise
        except BaseException as error:
            self.running.failures.append(self.checks.refused or error)
            self.running.stopping.set()
        finally:
            self.stream.release()
            self.started.set()
            self.running.ending()
            self.ended.set()

    def _to_end(self, checkpoint: Place) -> None:
        control = checkpoint / "control"
        control.make()
        self.control = control
        self.checks.start(checkpoint)
        end = ended(control)  # a damaged folder is reported before any row is read
        self.closed = Closed.of(checkpoint)
        self.closed_before = self.closed.all
        self.counts.added[MISSING] += missing_before(checkpoint, counts=self.stream.count_missing_files)
        if self.stream.endless:
            self.read = ReadMessages(control, end)
        self._run(checkpoint, control)
        if self.stream.closes and not self.only_run and not self.announces and not self.running.stopping.is_set():
            if not ended(control):
                self._announce(None, END_OF_INPUT, control)
            self._run(checkpoint, control, last=True)

    def _run(self, checkpoint: Place, control: Place, *, last: bool = False) -> None:
        """Run the query once. In the `last` run of several the input has ended, and one micro-batch has all that is
        left: rows in a micro-batch after the end would be late."""
        spark = self.running.spark
        if has_begun(checkpoint):
            trigger(control)  # only the previous run knew what is due, and which windows are open
        history = Backfill(checkpoint / HISTORY, self.running.stopping.is_set)
        in_order = any(source.in_order for source in self.stream.sources)
        settings = _settings(spark, control, self.stream.identity, in_order=in_order)
        self.lists = FileLists(checkpoint / LISTED)
        with settings, counting(self.counts.sent), backfilling(history), listing_files(self.lists), taking(self.first):
            with _key_groups(spark, checkpoint) as groups:
                writer = self.stream.writer(checkpoint)
            if self.stream.ends_with_first(writer):
                advance(control, END_OF_INPUT)
                self.only_run, writer = True, writer.trigger(availableNow=True)
            elif last:
                writer = writer.trigger(availableNow=True) if of_connect(writer) else writer.trigger(once=True)
            elif self.stream.ends_at_once(writer):
                self.announces = True
            elif not self.stream.endless:
                writer = writer.trigger(availableNow=True)
            self.lists.read(map(without_system, logged_files(checkpoint / "spark" / "sources")))
            refuse_new_files(writer, self.closed, checkpoint, control, self.stream.sources)
            files = files_looked_up(writer, self.stream.looks_up)
            add_tables(writer, checkpoint, control, claimed_manifest(checkpoint))
            try:
                history.finish()
            except Interrupted:
                return
            done, before = finished(checkpoint), planned(checkpoint)
            if done is not None:
                complete_logs(spark, done, self.stream.writes, self.stream.logged)
            with _tasks(spark, max(groups.used, default=0)):
                self.query = query = writer.start()
        sources, announces = self.stream.sources, self.announces
        ends = [announces or source.ends for source in sources]
        if any(ends) and not of_connect(query):
            fix_ends(query, control, ends)
        self.counts.added["rowsIn"] += history.rows
        self.seen, self.before = None, before
        self.repeated = repeated_tasks(spark, query.runId)
        if self.stream.paced and not of_connect(query):
            self.paced = Paced(query, spark._jvm, Pace(self.stream.pace, self.stream.between_windows))
        self.started.set()
        if announces or any(ends) or (self.stream.endless and any(source.timeout for source in sources)):
            self.looked, closed = time.monotonic(), bool(ended(control))
            self.lives = TableLives(sources, self.looked, announces, before, closed)
        looked = 0.0
        while not query.awaitTermination(self._patience(looked)):  # type: ignore[arg-type]  # seconds
            new = self.paced is not None and self.paced.step()
            if self.paced and not new and time.monotonic() - looked < POLL and not self.running.stopping.is_set():
                continue
            files.list_again()
            if self.stream.endless:
                self.lists.list_again(self.stream.interval / 1000)
            # a look takes milliseconds, and while a micro-batch runs there is seldom anything new
            if not announces or time.monotonic() - looked >= POLL or not query.status["isTriggerActive"]:
                self._look(query, control)
                if announces and self._has_ended(query):
                    query.stop()
                looked = time.monotonic()
            if self.first is not None and self.first.complete:
                self.running.stopping.set()
            if self.running.stopping.is_set():
                self._halt(query)
        self._look(query, control)

    def _patience(self, looked: float) -> float:
        """Seconds until the next look at the query."""
        if self.announces:
            return BOUNDED
        return POLL if self.paced is None else self.paced.wait(max(LAST, looked + POLL - time.monotonic()))

    def _has_ended(self, query: StreamingQuery) -> bool:
        """Whether all input is read and every window has fired. Spark makes the first report after it has looked for
        input."""
        last = query.lastProgress
        if last is None or self.lives is None or self.control is None:
            return False
        at_rest = found_nothing(query.status)  # read after the report: nothing new since
        tables = table_reports(last, self.control)
        if len(tables) == len(last["sources"]):  # no operator waits for an end
            return all(is_read(report, at_rest) for report in tables)
        return self.lives.has_ended(tables, at_rest)

    def _look(self, query: StreamingQuery, control: Place) -> None:
        """Count new progress reports, decide on the lives of tables, and trigger a micro-batch if one is due."""
        self.checks.refuse_moved()
        before, self.looked = self.looked, time.monotonic()
        now, last, at_rest = time.time(), query.lastProgress, found_nothing(query.status)
        for progress in new_reports(query, self.seen):
            self.seen = progress["batchId"]
            again = self.repeated.rows_again(progress, control.parent, control) if self.repeated else 0
            self.counts.take(progress, control, again)
            if self.stream.report is not None:
                self.stream.report(self.metrics.take(progress, self.counts))
            if self.paced is not None:
                self.paced.micro_batch(progress, self.counts.latest_in(progress))
            self.checks.after(progress, control)
            self.lists.read(file.path for file in files_read(progress, control.parent, control))
            if self.closed_before and self.seen > self.before and not of_connect(query):
                refuse_rows(self.closed, table_reports(progress, control), self.stream.sources)
            if self.lives:
                # it had not ended before the last look, so it began at most its length earlier
                began = before - progress["durationMs"].get("triggerExecution", 0) / 1000
                self.lives.micro_batch(self.seen, table_reports(progress, control), began, self.looked)
        if self.lives:
            number, tables = (None, []) if last is None else (last["batchId"], table_reports(last, control))
            for channel, watermark in self.lives.look(number, tables, at_rest, self.looked):
                self._announce(channel, watermark, control)
            self._advance_idle(self.lives, control)
        if self.stream.endless and at_rest and self.triggers.wanted(due([self.counts]), self.seen, now * 1000):
            trigger(control)
        if self.paced is not None:
            self.paced.look_for_messages(control)
        if self.read is not None:
            self.read.look(query, self.seen)

    def _announce(self, channel: str | None, watermark: int, control: Place) -> None:
        """Write a message of `TableLives`. That a table has ended is first noted in the checkpoint."""
        if watermark >= ENDED:
            self.closed = self.closed.with_table(channel)
            self.closed.keep(control.parent)
        advance(control, watermark, channel)

    def _advance_idle(self, lives: TableLives, control: Place) -> None:
        """If all sources are idle, and the stream trades their rows for latency, advance event time to the end of the
        newest open window."""
        newest = newest_window([self.counts])
        if lives.all_idle and self.stream.idle_advance and newest is not None and newest != self.advanced:
            advance(control, newest - 1)
            self.advanced = newest

    def _give_up(self) -> None:
        """Stop the query after a failure. That one is reported, whatever becomes of the query."""
        if self.query is not None:
            with suppress(Exception):
                self.query.stop()

    def _halt(self, query: StreamingQuery) -> None:
        """Stop the query once its current micro-batch has ended."""
        before = query.lastProgress
        while query.isActive and query.status["isTriggerActive"] and not self.running.at_once.is_set():
            if query.lastProgress != before:
                break
            time.sleep(LAST)
        query.stop()


@contextmanager
def _key_groups(spark: SparkSession, checkpoint: Place) -> Iterator[KeyGroups]:
    """A query that is built in this block has the key groups that its checkpoint keeps, or keeps from now on. A
    checkpoint that has begun without a number is of an older release, in which the usual number was fixed."""
    kept = kept_key_groups(checkpoint, manifest_in(checkpoint))
    usual = KEY_GROUPS if has_begun(checkpoint) else usual_key_groups(spark)
    with key_groups(kept or usual) as groups:
        yield groups
    refuse_other_number(kept, groups.asked)
    if kept is None and groups.used:
        keep_key_groups(checkpoint, max(groups.asked, default=usual))


@contextmanager
def _tasks(spark: SparkSession, groups: int) -> Iterator[None]:
    """A query that starts in this block starts a task for each key group in its shuffles, unless the session has a
    number of its own: of Spark's 200 all others would do nothing. A checkpoint keeps the number of its first run."""
    if not groups or TASKS in spark.conf.getAll:
        yield
        return
    spark.conf.set(TASKS, str(groups))
    try:
        yield
    finally:
        spark.conf.unset(TASKS)


@contextmanager
def _settings(spark: SparkSession, control: Place, identity: str, *, in_order: bool) -> Iterator[None]:
    """Set what a query copies from the session when it starts: its control folder, the state store that
    transformWithState needs, and what writes the files of its checkpoint. With `in_order` the driver lists files, not a
    task for each. The settings are restored for other queries of the session."""
    with _building:
        wanted = {FOLDER: str(control), IDENTITY: identity, **control.writing} | (
            {TASKS_THAT_LIST: ONE_BY_ONE} if in_order else {}
        )
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
