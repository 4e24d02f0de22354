"""What an operator of a stream implements: an `Operator`, the plan's part, and a `KeyGroup`, which does the work.

In each micro-batch `OperatorShell` opens the operator for each key group that gets something, and calls the key group:
`add` and `advance` for each seq of what was sent, then `finish`, then `flush`. Late and early, slices and sessions,
rows and timers are the operator's own matter. So is what it keeps in its store.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from tvfsql.plan.stream import StreamContext
from tvfsql.runtime.stream.operator.messages import Emit, Fire, Late
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage

EMITTED_ROWS = 50_000  # of a batch


@dataclass
class KeyGroupCounts:
    """How many rows came in one micro-batch, were late (of these: of the second input), and were emitted."""

    rows_in: int = 0
    late: int = 0
    late_right: int = 0
    rows_out: int = 0


class KeyGroup(ABC):
    """An operator over the state of one key group, during one micro-batch."""

    def __init__(self, context: StreamContext, store: ChunkStore) -> None:
        self.context, self.store = context, store
        self.counts = KeyGroupCounts()

    @abstractmethod
    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        """Take what the local phase sent, at least one batch. Rows are late, or not, by the watermark as it is: that
        from before the micro-batch, or with `on_event` from before this seq. Counts `rows_in` and `late`."""

    @abstractmethod
    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Fire | Emit]:
        """Hear the channels (`self.store.valve.advance`), and emit what the watermark then lets go. `messages` may be
        empty. Counts `rows_out`."""

    def finish(self) -> Iterator[Fire | Emit | Late]:
        """Emit what is emitted once a micro-batch, after the last `advance`."""
        yield from ()

    def flush(self) -> None:
        """Write what has changed in state; the last call."""
        self.store.flush()

    @property
    def watermark(self) -> int | None:
        """Epoch ms on the operator's clock; None: there is none yet."""
        return self.store.valve.watermark

    @property
    def output_watermark(self) -> int | None:
        """The watermark for the next operator: all rows at or before it have been emitted."""
        return self.watermark

    @property
    def next_end(self) -> int | None:
        """The end of the next window that fires, on the operator's clock; None: no window is open."""
        return None

    @property
    @abstractmethod
    def newest_end(self) -> int | None:
        """1 ms after the watermark that would let go all that only waits for it, on the operator's clock; None: nothing
        waits. Of windows: the end of the last one that is open."""

    @property
    def due(self) -> int | None:
        """When to be called though no rows come, in processing time (epoch ms); None: never."""
        return None

    @property
    def open_slices(self) -> int | None:
        """How many slices are in state; None: the operator has no slices."""
        return None


class Operator(ABC):
    """What the plan says of an operator, a frozen value. Spark sends it to its workers: to `OperatorShell`, which opens
    it, and to `Unpack`, which makes rows of what it emits."""

    context: StreamContext
    has_timers: ClassVar[bool] = False

    @abstractmethod
    def open(self, state: State, timers: TimerState | None, now: int) -> KeyGroup:
        """A key group, in a micro-batch at that time (epoch ms). `timers` is given to operators that have timers."""

    def watermark_at(self, now: int) -> int:
        """By processing time, the watermark in a micro-batch at that time (epoch ms)."""
        return now

    def unpack(self, emitted: Fire | Emit) -> Iterator[pa.RecordBatch]:
        """Batches of bounded size of the rows that a message stands for: the columns of the operator's result."""
        assert isinstance(emitted, Emit), emitted
        return in_pieces(emitted.rows)

    def unpack_late(self, late: Late) -> pa.StructArray:
        """The late rows that a message stands for, a struct each, with the windows that they missed."""
        raise AssertionError(f"{type(self).__name__} emits no late rows")


def in_pieces(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in batches of bounded size."""
    return (rows.slice(start, EMITTED_ROWS) for start in range(0, rows.num_rows, EMITTED_ROWS))
