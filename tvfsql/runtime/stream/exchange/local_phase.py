"""The local phase of every operator: turns the rows of a partition into payloads by key group, and channel messages.

A `LocalStrategy` makes the payloads: slices or intervals of windows (`local_windows`), or plain rows (`rows_by_key`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tvfsql.plan.stream import StreamContext
from tvfsql.plan.tables.internal_columns import CHANNEL, CONTROL, LATE, ROW, WATERMARK
from tvfsql.runtime.arrow.batches import changes_in, joined, to_bytes
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.frames.column_names import column_of
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.stream.exchange.key_groups import labels_of
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage, ChannelWatermarks, WatermarkColumns
from tvfsql.runtime.stream.time.control_channel import with_now
from tvfsql.runtime.stream.time.execution import execution
from tvfsql.runtime.stream.time.zones import wall_watermarks

CHUNK_ROWS = 200_000
CHUNK_BYTES = 128 << 20
# What a key group receives: rows (payload) or a channel message. Within a seq, rows come first.
SENT = pa.schema(
    [
        ("key_group", pa.int32()),
        ("seq", pa.int64()),
        ("channel", pa.string()),
        ("watermark", pa.int64()),
        ("payload", pa.binary()),
    ]
)


class LocalStrategy(Protocol):
    """How the rows of a partition become payloads. A frozen value, which Spark sends to its workers."""

    @property
    def time(self) -> int:
        """The number of the column that has the rows' time, among those that it takes."""

    def cuts(self, channels: ChannelWatermarks, watermarks: WatermarkColumns, rows: pa.RecordBatch) -> list[int]:
        """The numbers of rows of a batch after which a new seq starts, where a watermark counts from the next row on.
        `channels` is what channels had reported before the batch."""

    def placed(self, rows: pa.RecordBatch, key_groups: pa.Array, first: int) -> pa.RecordBatch:
        """The rows of a batch that have a time, with their key groups, in the form in which they wait for `payload`.
        `first` is the number of the first one in its partition."""

    def payload(self, waiting: Sequence[pa.RecordBatch]) -> tuple[pa.RecordBatch, Ints]:
        """The contents of payloads from batches of `placed`: rows, sorted by key group, and the key group of each
        row."""


