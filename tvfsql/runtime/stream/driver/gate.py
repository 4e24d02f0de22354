"""Holds a query of Spark between two micro-batches, until its pace lets it look for rows.

A trigger of Spark only knows a fixed interval. Its loop asks a clock when to go on, so the gate gives that loop a clock
which stands still, and moves it. All else in the query has the system's clock.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.sql.streaming.query import StreamingQuery

from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import Place
from tvfsql.runtime.host.spark_versions import reported_offset
from tvfsql.runtime.stream.driver.pace import Pace
from tvfsql.runtime.stream.lives.table_lives import TOPICS
from tvfsql.runtime.stream.progress.counts import Progress
from tvfsql.runtime.stream.time.control_channel import messages

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject, JVMView

TRIGGER = "1 milliseconds"  # only with an interval does Spark's loop ask its clock
CLOCK = "clock"  # the field of that loop
UNLIMITED = "ReadAllAvailable"  # the limit of a source that has none
REST = 0.1  # seconds until the next look for rows after one that found none; twice as long after each further one
LONGEST_REST = 0.5  # if the pace is not shorter
RUNNING = 0.05  # seconds between two looks at a query that may run a micro-batch
SOON = 0.002  # the shortest time to wait for


class Gate:
    """The gate of a query: closed after each micro-batch, and after a look for rows that found none."""

    def __init__(self, execution: JavaObject, clock: JavaObject, time: int) -> None:
        self.execution, self.clock, self.time = execution, clock, time

    @classmethod
    def of(cls, query: StreamingQuery, jvm: JVMView) -> Gate | None:
        """The gate of a query with the trigger TRIGGER; None: its loop has not begun, or cannot be given a clock."""
        with suppress(Py4JError, AttributeError):
            execution = query._jsq.streamingQuery()
            loop = execution.triggerExecutor()
            if loop is not None:
                now = _now()
                clock = jvm.org.apache.spark.util.ManualClock(now)
                field = loop.getClass().getDeclaredField(CLOCK)
                field.setAccessible(True)
                field.set(loop, clock)
                return cls(execution, clock, now)
        return None

    def open(self) -> None:
        """Let the query look for rows once; during a micro-batch, right after it."""
        self.time = max(_now(), self.time + 1)  # the system's clock may be set back
        self.clock.setTime(self.time)

    @property
    def is_running(self) -> bool:
        return bool(self.execution.status().isTriggerActive())

    @property
    def last_report(self) -> str:
        """The start of the trigger in the last progress report; "" before the first report."""
        report = self.execution.lastProgress()
        return "" if report is None else str(report.timestamp())

    def has_limits(self) -> bool:
        """Whether a source reads at most so many rows or files in a micro-batch."""
        limits = self.execution.uniqueSources().values().toSeq()
        every = map(limits.apply, range(limits.size()))
        return any(limit.getClass().getSimpleName() != UNLIMITED for limit in every)


class Paced:
    """A query whose micro-batches start as its pace says. Times are seconds on a clock that never goes back.

    The driver calls `step` after each `wait`, and reads the reports of the query if `step` says that there may be new
    ones.
    """

    def __init__(self, query: StreamingQuery, jvm: JVMView, pace: Pace) -> None:
        self.query, self.jvm, self.pace = query, jvm, pace
        self.gate: Gate | None = None
        self.opened = True  # the query may be looking for rows, or running a micro-batch
        self.at = time.monotonic()  # when the gate was opened, or else when it will be
        self.behind = False  # the last micro-batch left rows
        self.limited: bool | None = None  # None: not known yet
        self.rest = REST
        self.report = ""
        self.messages = set[str]()  # those that were in the control folder

    def wait(self, longest: float) -> float:
        """How long until the next `step`."""
        return RUNNING if self.opened else min(longest, max(SOON, self.at - time.monotonic()))

    def step(self) -> bool:
        """Open the gate if it is time. Returns whether the query has made a new report."""
        self.gate = self.gate or Gate.of(self.query, self.jvm)
        if self.gate is None:
            return False
        now = time.monotonic()
        if not self.opened:
            if now >= self.at:
                self._open(now)
            return False
        report = self.gate.last_report
        if report != self.report:
            self.report = report
            return True
        if not self.gate.is_running:
            self.opened, self.at = False, max(now, self.at + self.rest)
            self.rest = min(2 * self.rest, max(REST, min(self.pace.usual / 1000, LONGEST_REST)))
        elif self.behind or now - self.at > self.pace.usual / 1000:
            self.gate.open()
        return False

    def micro_batch(self, progress: Progress, operators: Mapping[str, Mapping[str, int]]) -> None:
        """Take the report of a micro-batch, and what its operators reported in it."""
        self.behind = self._left_rows(progress)
        started = int(datetime.fromisoformat(progress["timestamp"]).timestamp() * 1000)
        delay = self.pace.next_start(started, operators, rows_left=self.behind) - _now()
        now = time.monotonic()
        self.rest = REST
        # the first micro-batch of a query may have no rows; those that come next do not wait for the pace
        longest = self.pace.longest / 1000 if any(map(_has_rows, progress["sources"])) else REST
        self.opened, self.at = False, now + min(delay / 1000, longest)
        if delay <= 0:
            self._open(now)

    def look_for_messages(self, control: Place) -> None:
        """If the query waits, and this or another process has written a message for it, let it look at once."""
        now = time.monotonic()
        if self.opened or self.at - now < REST:
            return
        with suppress(OSError, DataError):
            names = {*messages(control)}
            self.at = now if names - self.messages else self.at
            self.messages = names

    def _open(self, now: float) -> None:
        if self.gate is not None:
            self.gate.open()
            self.opened, self.at = True, now

    def _left_rows(self, progress: Progress) -> bool:
        """Whether a micro-batch has left rows that had come before it. Of sources other than topics it is not known
        where their rows end: while they have a limit and rows come, there may be more."""
        if self.limited is None and self.gate is not None:
            self.limited = self.gate.has_limits()
        return self.limited is not False and any(map(_may_have_more, progress["sources"]))


def _has_rows(source: Progress) -> bool:
    return bool(source["numInputRows"])


def _may_have_more(source: Progress) -> bool:
    if str(source.get("description", "")).startswith(TOPICS):
        return bool(reported_offset(source.get("endOffset")) != reported_offset(source.get("latestOffset")))
    return _has_rows(source)


def _now() -> int:
    return time.time_ns() // 1_000_000
