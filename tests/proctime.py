"""Streams of windows by processing time without Spark, their state in memory, and clocks of all kinds for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
from hypothesis import strategies as st
from streams import KEYS, LAYOUT, MERGES, Event, Memory, Out, rows_of, source

from tvfsql.plan.firing import Firing
from tvfsql.plan.window import Session, Window
from tvfsql.runtime.intervals import Intervals
from tvfsql.runtime.stream.control import END_OF_INPUT
from tvfsql.runtime.stream.description import Description
from tvfsql.runtime.stream.given import GivenWindows
from tvfsql.runtime.stream.groups import key_group_labels
from tvfsql.runtime.stream.local import LocalIntervals, LocalSlices
from tvfsql.runtime.stream.processor import (
    FiringWindowProcessor,
    SessionWindowProcessor,
    SlicingWindowProcessor,
    WindowProcessor,
)
from tvfsql.runtime.stream.sessions import SessionWindows
from tvfsql.runtime.stream.unpack import SliceWindows, Unpack
from tvfsql.runtime.stream.valve import TICK

ABOUT = Description("GlobalWindowAggregate", ("key",))
END, A_TICK = Event(None, None, END_OF_INPUT), Event(None, None, TICK)
Row = tuple[str | None, int]  # key and value


@dataclass
class Stream:
    """Local phase and processor of a window; state in memory. Rows get the time of their micro-batch."""

    window: Window
    groups: int = 1
    zone: str = ""
    inputs: tuple[str, ...] = ("",)
    firing: Firing | None = None
    states: dict[int, Memory] = field(default_factory=dict)
    told: list[dict[str, Any]] = field(default_factory=list)  # what each key group said of the last micro-batch

    def rows(self, now: int, rows: Sequence[Row], channel: str | None = None) -> list[Out]:
        wall = now
        if self.zone:
            offset = datetime.fromtimestamp(now / 1000, ZoneInfo(self.zone)).utcoffset()
            wall += round(offset.total_seconds() * 1000) if offset else 0
        return self.batch(now, [Event(key, wall, None, value, channel) for key, value in rows])

    def batch(self, now: int, events: Sequence[Event]) -> list[Out]:
        labels = key_group_labels(self.groups)
        self.told = []
        return [out for sent in self._sent(events, labels).items() for out in self._of_group(now, *sent)]

    @property
    def due(self) -> int | None:
        return min((told["due"] for told in self.told if told["due"] is not None), default=None)

    @property
    def late(self) -> int:
        return sum(told["late"] for told in self.told)

    def _sent(self, events: Sequence[Event], labels: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
        local: LocalSlices | LocalIntervals
        if isinstance(self.window, Session):
            local = LocalIntervals(self.window, self._intervals.kept, tuple(labels), zone=self.zone, chunk_rows=3)
        else:
            local = LocalSlices(self.window, LAYOUT, tuple(labels), zone=self.zone, chunk_rows=3)
        sent: dict[int, list[dict[str, Any]]] = {}
        for out in local([source(events, labels)] if events else []):
            for row in out.to_pylist():
                sent.setdefault(row["key_group"], []).append(row)
        return sent

    def _of_group(self, now: int, group: int, rows: list[dict[str, Any]]) -> Iterator[Out]:
        processor, made = self._operator()
        processor.state = self.states.setdefault(group, Memory())  # type: ignore[assignment]
        given = [{**row, "now": now} for row in rows]
        for row in processor.handleInputRows((group,), iter(given), None):  # type: ignore[arg-type]
            told = row.asDict()
            if told["payload"] is None:
                self.told.append(told)
                continue
            fire = pa.RecordBatch.from_pylist([told])
            for batch in Unpack(made, zone=self.zone)(iter([fire])):
                yield from rows_of(batch)

    def _operator(self) -> tuple[WindowProcessor, SliceWindows | SessionWindows | GivenWindows]:
        more: dict[str, Any] = {"zone": self.zone, "inputs": self.inputs, "proctime": True}
        if isinstance(self.window, Session):
            return SessionWindowProcessor(ABOUT, self._intervals, "rows", **more), SessionWindows(self._intervals)
        if self.firing is not None:
            of_windows = (ABOUT, self.window, LAYOUT, "rows", None, self.zone, self.inputs, True)
            given = GivenWindows(self.window, LAYOUT, self.firing.purge)  # type: ignore[arg-type]
            return FiringWindowProcessor(self.firing, *of_windows), given
        windows = SliceWindows(self.window, LAYOUT, "rows")  # type: ignore[arg-type]
        return SlicingWindowProcessor(ABOUT, self.window, LAYOUT, "rows", **more), windows  # type: ignore[arg-type]

    @property
    def _intervals(self) -> Intervals:
        assert isinstance(self.window, Session)
        return Intervals(1, MERGES, self.window.gap, self.window.limit)


@st.composite
def clocks(draw: st.DrawFn) -> list[tuple[int, list[Row] | None]]:
    """Micro-batches: their time, which may go back, and their rows; None: a tick."""
    made: list[tuple[int, list[Row] | None]] = []
    now = draw(st.integers(-100, 100))
    for _ in range(draw(st.integers(1, 14))):
        now += draw(st.sampled_from([0, 1, 3, 10, 10, 40, 90, -1, -30]))
        rows = st.lists(st.tuples(KEYS, st.sampled_from([0, 0, 0, *range(-9, 10)])), max_size=5)
        made.append((now, draw(st.none() | rows)))
    return made
