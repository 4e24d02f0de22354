"""GlobalWindowAggregate of a stream: the shell between Spark's state and what does the work of a key group."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from tvfsql.plan.firing import Firing
from tvfsql.plan.window import Sliced
from tvfsql.runtime.intervals import Intervals
from tvfsql.runtime.stream.control import NOW
from tvfsql.runtime.stream.description import Description
from tvfsql.runtime.stream.fire import Fire
from tvfsql.runtime.stream.firing import FiringWindows, Given
from tvfsql.runtime.stream.late import LateRows
from tvfsql.runtime.stream.proctime import by_clock, passed
from tvfsql.runtime.stream.said import Message
from tvfsql.runtime.stream.sessions import Closed, Sessions, SessionStore
from tvfsql.runtime.stream.slice_rows import SliceRows, from_bytes, to_bytes
from tvfsql.runtime.stream.spans import Span
from tvfsql.runtime.stream.spark_state import SparkState
from tvfsql.runtime.stream.store import SliceStore, State
from tvfsql.runtime.stream.valve import IDLE, TICK
from tvfsql.runtime.stream.windows import Counts, Windows
from tvfsql.runtime.stream.zones import instant_of

# A row is a fire (payload, first, last), late rows (missed), or what a micro-batch did to a key group (the rest).
OUT = (
    "payload BINARY, first BIGINT, last BIGINT, rows_in BIGINT, late BIGINT, windows BIGINT, watermark BIGINT,"
    " newest BIGINT, missed BINARY, state_rows BIGINT, state_bytes BIGINT, open_slices BIGINT, due BIGINT"
)
_NOTHING = dict.fromkeys(field.split()[0] for field in OUT.split(","))


class KeyGroup(Protocol):
    """The windows of a key group during a micro-batch: `Windows` of slices, or `Sessions`."""

    counts: Counts
    missed: list[Any]  # late rows, if they are kept

    @property
    def newest(self) -> int | None:
        """The end of the last window that is open, in epoch ms."""

    @property
    def first_end(self) -> int | None:
        """The end of the next window that fires, in epoch ms."""

    @property
    def due(self) -> int | None:
        """When it is to be called though no rows come, in processing time (epoch ms)."""

    @property
    def store(self) -> SliceStore | SessionStore:
        """Where they are kept; the caller flushes it."""

    def add(self, batches: Sequence[Any]) -> None:
        """Take what the local phase sent; it is judged by the watermark that stood before it."""

    def advance(self, messages: Iterable[Message]) -> Fire | Closed | None:
        """Hear what the channels say. Gives the windows that fire."""

    def settle(self) -> Iterable[Fire | Closed | Given]:
        """What else is given out at the end of the micro-batch."""


class WindowProcessor(StatefulProcessor):
    """For each key group: its windows in state, those that fire, and what that came to.

    State: `chunks` maps three numbers, which say what a chunk is of, to an Arrow IPC stream; `index` holds the
    watermark, its channels, the list of chunks, and what the operator is (`Description`).
    A call costs 100-200 microseconds: their number depends on the chunks that are touched, never on keys.
    With `zone` windows lie on its wall clock; the times that are said of them (watermark, newest) are instants.
    `inputs` are those of `Valve`. By processing time (`proctime`) the watermark is that of the clock.
    """

    zone = ""
    description: Description
    inputs: tuple[str, ...] = ("",)
    proctime = False

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = SparkState.of(handle, self.description)

    @abstractmethod
    def key_group(self, state: State, now: int) -> KeyGroup:
        """The windows of the key group at hand, in a micro-batch at that time (epoch ms)."""

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        sent = list(rows)
        now = sent[0][NOW]
        windows = self.key_group(self.state, now)
        store = windows.store
        for payloads, messages in in_order(sent):
            if payloads:
                windows.add(payloads)
            if self.proctime:
                messages = by_clock(messages, passed(now, self.zone), self.inputs)
            fire = windows.advance(messages)
            if fire is not None:
                yield _fire_row(fire)
        yield from map(_fire_row, windows.settle())
        store.flush()
        if windows.missed:
            yield out_row(missed=to_bytes(pa.concat_batches(windows.missed)))
        counts = windows.counts
        yield out_row(
            rows_in=counts.rows_in,
            late=counts.late,
            windows=counts.windows,
            watermark=self._instant(store.valve.watermark),
            newest=None if self.proctime else self._instant_of_end(windows.newest),
            state_rows=store.rows,
            state_bytes=store.size,
            open_slices=sum(1 for _ in store.slices()),
            due=self._due(windows),
        )

    def _due(self, windows: KeyGroup) -> int | None:
        times = (windows.due, self._instant_of_end(windows.first_end) if self.proctime else None)
        return min((time for time in times if time is not None), default=None)

    def _instant_of_end(self, end: int | None) -> Any:
        """The instant (epoch ms) that the end of a window is."""
        return None if end is None else self._instant(end - 1) + 1

    def _instant(self, watermark: int | None) -> Any:
        """The first instant (epoch ms) at which the operator has this watermark."""
        return instant_of(watermark, self.zone) if self.zone and watermark is not None else watermark

    def close(self) -> None:
        pass


class SlicingWindowProcessor(WindowProcessor):
    """Windows made of slices: a chunk holds (keys, slice, partials) of an entry of `SliceStore`, a slice or a run."""

    def __init__(
        self,
        description: Description,
        window: Sliced,
        layout: SliceRows,
        rows: str,
        late: LateRows[SliceRows] | None = None,
        zone: str = "",
        inputs: Sequence[str] = ("",),
        proctime: bool = False,
    ) -> None:
        self.span, self.layout, self.rows, self.late, self.zone = Span(window), layout, rows, late, zone
        self.inputs, self.description, self.proctime = tuple(inputs), description, proctime

    def key_group(self, state: State, now: int) -> KeyGroup:
        return self.windows(state)

    def windows(self, state: State) -> Windows:
        store = SliceStore(self.layout, state, self.inputs)
        return Windows(self.span, self.layout, self.rows, store, self.late, self.proctime)


class FiringWindowProcessor(SlicingWindowProcessor):
    """The same windows, which also fire early and late: a chunk may be of an entry of `FiringWindows`, too."""

    def __init__(self, firing: Firing, *of_windows: Any) -> None:
        super().__init__(*of_windows)
        self.firing = firing

    def key_group(self, state: State, now: int) -> KeyGroup:
        return FiringWindows(self.windows(state), self.firing, now)


class SessionWindowProcessor(WindowProcessor):
    """Session windows: a chunk holds (keys, start, last, partials) of intervals, as `SessionStore` has them."""

    def __init__(
        self,
        description: Description,
        layout: Intervals,
        rows: str,
        late: LateRows[Intervals] | None = None,
        zone: str = "",
        inputs: Sequence[str] = ("",),
        proctime: bool = False,
    ) -> None:
        self.layout, self.rows, self.late, self.zone = layout, rows, late, zone
        self.inputs, self.description, self.proctime = tuple(inputs), description, proctime

    def key_group(self, state: State, now: int) -> KeyGroup:
        store = SessionStore(self.layout, state, self.inputs)
        return Sessions(self.layout, self.rows, store, self.late, self.proctime)


def in_order(rows: Iterable[Row]) -> Iterator[tuple[list[Any], list[Message]]]:
    """The slices and then the messages of each seq, as `local_slices` sent them. Idle channels come first. A TICK has
    come to its end here: it made the micro-batch happen, and called the operator."""
    by_seq: dict[int, tuple[list[Any], list[Message]]] = defaultdict(lambda: ([], []))
    for row in rows:
        payloads, messages = by_seq[row["seq"]]
        if row["payload"] is not None:
            payloads.append(from_bytes(row["payload"]))
        elif row["watermark"] != TICK:
            messages.append((row["channel"], row["watermark"]))
    for _, (payloads, messages) in sorted(by_seq.items()):
        yield payloads, sorted(messages, key=lambda message: message[1] != IDLE)


def _fire_row(fire: Fire | Closed | Given) -> Row:
    return out_row(payload=to_bytes(fire.rows), first=fire.first, last=fire.last)


def out_row(**values: Any) -> Row:
    """A row of OUT; what is not named is NULL."""
    return Row(**(_NOTHING | values))
