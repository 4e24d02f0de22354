"""The timers of one clock in columnar form: which are set, which are due, and how they are stored.

Chunks of some thousand timers are in order of time, with one small index. So the number of state calls does not depend
on the number of timers, and a micro-batch reads and writes only the chunks of the times that it touches. All timers of
one time are in one chunk, so that duplicates are found. Timers behind a full chunk start another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain, count, groupby, pairwise
from operator import itemgetter
from typing import Protocol

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import changes_in
from tvfsql.runtime.stream.state.chunk_blocks import entry, of_entry
from tvfsql.runtime.stream.state.timer_rows import Timer, TimerRows, by_time, each, pieces, still_set, times_of

CHUNK_ROWS = 2048

QueueName = tuple[str, str]  # (service, clock)


class TimerState(Protocol):
    """Access to the timers of a key group: RocksDB through Spark, or a dictionary in tests."""

    def queue(self, name: QueueName) -> tuple[int | None, bytes] | None:
        """The clock in epoch ms (None: not set yet) and the list of chunks; None if the queue is new."""

    def set_queue(self, name: QueueName, now: int | None, chunks: bytes) -> None: ...

    def chunk(self, name: QueueName, number: int) -> bytes: ...

    def set_chunk(self, name: QueueName, number: int, data: bytes) -> None: ...

    def remove_chunk(self, name: QueueName, number: int) -> None: ...


@dataclass(slots=True)
class TimerChunk:
    """Timers in order of time: the first and the last time, their number, and the timers themselves, once they are
    loaded."""

    number: int
    first: int
    last: int
    rows: int
    timers: pa.RecordBatch | None = None
    changed: bool = False


class TimerQueue:
    """The timers of one clock for one key group during one micro-batch. `flush` writes them to state.

    Many timers at once are a batch of `TimerRows`. Timers with equal key, namespace and time are one timer. Keys are
    equal as in GROUP BY; floats must come as from `local_slices`, with one zero and one NaN.
    """

    def __init__(self, rows: TimerRows, state: TimerState, name: QueueName) -> None:
        self.rows, self.state, self.name = rows, state, name
        self.now: int | None = None
        self.chunks: list[TimerChunk] = []
        self.before = state.queue(name)
        if self.before is not None:
            self.now, index = self.before
            fields = np.frombuffer(index, dtype=np.int64).reshape(4, -1).tolist()
            self.chunks = [TimerChunk(*of_chunk) for of_chunk in zip(*fields, strict=True)]
        self.stored = [chunk.number for chunk in self.chunks]
        self.numbers = count(max(self.stored, default=-1) + 1)
        self.log: list[tuple[pa.RecordBatch, bool]] = []  # timers to set (False) or to delete (True)
        self.singles: list[tuple[Timer, bool]] = []  # the same for single timers, newer than the log
        self.firing: DueTimers | None = None

    def register(self, timers: pa.RecordBatch) -> None:
        """Set timers. Those whose time has passed are due at the next `pop` or `advance`, or in the running one."""
        self._note(timers, deletes=False)

    def delete(self, timers: pa.RecordBatch) -> None:
        """Delete timers. Timers that are not set are ignored."""
        self._note(timers, deletes=True)

    def register_one(self, timer: Timer) -> None:
        if self.firing is not None and timer.time <= self.firing.until:
            self.firing.add(timer)
        else:
            self.singles.append((timer, False))

    def delete_one(self, timer: Timer) -> None:
        if self.firing is not None and timer.time <= self.firing.until:
            self.firing.remove(timer)
        else:
            self.singles.append((timer, True))

    def pop(self, time: int) -> pa.RecordBatch:
        """Move the clock to `time`, never back, and remove and return all timers that are due.

        They are in order of time, and those of one time in order of registration.
        """
        if self.firing is not None:
            raise AssertionError(f"{self.name}: a timer's callback must not move the clock that it fires by")
        self.now = now = time if self.now is None else max(self.now, time)
        self._settle()
        due = []
        while self.chunks and self.chunks[0].first <= now:
            timers = self._load(self.chunks[0])
            stop = int(np.searchsorted(times_of(timers), now, side="right"))
            due.append(timers.slice(0, stop))
            self._replace(0, timers.slice(stop))
        return self.rows.joined(due)

    def advance(self, time: int, call: Callable[[Timer], None]) -> None:
        """Like `pop`, but call `call` with each timer. The timer is removed before the call.

        Timers that `call` registers fire in the same advance if they are due, and timers that it deletes do not fire.
        """
        due = self.pop(time)
        assert self.now is not None
        self.firing = firing = DueTimers(self.now, each(due))
        while (timer := firing.next()) is not None:
            call(timer)
        self.firing = None

    def earliest(self) -> int | None:
        """The time of the first timer (epoch ms), when the operator must be called; None without timers."""
        self._settle()
        return self.chunks[0].first if self.chunks else None

    def latest(self) -> int | None:
        """The time of the last timer (epoch ms); None without timers."""
        self._settle()
        return self.chunks[-1].last if self.chunks else None

    def restore(self, parts: Sequence[TimerQueue]) -> None:
        """Start a new queue with all timers of older ones. Its clock is the smallest of theirs, if all have one."""
        if self.before is not None:
            raise AssertionError(f"{self.name} has timers of its own")
        for part in parts:
            for chunk in part.chunks:
                self.register(part._load(chunk))
        clocks = [part.now for part in parts if part.before is not None]
        known = [clock for clock in clocks if clock is not None]
        self.now = min(known) if known and len(known) == len(clocks) else None

    def flush(self, *, clock_alone: bool = True) -> None:
        """Write the changes to state. Without `clock_alone` a queue that has and had no timers is not written only
        because its clock moved: for callers that have the time from elsewhere, it is not worth a state call."""
        self._settle()
        kept = {chunk.number for chunk in self.chunks}
        for number in self.stored:
            if number not in kept:
                self.state.remove_chunk(self.name, number)
        for chunk in self.chunks:
            if chunk.changed:
                self.state.set_chunk(self.name, chunk.number, entry(self._load(chunk)))
        index = [(chunk.number, chunk.first, chunk.last, chunk.rows) for chunk in self.chunks]
        after = self.now, np.array(index, dtype=np.int64).T.tobytes()
        stays_empty = self.before is not None and not self.before[1] and not after[1]
        if after != self.before and (clock_alone or not stays_empty):
            self.state.set_queue(self.name, *after)

    def __len__(self) -> int:
        self._settle()
        return sum(chunk.rows for chunk in self.chunks)

    def _note(self, timers: pa.RecordBatch, *, deletes: bool) -> None:
        if self.firing is not None:
            note = self.delete_one if deletes else self.register_one
            for timer in each(timers):
                note(timer)
        else:
            self._note_singles()
            self.log.append((timers, deletes))

    def _note_singles(self) -> None:
        for deletes, run in groupby(self.singles, key=itemgetter(1)):
            self.log.append((self.rows.of([timer for timer, _ in run]), deletes))
        self.singles = []

    def _settle(self) -> None:
        """Apply the log to the chunks that it touches."""
        self._note_singles()
        log = [entry for entry in self.log if entry[0].num_rows]
        self.log = []
        if not log:
            return
        timers, order = by_time(self.rows.joined([timers for timers, _ in log]))
        deletes = np.repeat([deletes for _, deletes in log], [timers.num_rows for timers, _ in log])[order]
        places = np.searchsorted([chunk.first for chunk in self.chunks[1:]], times_of(timers), side="right")
        starts = np.flatnonzero(changes_in(places)).tolist()
        for start, stop in reversed(list(pairwise([*starts, len(places)]))):  # from last to first, so places stay valid
            place = int(places[start])
            behind = start
            if place < len(self.chunks) and self.chunks[place].rows < CHUNK_ROWS:
                behind = stop
            elif place < len(self.chunks):
                last = self.chunks[place].last
                behind += int(np.searchsorted(times_of(timers)[start:stop], last, side="right"))
            if behind < stop:  # behind a full chunk, or the first timers
                noted = still_set(timers.slice(behind, stop - behind), deletes[behind:stop])
                self._insert(place + 1, noted)
            if start < behind:
                noted, stored = timers.slice(start, behind - start), self._load(self.chunks[place])
                rows = self.rows.joined([stored, noted])
                undone = np.append(np.zeros(stored.num_rows, dtype=np.bool_), deletes[start:behind])
                self._replace(place, by_time(still_set(rows, undone))[0])

    def _load(self, chunk: TimerChunk) -> pa.RecordBatch:
        if chunk.timers is None:
            chunk.timers = of_entry(self.state.chunk(self.name, chunk.number))
        return chunk.timers

    def _replace(self, place: int, timers: pa.RecordBatch) -> None:
        """Replace the chunk at `place` by timers, under its number, and under new numbers if it must be split."""
        numbers = chain((chunk.number for chunk in self.chunks[place : place + 1]), self.numbers)
        self.chunks[place : place + 1] = _chunks(timers, numbers)

    def _insert(self, place: int, timers: pa.RecordBatch) -> None:
        self.chunks[place:place] = _chunks(timers, self.numbers)


def _chunks(timers: pa.RecordBatch, numbers: Iterator[int]) -> list[TimerChunk]:
    """Timers in order of time as chunks with these numbers."""
    found = []
    for piece in pieces(timers, CHUNK_ROWS):
        if piece.num_rows:
            times = times_of(piece)
            found.append(TimerChunk(next(numbers), int(times[0]), int(times[-1]), piece.num_rows, piece, True))
    return found


class DueTimers:
    """The due timers while they fire: callbacks may add and remove timers."""

    def __init__(self, until: int, timers: Iterable[Timer]) -> None:
        self.until = until
        self.heap: list[tuple[int, int, str, Timer]] = []
        self.live: dict[str, int] = {}  # order of registration by text, because lists and structs cannot be hashed
        self.order = count()
        for timer in timers:
            self.add(timer)

    def add(self, timer: Timer) -> None:
        text = repr(timer)
        if text not in self.live:
            order = self.live[text] = next(self.order)
            heappush(self.heap, (timer.time, order, text, timer))

    def remove(self, timer: Timer) -> None:
        self.live.pop(repr(timer), None)

    def next(self) -> Timer | None:
        """Remove and return the first timer; None if there is none left."""
        while self.heap:
            _, order, text, timer = heappop(self.heap)
            if self.live.get(text) == order:
                del self.live[text]
                return timer
        return None
