"""A window operator of a stream without Spark, and a plain model of the expected results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from tvfsql.plan.stream import ONE_INPUT, StreamContext
from tvfsql.plan.tables.internal_columns import WINDOW_NAME
from tvfsql.plan.window import Session, Several, Sliced, Window
from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.exchange.local_phase import LocalPhase
from tvfsql.runtime.stream.exchange.local_windows import LocalIntervals, LocalSlices
from tvfsql.runtime.stream.operator.messages import OUTPUT, Emit, Fire, Output, decoded
from tvfsql.runtime.stream.operator.micro_batch import by_seq
from tvfsql.runtime.stream.state.chunk_blocks import unpacked
from tvfsql.runtime.stream.state.chunk_index import ChunkKey, Kind
from tvfsql.runtime.stream.state.memory import MemoryState
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.windows.sessions.operator import SessionOperator
from tvfsql.runtime.stream.windows.several_operator import SeveralOperator
from tvfsql.runtime.stream.windows.slicing_operator import SlicingOperator

EPOCH = datetime(1970, 1, 1)
# rows, their values' sum, largest and smallest, the first one by time, the different ones, all by time, and how often
# each value modulo 3 came, where odd ones take one back
MERGES = (
    ("rows", "sum"),
    ("total", "sum"),
    ("most", "max"),
    ("least", "min"),
    ("first", "min"),
    ("different", "distinct"),
    ("all", "concat"),
    ("net", "bag"),
)
SHOWN = ("total", "most")  # what the query shows, where steps of CUMULATE come out only if they differ
LAYOUT = SliceRows(1, MERGES)
TIMED = pa.struct([("t", pa.timestamp("us")), ("x", pa.int64())])
TIMES = pa.struct([("x", pa.int64()), ("n", pa.int64())])
TYPES = (*[pa.int64()] * 4, TIMED, pa.list_(pa.int64()), pa.list_(TIMED), pa.list_(TIMES))
SOURCE = pa.schema(
    [("mark", pa.timestamp("us")), ("control", pa.int64()), ("channel", pa.string()), ("group", pa.int32())]
    + [("key", pa.string()), ("time", pa.timestamp("us"))]
    + [(name, kind) for (name, _), kind in zip(MERGES, TYPES, strict=True)]
)


@dataclass(frozen=True)
class Event:
    """A row of the source with the watermark that it carries; a control row if key and ts are None. `copy`: it is a
    copy of the row before it."""

    key: str | None
    ts: int | None
    watermark: int | None = None
    value: int = 1
    channel: str | None = None
    copy: bool = False


# OUTPUT, as Spark has it in Arrow
EMITTED = to_arrow_schema(OUTPUT)
# Out: (key, window_start, window_end, and the results of MERGES)
Out = tuple[Any, ...]


def at(ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=ms)


def ms(time: datetime) -> int:
    return round((time - EPOCH) / timedelta(milliseconds=1))


@dataclass
class Memory(MemoryState):
    """State in a dictionary that counts the calls."""

    calls: int = 0

    def chunk(self, key: Any) -> bytes:
        self.calls += 1
        return super().chunk(key)

    def set_chunk(self, key: Any, data: bytes) -> None:
        self.calls += 1
        super().set_chunk(key, data)

    def remove_chunk(self, key: Any) -> None:
        self.calls += 1
        super().remove_chunk(key)

    @property
    def unpacked(self) -> dict[ChunkKey, pa.RecordBatch]:
        """All chunks of windows that consist of slices, also those in blocks."""
        return {} if self.kept is None else dict(unpacked(self.kept[2], self.chunks))

    def slices(self) -> dict[int, list[tuple[Any, int]]]:
        """The keys of each slice with their numbers of rows; other entries are left out."""
        found: dict[int, list[tuple[Any, int]]] = defaultdict(list)
        for key, batch in self.unpacked.items():
            if key.kind == Kind.SLICE:
                held = batch.to_pydict()
                found[key.number] += list(zip(held["$0"], held["rows"], strict=True))
        return {number: sorted(rows) for number, rows in sorted(found.items())}


@dataclass
class Operator:
    """The local and global phase of a query, divided into key groups and local partitions, with state in memory.

    `made` is its operator, if that has not all of MERGES; it gets of a payload what `given` returns.
    """

    window: Window
    groups: int = 1
    partitions: int = 1
    on_event: bool = False
    states: dict[int, Memory] = field(default_factory=dict)
    context: StreamContext = ONE_INPUT
    late: int = 0
    adjusted: int = 0
    windows: int = 0
    open_ends: dict[int, list[int]] = field(default_factory=dict)  # by key group
    made: SlicingOperator | SeveralOperator | SessionOperator | None = None
    given: Callable[[pa.RecordBatch], pa.RecordBatch] | None = None

    def batch(self, events: Sequence[Event]) -> list[Out]:
        """Run a micro-batch; the operator reads earlier rows from state."""
        labels = key_group_labels(self.groups)
        local = LocalPhase(strategy(self.window, self.on_event), labels, self.on_event, chunk_rows=3)
        sent: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for part in range(self.partitions):
            of_part = events[part :: self.partitions]
            numbers = row_numbers(of_part) if self.on_event else None
            cuts = [
                source(of_part[i : i + 4], labels, numbers and numbers[i : i + 4]) for i in range(0, len(of_part), 4)
            ]
            for out in local(cuts):
                for row in out.to_pylist():
                    sent[row["key_group"]].append(row)
        return [out for group in labels for out in self.of_group(group, sent[group])]

    def of_group(self, group: int, rows: list[dict[str, Any]]) -> Iterator[Out]:
        state = self.states.setdefault(group, Memory())
        of = self.made or operator(self.window, replace(self.context, on_event=self.on_event))
        windows = of.open(state, None, 0)
        emitted: list[Fire | Emit] = []
        for payloads, messages in by_seq(rows):  # type: ignore[arg-type]
            if payloads:
                windows.add([self.given(payload) for payload in payloads] if self.given else payloads)
            emitted += windows.advance(messages)
        self.open_ends[group] = [*(windows.open_ends or ())]
        windows.flush()
        self.late += windows.counts.late
        self.adjusted += windows.counts.adjusted
        self.windows += windows.counts.rows_out
        for message in emitted:
            for batch in of.unpack(message):
                yield from rows_of(batch)

    @property
    def held(self) -> dict[int, list[tuple[Any, int]]]:
        return {slice_: rows for state in self.states.values() for slice_, rows in state.slices().items()}


def operator(window: Window, context: StreamContext = ONE_INPUT) -> SlicingOperator | SeveralOperator | SessionOperator:
    if isinstance(window, Session):
        return SessionOperator(intervals(window), "rows", context)
    if isinstance(window, Several):
        return SeveralOperator(window, LAYOUT, "rows", context)
    return SlicingOperator(window, LAYOUT, "rows", context)


def strategy(window: Window, on_event: bool = False) -> LocalSlices | LocalIntervals:
    if isinstance(window, Session):
        return LocalIntervals(intervals(window).kept, on_event)
    return LocalSlices(LAYOUT, window.slices if isinstance(window, Several) else window)


def intervals(window: Session) -> Intervals:
    return Intervals(1, MERGES, window.gap, window.limit)


def row_numbers(events: Sequence[Event]) -> list[float | None]:
    """`$row` of each event: copies share a number, control rows have none."""
    numbers, number = count(), 0.0
    found: list[float | None] = []
    for event in events:
        number = number if event.copy else next(numbers) / 2**20
        found.append(None if event.ts is None and event.key is None else number)
    return found


def with_row_numbers(batch: pa.RecordBatch, numbers: Sequence[float | None] | None) -> pa.RecordBatch:
    """Rows as the local phase takes them, with `$row` if there are numbers."""
    return batch if numbers is None else batch.add_column(3, "row", pa.array(numbers, pa.float64()))


def source(events: Sequence[Event], labels: Sequence[int], numbers: Sequence[float | None] | None = None) -> Any:
    """Rows in the form in which `local_slices` passes them to `LocalPhase`; with `on_event` with these `$row`."""
    columns: list[list[Any]] = [[] for _ in SOURCE]
    for event in events:
        mark = None if event.watermark is None else event.watermark
        is_row = event.ts is not None
        values: list[Any] = [at(mark) if is_row and mark is not None else None, None if is_row else mark]
        values += [event.channel, labels[key_hash(event.key) % len(labels)]]
        values += [event.key, at(event.ts) if event.ts is not None else None]
        values += partials(event.ts, event.value) if event.ts is not None else [None] * len(MERGES)
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    batch = pa.RecordBatch.from_arrays(
        [pa.array(column, kind.type) for column, kind in zip(columns, SOURCE, strict=True)], schema=SOURCE
    )
    return with_row_numbers(batch, numbers)


def key_hash(key: str | None) -> int:
    return sum(map(ord, key or ""))


def partials(ts: int, value: int) -> list[Any]:
    """The partials of a single row."""
    timed = {"t": at(ts), "x": value}
    return [1, value, value, value, timed, [value], [timed], [{"x": value % 3, "n": came(value)}]]


def came(value: int) -> int:
    """Whether the value is an insert (1) or a retraction (-1)."""
    return -1 if value % 2 else 1


def rows_of(made: Any) -> list[Out]:
    """The rows of a batch of windows, of several with their name at the end; with emit_only_on_change those that
    differ, as emitted code filters them."""
    if WINDOW_NAME in made.schema.names:
        names = made.column(WINDOW_NAME).to_pylist()
        return [(*row, name) for row, name in zip(rows_of(made.drop_columns([WINDOW_NAME])), names, strict=True)]
    if "before" in made.schema.names:
        rows = made.to_pylist()
        changed = [row["before"] is None or any(row[name] != row["before"][name] for name in SHOWN) for row in rows]
        made = made.filter(pa.array(changed, pa.bool_())).drop_columns(["before"])
    made = with_all(made)
    columns = [column.to_pylist() for column in made.columns]
    for place in (1, 2):
        columns[place] = [ms(time) for time in columns[place]]
    first, different, every, net = columns[-4:]
    columns[-4] = [timed and timed["x"] for timed in first]
    columns[-3] = [None if values is None else tuple(sorted(values)) for values in different]
    columns[-2] = [None if values is None else tuple(x["x"] for x in sorted(values, key=_by_time)) for values in every]
    columns[-1] = [None if values is None else tuple(sorted((x["x"], x["n"]) for x in values)) for values in net]
    return list(zip(*columns, strict=True))


def with_all(made: Any) -> Any:
    """The windows of a query with other aggregates, with all of MERGES in their order: NULL for those it has not."""
    bounds = made.schema.names[:3]
    columns = [made.column(name) for name in bounds]
    for (name, _), kind in zip(MERGES, TYPES, strict=True):
        columns.append(made.column(name) if name in made.schema.names else pa.nulls(made.num_rows, kind))
    return pa.RecordBatch.from_arrays(columns, [*bounds, *(name for name, _ in MERGES)])


def _by_time(timed: dict[str, Any]) -> tuple[Any, Any]:
    return timed["t"], timed["x"]


def messages(rows: Iterable[Any]) -> Iterator[Output]:
    """The messages that `OperatorShell` returns to Spark, converted to Arrow and back."""
    table = pa.Table.from_pylist([row.asDict(recursive=True) for row in rows], schema=EMITTED)
    return (message for batch in table.to_batches() for message in decoded(batch))


# ---- the trace of semantics.md#example-hop-of-3-s-every-second


def results_of(values: Sequence[int]) -> Out:
    """The results of MERGES for the values of a window, in order of time."""
    of_rest = ((x, sum(came(value) for value in values if value % 3 == x)) for x in range(3))
    return (
        len(values),
        sum(values),
        max(values),
        min(values),
        values[0],
        tuple(sorted({*values})),
        tuple(values),
        tuple((x, n) for x, n in of_rest if n),
    )


class Model:
    """semantics.md#late-rows taken literally, one row and one window at a time, without slices. With `adjust` a late
    row counts at the first time from after the watermark on that is in a window."""

    def __init__(self, window: Sliced, *, adjust: bool = False) -> None:
        self.window, self.watermark, self.adjust, self.adjusted = window, -(2**62), adjust, 0
        self.open: dict[tuple[Any, int], list[tuple[int, int]]] = defaultdict(list)
        self.on_time: set[tuple[Any, int]] = set()
        self.late = 0
        self.shown: dict[tuple[Any, int], list[Any]] = {}

    def batch(self, events: Sequence[Event]) -> list[Out]:
        for event in events:
            if event.ts is not None:
                self._row(event.key, event.ts, event.value)
        marks = [event.watermark for event in events if event.watermark is not None]
        self.watermark = max([self.watermark, *marks])
        return list(self._fire())

    def _row(self, key: Any, ts: int, value: int) -> None:
        slice_end = self.window.slice_end(ts)
        ends = self.window.window_ends(slice_end)
        unfired = [end for end in ends if end - 1 > self.watermark]
        if ends and not unfired and self.adjust and self.watermark < END_OF_INPUT:
            self.adjusted += 1
            slice_end = self.window.slice_end(self.watermark + 1)
            while not (unfired := list(self.window.window_ends(slice_end))):
                slice_end = self.window.slice_end(slice_end)
        elif ends and not unfired:
            self.late += 1
        for end in unfired:
            self.open[key, end].append((ts, value))
            if end == slice_end:
                self.on_time.add((key, end))

    def _fire(self) -> Iterator[Out]:
        for key, end in sorted((at for at in self.open if at[1] - 1 <= self.watermark), key=lambda at: at[1]):
            values = [value for _, value in sorted(self.open.pop((key, end)))]
            if getattr(self.window, "emit_only_on_update", False) and (key, end) not in self.on_time:
                continue
            start = self.window.window_start(end)
            if self.window.emit_only_on_change:
                of_step, self.shown[key, start] = self.shown.get((key, start)), [sum(values), max(values)]
                if self.shown[key, start] == of_step:
                    continue
            yield key, start, end, *results_of(values)


class Models:
    """The models of several windows, each by itself."""

    def __init__(self, several: Several) -> None:
        self.models = {name: Model(window) for name, window in several.windows}

    def batch(self, events: Sequence[Event]) -> list[Out]:
        return [(*row, name) for name, model in self.models.items() for row in model.batch(events)]

    @property
    def late(self) -> int:
        return sum(model.late for model in self.models.values())

    @property
    def open(self) -> Counter[str]:
        return Counter(name for name, model in self.models.items() for _ in {end for _, end in model.open})


def ordered(rows: Iterable[Out]) -> list[Out]:
    return sorted(rows, key=repr)


def counts(operator: Operator, *events: Event) -> list[tuple[int, int, int]]:
    """The windows that fire in a micro-batch: start, end and number of rows."""
    return sorted((start, end, rows) for _, start, end, rows, *_ in operator.batch(events))