@dataclass(frozen=True)
class LocalPhase:
    """The function for `mapInArrow` before an exchange by key group.

    In, by position: $watermark, $control, $channel, with `on_event` $row, the key group, with `late` $late, and the
    columns that the strategy takes. With `delay` there is no $watermark: the watermark of a row is its time minus so
    many ms. Out: SENT. The late rows of operators below, which are control rows, are passed on as payloads of the
    channel LATE.
    Each partition sends the channel messages to every key group, even to those without rows: once at the end, or with
    `on_event` after each seq. There the watermark of a row counts after its last copy, and what control rows say, and
    rows without $row, at the end. With `zone`, watermarks come in as instants, and are sent as watermarks on the zone's
    wall clock, like the rows' times.
    """

    strategy: LocalStrategy
    key_groups: tuple[int, ...]
    on_event: bool = False
    zone: str = ""
    late: bool = False
    chunk_rows: int = CHUNK_ROWS
    delay: int | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        channels, at_end = ChannelWatermarks(), ChannelWatermarks()
        waiting: list[pa.RecordBatch] = []
        rows = size = seq = number = 0
        for batch in whole_rows(batches, self._row) if self.on_event else batches:
            if self.late:
                passed, batch = self._without_late(batch)
                yield from _late_of(passed)
            if not batch.num_rows:
                continue
            marks, counts, ends = self._watermarks(batch), None, list[int]()
            if self.on_event:
                numbers = batch.column(self._row)
                at_end.add(marks.where(numbers.is_null()))
                marks, counts = marks.only(last_copies(numbers)), numbers.is_valid()
                ends = self.strategy.cuts(channels, marks, self._own(batch))
            for start, stop in pairwise([0, *ends, *({batch.num_rows} - {*ends})]):
                part = batch.slice(start, stop - start)
                of_part = marks.slice(start, stop)
                channels.add(of_part if counts is None else of_part.where(counts.slice(start, stop - start)))
                waiting.append(self.strategy.placed(self._own(part), part.column(self._key_group), number))
                number += part.num_rows
                rows, size = rows + part.num_rows, size + part.nbytes
                full = rows >= self.chunk_rows or size >= CHUNK_BYTES
                if stop in ends or full:
                    yield from self._payloads(waiting, seq)
                    waiting, rows, size = [], 0, 0
                if stop in ends or (full and self.on_event):  # within a seq payloads may come in any order
                    yield from self._messages(channels.take(), seq)
                    seq += 1
        yield from self._payloads(waiting, seq)
        yield from self._messages([*channels.take(), *at_end.take(active=channels.watermarks)], seq)

    def _watermarks(self, batch: pa.RecordBatch) -> WatermarkColumns:
        control, channels = batch.columns[self._first : self._first + 2]
        marks = batch.column(0) if self.delay is None else self._own(batch).column(self.strategy.time)
        micros = marks.cast(TIMESTAMP).view(pa.int64())
        if self.delay:
            micros = pc.add(micros, -1000 * self.delay)
        if self.zone:
            micros = pc.multiply(self._on_wall_clock(micros, 1000), 1000)
            control = self._on_wall_clock(control, 1)
        return WatermarkColumns(channels, micros, control)

    @property
    def _first(self) -> int:
        """The number of the column $control."""
        return 1 if self.delay is None else 0

    @property
    def _row(self) -> int:
        """The number of the column $row, which is only there with `on_event`."""
        return self._first + 2

    @property
    def _key_group(self) -> int:
        """The number of the column with the key group."""
        return self._first + (3 if self.on_event else 2)

    def _own(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The columns of a batch that the strategy takes."""
        return batch.select(range(self._key_group + 1, batch.num_columns))

    def _without_late(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """The late rows among the control rows of a batch, and the other rows without the column of late rows that the
        strategy does not take."""
        control, group, late = self._first, self._key_group, self._key_group + 1
        is_late: Mask = pc.and_(batch.column(control).is_valid(), batch.column(late).is_valid()).to_numpy(
            zero_copy_only=False
        )
        rows = batch.select([i for i in range(batch.num_columns) if i != late])
        return batch.select([group, late]).filter(pa.array(is_late)), rows.filter(pa.array(~is_late))

    def _on_wall_clock(self, instants: pa.Array, unit: int) -> pa.Array:
        """Watermarks in ms on the wall clock of the zone, from instants in units of 1/`unit` ms."""
        ms = instants.fill_null(0).to_numpy() // unit
        return pa.array(wall_watermarks(ms, self.zone), mask=instants.is_null().to_numpy(zero_copy_only=False))

    def _payloads(self, waiting: list[pa.RecordBatch], seq: int) -> Iterator[pa.RecordBatch]:
        waiting = [batch for batch in waiting if batch.num_rows]
        if not waiting:
            return
        rows, groups = self.strategy.payload(waiting)
        starts = np.flatnonzero(changes_in(groups)).tolist()
        for start, stop in pairwise([*starts, len(groups)]):
            payload = to_bytes(rows.slice(start, stop - start))
            yield _sent([(int(groups[start]), seq, None, None, payload)])

    def _messages(self, of_channels: Sequence[ChannelMessage], seq: int) -> Iterator[pa.RecordBatch]:
        messages = [(seq, channel, watermark, None) for channel, watermark in of_channels]
        if messages:
            yield _sent([(key_group, *message) for key_group in self.key_groups for message in messages])


def local_phase(
    rows: DataFrame,
    columns: Sequence[Column],
    strategy: LocalStrategy,
    context: StreamContext,
    *,
    keys: Sequence[str],
    metadata: Mapping[str, Any] | None = None,
) -> DataFrame:
    """The local phase of an operator, over the `columns` that its strategy takes, grouped by the hash of `keys`.

    In: rows with the watermark columns. `$watermark` is not read if the context has a `delay`.
    Out: key_group (int) and the messages to it: seq (bigint), and payload (binary, with this `metadata`) or channel
    (string) and watermark (bigint, epoch ms); and now (bigint, epoch ms: the time of the micro-batch).
    With `on_event` a watermark counts from the next row on, in the order of the source, so all rows pass through one
    task, and have `$row`. Otherwise it counts from the next micro-batch. The number of key groups is that of the
    context, or that of the stream (`key_groups`). State is divided by it, so it must not change over a checkpoint.
    """
    labels = labels_of(context.key_groups, keyed=bool(keys))
    remainder = F.pmod(hash_of(keys), F.lit(len(labels))).cast("int")
    group = F.element_at(F.array(*map(F.lit, labels)), remainder + 1).cast("int")
    late = [column_of(LATE)] if context.late else []
    marks = (*((WATERMARK,) if context.delay is None else ()), CONTROL, CHANNEL, *((ROW,) if context.on_event else ()))
    chosen = rows.select(*map(column_of, marks), group, *late, *columns)
    # mapInArrow cannot find a column with a dot or a backtick in its name
    numbered = chosen.toDF(*map(str, range(len(chosen.columns))))
    if context.on_event:
        numbered = numbered.coalesce(1)
    types = (T.IntegerType(), T.LongType(), T.StringType(), T.LongType(), T.BinaryType())
    fields = [T.StructField(name, kind) for name, kind in zip(SENT.names, types, strict=True)]
    fields[-1].metadata = dict(metadata or {})
    phase = LocalPhase(strategy, labels, context.on_event, context.zone, context.late, delay=context.delay)
    return with_now(execution().map_in_arrow(numbered, phase, T.StructType(fields)))


def hash_of(keys: Sequence[str]) -> Column:
    """The hash (bigint) of a row's key."""
    return F.xxhash64(*map(column_of, keys)) if keys else F.lit(0).cast("bigint")


def _late_of(passed: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Late rows on their way, in payloads by key group."""
    groups = passed.column(0)
    for group in groups.unique().to_pylist():
        late = passed.column(1).filter(pc.equal(groups, group))
        yield _sent([(group, 0, LATE, None, to_bytes(pa.RecordBatch.from_arrays([late], names=[LATE])))])


def _sent(rows: list[tuple[int, int, str | None, int | None, bytes | None]]) -> pa.RecordBatch:
    arrays = [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), SENT.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SENT)


# Which rows are copies of one row of the source, where a watermark counts from the next row on (`on-event`).
#
# Whatever copies rows on their way to an operator (UNNEST, table functions, grouping sets, window functions, lookups)
# copies `$row` too, and leaves the copies of a row beside each other. The row's watermark counts after the last of
# them.


NO_NUMBER = -1.0  # in place of NULL: numbers are in [0, 1)


def last_copies(numbers: pa.Array) -> pa.Array:
    """Which rows are the last copy of a source row, by their `$row`. A row without `$row` is not a copy."""
    values = numbers.fill_null(NO_NUMBER).to_numpy()
    return pa.array(np.append(values[1:] != values[:-1], [True][: len(values)]) & (values != NO_NUMBER))


def whole_rows(batches: Iterable[pa.RecordBatch], row: int) -> Iterator[pa.RecordBatch]:
    """The same rows in other batches, which never end between two copies of a row. `row` is the number of `$row`."""
    waiting: list[pa.RecordBatch] = []  # copies of one row, which may have more
    last = NO_NUMBER
    for batch in batches:
        if not batch.num_rows:
            continue
        values = batch.column(row).fill_null(NO_NUMBER).to_numpy()
        start = _of_last(values)
        if start or values[0] != last:
            found = [*waiting, *([batch.slice(0, start)] if start else [])]
            waiting = []
            if found:
                yield joined(found)
        if start < batch.num_rows:
            waiting.append(batch.slice(start))
        last = float(values[-1])
    if waiting:
        yield joined(waiting)


def _of_last(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int:
    """Where the copies of the last row start; the number of rows if it has no number."""
    if values[-1] == NO_NUMBER:
        return len(values)
    others = np.flatnonzero(values != values[-1])
    return int(others[-1]) + 1 if len(others) else 0
