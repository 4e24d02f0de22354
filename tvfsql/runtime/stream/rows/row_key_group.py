"""What the key groups of row operators share: rows in a store, timers, and a delayed output watermark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from tvfsql.plan.stream import StreamContext
from tvfsql.plan.tables.internal_columns import LATE
from tvfsql.runtime.arrow.batches import joined, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.arrow.ranks import sort_codes
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.stream.exchange.rows_by_key import without_late
from tvfsql.runtime.stream.operator.messages import PassedLate
from tvfsql.runtime.stream.operator.protocol import KeyGroup
from tvfsql.runtime.stream.state.chunk_store import ChunkStore
from tvfsql.runtime.stream.state.timers import TimerServices
from tvfsql.runtime.stream.state.waiting_rows import WaitingRows
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.time.processing_time import goes_on


class RowKeyGroup(KeyGroup):
    """A key group with rows in its store; if it has timers, with their `services`."""

    def __init__(self, context: StreamContext, store: ChunkStore, services: TimerServices | None = None) -> None:
        super().__init__(context, store)
        self.services = services
        self.late_rows: list[pa.RecordBatch] = []

    @property
    def clock(self) -> int | None:
        """In processing time the time of now (epoch ms), which makes no row late. None before the first row, after the
        end of the input, and in event time."""
        return goes_on(self.watermark) if self.context.proctime else None

    def in_time(self, rows: pa.RecordBatch, time: int, watermark: int) -> pa.RecordBatch:
        """The rows that the watermark has not passed. The others are counted as late, and kept if the context says so.
        `time` is the number of their time column."""
        micros: Ints = rows.column(time).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        on_time: Mask = micros // 1000 > watermark
        if not on_time.all():
            late = rows.filter(pa.array(~on_time))
            self.counts.late += late.num_rows
            if self.context.late:
                self.late_rows.append(late.select([LATE]))
        return rows.filter(pa.array(on_time))

    def finish(self) -> Iterator[PassedLate]:
        for rows in self.late_rows:
            yield PassedLate(rows)

    def flush(self) -> None:
        self.store.flush()
        if self.services is not None:
            self.services.flush(clock_alone=False)  # the valve has the watermark


class OrderedKeyGroup(RowKeyGroup):
    """A key group that gets its rows in order of time, and of one time in order of arrival, when the watermark passes
    them. `time` and `arrived` are the numbers of their columns, `slot` is in ms. In processing time it gets them at
    once, in order of arrival; their time is that of the micro-batch, and never before that of earlier ones."""

    def __init__(self, context: StreamContext, store: ChunkStore, *, time: int, arrived: int, slot: int) -> None:
        super().__init__(context, store)
        self.waiting = WaitingRows(store, time, slot)
        self.arrived = arrived
        self.fresh: list[pa.RecordBatch] = []

    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        rows = joined(payloads)  # in any order
        numbers: Ints = rows.column(self.arrived).to_numpy()
        if not (numbers[1:] >= numbers[:-1]).all():
            rows = rows.take(pa.array(sort_order([numbers])))
        self.counts.rows_in += rows.num_rows
        if self.clock is not None:
            rows = self._not_before(rows, self.clock)
        elif self.watermark is not None:
            rows = self.in_time(rows, self.waiting.time, self.watermark)
        if rows.num_rows:
            self.fresh.append(without_late(rows))

    def released(self, messages: Iterable[ChannelMessage]) -> Iterator[pa.RecordBatch]:
        """Advance the watermark. Returns the rows that it has passed, in batches, in order."""
        before, watermark = self.watermark, self.store.valve.advance(messages)
        fresh, self.fresh = joined(self.fresh) if self.fresh else None, []
        if self.context.proctime:
            return iter([fresh] if fresh is not None else [])
        return self.waiting.released(fresh, before, watermark)

    def _not_before(self, rows: pa.RecordBatch, clock: int) -> pa.RecordBatch:
        at, name = self.waiting.time, rows.schema.names[self.waiting.time]
        own = rows.column(at)
        micros = np.maximum(own.cast(TIMESTAMP).view(pa.int64()).to_numpy(), clock * 1000)
        return rows.set_column(at, name, pa.array(micros).cast(TIMESTAMP).cast(own.type))

    @property
    def newest_end(self) -> int | None:
        newest = self.waiting.newest
        return None if newest is None else newest + 1


def in_order(rows: pa.RecordBatch, time: int, keys: Sequence[tuple[int, bool, bool]]) -> pa.RecordBatch:
    """Rows that are in order of time and arrival, in the order of their time, then of `keys`: (column, descending,
    NULLs first), then of arrival."""
    if not keys:
        return rows
    times = sort_codes(rows.column(time), descending=False, nulls_first=True)
    return rows.take(pa.array(sort_order([times, *(sort_codes(rows.column(i), *how) for i, *how in keys)])))


def delayed(watermark: int | None, delay: int) -> int | None:
    """The output watermark of an operator that emits rows up to `delay` ms after their time. The end of the input is
    not delayed."""
    return watermark if watermark is None or watermark >= END_OF_INPUT else watermark - delay
