"""The sessions of one key group of a stream: which rows join one that is open, which fire, which rows come too late.

State holds open sessions as intervals that may still be in parts: rows of a micro-batch are put beside the older ones,
and all are merged when something is due. A session is due when the watermark reaches its end - 1 ms. Rows are late if
the session that they make with each other and with all that is open was due before their micro-batch: a row that
reaches an open session is never late, as that session is not. Source: semantics.md b.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from tvfsql.runtime.columns import Ints
from tvfsql.runtime.intervals import Intervals
from tvfsql.runtime.stream.late import LATE, LateRows, lengths, with_window
from tvfsql.runtime.stream.proctime import goes_on
from tvfsql.runtime.stream.said import Message
from tvfsql.runtime.stream.slice_rows import from_bytes, to_bytes
from tvfsql.runtime.stream.store import State
from tvfsql.runtime.stream.valve import Valve
from tvfsql.runtime.stream.windows import Counts

CHUNK_ROWS = 100_000
OUT_ROWS = 50_000


@dataclass(frozen=True)
class Closed:
    """Sessions that leave a key group."""

    rows: Any
    first = last = 0  # a fire of slices says here which windows are to be made


class Sessions:
    """The operator: `add` the micro-batch's intervals, then `advance` the watermark; the caller writes the store. By
    processing time (`proctime`) rows that lie behind the watermark are rows of the first ms that it has not passed."""

    def __init__(
        self,
        layout: Intervals,
        rows: str,
        store: SessionStore,
        late: LateRows[Intervals] | None = None,
        proctime: bool = False,
    ) -> None:
        self.layout, self.rows, self.store, self.late, self.proctime = layout, rows, store, late, proctime
        self.missed: list[Any] = []  # late sessions with their rows, if these are kept (`late`)
        self.counts = Counts()

    def add(self, batches: Sequence[Any]) -> None:
        """Take the intervals of a micro-batch; they are judged by the watermark that stood before it."""
        watermark = self.store.valve.watermark
        behind = goes_on(watermark) if self.proctime else None
        if behind is not None:
            batches = [self.layout.not_before(batch, behind + 1) for batch in batches]
        fresh = (self.late.wide if self.late else self.layout).kept.merged(batches)
        self.counts.rows_in += self._total(fresh)
        if watermark is not None and self.layout.first_end(fresh) - 1 <= watermark:
            ends = self.layout.session_ends([fresh, *self.store.read()])[: fresh.num_rows]
            in_time = ends - 1 > watermark
            late = fresh.filter(pa.array(~in_time))
            self.counts.late += self._total(late)
            if self.late and late.num_rows:
                self.missed.append(late.select([*self.layout.names[self.layout.keys :][:2], LATE]))
            fresh = fresh.filter(pa.array(in_time))
        if fresh.num_rows:
            self.store.add(self.late.without(fresh) if self.late else fresh)

    def advance(self, messages: Iterable[Message]) -> Closed | None:
        """Hear what the channels say. Gives the sessions that fire."""
        valve = self.store.valve
        for channel, said in messages:
            valve.say(channel, said)
        watermark = valve.settle()
        first = self.store.first_end
        if watermark is None or first is None or first - 1 > watermark:
            return None
        held = self.layout.kept.merged(self.store.read())
        whole = self.layout.limit is None  # what is held are sessions, not rows of one time
        due = (self.layout.ends(held) if whole else self.layout.session_ends([held])) - 1 <= watermark
        self.store.replace(held.filter(pa.array(~due)))
        if not due.any():
            return None
        closed = held.filter(pa.array(due))
        closed = closed if whole else self.layout.merged([closed])
        self.counts.windows += closed.num_rows
        return Closed(closed)

    def settle(self) -> tuple[()]:
        """Nothing fires but what `advance` gives."""
        return ()

    @property
    def newest(self) -> int | None:
        """The end of the last session that is open, in epoch ms."""
        return self.store.last_end

    @property
    def first_end(self) -> int | None:
        """When the first of the open sessions ends unless it goes on, in epoch ms."""
        if self.layout.limit is None or not self.store.runs:
            return self.store.first_end
        return int(self.layout.session_ends(self.store.read()).min())

    @property
    def due(self) -> int | None:
        return None

    def _total(self, batch: Any) -> int:
        return int(batch.column(self.rows).sum().as_py() or 0) if batch.num_rows else 0


@dataclass
class Run:
    """Intervals that lie together in state: how many and how large they are, and between which ends (epoch ms)."""

    number: int
    rows: int
    size: int
    first_end: int
    last_end: int
    batch: Any = None  # if this micro-batch has seen them
    stored: bool = False


class SessionStore:
    """The open sessions of a key group during one micro-batch, in runs of bounded size.

    A run that is no larger than what comes is merged with it, so that there are few. The number of state calls depends
    on how many bytes are open, never on keys.
    """

    def __init__(self, layout: Intervals, state: State, inputs: Sequence[str] = ("",)) -> None:
        self.layout, self.state = layout, state
        self.valve = Valve(inputs=inputs)
        self.runs: list[Run] = []
        self.dropped: list[int] = []
        self.before = state.index()
        if self.before is not None:
            watermark, channels, runs = self.before
            self.valve = Valve.load(watermark, channels, inputs)
            for number, rows, size, first, last in np.frombuffer(runs, dtype=np.int64).reshape(-1, 5).tolist():
                self.runs.append(Run(number, rows, size, first, last, stored=True))
        self.next = max((run.number for run in self.runs), default=-1) + 1

    def add(self, batch: Any) -> None:
        """Put intervals beside those that are there."""
        while self.runs and self.runs[-1].rows <= batch.num_rows:
            older = self._load(self.runs[-1])
            self._drop(self.runs.pop())
            batch = self.layout.kept.merged([older, batch])
        self._append_in_pieces(batch)

    def read(self) -> list[Any]:
        """All intervals, oldest first."""
        return [self._load(run) for run in self.runs]

    def replace(self, batch: Any) -> None:
        """Hold these instead of all others."""
        for run in self.runs:
            self._drop(run)
        self.runs = []
        self._append_in_pieces(batch)

    def flush(self) -> None:
        """Write what has changed."""
        for number in self.dropped:
            self.state.remove_chunk((number, 0, 0))
        for run in self.runs:
            if not run.stored:
                data = to_bytes(run.batch)
                run.size = len(data)
                self.state.set_chunk((run.number, 0, 0), data)
        index = [(run.number, run.rows, run.size, run.first_end, run.last_end) for run in self.runs]
        after = self.valve.watermark, self.valve.dump(), np.array(index, dtype=np.int64).tobytes()
        if after != self.before:
            self.state.set_index(after)

    @property
    def first_end(self) -> int | None:
        """Before this (epoch ms) no session ends."""
        return min((run.first_end for run in self.runs), default=None)

    @property
    def last_end(self) -> int | None:
        """Where the last session ends."""
        return max((run.last_end for run in self.runs), default=None)

    @property
    def rows(self) -> int:
        """How many intervals are held."""
        return sum(run.rows for run in self.runs)

    @property
    def size(self) -> int:
        """About how many bytes."""
        return sum(run.size for run in self.runs)

    def slices(self) -> Iterator[int]:
        """The pieces of time that state is in: none for sessions, which lie in runs."""
        return (run.number for run in self.runs)

    def _append_in_pieces(self, batch: Any) -> None:
        for start in range(0, batch.num_rows, CHUNK_ROWS):
            self._append(batch.slice(start, CHUNK_ROWS))

    def _append(self, batch: Any) -> None:
        first, last = self.layout.first_end(batch), int(self.layout.ends(batch).max())
        self.runs.append(Run(self.next, batch.num_rows, batch.nbytes, first, last, batch))
        self.next += 1

    def _drop(self, run: Run) -> None:
        if run.stored:
            self.dropped.append(run.number)

    def _load(self, run: Run) -> Any:
        if run.batch is None:
            run.batch = from_bytes(self.state.chunk((run.number, 0, 0)))
        return run.batch


@dataclass(frozen=True)
class SessionWindows:
    """How windows are made of the intervals that leave a key group."""

    layout: Intervals

    def windows(self, closed: Any, first: int, last: int) -> Iterator[Any]:
        made = self.layout.windows(closed)
        for start in range(0, made.num_rows, OUT_ROWS):
            yield made.slice(start, OUT_ROWS)

    def missed(self, late: Any, zone: str) -> Any:
        """Each late row with the session that it made with others, as a struct."""
        lists = late.column(LATE)
        counts = lengths(lists)
        bare = replace(self.layout, keys=0, merges=())
        starts, lasts = (np.repeat(of(late), counts) for of in (bare.starts, bare.lasts))
        ends: Ints = lasts + self.layout.gap * 1000
        return with_window(lists.flatten(), starts, ends, zone)
