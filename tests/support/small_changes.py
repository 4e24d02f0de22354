"""Operators with a large state in memory, of whose keys few change in a micro-batch: what it reads and writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
import pyarrow as pa

from tvfsql.plan.stream import Firing, StreamContext
from tvfsql.plan.window import Cumulate, Tumble
from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.rows.deduplicate import KeepRow
from tvfsql.runtime.stream.rows.joins.intervals import IntervalJoin
from tvfsql.runtime.stream.rows.joins.versions import TemporalJoin
from tvfsql.runtime.stream.state.chunk_index import ChunkKey
from tvfsql.runtime.stream.state.chunk_store import Index
from tvfsql.runtime.stream.state.memory import MemoryState, MemoryTimers
from tvfsql.runtime.stream.state.timer_queue import QueueName
from tvfsql.runtime.stream.windows.sessions.operator import SessionOperator
from tvfsql.runtime.stream.windows.slicing_operator import SlicingOperator

SECOND = 1_000
ONE_SUM = SliceRows(1, (("n", "sum"),))
INTERVALS = Intervals(1, (("n", "sum"),), SECOND)
Rows = Callable[[int, int, int], list[pa.RecordBatch]]  # of the first key, the number of keys, and the second


@dataclass
class CountedState(MemoryState):
    """State in a dictionary that counts the bytes that are read and written, and the calls."""

    read: int = 0
    written: int = 0
    calls: int = 0

    def index(self) -> Index | None:
        kept = super().index()
        self.read += len(kept[2]) if kept else 0
        return kept

    def chunk(self, key: ChunkKey) -> bytes:
        data = super().chunk(key)
        self.read, self.calls = self.read + len(data), self.calls + 1
        return data

    def set_chunk(self, key: ChunkKey, data: bytes) -> None:
        self.written, self.calls = self.written + len(data), self.calls + 1
        super().set_chunk(key, data)

    def remove_chunk(self, key: ChunkKey) -> None:
        self.calls += 1
        super().remove_chunk(key)

    def set_index(self, index: Index) -> None:
        self.written += len(index[2])
        super().set_index(index)


@dataclass
class CountedTimers(MemoryTimers):
    """Timers in dictionaries that count as `CountedState` does, into it."""

    state: CountedState = field(default_factory=CountedState)

    def chunk(self, name: QueueName, number: int) -> bytes:
        data = super().chunk(name, number)
        self.state.read, self.state.calls = self.state.read + len(data), self.state.calls + 1
        return data

    def set_chunk(self, name: QueueName, number: int, data: bytes) -> None:
        self.state.written, self.state.calls = self.state.written + len(data), self.state.calls + 1
        super().set_chunk(name, number, data)

    def set_queue(self, name: QueueName, now: int | None, chunks: bytes) -> None:
        self.state.written += len(chunks)
        super().set_queue(name, now, chunks)


@dataclass(frozen=True)
class Small:
    """An operator, and its rows. With `wraps`, rows are of keys that it has already."""

    operator: Operator
    rows: Rows
    inputs: tuple[str, ...] = ("",)
    wraps: bool = False


@dataclass(frozen=True)
class Cost:
    """Of a micro-batch, on average: bytes of state that are read and written, state calls, and seconds. `whole`: the
    bytes that were written when the state was made."""

    read: float
    written: float
    calls: float
    seconds: float
    whole: int


@dataclass
class Running:
    """A key group of a case with its state."""

    case: Small
    state: CountedState = field(default_factory=CountedState)
    timers: CountedTimers = field(init=False)

    def __post_init__(self) -> None:
        self.timers = CountedTimers(state=self.state)

    def batch(self, first: int, count: int, second: int) -> None:
        operator = self.case.operator
        group = operator.open(self.state, self.timers if operator.has_timers else None, 0)
        group.add(self.case.rows(first, count, second))
        list(group.advance([(name, second * SECOND - SECOND - 1) for name in self.case.inputs]))
        list(group.finish())
        group.flush()


def cost(case: Small, many: int, few: int, times: int) -> Cost:
    """The cost of micro-batches of `few` keys, beside `many` in state."""
    stream = Running(case)
    stream.batch(0, many, 2)
    whole = stream.state.written
    for at in range(2):  # what is due at the start goes here
        stream.batch(0 if case.wraps else many + at * few, few, 3 + at)
    state = stream.state
    state.read = state.written = state.calls = 0
    started = perf_counter()
    for at in range(times):
        first = at * few % many if case.wraps else many + (at + 2) * few
        stream.batch(first, few, 5 + at)
    seconds = perf_counter() - started
    return Cost(state.read / times, state.written / times, state.calls / times, seconds / times, whole)


def _numbers(first: int, count: int) -> pa.Array:
    return pa.array(np.arange(first, first + count))


def _rows_at(first: int, count: int, second: int, side: str = "") -> pa.RecordBatch:
    keys = _numbers(first, count)
    times = pa.array(np.full(count, second * SECOND * 1000)).view(pa.timestamp("us"))
    hashes = pa.array((np.asarray(keys).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)).view(np.int64))
    mixed = pa.array(np.asarray(hashes) ^ (np.asarray(hashes) >> 29))
    batch = pa.RecordBatch.from_arrays([keys, times, keys, mixed], names=["0", "1", "2", "$hash"])
    return batch.replace_schema_metadata({"side": side}) if side else batch


def _sessions(first: int, count: int, second: int) -> list[pa.RecordBatch]:
    """Each key has a time of its own, so that few sessions close at a time."""
    micros = (second * SECOND + np.arange(count) * 100) * 1000
    return [INTERVALS.batch([_numbers(first, count)], micros, micros, [_numbers(0, count)])]


def _right_rows(first: int, count: int, second: int) -> list[pa.RecordBatch]:
    """At first rows of the left side, then rows of the right side with the same keys."""
    return [_rows_at(first, count, second, "1/" if second == 2 else "2/")]


def _left_rows(first: int, count: int, second: int) -> list[pa.RecordBatch]:
    """Rows of the left side, over 100 seconds."""
    rows = _rows_at(first, count, second, "1/")
    micros = (second * SECOND + np.arange(count) * 100 * SECOND // count) * 1000
    return [rows.set_column(1, "1", pa.array(micros).view(pa.timestamp("us")))]


def _slices(number: Callable[[int, int], np.ndarray]) -> Rows:
    def rows(first: int, count: int, second: int) -> list[pa.RecordBatch]:
        made = ONE_SUM.batch([_numbers(first, count)], number(second, count), [_numbers(1, count)])
        return [ONE_SUM.merged([made])]

    return rows


CASES: dict[str, Small] = {
    "open sessions": Small(SessionOperator(INTERVALS, "n"), _sessions),
    "keys of a deduplication": Small(KeepRow(3, (0,), 1, "first"), lambda *of: [_rows_at(*of)]),
    "last rows of keys": Small(KeepRow(3, (0,), 1, "last", (), 10_000 * SECOND), lambda *of: [_rows_at(*of)]),
    "versions of a temporal join": Small(
        TemporalJoin((3, 3), ((0,), (0,)), (1, 1), "left", (False,)),
        lambda first, count, second: [_rows_at(first, count, second, side) for side in ("2/", "1/")],
        ("1/", "2/"),
    ),
    "rows of a left join that get a partner": Small(
        IntervalJoin((3, 3), ((0,), (0,)), (1, 1), (-(10**10), 10**10), "left", (False,)),
        _right_rows,
        ("1/", "2/"),
        wraps=True,
    ),
    "rows of a left join that go alone": Small(
        IntervalJoin((3, 3), ((0,), (0,)), (1, 1), (-(10**6), 0), "left", (False,)), _left_rows, ("1/", "2/")
    ),
    "keys of an early window": Small(
        SlicingOperator(Tumble(3_600 * SECOND), ONE_SUM, "n", StreamContext(firing=Firing(early=0))),
        _slices(lambda _, count: np.full(count, 1)),
        wraps=True,
    ),
    "keys of changed steps": Small(
        SlicingOperator(Cumulate(SECOND, 36_000 * SECOND, emit_only_on_change=True), ONE_SUM, "n"),
        _slices(lambda second, count: np.full(count, second + 1)),
        wraps=True,
    ),
    "open slices": Small(
        SlicingOperator(Tumble(SECOND), ONE_SUM, "n"),
        _slices(lambda second, count: 5 + second + np.arange(count)),
    ),
}
