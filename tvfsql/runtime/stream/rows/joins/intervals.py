"""Interval join of two streams: pairs of rows with equal keys, whose times differ by a value within bounds.

A row is kept until no partner can come any more: until the watermark, the smaller one of both sides, passes its time
plus its bound. In state, the rows of each side are in slots of time, and the clean-up timer of a slot drops them. An
outer join emits rows without a partner then. Source: semantics.md#timers.

For example, `o.t BETWEEN s.t - 40 ms AND s.t` as a left join of orders o with shipments s: `between` is (-40_000, 0)
microseconds, for the left time minus the right one. An order at 100 has partners from 100 to 140, and a shipment at 120
has partners from 80 to 120. So an order may get a partner up to 40 ms after its own time, a shipment 0 ms: `after` is
(40, 0).

    arrives        watermark  is emitted
    order at 100          90
    shipment at 120       90  the pair: the order was in state
    order at 60           90  (late: dropped and counted)
    order at 130         125
                         129  (slot 12 of the shipments is dropped: new orders are later than 129)
                         170  the order at 130 alone: the watermark has passed 130 + 40

With slots of 10 ms, the orders are in slots 10 and 13 of the left side, and the shipment is in slot 12 of the right
side. The timer of slot 12 is set for 129: all its rows are over then, so dropping the slot loses no pair. Orders
without a partner are emitted, so the timer of slot 13 is set for 170, when the first such order is over. The timer of
slot 10 was set for 140 when its order came. It finds that the order has had a partner, and drops it without emitting
anything. Rows are emitted up to 40 ms after their time, so the output watermark is 40 ms before the operator's own.

A semi-join (EXISTS) emits a row of the left side with its first partner, an anti-join (NOT EXISTS) when none can come
any more. The state keeps only rows of the left side that have no partner yet.

Rows that have been emitted alone are known by their time, since a slot is not written again (`slots.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Unpack

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.joins import KINDS, bound
from tvfsql.plan.stream import TWO_INPUTS, StreamContext, StreamOptions
from tvfsql.runtime.arrow.batches import joined
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.stream.exchange.rows_by_key import (
    late_type,
    side_of,
    without_late,
    zone_of,
)
from tvfsql.runtime.stream.operator.messages import Emit
from tvfsql.runtime.stream.operator.operator import apply_operator
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.rows.joins.pairing import Pairing
from tvfsql.runtime.stream.rows.joins.slots import JoinSlots, met, slot_of, with_met
from tvfsql.runtime.stream.rows.joins.two_sides import LEFT, RIGHT, TwoSides
from tvfsql.runtime.stream.rows.row_key_group import RowKeyGroup, delayed
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.state.timers import TimerServices
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.processing_time import goes_on

SLOTS = 8  # about how many slots the bounds span
LEAST_SLOT = 10_000  # ms


def interval_join_stream(
    left: DataFrame,
    right: DataFrame,
    *,
    on: Sequence[tuple[str, str]],
    times: tuple[str, str],
    between: tuple[int, int],
    kind: str = "inner",
    null_safe: Sequence[str] = (),
    name: str = "tvfsql_joined",
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """Exchange and IntervalJoin: pairs of rows with equal columns `on`, whose times differ by a value in `between`.

    `between` is for the left time minus the right one, in microseconds, bounds included.
    In: on each side any columns, and the watermark columns of `with_watermarks`. No other name may be on both sides.
    `on` lists pairs of columns of one type; NULL equals NULL if the left one is in `null_safe`. `kind` is inner, left,
    right, full, semi or anti.
    Out: the columns of both sides, without the watermark columns; with `marks` the operator adds its own. A pair is
    emitted in the micro-batch of its later row. A row without a partner is emitted when none can come any more, with
    NULL in the other side's columns. Of semi and anti: the columns of the left side, once for each of its rows that has
    a partner, with the first one, or that has none.
    Rows at or before the current watermark, the smaller one of both sides, are late: they are dropped and counted,
    those of the right side also as numLateRecordsDroppedRight. `inputs` are the prefixes of the sides' channels
    (`Valve`). With `proctime` the watermark is the time of the micro-batch, and no row is late.
    """
    options.setdefault("inputs", TWO_INPUTS.inputs)
    context = StreamContext(**options)
    sides = TwoSides((left, right), on, times)
    operator = IntervalJoin(
        sides.widths,
        sides.key_positions,
        sides.time_positions,
        between,
        kind,
        tuple(pair[0] in null_safe for pair in on),
        context,
    )
    description = Description(
        "IntervalJoin",
        tuple(f"{a} = {b}" for a, b in on),
        about=f"joinType=[{KINDS[kind]}], leftLowerBound=[{bound(between[0])}], leftUpperBound=[{bound(between[1])}]",
        zone=zone_of(left, times[LEFT]),
        inputs=tuple(context.inputs),
    )
    late, schema = late_type(left, context), T.StructType(sides.schema.fields[: operator.width])
    return apply_operator(sides.exchanged(context), operator, description, schema, name=name, late=late)


@dataclass(frozen=True)
class IntervalJoin(Pairing, Operator):
    """The operator: its state has slots of at least `least_slot` ms."""

    context: StreamContext = TWO_INPUTS
    least_slot: int = LEAST_SLOT
    has_timers = True

    def open(self, state: State, timers: TimerState | None, now: int) -> JoinedRows:
        assert timers is not None
        return JoinedRows(self, ChunkStore(state, joined, self.context.inputs), TimerServices(timers))

    @property
    def width(self) -> int:
        """The number of columns that it emits."""
        return self.columns[LEFT] if self.of_left else sum(self.columns)

    @cached_property
    def slot(self) -> int:
        """The width of a slot in ms."""
        low, high = self.between
        return max(self.least_slot, max(high - low, -low, high) // 1000 // SLOTS)

    @property
    def delay(self) -> int:
        """How long after its own time a row may be emitted, in ms."""
        return max(0, self.after[LEFT]) if self.of_left else max(0, *self.after)


class JoinedRows(RowKeyGroup):
    """The rows of both sides in one key group.

    Each slot has a timer. It is set for the time when all its rows are over, or on a preserved side, when the first row
    without a partner is. A timer that fires earlier is set again.
    """

    def __init__(self, spec: IntervalJoin, store: ChunkStore, services: TimerServices) -> None:
        super().__init__(spec.context, store, services)
        self.spec, self.slots = spec, JoinSlots(spec, store, spec.slot)
        self.timers = services.get("interval join", [pa.int8()]).queue(spec.context.proctime)
        self.fresh: tuple[list[pa.RecordBatch], list[pa.RecordBatch]] = ([], [])

    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        watermark = self.watermark
        if self.context.proctime and goes_on(watermark) is not None:
            watermark = None  # it judges no row
        for rows in payloads:
            side = LEFT if side_of(rows) == "1/" else RIGHT
            self.counts.rows_in += rows.num_rows
            if watermark is not None:
                before = self.counts.late
                rows = self.in_time(rows, self.spec.times[side], watermark)
                self.counts.late_right += self.counts.late - before if side == RIGHT else 0
            rows = without_late(rows)
            if rows.num_rows:
                self.fresh[side].append(with_met(rows, np.zeros(rows.num_rows, dtype=np.bool_)))

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        before, watermark = self.watermark, self.store.valve.advance(messages)
        if self.fresh[LEFT] or self.fresh[RIGHT]:
            yield from self._match()
        if watermark is not None and watermark != before:
            yield from self._clean_up(watermark, before)

    @property
    def output_watermark(self) -> int | None:
        return delayed(self.watermark, self.spec.delay)

    @property
    def newest_end(self) -> int | None:
        return None

    @property
    def due(self) -> int | None:
        return self.timers.earliest() if self.context.proctime and self.spec.preserved else None

    # ---- pairs

    def _match(self) -> Iterator[Emit]:
        """Pair new rows with those in state, and with each other."""
        left, right = fresh = [joined(batches) if batches else None for batches in self.fresh]
        self.fresh = ([], [])
        if self.spec.of_left:
            yield from self._match_left(left, right)
            return
        had = [np.zeros(0 if rows is None else rows.num_rows, dtype=np.bool_) for rows in fresh]
        for side in (LEFT, RIGHT):
            rows = fresh[side]
            if rows is None:
                continue
            for slot in self.slots.near(rows, side):
                stored = self.slots.rows(slot)
                partners = np.zeros(stored.num_rows, dtype=np.bool_)
                for mine, theirs in self._paired(rows, stored, side):
                    had[side][mine], partners[theirs] = True, True
                    yield self._pairs(rows, mine, stored, theirs, side)
                self.slots.note_met(slot, stored, partners)
        if left is not None and right is not None:
            for mine, theirs in self.spec.pairs(left, right):
                had[LEFT][mine], had[RIGHT][theirs] = True, True
                yield self._pairs(left, mine, right, theirs, LEFT)
        for side, rows in enumerate(fresh):
            if rows is not None:
                self._keep(with_met(rows, had[side]), side)

    def _match_left(self, left: pa.RecordBatch | None, right: pa.RecordBatch | None) -> Iterator[Emit]:
        """Find partners of the left side's rows, new ones and those in state. A semi-join emits each row with its first
        partner."""
        semi = self.spec.kind == "semi"
        if left is not None:
            near = map(self.slots.rows, self.slots.near(left, LEFT))
            had = np.zeros(left.num_rows, dtype=np.bool_)
            for rows in (*near, *([] if right is None else [right])):
                had |= self.spec.partnered(left, rows)
            if semi and had.any():
                yield self._of_left(left.filter(pa.array(had)))
        if right is not None:
            for slot in self.slots.near(right, RIGHT):
                stored = self.slots.rows(slot)
                first = self.slots.note_met(slot, stored, self.spec.partnered(stored, right))
                if semi and first.any():
                    yield self._of_left(stored.filter(pa.array(first)))
            self._keep(right, RIGHT)
        if left is not None and not had.all():
            self._keep(left.filter(pa.array(~had)), LEFT)

    def _paired(self, rows: pa.RecordBatch, stored: pa.RecordBatch, side: int) -> Iterator[tuple[Ints, Ints]]:
        """The positions of the new rows and of the stored rows that form pairs, in pieces."""
        if side == LEFT:
            yield from self.spec.pairs(rows, stored)
        else:
            yield from ((mine, theirs) for theirs, mine in self.spec.pairs(stored, rows))

    def _keep(self, rows: pa.RecordBatch, side: int) -> None:
        """Keep new rows. Those that need no partner any more stay until the clean-up."""
        for number, part in self.slots.add(rows, side):
            self._set_timer(side, number, part, met(part))

    # ---- clean-up

    def _set_timer(self, side: int, number: int, rows: pa.RecordBatch, had_partner: Mask) -> None:
        over = self._over(rows, side)
        lone = over[~had_partner] if side in self.spec.preserved else over[:0]
        last = (number + 1) * self.spec.slot - 1 + self.spec.after[side]
        time = int(lone.min()) if len(lone) else last
        self.timers.register(self.timers.rows.batch([[side]], [number], [time]))

    def _over(self, rows: pa.RecordBatch, side: int) -> Ints:
        """When no partner of each row can come any more (epoch ms)."""
        times: Ints = self.spec.micros(rows, side) // 1000 + self.spec.after[side]
        return times

    def _clean_up(self, watermark: int, before: int | None) -> Iterator[Emit]:
        """Drop slots that are over. On a preserved side, rows that are over since the watermark `before` and have had
        no partner are emitted."""
        due = self.timers.pop(watermark)
        sides, numbers = due.column(0).to_pylist(), due.column(1).to_pylist()
        for side, number in sorted({*zip(sides, numbers, strict=True)}):
            slot = slot_of(side, number)
            if slot not in self.slots:
                continue
            if side not in self.spec.preserved:  # its only timer is that of its last row
                self.slots.drop(slot)
                continue
            rows = self.slots.rows(slot)
            had, times = self.slots.met_in(slot, rows), self._over(rows, side)
            over: Mask = times <= watermark
            stays = self._is_known_by_time(side)
            given = times <= before if stays and before is not None else np.zeros(rows.num_rows, dtype=np.bool_)
            lone = rows.filter(pa.array(over & ~had & ~given))
            if lone.num_rows:
                yield from self._alone(lone, side)
            if over.all():
                self.slots.drop(slot)
                continue
            left = pa.array(~over)
            if over.any() and not stays:
                self.store.replace(slot, rows.filter(left))
            self._set_timer(side, number, rows.filter(left), had[~over])

    def _is_known_by_time(self, side: int) -> bool:
        """Whether each row comes before it is over. Then those that were over by an earlier watermark have been
        emitted, and may stay until their slot is dropped."""
        return not self.context.proctime and self.spec.after[side] >= 0

    # ---- what is emitted

    def _pairs(self, rows: pa.RecordBatch, mine: Ints, others: pa.RecordBatch, theirs: Ints, side: int) -> Emit:
        taken = {side: rows.take(pa.array(mine)), 1 - side: others.take(pa.array(theirs))}
        self.counts.rows_out += len(mine)
        return self._wide({of: batch.columns[: self.spec.columns[of]] for of, batch in taken.items()})

    def _of_left(self, rows: pa.RecordBatch) -> Emit:
        self.counts.rows_out += rows.num_rows
        return self._wide({LEFT: rows.columns[: self.spec.columns[LEFT]], RIGHT: []})

    def _alone(self, rows: pa.RecordBatch, side: int) -> Iterator[Emit]:
        if self.spec.of_left:
            yield self._of_left(rows)
            return
        self.counts.rows_out += rows.num_rows
        nothing = [pa.nulls(rows.num_rows)] * self.spec.columns[1 - side]
        yield self._wide({side: rows.columns[: self.spec.columns[side]], 1 - side: nothing})

    def _wide(self, columns: Mapping[int, Sequence[pa.Array]]) -> Emit:
        every = [*columns[LEFT], *columns[RIGHT]]
        return Emit(pa.RecordBatch.from_arrays(every, names=[*map(str, range(len(every)))]))
