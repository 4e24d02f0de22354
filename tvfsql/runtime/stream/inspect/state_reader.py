"""The state of a key group, decoded with the operators' own stores over a read-only snapshot."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple, Never

import pyarrow as pa

from tvfsql.plan.window import Session, Several, Sliced
from tvfsql.runtime.arrow.batches import joined
from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.state.chunk_blocks import Stored
from tvfsql.runtime.stream.state.chunk_index import INTERVALS, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, Index
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.timer_queue import QueueName, TimerQueue
from tvfsql.runtime.stream.state.timer_rows import TimerRows
from tvfsql.runtime.stream.time.channel_states import ChannelState, channel_states
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.windows.places import slices_of
from tvfsql.runtime.stream.windows.sessions.open_sessions import OpenSessions
from tvfsql.runtime.stream.windows.slice_tree import slice_key


class OpenWindow(NamedTuple):
    """A window that will still emit rows, or change rows that it has emitted.

    Times are epoch ms on the operator's clock. `rows` is the number of rows in state that it consists of by now:
    partials per key and slice, or sessions. `name` tells several windows apart.
    """

    start: int
    end: int
    rows: int
    name: str = ""


class SetTimers(NamedTuple):
    """The timers of a service on one clock: their number, and when the first is due (epoch ms; None without timers)."""

    service: str
    clock: str
    timers: int
    first: int | None


@dataclass(frozen=True)
class KeyGroupState:
    """The state of one key group, or of one partition of Spark's own aggregate, whose `size` is not known. Times are
    epoch ms on the operator's clock."""

    watermark: int | None
    channels: tuple[ChannelState, ...]
    windows: tuple[OpenWindow, ...]
    timers: tuple[SetTimers, ...]
    rows: int
    size: int | None


@dataclass(frozen=True)
class Snapshot(Stored):
    """A read-only copy of a key group's state for the stores. Implements `State`."""

    stored_index: Index | None = None

    def index(self) -> Index | None:
        return self.stored_index

    def set_index(self, index: Index) -> Never:
        self._write(index)


@dataclass(frozen=True)
class TimerSnapshot:
    """A read-only copy of a key group's timer queues, without the timers themselves. Implements `TimerState`."""

    queues: Mapping[QueueName, tuple[int | None, bytes]]

    def queue(self, name: QueueName) -> tuple[int | None, bytes] | None:
        return self.queues.get(name)

    def chunk(self, *_: object) -> Never:
        raise AssertionError("timers were not read")

    set_queue = set_chunk = remove_chunk = chunk


def key_group_state(description: Description, state: Snapshot, timers: TimerSnapshot) -> KeyGroupState:
    """The state of a key group whose operator has this `description`."""
    window, inputs = description.window, description.inputs
    windows: Iterable[OpenWindow] = ()
    if isinstance(window, Session):
        layout = Intervals(len(description.keys), (), window.gap, window.limit)
        store = OpenSessions.of_state(layout, state, inputs).store
        intervals = [batch for kind in INTERVALS for batch in OpenSessions(layout, store, kind).read()]
        windows = open_sessions(layout, intervals)
    else:
        store = ChunkStore(state, joined, inputs)
        if isinstance(window, Several):
            windows = open_windows_of(window, len(description.keys), store)
        elif window is not None:
            windows = open_windows(window, store)
    return KeyGroupState(
        store.valve.watermark,
        tuple(channel_states(store.valve)),
        tuple(windows),
        tuple(set_timers(timers)),
        store.rows,
        store.size,
    )


def open_windows(window: Sliced, store: ChunkStore) -> Iterator[OpenWindow]:
    """The open windows that consist of slices, by end."""
    slices = {number: store.rows_of(slice_key(number)) for number in store.numbers(Kind.SLICE)}
    found = Counter({key.number: store.rows_of(key) for key in store.keys(Kind.EMITTED_WINDOW)})
    span = Span(window)
    found.update(_rows_by_end(span, slices, store.valve.watermark))
    for number, rows in sorted(found.items()):
        yield OpenWindow(window.window_start(span.end(number)), span.end(number), rows)


def open_windows_of(several: Several, keys: int, store: ChunkStore) -> Iterator[OpenWindow]:
    """The same for several windows: those of one after those of the other."""
    watermark, windows = store.valve.watermark, dict(several.windows)
    places = slices_of(several, SliceRows(keys, ()), "", store)
    kept = {window.name: (window.span, place.rows(watermark)) for place in places for window in place.windows}
    for name, window in windows.items():
        span, slices = kept[name]
        for number, rows in sorted(_rows_by_end(span, slices, watermark).items()):
            yield OpenWindow(window.window_start(span.end(number)), span.end(number), rows, name)


def _rows_by_end(span: Span, slices: Mapping[int, int], watermark: int | None) -> Counter[int]:
    """The number of rows in state of each open window, by the slice that it ends on, from the rows of slices."""
    numbers = sorted(slices)
    before = [0, *accumulate(slices[number] for number in numbers)]
    return Counter(
        {
            end: before[bisect_right(numbers, end)] - before[bisect_right(numbers, span.opening(end) - 1)]
            for end in span.open(numbers, None if watermark is None else span.number(watermark + 1))
        }
    )


def open_sessions(layout: Intervals, batches: Sequence[pa.RecordBatch]) -> Iterator[OpenWindow]:
    """The sessions that the rows in state form by now. Sessions of several keys with the same start and end count as
    one window."""
    if not batches:
        return
    merged = layout.merged([batch.select(layout.names) for batch in batches])
    starts = (layout.starts(merged) // 1000).tolist()
    for (end, start), rows in sorted(Counter(zip(layout.ends(merged).tolist(), starts, strict=True)).items()):
        yield OpenWindow(start, end, rows)


def set_timers(timers: TimerSnapshot) -> Iterator[SetTimers]:
    """The timers of each service and clock."""
    for service, clock in sorted(timers.queues):
        queue = TimerQueue(TimerRows(()), timers, (service, clock))
        yield SetTimers(service, clock, len(queue), queue.earliest())


def furthest_behind(groups: Iterable[KeyGroupState]) -> list[ChannelState]:
    """The channels of an operator, each as in the key group where its watermark is lowest."""
    found: dict[tuple[int, str], ChannelState] = {}
    for one in (one for group in groups for one in group.channels):
        key = one.input, one.partition or ""
        known = found.setdefault(key, one)
        if known.watermark is not None and (one.watermark is None or one.watermark < known.watermark):
            found[key] = one
    return [found[key] for key in sorted(found)]
