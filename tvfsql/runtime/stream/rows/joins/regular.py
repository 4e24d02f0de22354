"""Regular join of two streams: all rows of both sides so far, by equal keys. A micro-batch emits what it changes.

A row is kept for a retention after its arrival, in processing time. It is joined with the rows that come meanwhile, and
then forgotten without a change. Source: semantics.md#joins-without-time-bounds.

For example, a left join of orders with customers:

    arrives               is emitted
    order 1 of ann        +I order 1, NULL
    ann lives in Rome     -D order 1, NULL; +I order 1, Rome
    order 2 of ann        +I order 2, Rome
    ann is deleted        -D order 1, Rome; -D order 2, Rome; +I order 1, NULL; +I order 2, NULL

The state has the rows of each side in buckets of the hash of their key, so a micro-batch reads those of its keys. Rows
of a side that is preserved have the number of their partners: whether they have been emitted alone. A partner that is
forgotten still counts, since what was emitted with it stays. A semi-join (EXISTS) emits rows of the left side that have
partners, an anti-join (NOT EXISTS) those that have none. If nothing can take these back, they leave the state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Unpack

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.joins import KINDS, OF_LEFT, is_updating
from tvfsql.plan.stream import TWO_INPUTS, StreamContext, StreamOptions
from tvfsql.plan.tables.internal_columns import OP
from tvfsql.plan.values.times import duration
from tvfsql.runtime.arrow.batches import joined, key_codes, rows_of_piece
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.stream.exchange.rows_by_key import HASH, late_type, side_of, without_late
from tvfsql.runtime.stream.operator.messages import Emit
from tvfsql.runtime.stream.operator.operator import apply_operator
from tvfsql.runtime.stream.operator.protocol import KeyGroup, Operator
from tvfsql.runtime.stream.rows.joins.two_sides import (
    LEFT,
    PRESERVED,
    RIGHT,
    Partners,
    TwoSides,
    codes_of_sides,
)
from tvfsql.runtime.stream.state.chunk_index import BUCKETS
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.hash_buckets import BUCKET_ROWS, HashBuckets, among, hashes_of
from tvfsql.runtime.stream.state.idle_keys import UNTIL, ExpiredRows, kept_until
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.processing_time import passed

PARTNERS = "$partners"  # of rows in state: the number of their partners so far
KEPT, GONE, NEW = 0, 1, 2  # rows in state that stay, and that go; rows that come


def regular_join_stream(
    left: DataFrame,
    right: DataFrame,
    *,
    on: Sequence[tuple[str, str]],
    times: tuple[str, str],
    retention: tuple[int, int],
    kind: str = "inner",
    signs: tuple[str | None, str | None] = (None, None),
    null_safe: Sequence[str] = (),
    name: str = "tvfsql_joined",
    **options: Unpack[StreamOptions],
) -> DataFrame:
    """Exchange and RegularJoin: the changes of the rows of two sides with equal columns `on`.

    In: on each side any columns, and those of `with_processing_time`; no other name may be on both sides. `times` name
    the columns with the processing time of a row, `signs` those that are 1 in a row that comes and -1 in one that goes;
    None: rows only come. `on` lists pairs of columns of one type; NULL equals NULL if the left one is in `null_safe`.
    `kind` is inner, left, right, full, semi or anti. Rows are kept for `retention` ms of processing time.
    Out: the columns of both sides, of semi and anti those of the left one, without `times` and `signs`. If rows can go
    again (`is_updating`), also `$op`: +I or -D. With `marks` the operator adds its own watermark columns.
    """
    options.setdefault("inputs", TWO_INPUTS.inputs)
    context = StreamContext(**options)
    behind = tuple([each for each in (sign, time) if each is not None] for sign, time in zip(signs, times, strict=True))
    sides = TwoSides((left, right), on, times, behind)
    operator = RegularJoin(
        sides.widths,
        sides.key_positions,
        tuple(pair[0] in null_safe for pair in on),
        kind,
        (signs[LEFT] is not None, signs[RIGHT] is not None),
        retention,
        context,
    )
    kept = dict.fromkeys(map(duration, retention))
    description = Description(
        "RegularJoin",
        tuple(f"{a} = {b}" for a, b in on),
        about=f"joinType=[{KINDS[kind]}], retention=[{', '.join(kept)}]",
        inputs=tuple(context.inputs),
    )
    fields = sides.schema.fields[: operator.width]
    fields += [T.StructField(OP, T.StringType())] if operator.updates else []
    late = late_type(left, context)
    return apply_operator(sides.exchanged(context), operator, description, T.StructType(fields), name=name, late=late)


@dataclass(frozen=True)
class RegularJoin(Operator):
    """The join of rows with so many `columns` on each side, and `keys` by number. Behind the columns comes the sign of
    sides that are `signed`. `retention` is in ms."""

    columns: tuple[int, ...]
    keys: tuple[tuple[int, ...], ...]
    null_safe: tuple[bool, ...]
    kind: str
    signed: tuple[bool, bool]
    retention: tuple[int, int]
    context: StreamContext = TWO_INPUTS
    bucket_rows: int = BUCKET_ROWS

    def open(self, state: State, timers: TimerState | None, now: int) -> JoinedSides:
        return JoinedSides(self, ChunkStore(state, joined, self.context.inputs), now)

    def watermark_at(self, now: int) -> int:
        return passed(now)

    @property
    def of_left(self) -> bool:
        """Whether it emits rows of the left side alone."""
        return self.kind in OF_LEFT

    @property
    def width(self) -> int:
        """The number of columns that it emits, without the operation."""
        return self.columns[LEFT] if self.of_left else sum(self.columns)

    @property
    def updates(self) -> bool:
        """Whether rows that have been emitted can go again."""
        return is_updating(self.kind, any(self.signed))

    def is_preserved(self, side: int) -> bool:
        """Whether rows without a partner are emitted."""
        return side in PRESERVED[self.kind]

    def is_counted(self, side: int) -> bool:
        """Whether what is emitted depends on the number of partners of a row."""
        return self.is_preserved(side) or (self.of_left and side == LEFT)

    @cached_property
    def forgets_met(self) -> bool:
        """Whether rows of the left side that have a partner are emitted, or not, for good."""
        return self.of_left and not self.signed[RIGHT] and (self.kind == "anti" or not self.signed[LEFT])

    def keeps_one(self, side: int) -> bool:
        """Whether one of several equal rows is enough: the last one."""
        return self.of_left and side == RIGHT and not self.signed[RIGHT]

    def has_key(self, rows: pa.RecordBatch, side: int) -> Mask:
        """Which rows can have a partner: no column that NULL never equals is NULL."""
        found = np.ones(rows.num_rows, dtype=np.bool_)
        for place, safe in zip(self.keys[side], self.null_safe, strict=True):
            if not safe and rows.column(place).null_count:
                found &= rows.column(place).is_valid().to_numpy(zero_copy_only=False)
        return found

    def codes(self, sides: Sequence[Touched | None]) -> list[Ints]:
        """The numbers of `codes_of_sides` for the rows of both sides; all rows of one side alone have the same."""
        left, right = sides
        if left is None or right is None:
            return [np.full(0 if one is None else one.rows.num_rows, -1 - i) for i, one in enumerate(sides)]
        own = [[one.rows.column(i) for i in keys] for one, keys in zip((left, right), self.keys, strict=True)]
        return [*codes_of_sides(own[LEFT], own[RIGHT], self.null_safe, (left.rows.num_rows, right.rows.num_rows))]


class Touched(NamedTuple):
    """The rows of a side that a micro-batch touches: `part` says which are KEPT, GONE and NEW. Of those that are kept
    some are `renewed`: they went and came again. `stored` are those that were in state, as they were there."""

    rows: pa.RecordBatch
    part: Ints
    renewed: Mask
    stored: list[pa.RecordBatch]

    def of(self, *parts: int) -> Mask:
        """Which rows are in these parts."""
        return np.isin(self.part, parts)

    @property
    def before(self) -> Ints:
        """The number of partners that each row has had so far."""
        counts: Ints = self.rows.column(PARTNERS).to_numpy()
        return counts


class JoinedSides(KeyGroup):
    """The rows of both sides in one key group. `now` is the processing time of the micro-batch in epoch ms."""

    def __init__(self, spec: RegularJoin, store: ChunkStore, now: int) -> None:
        super().__init__(spec.context, store)
        self.spec, self.now = spec, now
        self.buckets = [HashBuckets(store, spec.bucket_rows, kind=kind) for kind in BUCKETS]
        self.idle = [
            ExpiredRows(buckets, kept, now, side)
            for side, (buckets, kept) in enumerate(zip(self.buckets, spec.retention, strict=True))
        ]
        self.waiting: tuple[list[pa.RecordBatch], list[pa.RecordBatch]] = ([], [])

    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        for payload in payloads:
            side = LEFT if side_of(payload) == "1/" else RIGHT
            self.counts.rows_in += payload.num_rows
            rows = without_late(payload)
            if not self.spec.is_preserved(side):
                rows = rows.filter(pa.array(self.spec.has_key(rows, side)))
            if rows.num_rows:
                self.waiting[side].append(rows)

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        self.store.valve.advance(messages)
        yield from ()

    def finish(self) -> Iterator[Emit]:
        fresh = [joined(batches) if batches else None for batches in self.waiting]
        if any(rows is not None for rows in fresh):
            sides = [self._touched(fresh, side) for side in (LEFT, RIGHT)]
            yield from self._joined(sides)
        for idle in self.idle:
            idle.forget()

    @property
    def newest_end(self) -> int | None:
        return None

    # ---- the rows of a side

    def _touched(self, fresh: Sequence[pa.RecordBatch | None], side: int) -> Touched | None:
        own, other = fresh[side], fresh[1 - side]
        by_own = self.spec.signed[side] or self.spec.keeps_one(side)
        read = [hashes_of(rows) for rows in (other, own if by_own else None) if rows is not None]
        stored = self.buckets[side].of(np.concatenate(read)) if read else []
        names = [*map(str, range(self.spec.columns[side])), HASH]
        expired = [self.idle[side].among(rows) for rows in stored]
        known = [rows.filter(pa.array(~gone)) for rows, gone in zip(stored, expired, strict=True)]
        came = [self._of_state(own.select(names), side)] if own is not None else []
        if not known and not came:
            return None
        rows, older = joined([*known, *came]), sum(part.num_rows for part in known)
        part, renewed = np.where(np.arange(rows.num_rows) < older, KEPT, NEW), np.zeros(rows.num_rows, dtype=np.bool_)
        if own is not None and self.spec.signed[side]:
            forgotten = [rows.filter(pa.array(gone)) for rows, gone in zip(stored, expired, strict=True)]
            signs = own.column(self.spec.columns[side]).to_numpy()
            part, renewed = self._net(joined([rows, *forgotten]), older, signs, side)
        counts = part >= 0
        if not counts.any() and not any(gone.any() for gone in expired):
            return None
        return Touched(rows.filter(pa.array(counts)), part[counts], renewed[counts], stored)

    def _of_state(self, rows: pa.RecordBatch, side: int) -> pa.RecordBatch:
        """New rows with the columns of state."""
        made = kept_until(rows, self.now + self.spec.retention[side])
        none = pa.array(np.zeros(rows.num_rows, dtype=np.int64))
        return made.append_column(PARTNERS, none) if self.spec.is_counted(side) else made

    def _net(self, rows: pa.RecordBatch, older: int, signs: Ints, side: int) -> tuple[Ints, Mask]:
        """The part of each row that counts: first the `older` ones of state, then new ones with these signs; behind
        them in `rows` are those that have expired. -1: a new row that another one takes away, or that takes one away.
        And which rows of state went and came again.

        Changes of a row may come in any order. One that goes takes away one that has expired, or else the oldest one;
        what takes away a row that is not there counts for nothing.
        """
        codes = np.unique(key_codes(rows.columns[: self.spec.columns[side]], rows.num_rows), return_inverse=True)[1]
        of_state, fresh, expired = np.split(codes, [older, older + len(signs)])
        came, left, before, forgotten = (
            np.bincount(of_part, minlength=int(codes.max()) + 1)
            for of_part in (fresh[signs > 0], fresh[signs < 0], of_state, expired)
        )
        left = np.maximum(left - forgotten, 0)
        net = np.maximum(before + came - left, 0) - before
        nth = _nth(of_state)
        part = np.full(older + len(signs), -1)
        part[:older] = np.where(nth < -net[of_state], GONE, KEPT)
        part[older:][signs > 0] = np.where(_nth(fresh[signs > 0]) < net[fresh[signs > 0]], NEW, -1)
        renewed = np.zeros(len(part), dtype=np.bool_)
        renewed[:older] = (part[:older] == KEPT) & (nth < np.minimum(came, left)[of_state])
        return part, renewed

    def _keep(self, side: int, found: Touched, partners: Ints) -> None:
        """Put what has changed into state."""
        spec, buckets = self.spec, self.buckets[side]
        stays, hashes = found.of(KEPT, NEW), hashes_of(found.rows)
        changed = found.of(GONE) | found.renewed
        if spec.is_counted(side):
            changed |= found.of(KEPT) & (partners != found.before)
        if spec.keeps_one(side):
            stays &= _is_last(found.rows, spec.columns[side], stays)
            changed |= found.of(NEW)
        if spec.forgets_met and side == LEFT:
            stays &= partners == 0
        if not spec.signed[side]:
            stays &= spec.has_key(found.rows, side)
        until = found.rows.column(UNTIL).to_numpy()
        until = np.where(found.renewed, self.now + spec.retention[side], until)
        rows = _with_values(found.rows, UNTIL, until)
        rows = _with_values(rows, PARTNERS, partners) if spec.is_counted(side) else rows
        anew = np.unique(np.concatenate([hashes[changed], self._expired(side, found.stored)]))
        is_anew = among(hashes, anew)
        if len(anew):
            before = [each.filter(pa.array(among(hashes_of(each), anew))) for each in found.stored]
            buckets.put(rows.filter(pa.array(stays & is_anew)), [each for each in before if each.num_rows])
        fresh = stays & ~is_anew & found.of(NEW)
        if fresh.any():
            buckets.add(rows.filter(pa.array(fresh)))

    def _expired(self, side: int, stored: Sequence[pa.RecordBatch]) -> Ints:
        """The hashes of rows that have expired, where they must go because a change may have taken them away."""
        idle = self.idle[side]
        found = [hashes_of(rows)[idle.among(rows)] for rows in stored] if self.spec.signed[side] else []
        return np.concatenate([np.zeros(0, dtype=np.int64), *found])

    # ---- what is emitted

    def _joined(self, sides: Sequence[Touched | None]) -> Iterator[Emit]:
        """Emit what goes, then what comes, and keep both sides."""
        spec, codes = self.spec, self.spec.codes(sides)
        partners = [self._partners(sides, codes, side) for side in (LEFT, RIGHT)]
        if not spec.of_left:
            yield from self._pairs("-D", sides, codes, (GONE,), (KEPT, GONE))
            yield from self._pairs("-D", sides, codes, (KEPT,), (GONE,))
        yield from self._alone("-D", sides, partners)
        if not spec.of_left:
            yield from self._pairs("+I", sides, codes, (NEW,), (KEPT, NEW))
            yield from self._pairs("+I", sides, codes, (KEPT,), (NEW,))
        yield from self._alone("+I", sides, partners)
        for side, found in enumerate(sides):
            if found is not None:
                self._keep(side, found, partners[side])

    def _partners(self, sides: Sequence[Touched | None], codes: Sequence[Ints], side: int) -> Ints:
        """The number of partners of each row of a side that is counted."""
        own, other = sides[side], sides[1 - side]
        if own is None or not self.spec.is_counted(side):
            return np.zeros(0 if own is None else own.rows.num_rows, dtype=np.int64)
        counts = own.before.copy()
        if other is not None:
            of_part = [Partners.of(codes[1 - side], other.of(part)).counts(codes[side]) for part in (KEPT, GONE, NEW)]
            counts += np.where(own.of(NEW), of_part[KEPT] + of_part[NEW], of_part[NEW] - of_part[GONE])
        return counts

    def _pairs(
        self,
        op: str,
        sides: Sequence[Touched | None],
        codes: Sequence[Ints],
        of_left: tuple[int, ...],
        of_right: tuple[int, ...],
    ) -> Iterator[Emit]:
        left, right = sides
        if left is None or right is None:
            return
        mine = np.flatnonzero(left.of(*of_left))
        most = rows_of_piece([left.rows, right.rows])
        for first, second in Partners.of(codes[RIGHT], right.of(*of_right)).pairs(codes[LEFT][mine], most):
            yield self._emit(op, left.rows.take(pa.array(mine[first])), right.rows.take(pa.array(second)))

    def _alone(self, op: str, sides: Sequence[Touched | None], partners: Sequence[Ints]) -> Iterator[Emit]:
        """Rows that are emitted by the number of their partners: of preserved sides, and of semi- and anti-joins."""
        for side, found in enumerate(sides):
            if found is None or not self.spec.is_counted(side):
                continue
            by_met = self.spec.kind == "semi"
            before = ((found.before > 0) == by_met) & found.of(KEPT, GONE)
            after = ((partners[side] > 0) == by_met) & found.of(KEPT, NEW)
            chosen = before & ~after if op == "-D" else after & ~before
            if chosen.any():
                rows = found.rows.filter(pa.array(chosen))
                yield self._emit(op, rows if side == LEFT else None, rows if side == RIGHT else None)

    def _emit(self, op: str, left: pa.RecordBatch | None, right: pa.RecordBatch | None) -> Emit:
        rows = left if left is not None else right
        assert rows is not None
        self.counts.rows_out += rows.num_rows
        columns = []
        for of_side, width in zip((left, right), self.spec.columns, strict=True):
            columns += [pa.nulls(rows.num_rows)] * width if of_side is None else of_side.columns[:width]
        columns = columns[: self.spec.width]
        columns += [pa.repeat(pa.scalar(op), rows.num_rows)] if self.spec.updates else []
        return Emit(pa.RecordBatch.from_arrays(columns, names=[*map(str, range(len(columns)))]))


def _with_values(rows: pa.RecordBatch, name: str, values: Ints) -> pa.RecordBatch:
    return rows.set_column(rows.schema.get_field_index(name), name, pa.array(values))


def _nth(codes: Ints) -> Ints:
    """The place of each number among those that are equal to it."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    at = np.arange(len(codes))
    heads = np.append(True, ordered[1:] != ordered[:-1])[: len(codes)]
    found = np.zeros(len(codes), dtype=np.int64)
    found[order] = at - np.maximum.accumulate(np.where(heads, at, 0)) if len(codes) else at
    return found


def _is_last(rows: pa.RecordBatch, columns: int, chosen: Mask) -> Mask:
    """Which of the chosen rows are the last of those that are equal to them in the first columns."""
    codes = key_codes(rows.columns[:columns], rows.num_rows)
    at = np.flatnonzero(chosen)[::-1]
    _, first = np.unique(codes[at], return_index=True)
    found = np.zeros(rows.num_rows, dtype=np.bool_)
    found[at[first]] = True
    return found
