"""An operator of a stream that keeps rows by key, without Spark: its state is in memory and reloaded for each
micro-batch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

import pyarrow as pa

from tests.models.streams import Event, Memory, at, messages, ms, row_numbers, with_row_numbers
from tests.support.timers import Memory as TimerMemory
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.exchange.local_phase import LocalPhase
from tvfsql.runtime.stream.exchange.rows_by_key import LocalRows
from tvfsql.runtime.stream.operator.messages import Emit, Report
from tvfsql.runtime.stream.operator.micro_batch import micro_batch
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.time.valve import ALL

# a row is (key, time in epoch ms, value); key is column 0, time 1, value 2
COLUMNS = 3
ARROW = pa.schema(
    {"mark": pa.timestamp("us"), "control": pa.int64(), "channel": pa.string(), "group": pa.int32()}
    | {"key": pa.string(), "time": pa.timestamp("us"), "value": pa.int64(), "hash": pa.int64()}
)
Row = tuple[Any, ...]


@dataclass
class Group:
    """The state of a key group."""

    rows: Memory = field(default_factory=Memory)
    timers: TimerMemory = field(default_factory=TimerMemory)
    held: int = 0

    @property
    def empty(self) -> bool:
        return not self.rows.chunks and not self.timers.chunks


@dataclass
class RowStream:
    """The local phase and the operator, divided into key groups and local partitions."""

    operator: Operator
    groups: int = 1
    partitions: int = 1
    on_event: bool = False
    arrival: bool = False  # rows have the number of their arrival as another column, and payloads come in any order
    state: dict[int, Group] = field(default_factory=lambda: defaultdict(Group))
    late: int = 0
    output_watermark: int | None = None
    newest: int | None = None
    due: int | None = None
    held: int = 0
    now: int = 0  # the time of the micro-batch

    def batch(self, *sides: Sequence[Event]) -> list[Row]:
        """Run a micro-batch; the operator reads earlier rows from state."""
        labels = key_group_labels(self.groups)
        sent = sent_by(sides, labels, self.partitions, self.on_event, self.arrival)
        self.held = 0
        return [row for group in labels for row in self._of_group(self.state[group], sent[group])]

    def _of_group(self, state: Group, sent: list[dict[str, Any]]) -> Iterator[Row]:
        """Call the processor as Spark does: only if there is something for the key group."""
        rows: Any = [{**row, "now": self.now} for row in sent]
        for message in messages(micro_batch(self.operator, state.rows, state.timers, rows)) if sent else ():
            if isinstance(message, Emit):
                yield from rows_of(message.rows)
                continue
            assert isinstance(message, Report)
            state.held = message.state_rows
            self.late += message.late
            self.output_watermark = message.output_watermark
            self.newest, self.due = message.newest_end, message.due
        self.held += state.held

    @property
    def empty(self) -> bool:
        return all(group.empty for group in self.state.values())


def sent_by(
    sides: Sequence[Sequence[Event]],
    labels: Sequence[int],
    partitions: int = 1,
    on_event: bool = False,
    arrival: bool = False,
) -> dict[int, list[dict[str, Any]]]:
    """The messages that the local phase of each side sends to the key groups."""
    sent: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for number, events in enumerate(sides, 1):
        side = f"{number}/" if len(sides) > 1 else ""
        for part in range(partitions):
            of_part = [of_side(event, side) for event in events[part::partitions]]
            numbers = row_numbers(of_part) if on_event else None
            arrived = part * 2**33 if arrival else None
            cuts = [
                source(
                    of_part[i : i + 4],
                    labels,
                    numbers and numbers[i : i + 4],
                    arrived,
                )
                for i in range(0, len(of_part), 4)
            ]
            for out in LocalPhase(
                LocalRows(COLUMNS + arrival, 1, side, arrived=arrival), tuple(labels), on_event, chunk_rows=3
            )(cuts):
                for row in out.to_pylist():
                    sent[row["key_group"]].append(row)
    for rows in sent.values() if arrival and not on_event else ():
        rows.reverse()
    return sent


def of_side(event: Event, side: str) -> Event:
    """The event with the channel name that `union_streams` gives it."""
    whole = ALL if event.ts is None else ""
    return replace(event, channel=side + (event.channel or whole)) if side else event


def source(
    events: Sequence[Event],
    labels: Sequence[int],
    numbers: Sequence[float | None] | None = None,
    arrived: int | None = None,
) -> Any:
    """Rows in the form in which `rows_by_key` passes them to `LocalPhase`; with `on_event` with these `$row`. With
    `arrived` they also have that number of their partition."""
    rows = []
    for event in events:
        hashed = key_hash(event.key)
        is_row = event.ts is not None
        mark = at(event.watermark) if is_row and event.watermark is not None else None
        time = at(event.ts) if event.ts is not None else None
        control = None if is_row else event.watermark
        rows.append((mark, control, event.channel, labels[hashed % len(labels)], event.key, time, event.value, hashed))
    columns = zip(*rows, strict=True)
    batch = pa.RecordBatch.from_arrays(
        [pa.array(column, kind.type) for column, kind in zip(columns, ARROW, strict=True)], schema=ARROW
    )
    if arrived is not None:
        of_arrival = pa.array([arrived] * len(rows), pa.int64())
        batch = pa.RecordBatch.from_arrays(
            [*batch.columns[:-1], of_arrival, batch.columns[-1]], [*batch.schema.names[:-1], "arrived", "hash"]
        )
    return with_row_numbers(batch, numbers)


def key_hash(key: str | None) -> int:
    return crc32((key or "").encode()) % 13  # so that some keys share a hash


def rows_of(batch: Any) -> list[Row]:
    """The rows of a batch, with times as epoch ms."""
    columns = [
        [None if value is None else ms(value) for value in column.to_pylist()]
        if pa.types.is_timestamp(column.type)
        else column.to_pylist()
        for column in batch.columns
    ]
    return list(zip(*columns, strict=True))
