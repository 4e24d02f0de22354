"""Streams of processing-time windows without Spark, with state in memory, and all kinds of clocks for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from tests.models.drawn_streams import KEYS
from tests.models.streams import Event, Memory, Out, messages, operator, rows_of, source, strategy
from tvfsql.plan.stream import Firing, StreamContext
from tvfsql.plan.window import Window
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.exchange.local_phase import LocalPhase
from tvfsql.runtime.stream.operator.messages import Emit, Fire, Report
from tvfsql.runtime.stream.operator.micro_batch import micro_batch
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.time.valve import TRIGGER

END, A_TRIGGER = Event(None, None, END_OF_INPUT), Event(None, None, TRIGGER)
Row = tuple[str | None, int]  # key and value


@dataclass
class Stream:
    """The local phase and processor of a window, with state in memory. Rows get the time of their micro-batch."""

    window: Window
    groups: int = 1
    zone: str = ""
    inputs: tuple[str, ...] = ("",)
    firing: Firing | None = None
    states: dict[int, Memory] = field(default_factory=dict)
    reports: list[Report] = field(default_factory=list)  # of each key group, of the last micro-batch

    def rows(self, now: int, rows: Sequence[Row], channel: str | None = None) -> list[Out]:
        wall = now
        if self.zone:
            offset = datetime.fromtimestamp(now / 1000, ZoneInfo(self.zone)).utcoffset()
            wall += round(offset.total_seconds() * 1000) if offset else 0
        return self.batch(now, [Event(key, wall, None, value, channel) for key, value in rows])

    def batch(self, now: int, events: Sequence[Event]) -> list[Out]:
        labels = key_group_labels(self.groups)
        self.reports = []
        return [out for sent in self._sent(events, labels).items() for out in self._of_group(now, *sent)]

    @property
    def due(self) -> int | None:
        return min((report.due for report in self.reports if report.due is not None), default=None)

    @property
    def late(self) -> int:
        return sum(report.late for report in self.reports)

    def _sent(self, events: Sequence[Event], labels: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
        local = LocalPhase(strategy(self.window), tuple(labels), zone=self.zone, chunk_rows=3)
        sent: dict[int, list[dict[str, Any]]] = {}
        for out in local([source(events, labels)] if events else []):
            for row in out.to_pylist():
                sent.setdefault(row["key_group"], []).append(row)
        return sent

    def _of_group(self, now: int, group: int, rows: list[dict[str, Any]]) -> Iterator[Out]:
        state, sent = self.states.setdefault(group, Memory()), [{**row, "now": now} for row in rows]
        for message in messages(micro_batch(self._operator, state, None, cast(Any, sent))):
            if isinstance(message, Report):
                self.reports.append(message)
                continue
            assert isinstance(message, Fire | Emit)
            for batch in self._operator.unpack(message):
                yield from rows_of(batch)

    @property
    def _operator(self) -> Operator:
        context = StreamContext(zone=self.zone, inputs=self.inputs, firing=self.firing, proctime=True)
        return operator(self.window, context)


@st.composite
def clocks(draw: st.DrawFn) -> list[tuple[int, list[Row] | None]]:
    """Micro-batches: their time, which can go back, and their rows; None: a processing-time trigger."""
    made: list[tuple[int, list[Row] | None]] = []
    now = draw(st.integers(-100, 100))
    for _ in range(draw(st.integers(1, 14))):
        now += draw(st.sampled_from([0, 1, 3, 10, 10, 40, 90, -1, -30]))
        rows = st.lists(st.tuples(KEYS, st.sampled_from([0, 0, 0, *range(-9, 10)])), max_size=5)
        made.append((now, draw(st.none() | rows)))
    return made
