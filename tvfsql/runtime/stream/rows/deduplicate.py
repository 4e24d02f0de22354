"""Deduplication: the first row of each key of a stream by event time, or the last.

Rows of a key that follow each other within the retention form a span, as in a session. Keep-first emits the first row
of a span when the watermark passes its time. Keep-last emits the last row when nothing can follow it any more. A key
without rows for longer than the retention is forgotten, and then counts as new. Without a retention (0) no key is
forgotten, and keep-last emits its rows at the end of the input. Source: semantics.md#timers.

So the result depends only on the times of the rows, not on the borders of micro-batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.stream import ONE_INPUT, StreamContext, StreamOptions
from tvfsql.plan.values.times import duration
from tvfsql.runtime.arrow.batches import changes_in, joined, key_codes, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.arrow.ranks import DIRECTIONS, sort_codes
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.merge.session_merge import running_latest
from tvfsql.runtime.stream.exchange.rows_by_key import HASH, late_type, own_columns, rows_by_key, without_late, zone_of
from tvfsql.runtime.stream.operator.messages import Emit
from tvfsql.runtime.stream.operator.operator import apply_operator
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.rows.row_key_group import RowKeyGroup, delayed
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.hash_buckets import BUCKET_ROWS, HashBuckets, hashes_of
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.state.timers import TimerServices
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

FIRST, LAST = "first", "last"
START, END, TIMER, DONE = "$start", "$end", "$timer", "$done"
NEVER = 2**63 - 1  # the time of a timer that is not set
OLD, NEW = 0, 1  # by arrival: the time of a row that was emitted, and of one that was not
NOTHING = -(2**63)  # before all times


def deduplicate_stream(
    rows: DataFrame,
    *,
    keys: Sequence[str],
    time: str,
    keep: str,
    retention: int = 0,
    by_arrival: bool = False,
    ties: Mapping[str, str] | None = None,
    name: str = "tvfsql_kept",
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """Exchange and Deduplicate: for each combination of `keys` the `first` or the `last` row by `time`.

    In: any columns, and the watermark columns of `with_watermarks`. `retention` is in ms of event time; 0: forever.
    `ties` orders rows of the same time (DIRECTIONS); the first of them is kept.
    Out: the same columns, without the watermark columns; with `marks` the operator adds its own.
    Rows at or before the current watermark are late: they are dropped and counted, or with `late` emitted apart. The
    query's progress reports the counters under `name`. The counters and `inputs` are those of `merge_slice_stream`.
    With `proctime` the watermark is the time of the micro-batch: a first row is emitted in its own micro-batch, and no
    row is late. `by_arrival` (first rows, without retention) does so with watermarks of event time.
    """
    context = StreamContext(**options)
    own = own_columns(rows)
    order = tuple((own.index(column), *DIRECTIONS[direction]) for column, direction in (ties or {}).items())
    by, at = tuple(map(own.index, keys)), own.index(time)
    operator = KeepRow(len(own), by, at, keep, order, retention, context, by_arrival=by_arrival)
    about = f"keep=[{keep.capitalize()}Row]" + (f", retention=[{duration(retention)}]" if retention else "")
    about += ", order=[PROCTIME]" if context.proctime or by_arrival else ""
    zone, inputs = zone_of(rows, time), tuple(context.inputs)
    description = Description("Deduplicate", tuple(keys), about=about, zone=zone, inputs=inputs)
    sent = rows_by_key(rows, context, columns=own, keys=keys, time=time)
    schema = T.StructType([rows.schema[column] for column in own])
    return apply_operator(sent, operator, description, schema, name=name, late=late_type(rows, context))


@dataclass(frozen=True)
class KeepRow(Operator):
    """The deduplication of rows with `columns` columns. `keys`, `time` and `ties` are numbers of columns."""

    columns: int
    keys: tuple[int, ...]
    time: int
    keep: str
    ties: tuple[tuple[int, bool, bool], ...] = ()
    retention: int = 0
    context: StreamContext = ONE_INPUT
    bucket_rows: int = BUCKET_ROWS
    by_arrival: bool = False
    has_timers = True

    def open(self, state: State, timers: TimerState | None, now: int) -> Deduplication:
        """A key group with this deduplication."""
        assert timers is not None
        return Deduplication(self, ChunkStore(state, joined, self.context.inputs), TimerServices(timers))

    def fresh(self, rows: pa.RecordBatch, clock: int | None) -> pa.RecordBatch:
        """New rows as they are in state, each as a span of its own. None is before the `clock` of the key group."""
        micros: Ints = rows.column(self.time).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        if self.by_arrival:
            micros = np.full(len(micros), NEW)
        if clock is not None:
            micros = np.maximum(micros, clock * 1000)
        own = [micros, micros, np.full(len(micros), NEVER), np.zeros(len(micros), dtype=np.bool_)]
        names = [*rows.schema.names, START, END, TIMER, DONE]
        return pa.RecordBatch.from_arrays([*rows.columns, *map(pa.array, own)], names=names)

    def spans(self, rows: pa.RecordBatch) -> tuple[pa.RecordBatch, Ints]:
        """Merge rows of a key that follow each other within the retention. Returns the spans, each with the row that is
        kept, and the positions of these rows."""
        start, end = _ints(rows, START), _ints(rows, END)
        keys = key_codes([rows.column(i) for i in self.keys], rows.num_rows)
        order = sort_order([keys, start])
        keys, start, end = keys[order], start[order], end[order]
        first = changes_in(keys)
        if self.retention:
            gap = start[1:] - running_latest(end, first)[:-1]
            first[1:] |= gap > self.retention * 1000
        heads = np.flatnonzero(first)
        forever = self.keep == FIRST and not self.retention  # later rows then change nothing
        kept = self._kept(rows, order, np.cumsum(first) - 1, heads)
        made = rows.take(pa.array(kept))
        own = {
            START: start[heads],
            END: start[heads] if forever else np.maximum.reduceat(end, heads),
            TIMER: np.minimum.reduceat(_ints(rows, TIMER)[order], heads),
            DONE: _flags(rows)[kept],
        }
        return _with(made, own), kept

    def _kept(self, rows: pa.RecordBatch, order: Ints, span: Ints, heads: Ints) -> Ints:
        """The position of the row that is kept of each span. A row that was emitted is kept, because it is the
        first."""
        time = _ints(rows, START)[order] if self.keep == FIRST else -_ints(rows, END)[order]
        best = np.flatnonzero(time == np.minimum.reduceat(time, heads)[span])
        if len(best) > len(heads):  # several rows of a span have that time
            at = pa.array(order[best])
            ties = [sort_codes(rows.column(i).take(at), down, nulls) for i, down, nulls in self.ties]
            best = best[sort_order([span[best], *ties])]
            best = best[changes_in(span[best])]
        return order[best]

    @property
    def quiet(self) -> int:
        """How long after its last row a span ends, in ms. The clock may show the same millisecond in two micro-batches,
        and a row of the second one still belongs to a span that ends there. So in processing time a first row is
        forgotten 1 ms later."""
        return self.retention + (self.context.proctime and self.keep == FIRST)

    def due(self, spans: pa.RecordBatch) -> Ints:
        """When each span is emitted or forgotten next (epoch ms)."""
        if self.by_arrival:
            return np.where(_flags(spans), NEVER, 0)
        start, end = _ints(spans, START) // 1000, _ints(spans, END) // 1000
        over = end + self.quiet if self.retention else np.full(len(end), NEVER)
        return over if self.keep == LAST else np.where(_flags(spans), over, start)


class Deduplication(RowKeyGroup):
    """The spans of one key group.

    A span has a timer under the hash of its key, for the time when it is `due` or earlier: in the service `final` for a
    first row that is not emitted yet, otherwise in `clean-up`. A timer that fires too early is set again, so a span
    that grows with each row rarely costs a timer.
    """

    def __init__(self, spec: KeepRow, store: ChunkStore, services: TimerServices) -> None:
        super().__init__(spec.context, store, services)
        self.spec = spec
        self.buckets = HashBuckets(store, spec.bucket_rows)
        self.final, self.clean_up = (
            services.get(name, [pa.int64()]).queue(spec.context.proctime) for name in ("final", "clean-up")
        )
        self.waiting: list[pa.RecordBatch] = []

    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        rows = joined(payloads)
        self.counts.rows_in += rows.num_rows
        if self.watermark is not None and self.clock is None and not self.spec.by_arrival:
            rows = self.in_time(rows, self.spec.time, self.watermark)
        if rows.num_rows:
            self.waiting.append(self.spec.fresh(without_late(rows), self.clock))

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        watermark = self.store.valve.advance(messages)
        due = self._due(watermark)
        touched = [hashes_of(batch) for batch in self.waiting] + [due]
        buckets = np.unique(self.buckets.numbers(np.concatenate(touched))).tolist()
        if watermark is not None and watermark >= END_OF_INPUT:
            buckets = sorted({*buckets, *self.buckets.every()})
        if buckets:
            stored = [batch for batch in self.buckets.read(buckets) if batch.num_rows]
            batches, self.waiting = [*stored, *self.waiting], []
            if batches:
                yield from self._spans_over(joined(batches), stored, watermark)

    @property
    def output_watermark(self) -> int | None:
        spec, watermark = self.spec, self.watermark
        if spec.keep == LAST and not spec.retention and watermark != END_OF_INPUT:
            return None
        return delayed(watermark, spec.retention if spec.keep == LAST else 0)

    @property
    def newest_end(self) -> int | None:
        latest = self.final.latest() if self.spec.keep == FIRST and not self.spec.context.proctime else None
        return None if latest is None else latest + 1

    @property
    def due(self) -> int | None:
        return self.clean_up.earliest() if self.spec.context.proctime and self.spec.keep == LAST else None

    def _due(self, watermark: int | None) -> Ints:
        """The hashes of the keys whose timers fire."""
        if watermark is None or watermark == self.clean_up.now:
            return np.zeros(0, dtype=np.int64)
        fired = [queue.pop(watermark).column(0).to_numpy() for queue in (self.final, self.clean_up)]
        return np.concatenate(fired)

    def _spans_over(
        self, rows: pa.RecordBatch, stored: Sequence[pa.RecordBatch], watermark: int | None
    ) -> Iterator[Emit]:
        """Merge the spans of some buckets: those in state (`stored`, the first of the rows) and new ones. Emit what is
        due, forget what is over, and write the rest."""
        spans, kept = self.spec.spans(rows)
        is_new = kept >= sum(batch.num_rows for batch in stored)
        changed = is_new | _differ(spans, START, rows, kept) | _differ(spans, END, rows, kept)
        gone = np.zeros(len(kept), dtype=np.bool_)
        if watermark is not None or self.spec.by_arrival:
            out, gone = self._over(spans, NOTHING if watermark is None else watermark)
            if out.any():
                self.counts.rows_out += int(out.sum())
                emitted = spans.filter(pa.array(out))
                names = [*map(str, range(self.spec.columns))]
                yield Emit(pa.RecordBatch.from_arrays(emitted.columns[: self.spec.columns], names=names))
                spans = self._emptied(spans, out)
                changed |= out
        spans, lacking = self._timed(spans, watermark, gone)
        hashes = hashes_of(spans)[changed | gone | lacking]
        self.buckets.update(spans.filter(pa.array(~gone)), hashes, stored)
        self.buckets.make_room()

    def _over(self, spans: pa.RecordBatch, watermark: int) -> tuple[Mask, Mask]:
        """Which spans are emitted, and which are forgotten. At the end of the input all are forgotten."""
        ended = watermark >= END_OF_INPUT
        passed = _is_new(spans) if self.spec.by_arrival else (self.spec.due(spans) <= watermark) | ended
        if self.spec.keep == LAST:
            return passed, passed
        done = _flags(spans)
        out = passed & ~done
        over = np.zeros(len(out), dtype=np.bool_)
        if self.spec.retention:
            over = (_ints(spans, END) // 1000 + self.spec.quiet) <= watermark
        return out, over | ended

    def _emptied(self, spans: pa.RecordBatch, out: Mask) -> pa.RecordBatch:
        """The spans, with only keys and times left of those that were emitted."""
        if self.spec.keep == LAST or not out.any():
            return spans
        here = pa.array(np.arange(len(out)), mask=out)
        own = {DONE: _flags(spans) | out}
        if self.spec.by_arrival:
            own[START] = own[END] = np.where(out, OLD, _ints(spans, START))
        kept = {*map(str, self.spec.keys), HASH, START, END, TIMER}
        arrays = [
            column if name in kept else column.take(here)
            for name, column in zip(spans.schema.names, spans.columns, strict=True)
        ]
        return _with(pa.RecordBatch.from_arrays(arrays, names=spans.schema.names), own)

    def _timed(self, spans: pa.RecordBatch, watermark: int | None, gone: Mask) -> tuple[pa.RecordBatch, Mask]:
        """Set a timer for each span that needs one. Returns the spans, and which of them got a timer."""
        due, timer = self.spec.due(spans), _ints(spans, TIMER)
        lacking = due < timer
        if watermark is not None:
            lacking |= (timer <= watermark) & (due < NEVER)
        lacking &= ~gone
        if lacking.any():
            waiting = lacking & ~_flags(spans) if self.spec.keep == FIRST else np.zeros(len(due), dtype=np.bool_)
            for queue, own in ((self.final, waiting), (self.clean_up, lacking & ~waiting)):
                hashes = hashes_of(spans)[own]
                queue.register(queue.rows.batch([hashes], np.zeros(len(hashes), dtype=np.int64), due[own]))
            spans = _with(spans, {TIMER: np.where(lacking, due, timer)})
        return spans, lacking


def _ints(rows: pa.RecordBatch, name: str) -> Ints:
    values: Ints = rows.column(name).to_numpy()
    return values


def _differ(spans: pa.RecordBatch, name: str, rows: pa.RecordBatch, kept: Ints) -> Mask:
    """Which spans differ in a column from the row that they kept."""
    differs: Mask = _ints(spans, name) != _ints(rows, name)[kept]
    return differs


def _is_new(spans: pa.RecordBatch) -> Mask:
    made: Mask = ~_flags(spans)
    return made


def _flags(rows: pa.RecordBatch) -> Mask:
    values: Mask = rows.column(DONE).to_numpy(zero_copy_only=False)
    return values


def _with(rows: pa.RecordBatch, own: Mapping[str, Any]) -> pa.RecordBatch:
    """The rows with some columns replaced."""
    arrays = [
        pa.array(own[name]) if name in own else column
        for name, column in zip(rows.schema.names, rows.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=rows.schema.names)
