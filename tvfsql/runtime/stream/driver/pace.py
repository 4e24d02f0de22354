"""When the micro-batches of a stream start: seldom while rows only wait for their windows, and in time when a window
ends.

This module alone decides, without Spark: it is given what operators report, and returns times. A micro-batch costs
about the same with few rows as with many, so a stream at a low rate costs what its micro-batches do. Source:
docs/streams.md#the-pace-of-micro-batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from tvfsql.plan.stream import PACE

LAGS = 8  # micro-batches whose lags are known
SPREAD = 200  # ms that the lags of one operator are taken to differ
AGAIN = 50  # ms after a micro-batch that was to end a window and did not; twice as long after each further one
FAST, SLOW = 1.5, 0.5  # event time that runs as fast as the clock
WATERMARK, NEXT_WINDOW, DUE = "watermark", "nextWindow", "due"  # in the report of an operator

Report = Mapping[str, int]  # of an operator after a micro-batch, with the names of `StreamCounts.latest`


@dataclass
class OperatorPace:
    """How far the event time of an operator is behind the clock, and whether it runs as fast. Times are epoch ms.

    `end` is that of the window that ends next (None: none is open), `expected` when its rows will be complete. `due`:
    when the operator must be called even without rows. `failed` counts the micro-batches that were to end the window
    and did not.
    """

    lags: deque[int] = field(default_factory=lambda: deque(maxlen=LAGS))
    before: tuple[int, int] | None = None  # the start of the last micro-batch, and the watermark after it
    steady: bool = False
    end: int | None = None
    expected: int | None = None
    due: int | None = None
    failed: int = 0

    def take(self, started: int, report: Report) -> None:
        """Take the report of a micro-batch."""
        end = report.get(NEXT_WINDOW)
        in_vain = self.expected is not None and started >= self.expected
        self.failed = self.failed + in_vain if end == self.end else 0
        self.end, self.due, self.expected = end, report.get(DUE), None
        if WATERMARK in report:
            self._move(started, report[WATERMARK])
            if end is not None:
                complete = end + min(max(self.lags), min(self.lags) + SPREAD)
                self.expected = max(complete, started + (AGAIN << self.failed)) if self.failed else complete

    def without_report(self, started: int) -> None:
        """A micro-batch had nothing for the operator."""
        self.expected = self._after(started, self.expected)
        self.due = self._after(started, self.due)

    @property
    def is_timed(self) -> bool:
        """Whether it is known when it next has something to do."""
        return self.due is not None or (self.end is not None and self.steady)

    def _move(self, started: int, watermark: int) -> None:
        self.lags.append(started - watermark)
        if self.before is not None:
            clock, event_time = started - self.before[0], watermark - self.before[1]
            self.steady = SLOW * clock - SPREAD <= event_time <= FAST * clock + SPREAD
        self.before = started, watermark

    @staticmethod
    def _after(started: int, time: int | None) -> int | None:
        return time if time is not None and time > started else None


@dataclass
class Pace:
    """The pace of one stream. Micro-batches start `usual` ms apart, or `between_windows` ms where rows leave the stream
    when windows end, and event time runs as fast as the clock. One starts earlier if a window is about to end.
    """

    usual: int = PACE
    between_windows: int = 0
    operators: dict[str, OperatorPace] = field(default_factory=dict)

    @property
    def longest(self) -> int:
        return max(self.usual, self.between_windows)

    def next_start(self, started: int, reports: Mapping[str, Report], *, rows_left: bool) -> int:
        """When the next micro-batch is to start, at the earliest (epoch ms).

        `started`: the start of the last one. `reports`: those of its operators, by name. `rows_left`: it has left rows
        that had come before it.
        """
        for name in self.operators.keys() - reports.keys():
            self.operators[name].without_report(started)
        for name, report in reports.items():
            self.operators.setdefault(name, OperatorPace()).take(started, report)
        if rows_left:
            return started
        known = self.operators.values()
        times = [time for each in known for time in (each.expected, each.due) if time is not None]
        timed = bool(known) and all(each.is_timed for each in known)
        return min([started + (self.longest if timed else self.usual), *times])
