"""Windows without rows of a stream: a window of a key that had none is emitted when the watermark passes its end.

The rows are those of a window operator: one for each key and window with rows, when the watermark passes the window.
The operator emits for each of them which windows after its own have no rows, as far as the watermark has passed them
(`frames.gaps.FIRST`, LAST); what is in these windows Spark computes, as in batch. With a row that is emitted again for
later windows the state needs no counter: which windows have been emitted follows from the watermark before.

The state has the last row of each key, in buckets of the hash of the key, until the retention has passed. Where a
column is LINEAR, everything leaves later by the retention, because the next window with rows must be known; then the
state has the rows of that time.

On a grid the rows are any rows, and windows those of the grid: a row leaves when the watermark passes its time, and an
added one when it passes the end of its window, which then has no rows. Where only gaps between rows are filled, added
rows leave with the row after the gap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

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
from tvfsql.runtime.arrow.ranks import sort_codes
from tvfsql.runtime.frames.gaps import FIRST, LAST, ROW, STEPS, filled, next_of
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
NO_HASHES = np.zeros(0, dtype=np.int64)


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
    end = window.last_window_end(window.slice_end(0))
    operator = FillGaps(
        len(own), tuple(map(own.index, keys)), own.index(time), step_of(window), retention, linear, end, context
    )
    about = f"{_shown(values)}, retention=[{duration(retention)}]"
    return _filling(rows, operator, window, keys=keys, time=time, about=about, name=name)(properties, values)


def fill_grid_stream(
    rows: DataFrame,
    grid: Tumble,
    *,
    keys: Sequence[str],
    time: str,
    values: Mapping[str, str],
    ties: Sequence[str],
    limit: int,
    goes_on: bool = False,
    name: str = "tvfsql_filled",
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """Exchange and GapFill: the rows, and rows on the grid between them.

    In: any columns, and the watermark columns of `with_watermarks`. The other parameters are those of `fill_grid`.
    Out: the same columns, without the watermark columns; with `marks` the operator adds its own. A row is emitted when
    the watermark has passed it. Rows between two others are emitted with the second one; with `goes_on` when the
    watermark has passed their window, and with a LINEAR column all rows are emitted when the watermark is `limit`
    further. Rows at or before the current watermark are late: they are dropped and counted, or with `late` emitted
    apart.
    """
    context = StreamContext(**options)
    own = own_columns(rows)
    linear = [own.index(column) for column, how in values.items() if how == LINEAR]
    operator = FillGaps(
        len(own),
        tuple(map(own.index, keys)),
        own.index(time),
        grid.size,
        limit,
        (own.index(time), *linear) if linear else (),
        grid.slice_end(0),
        context,
        grid=True,
        between=not goes_on,
        ties=tuple(map(own.index, ties)),
    )
    how = f"{'fill' if goes_on else 'maxGap'}=[{duration(limit)}]"
    about = f"grid=[{duration(grid.size)}], {_shown(values)}, {how}"
    return _filling(rows, operator, grid, keys=keys, time=time, about=about, name=name)({time: ROW}, values)


def _shown(values: Mapping[str, str]) -> str:
    return f"values=[{', '.join(f'{column}: {how}' for column, how in values.items())}]"


def _filling(
    rows: DataFrame,
    operator: FillGaps,
    window: Tumble | Hop | Cumulate,
    *,
    keys: Sequence[str],
    time: str,
    about: str,
    name: str,
) -> Callable[[Mapping[str, str], Mapping[str, str]], DataFrame]:
    """The operator over `rows`, as a function of the `properties` and `values` of `filled`."""
    context, own, linear = operator.context, own_columns(rows), operator.linear
    zone, inputs = zone_of(rows, time), tuple(context.inputs)
    description = Description("GapFill", tuple(keys), about=about, zone=zone, inputs=inputs)
    sent = rows_by_key(rows, context, columns=own, keys=keys, time=time, arrived=True)
    numbers = [FIRST, LAST, *([STEPS] if linear else [])]
    schema = [rows.schema[column] for column in own]
    schema += [T.StructField(column, T.LongType()) for column in numbers]
    schema += [T.StructField(next_of(own[i]), rows.schema[own[i]].dataType) for i in linear]
    made = apply_operator(sent, operator, description, T.StructType(schema), name=name, late=late_type(rows, context))

    def of(properties: Mapping[str, str], values: Mapping[str, str]) -> DataFrame:
        inner = {time, *numbers, *(next_of(own[i]) for i in linear)} - {*properties}
        columns = [column for column in made.columns if column not in inner]
        return filled(made, window, columns, properties=properties, values=values)

    return of


@dataclass(frozen=True)
class FillGaps(Operator):
    """The windows without rows, for rows with `columns` columns, followed by ARRIVED. `keys`, `time`, `linear` and
    `ties` are numbers of columns. In ms: `step`, from one end of a window to the next, `retention`, and `offset`, one
    of the ends. `grid`: the rows are any rows, otherwise those of windows. `between`: gaps are filled that a row ends,
    if they are no longer than the retention."""

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
    grid: bool = False
    between: bool = False
    ties: tuple[int, ...] = ()

    def open(self, state: State, timers: TimerState | None, now: int) -> FilledGaps:
        return FilledGaps(self, ChunkStore(state, joined, self.context.inputs))

    def window_of(self, times: Any) -> Any:
        """The number of the window that a time is in."""
        return (times - self.offset) // self.step + 1

    def window_at(self, watermark: int) -> int:
        """The number of the last window that a watermark has passed."""
        return (watermark + 1 - self.offset) // self.step

    @property
    def reach(self) -> int:
        """How long after a row windows without rows follow it, in ms."""
        return self.retention if self.grid else self.retention // self.step * self.step

    @property
    def waits(self) -> bool:
        """Whether rows leave later than the watermark passes them, because the next row must be known."""
        return bool(self.linear) and not self.between

    @property
    def delay(self) -> int:
        """How much later that is, in ms."""
        return self.reach if self.waits else 0

    @property
    def behind(self) -> int:
        """How much the output watermark is behind that of the rows that have left: an added row can be so much before
        what has just left."""
        if not self.grid:
            return 0
        return self.retention if self.between else self.step - 1


class FilledGaps(OrderedKeyGroup):
    """The windows of a key group that others may follow."""

    def __init__(self, spec: FillGaps, store: ChunkStore) -> None:
        super().__init__(spec.context, store, time=spec.time, arrived=spec.columns, slot=spec.slot)
        self.spec = spec
        self.buckets = HashBuckets(store, spec.bucket_rows)

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        spec, before = self.spec, self._emitted
        fresh = [*self.released(messages)]
        now = self._emitted
        passed = spec.window_at(before) != spec.window_at(now)
        if not fresh and not passed and not (spec.waits and before != now):
            return
        new = [rows.select([*map(str, range(spec.columns)), HASH]) for rows in fresh]
        every = self.buckets.every()
        if spec.between and before // spec.retention == now // spec.retention:  # now and then all keys that have ended
            every = np.unique(self.buckets.numbers(np.concatenate([*map(hashes_of, new), NO_HASHES]))).tolist()
        stored = [rows for rows in self.buckets.read(every) if rows.num_rows]
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
        """The time up to which rows have been emitted (epoch ms)."""
        passed = delayed(self.watermark, self.spec.delay)
        return BEFORE_ALL if passed is None else passed

    @property
    def output_watermark(self) -> int | None:
        return delayed(self.watermark, self.spec.delay + self.spec.behind)

    def _gaps(self, rows: pa.RecordBatch, before: int, now: int) -> tuple[Ints, Ints, Ints, Ints, np.ndarray]:
        """The positions of rows by key and time; and for each of them, in this order, the first and the last of the
        windows after its own that are to be emitted now (0: its own), how many windows later the next row is (0: none
        within the retention), and whether all of them have been emitted by then."""
        spec = self.spec
        order, codes, times = self._in_order(rows)
        numbers = spec.window_of(times)
        known = np.append(~changes_in(codes)[1:], False)  # the next row is of the same key
        steps, gap = np.zeros_like(numbers), np.zeros_like(times)
        steps[:-1], gap[:-1] = np.diff(numbers), np.diff(times)
        near = known & (gap <= (spec.reach if spec.grid else spec.reach + spec.step))
        empty = np.where(known, np.maximum(steps - 1, 0), 0)
        if spec.between:
            last = np.where(near, empty, 0)
            whole = known | (times + spec.retention <= now)
            return order, (times <= before).astype(np.int64), last, np.where(near, steps, 0), whole
        most = spec.window_of(times + spec.reach) - numbers
        to_fill = np.where(known, np.minimum(empty, most), most)
        last = to_fill
        if now < END_OF_INPUT:
            passed = np.minimum(np.maximum(spec.window_at(now) - numbers, 0), to_fill)
            last = np.where(times <= now, passed, -1)
        first = np.where(times <= before, np.maximum(spec.window_at(before) - numbers, 0) + 1, 0)
        return order, first, last, np.where(near, steps, 0), last >= to_fill

    def _in_order(self, rows: pa.RecordBatch) -> tuple[Ints, Ints, Ints]:
        """The positions of rows by key, time and ties; the codes of their keys and their times, in that order."""
        codes = key_codes([rows.column(i) for i in self.spec.keys], rows.num_rows)
        times = self.waiting.millis(rows)
        order = sort_order([codes, times])
        same = ~(changes_in(codes[order]) | changes_in(times[order]))
        if self.spec.ties and same.any():
            ties = [sort_codes(rows.column(i), descending=False, nulls_first=True) for i in self.spec.ties]
            order = sort_order([codes, times, *ties])
        return order, codes[order], times[order]

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
            none = ~(steps[emitted] > 0)
            columns.append(pa.array(steps[emitted], mask=none))
            columns += [rows.column(i).take(pa.array(following, mask=none)) for i in spec.linear]
        made = pa.RecordBatch.from_arrays(columns, names=[*map(str, range(len(columns)))])
        yield from map(Emit, in_pieces(made))
