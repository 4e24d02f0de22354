"""Early and late firing without Spark, and a plain model of the expected results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from tests.models.drawn_streams import micro_batches
from tests.models.streams import SHOWN, Event, Memory, Operator, Out, operator, results_of, rows_of
from tvfsql.plan.stream import Firing, StreamContext
from tvfsql.plan.tables.internal_columns import BEFORE, OP
from tvfsql.plan.window import Sliced
from tvfsql.runtime.stream.operator.messages import Emit
from tvfsql.runtime.stream.operator.micro_batch import by_seq
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.time.valve import IDLE

Change = tuple[str, Out]  # op and the row
NONE = -(2**62)  # no watermark


@dataclass
class FiringOperator(Operator):
    """The local and global phase of a query whose windows fire early and late. It emits changes; increments have the op
    "".
    """

    firing: Firing = field(default_factory=Firing)
    now: int = 0
    due: dict[int, int | None] = field(default_factory=dict)
    newest: int | None = None  # of the last key group

    def changes(self, events: Sequence[Event], now: int) -> list[Change]:
        self.now = now
        return self.batch(events)

    def of_group(self, group: int, rows: list[dict[str, Any]]) -> Iterator[Any]:
        state = self.states.setdefault(group, Memory())
        of = operator(self.window, StreamContext(firing=self.firing))
        windows = of.open(state, None, self.now)
        emitted = []
        for payloads, messages in by_seq(rows):  # type: ignore[arg-type]
            if payloads:
                windows.add(payloads)
            emitted += windows.advance(messages)
        emitted += windows.finish()
        windows.flush()
        self.due[group], self.newest = windows.due, windows.newest_end
        self.late += windows.counts.late
        self.windows += windows.counts.rows_out
        for message in emitted:
            assert isinstance(message, Emit)
            for batch in of.unpack(message):
                yield from changes_of(batch)


def changes_of(made: Any) -> list[Change]:
    """The rows of a batch, without updates that do not change what the query shows, as emitted code filters them."""
    if OP not in made.schema.names:
        return [("", row) for row in rows_of(made)]
    ops, rows = made.column(OP).to_pylist(), rows_of(made.drop_columns([OP, BEFORE]))
    shown = [tuple(row[name] for name in SHOWN) for row in made.to_pylist()]
    before = [None if row is None else tuple(row[name] for name in SHOWN) for row in made.column(BEFORE).to_pylist()]
    return [(op, row) for op, row, now, then in zip(ops, rows, shown, before, strict=True) if now != then]


@dataclass
class Window:
    """One window of one key: rows already emitted, rows since the last firing, and the last emitted result."""

    rows: list[tuple[int, int]] = field(default_factory=list)
    fresh: list[tuple[int, int]] = field(default_factory=list)
    shown: Out | None = None


class FiringModel:
    """semantics.md#early-and-late-firing taken literally, one row and one window at a time, without slices."""

    def __init__(self, window: Sliced, firing: Firing, groups: int = 1) -> None:
        self.window, self.firing, self.groups = window, firing, groups
        self.watermark = NONE
        self.channels: dict[str, int] = {}
        self.idle: set[str] = set()
        self.behind: set[str] = set()
        self.windows: dict[tuple[Any, int], Window] = defaultdict(Window)
        self.since: dict[tuple[str, int], int] = {}  # since when rows of a key group wait
        self.late = 0

    def changes(self, events: Sequence[Event], now: int) -> list[Change]:
        for event in events:
            if event.ts is not None:
                self._row(event.key, event.ts, event.value)
        before = self.watermark
        self._hear(events)
        out = [change for at in [*self.windows] if before < at[1] - 1 <= self.watermark for change in self._fire(at)]
        for at in [at for at in self.windows if self._closed(at[1])]:
            out += self._fire(at)
            del self.windows[at]
        for kind, delay in (("late", self.firing.late), ("early", self.firing.early)):
            if delay is None:
                continue
            for group in range(self.groups):
                out += self._waiting(kind, group, delay, now)
        return out

    def _hear(self, events: Sequence[Event]) -> None:
        """The watermark is the minimum over the channels that are neither idle nor catching up after being idle."""
        idle = {event.channel or "" for event in events if event.watermark == IDLE}
        self.idle |= idle
        for event in events:
            if event.watermark == IDLE:
                self.channels.setdefault(event.channel or "", NONE)
            elif event.ts is None and event.watermark is not None:  # of all channels
                self.watermark = max(self.watermark, event.watermark)
            elif event.ts is not None:
                name = event.channel or ""
                self.channels[name] = max(
                    self.channels.get(name, NONE), NONE if event.watermark is None else event.watermark
                )
                if name in self.idle:
                    self.idle.remove(name)
                    self.behind.add(name)
        self.behind = {name for name in self.behind if self.channels[name] < self.watermark}
        counting = [mark for name, mark in self.channels.items() if name not in self.idle | self.behind]
        self.watermark = max(self.watermark, min(counting, default=NONE))

    def dues(self) -> list[int]:
        """The times at which waiting rows are due."""
        delays = {"late": self.firing.late, "early": self.firing.early or 0}
        return [since + delays[kind] for (kind, _), since in self.since.items()]

    def _waiting(self, kind: str, group: int, delay: int, now: int) -> Iterator[Change]:
        found = [
            at
            for at, window in self.windows.items()
            if window.fresh and self._group(at[0]) == group and (at[1] - 1 > self.watermark) == (kind == "early")
        ]
        if not found:
            self.since.pop((kind, group), None)
            return
        if now >= self.since.setdefault((kind, group), now) + delay:
            del self.since[kind, group]
            for at in found:
                yield from self._fire(at)

    def _row(self, key: Any, ts: int, value: int) -> None:
        ends = self.window.window_ends(self.window.slice_end(ts))
        kept = [end for end in ends if not self._closed(end)]
        if ends and not kept:
            self.late += 1
        for end in kept:
            self.windows[key, end].fresh.append((ts, value))

    def _closed(self, end: int) -> bool:
        lateness = 0 if self.watermark == END_OF_INPUT else self.firing.lateness
        return end - 1 + lateness <= self.watermark

    def _group(self, key: Any) -> int:
        return sum(map(ord, key or "")) % self.groups

    def _fire(self, at: tuple[Any, int]) -> Iterator[Change]:
        key, end = at
        window = self.windows[at]
        if not window.fresh:
            return
        window.rows, fresh = [*window.rows, *window.fresh], window.fresh
        window.fresh = []
        rows = fresh if self.firing.purge else window.rows
        now = (key, self.window.window_start(end), end, *results_of([value for _, value in sorted(rows)]))
        if self.firing.purge:
            yield "", now
            return
        before, window.shown = window.shown, now
        if before is None:
            yield "+I", now
        elif before[4:6] != now[4:6]:  # what SHOWN names
            yield "-U", before
            yield "+U", now


def folded(changes: Sequence[Change]) -> list[Out]:
    """The rows that remain after changes, each of which must fit the rows before it."""
    left: dict[Any, Out] = {}
    for op, row in changes:
        key = row[:3]
        if op == "+I":
            assert key not in left
            left[key] = row
        elif op == "-U":
            assert shown(left.pop(key)) == shown(row)
        else:
            assert op == "+U" and key not in left
            left[key] = row
    return list(left.values())


def shown(row: Out) -> Out:
    return (*row[:3], *row[4:6])


@st.composite
def busy_and_idle_channels(draw: st.DrawFn) -> list[list[Event]]:
    """The rows of `micro_batches` in two channels that become idle from time to time."""
    batches = []
    for batch in draw(micro_batches()):
        events = [
            event if event.ts is None else replace(event, channel=draw(st.sampled_from(["0", "0", "1"])))
            for event in batch
        ]
        turns = draw(st.sampled_from([(), (), (), ("0",), ("1",), ("0", "1")]))
        batches.append([*(Event(None, None, IDLE, channel=name) for name in turns), *events])
    return batches
