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

A slot is not written again before it is dropped: the key and the time of rows that have had a partner are appended
beside it, and rows that have been emitted alone are known by their time.
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

from tvfsql.plan.joins import KINDS, OF_LEFT, bound
from tvfsql.plan.stream import TWO_INPUTS, StreamContext, StreamOptions
from tvfsql.runtime.arrow.batches import changes_in, joined, key_codes, rows_of_piece, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.stream.exchange.rows_by_key import (
    HASH,
    late_type,
    side_of,
    without_late,
    zone_of,
)
from tvfsql.runtime.stream.operator.messages import Emit
from tvfsql.runtime.stream.operator.operator import apply_operator
from tvfsql.runtime.stream.operator.protocol import Operator
from tvfsql.runtime.stream.rows.joins.two_sides import LEFT, RIGHT, TwoSides, codes_of_sides
from tvfsql.runtime.stream.rows.row_key_group import RowKeyGroup, delayed
from tvfsql.runtime.stream.state.chunk_index import Key, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.state.timers import TimerServices
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.processing_time import goes_on

MET = "$met"  # whether a row has had a partner
SLOTS = 8  # about how many slots the bounds span
LEAST_SLOT = 10_000  # ms
PRESERVED = {"inner": (), "left": (LEFT,), "right": (RIGHT,), "full": (LEFT, RIGHT), "semi": (), "anti": (LEFT,)}


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
class IntervalJoin(Operator):
    """The parameters of an interval join. Pairs are (left, right). Columns are numbers. `between` is in microseconds,
    all other times are in ms."""

    columns: tuple[int, ...]
    keys: tuple[tuple[int, ...], ...]
    times: tuple[int, ...]
    between: tuple[int, int]
    kind: str
    null_safe: tuple[bool, ...]
    context: StreamContext = TWO_INPUTS
    least_slot: int = LEAST_SLOT
    has_timers = True

    def open(self, state: State, timers: TimerState | None, now: int) -> JoinedRows:
        assert timers is not None
        return JoinedRows(self, ChunkStore(state, joined, self.context.inputs), TimerServices(timers))

    @cached_property
    def preserved(self) -> tuple[int, ...]:
        """The sides whose rows are also emitted without a partner."""
        return PRESERVED[self.kind]

    @property
    def of_left(self) -> bool:
        """Whether it emits rows of the left side alone."""
        return self.kind in OF_LEFT

    @property
    def width(self) -> int:
        """The number of columns that it emits."""
        return self.columns[LEFT] if self.of_left else sum(self.columns)

    @cached_property
    def slot(self) -> int:
        """The width of a slot in ms."""
        low, high = self.between
        return max(self.least_slot, max(high - low, -low, high) // 1000 // SLOTS)

    @cached_property
    def after(self) -> tuple[int, int]:
        """How long after its own time a row of each side may still get a partner, in ms. Negative: only before its own
        time."""
        low, high = self.between
        return -(low // 1000), -(-high // 1000)

    @property
    def delay(self) -> int:
        """How long after its own time a row may be emitted, in ms."""
        return max(0, self.after[LEFT]) if self.of_left else max(0, *self.after)

    def micros(self, rows: pa.RecordBatch, side: int) -> Ints:
        """The times of rows in epoch microseconds."""
        times: Ints = rows.column(self.times[side]).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        return times

    def partners(self, side: int) -> tuple[int, int]:
        """The bounds of the times of a row's partners, relative to its own time, in microseconds."""
        low, high = self.between
        return (-high, -low) if side == LEFT else (low, high)

    def identity(self, side: int) -> list[str]:
        """The columns that decide which partners a row of a side has: its key and its time."""
        return [str(i) for i in dict.fromkeys([*self.keys[side], self.times[side]])]

    def bare(self, rows: pa.RecordBatch, side: int) -> pa.RecordBatch:
        """Rows in state without what their partners do not depend on."""
        kept = {*self.identity(side), MET}
        columns = [
            column if name in kept else pa.nulls(rows.num_rows, column.type)
            for name, column in zip(rows.schema.names, rows.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, names=rows.schema.names)

    def codes(self, left: pa.RecordBatch, right: pa.RecordBatch) -> tuple[Ints, Ints]:
        """The numbers of `codes_of_sides` for the rows of both sides."""
        own = ([left.column(i) for i in self.keys[LEFT]], [right.column(i) for i in self.keys[RIGHT]])
        return codes_of_sides(*own, self.null_safe, (left.num_rows, right.num_rows))

    def pairs(self, left: pa.RecordBatch, right: pa.RecordBatch) -> Iterator[tuple[Ints, Ints]]:
        """The positions of the rows of all pairs, on the left side and on the right side, in pieces of bounded size."""
        if not left.num_rows or not right.num_rows:
            return
        order, starts, stops = self._partners_of(left, right)
        counts = np.maximum(stops - starts, 0)
        ends = np.cumsum(counts)
        shift, total, most = starts - (ends - counts), int(ends[-1]), rows_of_piece([left, right])
        for start in range(0, total, most):
            numbers = np.arange(start, min(start + most, total))
            of_left = np.searchsorted(ends, numbers, side="right")
            yield of_left, order[shift[of_left] + numbers]

    def partnered(self, left: pa.RecordBatch, right: pa.RecordBatch) -> Mask:
        """Which rows of the left side have a partner on the right side."""
        if not left.num_rows or not right.num_rows:
            return np.zeros(left.num_rows, dtype=np.bool_)
        _, starts, stops = self._partners_of(left, right)
        found: Mask = stops > starts
        return found

    def _partners_of(self, left: pa.RecordBatch, right: pa.RecordBatch) -> tuple[Ints, Ints, Ints]:
        """The rows of the right side in order of key and time, and where in it the partners of each row of the left
        side start and stop."""
        mine, others = self.codes(left, right)
        at, times = self.micros(left, LEFT), self.micros(right, RIGHT)
        low, high = self.partners(LEFT)
        # times become ranks, so that a key and a time fit into one number
        different = np.unique(times)
        size = len(different) + 1
        lifted = others * size + np.searchsorted(different, times)
        order = sort_order([lifted])
        found = lifted[order]
        starts = np.searchsorted(found, mine * size + np.searchsorted(different, at + low, side="left"))
        stops = np.searchsorted(found, mine * size + np.searchsorted(different, at + high, side="right"))
        return order, starts, stops


class JoinedRows(RowKeyGroup):
    """The rows of both sides in one key group.

    Each slot has a timer. It is set for the time when all its rows are over, or on a preserved side, when the first row
    without a partner is. A timer that fires earlier is set again.
    """

    def __init__(self, spec: IntervalJoin, store: ChunkStore, services: TimerServices) -> None:
        super().__init__(spec.context, store, services)
        self.spec = spec
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
                self.fresh[side].append(_with_met(rows, np.zeros(rows.num_rows, dtype=np.bool_)))

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
        met = [np.zeros(0 if rows is None else rows.num_rows, dtype=np.bool_) for rows in fresh]
        for side in (LEFT, RIGHT):
            rows, other = fresh[side], 1 - side
            if rows is None:
                continue
            for number in self._slots_near(rows, side):
                slot = _slot(other, number)
                stored = joined(self.store.read(slot))
                partners = np.zeros(stored.num_rows, dtype=np.bool_)
                for mine, theirs in self._paired(rows, stored, side):
                    met[side][mine], partners[theirs] = True, True
                    yield self._pairs(rows, mine, stored, theirs, side)
                self._note_met(slot, stored, partners)
        if left is not None and right is not None:
            for mine, theirs in self.spec.pairs(left, right):
                met[LEFT][mine], met[RIGHT][theirs] = True, True
                yield self._pairs(left, mine, right, theirs, LEFT)
        for side, rows in enumerate(fresh):
            if rows is not None:
                self._keep(_with_met(rows, met[side]), side)

    def _match_left(self, left: pa.RecordBatch | None, right: pa.RecordBatch | None) -> Iterator[Emit]:
        """Find partners of the left side's rows, new ones and those in state. A semi-join emits each row with its first
        partner."""
        semi = self.spec.kind == "semi"
        if left is not None:
            near = [joined(self.store.read(_slot(RIGHT, number))) for number in self._slots_near(left, LEFT)]
            met = np.zeros(left.num_rows, dtype=np.bool_)
            for rows in (*near, *([] if right is None else [right])):
                met |= self.spec.partnered(left, rows)
            if semi and met.any():
                yield self._of_left(left.filter(pa.array(met)))
        if right is not None:
            for number in self._slots_near(right, RIGHT):
                slot = _slot(LEFT, number)
                stored = joined(self.store.read(slot))
                first = self._note_met(slot, stored, self.spec.partnered(stored, right))
                if semi and first.any():
                    yield self._of_left(stored.filter(pa.array(first)))
            self._keep(right, RIGHT)
        if left is not None and not met.all():
            self._keep(left.filter(pa.array(~met)), LEFT)

    def _paired(self, rows: pa.RecordBatch, stored: pa.RecordBatch, side: int) -> Iterator[tuple[Ints, Ints]]:
        """The positions of the new rows and of the stored rows that form pairs, in pieces."""
        if side == LEFT:
            yield from self.spec.pairs(rows, stored)
        else:
            yield from ((mine, theirs) for theirs, mine in self.spec.pairs(stored, rows))

    def _slots_near(self, rows: pa.RecordBatch, side: int) -> list[int]:
        """The slots of the other side that can contain partners."""
        times, slot = self.spec.micros(rows, side), self.spec.slot * 1000
        low, high = self.spec.partners(side)
        first, last = (int(times.min()) + low) // slot, (int(times.max()) + high) // slot
        slots = (key.number for key in self.store.keys(Kind.JOIN_SLOT) if key.level == 1 - side)
        return sorted(number for number in slots if first <= number <= last)

    def _note_met(self, slot: Key, stored: pa.RecordBatch, partners: Mask) -> Mask:
        """Remember which rows in state have had a partner, on sides where that decides what is emitted. Returns those
        that had none before."""
        if not (slot.level in self.spec.preserved or self.spec.of_left) or not partners.any():
            return np.zeros(stored.num_rows, dtype=np.bool_)
        fresh: Mask = partners & ~self._met_in(slot, stored)
        if fresh.any():
            self.store.append(_met_of(slot), self.spec.bare(stored.filter(pa.array(fresh)), slot.level))
        return fresh

    def _met_in(self, slot: Key, stored: pa.RecordBatch) -> Mask:
        """Which rows of a slot have had a partner: when they came, or since. Those of one key and time have the same
        partners."""
        noted = self.store.read(_met_of(slot))
        if not noted:
            return _met(stored)
        every = joined([each.select(self.spec.identity(slot.level)) for each in (stored, *noted)])
        codes = key_codes(every.columns, every.num_rows)
        since: Mask = np.isin(codes[: stored.num_rows], codes[stored.num_rows :])
        return _met(stored) | since

    def _keep(self, rows: pa.RecordBatch, side: int) -> None:
        """Put new rows into their slots. Rows that need no partner any more stay there until the clean-up."""
        times = self.spec.micros(rows, side) // 1000
        numbers = times // self.spec.slot
        order = sort_order([numbers])
        numbers, times, rows = numbers[order], times[order], rows.take(pa.array(order))
        heads = np.flatnonzero(changes_in(numbers))
        stops = np.append(heads[1:], len(numbers))
        for start, stop in zip(heads.tolist(), stops.tolist(), strict=True):
            part = rows.slice(start, stop - start)
            self.store.append(_slot(side, int(numbers[start])), part)
            self._set_timer(side, int(numbers[start]), part, _met(part))

    # ---- clean-up

    def _set_timer(self, side: int, number: int, rows: pa.RecordBatch, met: Mask) -> None:
        over = self._over(rows, side)
        lone = over[~met] if side in self.spec.preserved else over[:0]
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
            slot = _slot(side, number)
            if slot not in self.store:
                continue
            if side not in self.spec.preserved:  # its only timer is that of its last row
                self._drop(slot)
                continue
            rows = joined(self.store.read(slot))
            met, times = self._met_in(slot, rows), self._over(rows, side)
            over: Mask = times <= watermark
            stays = self._is_known_by_time(side)
            given = times <= before if stays and before is not None else np.zeros(rows.num_rows, dtype=np.bool_)
            lone = rows.filter(pa.array(over & ~met & ~given))
            if lone.num_rows:
                yield from self._alone(lone, side)
            if over.all():
                self._drop(slot)
                continue
            left = pa.array(~over)
            if over.any() and not stays:
                self.store.replace(slot, rows.filter(left))
            self._set_timer(side, number, rows.filter(left), met[~over])

    def _drop(self, slot: Key) -> None:
        self.store.drop(slot)
        if (noted := _met_of(slot)) in self.store:
            self.store.drop(noted)

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


def _slot(side: int, number: int) -> Key:
    return Key(Kind.JOIN_SLOT, number, level=side)


def _met_of(slot: Key) -> Key:
    return Key(Kind.JOIN_MET, slot.number, level=slot.level)


def _met(rows: pa.RecordBatch) -> Mask:
    values: Mask = rows.column(MET).to_numpy(zero_copy_only=False)
    return values


def _with_met(rows: pa.RecordBatch, met: Mask) -> pa.RecordBatch:
    own = [name for name in rows.schema.names if name not in (HASH, MET)]
    arrays = [*(rows.column(name) for name in own), pa.array(met)]
    return pa.RecordBatch.from_arrays(arrays, names=[*own, MET])
