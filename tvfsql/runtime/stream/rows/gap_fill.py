"""Windows without rows of a stream: a window of a key that had none is emitted when the watermark passes its end.

The rows are those of a window operator: one for each key and window with rows, when the watermark passes the window.
The operator emits for each of them which windows after its own have no rows, as far as the watermark has passed them
(`frames.gaps.FIRST`, LAST); what is in these windows Spark computes, as in batch. With a row that is emitted again for
later windows the state needs no counter: which windows have been emitted follows from the watermark before.

The state has the last row of each key, in buckets of the hash of the key, until the retention has passed. Where a
column is LINEAR, everything leaves later by the retention, because the next window with rows must be known; then the
state has the rows of that time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.gaps import LINEAR
from tvfsql.plan.stream import ONE_INPUT, StreamContext, StreamOptions
from tvfsql.plan.values.times import duration
from tvfsql.plan.window import Cumulate, Hop, Tumble, step_of
from tvfsql.runtime.arrow.batches import changes_in, in_pieces, joined, key_codes, sort_order
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.frames.gaps import FIRST, LAST, STEPS, filled, next_of
from tvfsql.runtime.stream.exchange.rows_by_key import HASH, late_type, own_columns, rows_by_key, zone_of
from tvfsql.runtime.stream.operator.messages import Emit
from tvfsql.runtime.stream.operator.operator import apply_operator
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.rows.row_key_group import OrderedKeyGroup, delayed
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.hash_buckets import BUCKET_ROWS, HashBuckets, hashes_of
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.state.waiting_rows import SLOT
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

BEFORE_ALL = -(2**62)


def fill_gaps_stream(
    rows: DataFrame,
    window: Tumble | Hop | Cumulate,
    *,
    keys: Sequence[str],
    time: str,
    properties: Mapping[str, str],
    values: Mapping[str, str],
    retention: int,
    name: str = "tvfsql_gaps",
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """Exchange and GapFill: the rows of windows, one for each combination of `keys` and window, and rows for windows
    without rows, up to `retention` ms after the last window of a key with rows.

    In: any columns, and the watermark columns of `with_watermarks`. `time` is the last millisecond of a row's window;
    the other parameters are those of `fill_gaps`.
    Out: the columns of `properties` and `values`, and the keys; with `marks` the operator adds its own. A window is
    emitted when the watermark has passed its end; with a LINEAR column when the watermark is `retention` further.
    """
    context = StreamContext(**options)
    own = own_columns(rows)
    linear = tuple(own.index(column) for column, how in values.items() if how == LINEAR)
    by, at = tuple(map(own.index, keys)), own.index(time)
    step, end = step_of(window), window.last_window_end(window.slice_end(0))
    operator = FillGaps(len(own), by, at, step, retention, linear, end, context)
    shown = ", ".join(f"{column}: {how}" for column, how in values.items())
    description = Description(
        "GapFill",
        tuple(keys),
        about=f"values=[{shown}], retention=[{duration(retention)}]",
        zone=zone_of(rows, time),
        inputs=tuple(context.inputs),
    )
    sent = rows_by_key(rows, context, columns=own, keys=keys, time=time, arrived=True)
    numbers = [FIRST, LAST, *([STEPS] if linear else [])]
    schema = [rows.schema[column] for column in own]
    schema += [T.StructField(column, T.LongType()) for column in numbers]
    schema += [T.StructField(next_of(own[i]), rows.schema[own[i]].dataType) for i in linear]
    made = apply_operator(sent, operator, description, T.StructType(schema), name=name, late=late_type(rows, context))
    inner = {time, *numbers, *(next_of(own[i]) for i in linear)} - {*properties}
    columns = [column for column in made.columns if column not in inner]
    return filled(made, window, columns, properties=properties, values=values)


@dataclass(frozen=True)
class FillGaps(Operator):
    """The windows without rows, for rows with `columns` columns, followed by ARRIVED. `keys`, `time` and `linear` are
    numbers of columns. In ms: `step`, from one end of a window to the next, `retention`, and `offset`, one of the
    ends."""

    columns: int
    keys: tuple[int, ...]
    time: int
    step: int
    retention: int
    linear: tuple[int, ...] = ()
    offset: int = 0
    context: StreamContext = ONE_INPUT
    slot: int = SLOT
    bucket_rows: int = BUCKET_ROWS

    def open(self, state: State, timers: TimerState | None, now: int) -> FilledGaps:
        return FilledGaps(self, ChunkStore(state, joined, self.context.inputs))

    def window_at(self, watermark: int) -> int:
        """The number of the last window that a watermark has passed."""
        return (watermark + 1 - self.offset) // self.step

    @property
    def most(self) -> int:
        """How many windows without rows follow one with rows."""
        return self.retention // self.step

    @property
    def delay(self) -> int:
        """How much later than its end a window is emitted, in ms: until the next one with rows is known, where that
        counts."""
        return self.most * self.step if self.linear else 0


class FilledGaps(OrderedKeyGroup):
    """The windows of a key group that others may follow."""

    def __init__(self, spec: FillGaps, store: ChunkStore) -> None:
        super().__init__(spec.context, store, time=spec.time, arrived=spec.columns, slot=spec.slot)
        self.spec = spec
        self.buckets = HashBuckets(store, spec.bucket_rows)

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        before = self._emitted
        fresh = [*self.released(messages)]
        now = self._emitted
        if not fresh and self.spec.window_at(before) == self.spec.window_at(now):
            return
        stored = [rows for rows in self.buckets.read(self.buckets.every()) if rows.num_rows]
        new = [rows.select([*map(str, range(self.spec.columns)), HASH]) for rows in fresh]
        if not (stored or new):
            return
        rows = joined([*stored, *new])
        order, first, last, steps, whole = self._gaps(rows, before, now)
        emitted = first <= last
        self.counts.rows_out += int((last - first + 1)[emitted].sum())
        yield from self._emit(rows, order, first, last, steps, emitted)
        changed = np.concatenate([*(hashes_of(each) for each in new), hashes_of(rows)[order[whole]]])
        if len(changed):
            self.buckets.update(rows.take(pa.array(np.sort(order[~whole]))), changed, stored)
            self.buckets.make_room()

    @property
    def _emitted(self) -> int:
        """The time up to which windows have been emitted (epoch ms)."""
        passed = delayed(self.watermark, self.spec.delay)
        return BEFORE_ALL if passed is None else passed

    @property
    def output_watermark(self) -> int | None:
        return delayed(self.watermark, self.spec.delay)

    def _gaps(self, rows: pa.RecordBatch, before: int, now: int) -> tuple[Ints, Ints, Ints, Ints, np.ndarray]:
        """The positions of rows by key and time; and for each of them, in this order, the first and the last of the
        windows after its own that are to be emitted now (0: its own), how many windows later the next one with rows is
        (0: none within the retention), and whether all of them have been emitted by then."""
        spec = self.spec
        codes = key_codes([rows.column(i) for i in spec.keys], rows.num_rows)
        times = self.waiting.millis(rows)
        order = sort_order([codes, times])
        codes, times = codes[order], times[order]
        steps = np.zeros(len(times), dtype=np.int64)
        again = ~changes_in(codes)[1:]
        steps[:-1] = np.where(again, np.diff(times) // spec.step, 0)
        known = steps > 0
        to_fill = np.where(known, np.minimum(steps - 1, spec.most), spec.most)
        last = to_fill if now >= END_OF_INPUT else np.minimum((now - times) // spec.step, to_fill)
        first = np.zeros_like(last) if before <= BEFORE_ALL else np.maximum((before - times) // spec.step + 1, 0)
        return order, first, last, np.where(steps - 1 <= spec.most, steps, 0), last >= to_fill

    def _emit(
        self, rows: pa.RecordBatch, order: Ints, first: Ints, last: Ints, steps: Ints, emitted: np.ndarray
    ) -> Iterator[Emit]:
        if not emitted.any():
            return
        spec = self.spec
        following = np.append(order[1:], 0)[emitted]
        own = rows.select([*map(str, range(spec.columns))]).take(pa.array(order[emitted]))
        columns = [*own.columns, pa.array(first[emitted]), pa.array(last[emitted])]
        if spec.linear:
            none = steps[emitted] == 0
            columns.append(pa.array(steps[emitted], mask=none))
            columns += [rows.column(i).take(pa.array(following, mask=none)) for i in spec.linear]
        made = pa.RecordBatch.from_arrays(columns, names=[*map(str, range(len(columns)))])
        yield from map(Emit, in_pieces(made))
