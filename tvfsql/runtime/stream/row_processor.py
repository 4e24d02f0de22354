"""Operators of streams that keep rows by key: the shell between Spark's state and the operator, which does the work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from tvfsql.runtime.stream.control import CHANNEL, CONTROL, END_OF_INPUT, NOW, WATERMARK
from tvfsql.runtime.stream.description import Description
from tvfsql.runtime.stream.processor import OUT as COUNTED
from tvfsql.runtime.stream.processor import in_order, out_row
from tvfsql.runtime.stream.proctime import by_clock
from tvfsql.runtime.stream.said import SOURCE, Message
from tvfsql.runtime.stream.slice_rows import from_bytes, to_bytes
from tvfsql.runtime.stream.slices import nullable_type
from tvfsql.runtime.stream.spark_state import SparkState
from tvfsql.runtime.stream.store import SliceStore, State
from tvfsql.runtime.stream.timer_queue import TimerState
from tvfsql.runtime.stream.timers import SparkTimerState, TimerServices
from tvfsql.runtime.stream.unpack import handed_on

OUT_ROWS = 50_000
# `handed`: the watermark that operators above hear of
OUT = f"{COUNTED}, handed BIGINT, late_right BIGINT"


@dataclass
class RowCounts:
    """What one micro-batch did to a key group."""

    rows_in: int = 0
    late: int = 0
    late_right: int = 0  # those of the second input, where there are two
    rows_out: int = 0


class KeyGroup(ABC):
    """An operator over the state of one key group, during one micro-batch."""

    def __init__(self, store: SliceStore, services: TimerServices) -> None:
        self.store, self.services = store, services
        self.counts = RowCounts()

    @abstractmethod
    def add(self, payloads: Sequence[Any]) -> None:
        """Take rows, as `rows_by_key` gives them; they are judged by the watermark that stands."""

    def advance(self, messages: Iterable[Message]) -> Iterator[Any]:
        """Hear what the channels say, and work. Gives batches of rows that go on."""
        for channel, said in messages:
            self.store.valve.say(channel, said)
        before = self.watermark
        yield from self.work(before, self.store.valve.settle())

    @abstractmethod
    def work(self, before: int | None, watermark: int | None) -> Iterator[Any]:
        """What is to be done with the rows that were added, and now that the watermark stands where it does."""

    def flush(self) -> None:
        """Write what has changed."""
        self.store.flush()
        self.services.flush()

    @property
    def watermark(self) -> int | None:
        return self.store.valve.watermark

    @property
    @abstractmethod
    def handed(self) -> int | None:
        """The watermark for the operators above: all rows at or before it have been given out."""

    @property
    @abstractmethod
    def newest(self) -> int | None:
        """1 ms after the watermark (epoch ms) that would give out all rows which only wait for that; None: none do."""

    @property
    def due(self) -> int | None:
        """When it is to be called though no rows come, in processing time (epoch ms)."""
        return None

    @property
    def held(self) -> tuple[int, int]:
        """Rows in state, and about how many bytes."""
        return self.store.rows, self.store.size


class RowOperator(Protocol):
    """What an operator is told by the plan; it travels to Spark's workers. `inputs` are those of `Valve`; by processing
    time (`proctime`) its watermark is that of the clock."""

    @property
    def inputs(self) -> tuple[str, ...]: ...

    @property
    def proctime(self) -> bool: ...

    def opened(self, state: State, timers: TimerState, now: int) -> KeyGroup:
        """A key group, in a micro-batch at that time (epoch ms)."""


class RowProcessor(StatefulProcessor):
    """For each key group: rows and timers in state, the rows that go on, and what that came to."""

    def __init__(self, operator: RowOperator, description: Description) -> None:
        self.operator, self.description = operator, description

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state, self.timers = SparkState.of(handle, self.description), SparkTimerState.of(handle)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        sent = list(rows)
        operator, now = self.operator, sent[0][NOW]
        group = operator.opened(self.state, self.timers, now)
        for payloads, messages in in_order(sent):
            if payloads:
                group.add(payloads)
            if operator.proctime:  # what comes later is never before now
                messages = by_clock(messages, now, operator.inputs)
            for batch in group.advance(messages):
                yield out_row(payload=to_bytes(batch), handed=None, late_right=None)
        group.flush()
        counts, (state_rows, state_bytes) = group.counts, group.held
        yield out_row(
            rows_in=counts.rows_in,
            late=counts.late,
            windows=counts.rows_out,
            watermark=group.watermark,
            newest=group.newest,
            state_rows=state_rows,
            state_bytes=state_bytes,
            handed=group.handed,
            late_right=counts.late_right,
            due=group.due,
        )

    def close(self) -> None:
        pass


def processed(
    messages: DataFrame,
    operator: RowOperator,
    description: Description,
    schema: T.StructType,
    counters: Sequence[Column],
    name: str,
    marks: bool,
) -> DataFrame:
    """The rows that an operator gives out, of what `rows_by_key` sends. `counters` are observed under `name`.

    With `marks` control rows follow that say the operator's watermark to the next one, in the columns that
    `with_watermarks` adds.
    """
    told = messages.groupBy("key_group").transformWithState(
        statefulProcessor=RowProcessor(operator, description),
        outputStructType=OUT,
        outputMode="append",
        timeMode="None",
    )
    if marks:
        fields = [(WATERMARK, T.TimestampNTZType()), (CONTROL, T.LongType()), (CHANNEL, T.StringType())]
        schema = T.StructType([*schema.fields, *(T.StructField(*field) for field in fields)])
    schema = T.StructType.fromJson(nullable_type(schema.jsonValue()))
    unpack = UnpackRows(to_arrow_schema(schema, timezone="UTC"), marks)
    return told.observe(name, *counters).mapInArrow(unpack, schema)


@dataclass(frozen=True)
class UnpackRows:
    """What `mapInArrow` runs behind the processor: the rows, in batches of bounded size, with `marks` its watermark."""

    schema: Any
    marks: bool

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        own = len(self.schema) - (3 if self.marks else 0)
        for batch in batches:
            for payload in batch.column("payload").drop_null():
                rows = from_bytes(payload.as_buffer())
                for start in range(0, rows.num_rows, OUT_ROWS):
                    part = rows.slice(start, OUT_ROWS)
                    yield self._wide(part.num_rows, part.columns[:own])
            said = handed_on(batch, "handed")
            if self.marks and len(said):
                none = pa.nulls(len(said))
                yield self._wide(len(said), [none] * (own + 1) + [said, pa.array([SOURCE] * len(said))])

    def _wide(self, rows: int, columns: list[Any]) -> Any:
        columns = [*columns, *[pa.nulls(rows)] * (len(self.schema) - len(columns))]
        typed = [column.cast(field.type) for column, field in zip(columns, self.schema, strict=True)]
        return pa.RecordBatch.from_arrays(typed, schema=self.schema)


def behind(watermark: int | None, delay: int) -> int | None:
    """The watermark of rows that come out up to `delay` ms after their time. The end of the input is that of all."""
    return watermark if watermark is None or watermark >= END_OF_INPUT else watermark - delay
