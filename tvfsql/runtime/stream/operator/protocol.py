"""What an operator of a stream implements: an `Operator`, which comes from the plan, and a `KeyGroup`, its work.

In each micro-batch `OperatorShell` opens the operator for each key group with input, and calls the key group: `add` and
`advance` for each seq, then `finish`, then `flush`. The interface leaves everything else to the operator: slices or
sessions, rows and timers, early and late firing, and the contents of its store.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from tvfsql.plan.stream import StreamContext
from tvfsql.runtime.stream.operator.messages import Emit, Fire, Late, PassedLate
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage

MOST_OPEN = 100  # open windows that are told apart when a run ends


@dataclass
class KeyGroupCounts:
    """The rows of one micro-batch: how many came in, were late (`late_right`: from the second input), were late and not
    dropped (`late_versions`) or adjusted, and were emitted. `fired_end`: the end of the oldest window that fired at its
    end, in epoch ms on the operator's clock; None: none did."""

    rows_in: int = 0
    late: int = 0
    late_right: int = 0
    late_versions: int = 0
    adjusted: int = 0
    rows_out: int = 0
    fired_end: int | None = None

    def fired(self, end: int) -> None:
        """Windows have fired at their end. `end`: that of the oldest one."""
        self.fired_end = end if self.fired_end is None else min(self.fired_end, end)


class KeyGroup(ABC):
    """An operator over the state of one key group, during one micro-batch."""

    def __init__(self, context: StreamContext, store: ChunkStore) -> None:
        self.context, self.store = context, store
        self.counts = KeyGroupCounts()

    @abstractmethod
    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        """Take payloads of the local phase, at least one batch. Counts `rows_in` and `late`.

        Rows are late or not by the current watermark: the one before the micro-batch, or with `on_event` before this
        seq.
        """

    @abstractmethod
    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Fire | Emit]:
        """Pass messages to the valve (`self.store.valve.advance`), and emit what is complete by the new watermark.
        `messages` may be empty. Counts `rows_out`."""

    def finish(self) -> Iterator[Fire | Emit | Late | PassedLate]:
        """Emit what is emitted once per micro-batch, after the last `advance`."""
        yield from ()

    def flush(self) -> None:
        """Write the changes to state. This is the last call."""
        self.store.flush()

    @property
    def watermark(self) -> int | None:
        """The operator's watermark in epoch ms on its clock; None: there is none yet."""
        return self.store.valve.watermark

    @property
    def output_watermark(self) -> int | None:
        """The watermark for the next operator: all rows at or before it have been emitted. None: there is none yet."""
        return self.watermark

    @property
    def next_end(self) -> int | None:
        """The end of the next window to fire, on the operator's clock; None: no window is open."""
        return None

    @property
    @abstractmethod
    def newest_end(self) -> int | None:
        """For windows, the end of the last open one, on the operator's clock. For other operators, 1 ms after the
        watermark at which nothing waits for a watermark any more. None: nothing waits."""

    @property
    def due(self) -> int | None:
        """When the operator must be called even without rows, in processing time (epoch ms); None: never."""
        return None

    @property
    def open_ends(self) -> list[int] | None:
        """The ends of the open windows, by number; of many the first ones. None: the operator's windows are not those
        of all keys."""
        return None

    @property
    def open_slices(self) -> int | None:
        """The number of slices in state; None: the operator has no slices."""
        return None


class Operator(ABC):
    """The plan's part of an operator, a frozen value. Spark sends it to its workers: to `OperatorShell`, which opens
    it, and to `Unpack`, which turns its messages into rows."""

    context: StreamContext
    has_timers: ClassVar[bool] = False

    @abstractmethod
    def open(self, state: State, timers: TimerState | None, now: int) -> KeyGroup:
        """A key group, for a micro-batch at time `now` (epoch ms). `timers` is None for operators without timers."""

    def watermark_at(self, now: int) -> int:
        """The watermark of a processing-time operator in a micro-batch at time `now`; both in epoch ms."""
        return now

    def unpack(self, emitted: Fire | Emit) -> Iterator[pa.RecordBatch]:
        """The rows of a message, with the columns of the operator's result."""
        assert isinstance(emitted, Emit), emitted
        yield emitted.rows

    def unpack_late(self, late: Late) -> pa.StructArray:
        """The late rows of a message as structs: each row once per window that it missed."""
        raise AssertionError(f"{type(self).__name__} has no late rows")
