"""The physical streaming operators that keep rows by key."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from tvfsql.errors import IN_BATCH, UnsupportedError
from tvfsql.physical.interval_bounds import BOUNDED
from tvfsql.physical.operators import MARK_FIELDS, StreamOperator, TableSourceScan, endless_tables, own_fields
from tvfsql.physical.words import BY_WINDOW, origin
from tvfsql.plan.changelogs import ChangelogNormalize
from tvfsql.plan.gaps import GapFill, GridFill
from tvfsql.plan.joins import OF_LEFT, IntervalJoin, RegularJoin, TemporalJoin
from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.nodes import CurrentWatermark, TemporalSort
from tvfsql.plan.over import RANGE, OverPartials, rows_text
from tvfsql.plan.patterns import ALL, PatternMatch
from tvfsql.plan.rank import Deduplicate, TopN, orders_of
from tvfsql.plan.stream import ONE_INPUT, TWO_INPUTS, StreamContext
from tvfsql.plan.tables.internal_columns import MARKS, OP
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.values.times import duration
from tvfsql.plan.values.types import BIGINT, STRING


class RowOperator(StreamOperator):
    """Keeps rows by key, and emits them by event time or processing time. With `marks` in its context it also outputs
    MARKS.
    """

    @property
    def times(self) -> tuple[str, ...]:
        """The columns that operators above can use as the event time of its rows."""
        raise AssertionError(self.label())

    def kept_by(self, retention: int = 0) -> Iterator[tuple[str, str]]:
        """Details for EXPLAIN: its `retention` in ms, and how its watermarks come."""
        if retention:
            yield "retention", duration(retention)
        if self.context.on_event:
            yield "watermarks", "on-event"

    def emitted(self, schema: Schema, own: Collection[str]) -> Schema:
        """The columns `own` of a schema, and the operator's own MARKS."""
        return (*(part for part in schema if part.name in own), *self.own_marks)

    def refuse_other_time(self, time: Scalar) -> None:
        """Raise UnsupportedError if watermarks do not follow this time of its rows."""
        if time.column not in self.times:
            known = [origin(self, name) for name in self.times]
            if not known:
                raise UnsupportedError("rows of this outer join have no time attribute", hint=IN_BATCH)
            raise UnsupportedError(
                f"on streams the time column of a window over this input must be {' or '.join(known)}",
                hint=f"DESCRIPTOR({known[0]})",
            )


@dataclass(frozen=True)
class StreamCurrentWatermark(RowOperator, CurrentWatermark):
    """CurrentWatermark of a stream, over rows that have MARKS."""

    context: StreamContext = ONE_INPUT

    operator = "CurrentWatermark"

    @cached_property
    def schema(self) -> Schema:
        own = tuple(part for part in self.input.schema if part.name not in MARKS)  # LATE too, as no row is late here
        marks = MARK_FIELDS if self.context.marks else ()
        return (*own, Field(self.name, self.input.type_of(self.time)), *marks)

    @property
    def times(self) -> tuple[str, ...]:
        return (self.time,)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "time", self.time
        yield "as", self.name
        yield from self.kept_by()


@dataclass(frozen=True)
class StreamChangelogNormalize(RowOperator, ChangelogNormalize):
    """ChangelogNormalize of a stream, over rows that have MARKS. With `kinds` the column `sign` has the operation of
    each change itself.
    """

    context: StreamContext = ONE_INPUT
    kinds: bool = False

    operator = "ChangelogNormalize"

    @cached_property
    def schema(self) -> Schema:
        kept = (part for part in own_fields(self.input) if part.name not in (self.ends, *self.arrival))
        signs = (Field(self.sign, STRING if self.kinds else BIGINT),) if self.sign else ()
        return (*kept, *signs, *self.own_marks)

    @property
    def times(self) -> tuple[str, ...]:
        return (self.time,) if self.time else ()

    def refuse_other_time(self, time: Scalar) -> None:
        if not self.time:
            (table,) = (scan.source.name for scan in self.walk() if isinstance(scan, TableSourceScan))
            raise UnsupportedError(
                f"table {table} has no watermark, so windows over its changes never end",
                hint=f"WATERMARK FOR ts AS ts - INTERVAL '5' SECOND in CREATE TABLE {table}",
            )
        super().refuse_other_time(time)

    @property
    def unbounded(self) -> str | None:
        return f"the changes keep the last row of every value of {', '.join(self.key)}"


@dataclass(frozen=True)
class StreamKeepRow(RowOperator, Deduplicate):
    """Deduplicate of a stream, over rows that have MARKS.

    `retention` is the event time in ms after which a key without new rows is forgotten; 0: never.
    """

    context: StreamContext = ONE_INPUT
    retention: int = 0

    operator = "Deduplicate"

    @cached_property
    def schema(self) -> Schema:
        return (*own_fields(self.input), *self.own_marks)

    @property
    def times(self) -> tuple[str, ...]:
        return (self.time,)

    def refuse_other_time(self, time: Scalar) -> None:
        if self.context.proctime and self.order.descending and time.column not in self.times:
            raise UnsupportedError(
                "on streams the last row of a key by processing time is in no window by event time: each new row "
                "replaces it",
                hint="ORDER BY the processing time without DESC keeps the first row",
            )
        super().refuse_other_time(time)

    @property
    def unbounded(self) -> str | None:
        if self.retention:
            return None
        of = f" of {', '.join(self.partition)}" if self.partition else ""
        if self.event:
            return f"the first rows by processing time keep every value{of}"
        return f"deduplication keeps every value{of}; SET 'table.exec.state.ttl' = '1 d' drops idle ones"

    def details(self) -> Iterator[tuple[str, str]]:
        yield from super().details()
        yield from self.kept_by(self.retention)


@dataclass(frozen=True)
class StreamUpdatingTopN(RowOperator, TopN):
    """TopN over rows that have MARKS: OP has the operation. With `newest` the row that came last has rank 1. With
    `pairs` a row in place of another one is an update (-U, +U). A partition without rows for `retention` ms of
    processing time is forgotten; 0: never.
    """

    context: StreamContext = ONE_INPUT
    newest: bool = False
    pairs: bool = True
    retention: int = 0

    operator = "TopN"

    @cached_property
    def schema(self) -> Schema:
        return (*super().schema, Field(OP, STRING), *self.own_marks)

    @property
    def replaced_by(self) -> frozenset[str]:
        """The columns that a -U and its +U have in common; empty if there are no pairs."""
        if not self.pairs:
            return frozenset()
        if self.function == "ROW_NUMBER" and (self.name or self.first == self.last):
            return frozenset((*self.partition, *((self.name,) if self.name else ())))
        return frozenset(self.key or ())

    @property
    def times(self) -> tuple[str, ...]:
        return ()

    def refuse_other_time(self, time: Scalar) -> None:
        raise UnsupportedError(
            f"on streams a window cannot read {self.limit} without a window: its rows have no time attribute",
            hint=BY_WINDOW,
        )

    @property
    def unbounded(self) -> str | None:
        if self.retention or not (self.partition or self.retracts):
            return None
        kept = "all rows" if self.retracts else "rows"
        of = f" of every value of {', '.join(self.partition)}" if self.partition else ""
        hint = "; SET 'table.exec.state.ttl' = '1 d' drops those that had no new rows for so long" if of else ""
        return f"{self.limit} without a window keeps {kept}{of}{hint}"

    def details(self) -> Iterator[tuple[str, str]]:
        yield from super().details()
        yield from self.kept_by(self.retention)


@dataclass(frozen=True)
class StreamTemporalSort(RowOperator, TemporalSort):
    """TemporalSort over rows that have MARKS."""

    context: StreamContext = ONE_INPUT

    operator = "TemporalSort"

    @cached_property
    def schema(self) -> Schema:
        return (*own_fields(self.input), *self.own_marks)

    @property
    def times(self) -> tuple[str, ...]:
        return (self.time,)

    def details(self) -> Iterator[tuple[str, str]]:
        yield from orders_of(self.order, ())
        yield from self.kept_by()


@dataclass(frozen=True)
class StreamOverAggregate(RowOperator, OverPartials):
    """OverPartials of a stream, over rows that have MARKS. `retention` is the event time in ms after which a key
    without new rows is forgotten; 0: never.
    """

    context: StreamContext = ONE_INPUT
    retention: int = 0

    @cached_property
    def schema(self) -> Schema:
        return self.emitted(super().schema, {part.name for part in own_fields(self.input)})

    @property
    def times(self) -> tuple[str, ...]:
        return (self.time,)

    @property
    def unbounded(self) -> str | None:
        by_time = all(frame.unit == RANGE and frame.start is not None for frame, _ in self.frames)
        if self.retention or by_time:
            return None
        of = f" of {', '.join(self.partition)}" if self.partition else ""
        last = "its last row waits" if self.awaited == 1 else f"its last {self.awaited} rows wait"
        waiting = f", and {last} for rows that follow" if self.awaited else ""
        return f"OVER keeps rows of every value{of}{waiting}; SET 'table.exec.state.ttl' = '1 d' drops idle ones"

    def refuse_other_time(self, time: Scalar) -> None:
        endless = next(endless_tables(self), None)
        if self.awaited and not self.retention and endless:
            raise UnsupportedError(
                f"rows of this OVER wait for rows that follow, which may never come, because {endless} is unbounded: "
                "nothing above can use their time",
                span=self.span,
                hint="SET 'table.exec.state.ttl' = '1 h' ends the wait when a key has had no rows for an hour",
            )
        super().refuse_other_time(time)

    def details(self) -> Iterator[tuple[str, str]]:
        yield from super().details()
        if self.context.proctime:
            yield "order", "PROCTIME"
        waits = [*([duration(self.delay)] if self.delay else []), *([rows_text(self.awaited)] if self.awaited else [])]
        if waits:
            yield "waitsFor", ", ".join(waits)
        yield from self.kept_by(self.retention)


@dataclass(frozen=True)
class StreamGapFill(RowOperator, GapFill):
    """GapFill of a stream, over rows that have MARKS. `time` is the column with the last millisecond of a row's
    window. With a LINEAR column a window leaves later by the retention."""

    time: str
    context: StreamContext = ONE_INPUT

    operator = "GapFill"

    @cached_property
    def schema(self) -> Schema:
        known = {*self.partition, *(part.name for part in self.properties), *(name for name, _ in self.values)}
        return self.emitted(super().schema, known)

    @property
    def times(self) -> tuple[str, ...]:
        return self.named("time")

    def details(self) -> Iterator[tuple[str, str]]:
        yield from super().details()
        yield from self.kept_by()


@dataclass(frozen=True)
class StreamGridFill(RowOperator, GridFill):
    """GridFill of a stream, over rows that have MARKS. Its watermark is behind by what an added row may be before the
    row that it comes with."""

    context: StreamContext = ONE_INPUT

    operator = "GapFill"

    @cached_property
    def schema(self) -> Schema:
        return self.emitted(super().schema, {part.name for part in own_fields(self.input)})

    @property
    def times(self) -> tuple[str, ...]:
        return (self.time,)

    def details(self) -> Iterator[tuple[str, str]]:
        yield from super().details()
        yield from self.kept_by()


@dataclass(frozen=True)
class StreamMatch(RowOperator, PatternMatch):
    """PatternMatch of a stream, over rows that have MARKS. A match leaves when it is known that no earlier row begins
    one."""

    context: StreamContext = ONE_INPUT

    operator = "Match"

    @cached_property
    def schema(self) -> Schema:
        return (*super().schema, *self.own_marks)

    @property
    def times(self) -> tuple[str, ...]:
        """MATCH_ROWTIME()."""
        last = (ALL, self.time, False, 0)
        return tuple(
            part.name for part in self.navigations if (part.variable, part.column, part.first, part.offset) == last
        )

    def refuse_other_time(self, time: Scalar) -> None:
        if not self.times:
            raise UnsupportedError(
                "the time attribute of matches is MATCH_ROWTIME()", hint="MEASURES MATCH_ROWTIME() AS ts"
            )
        super().refuse_other_time(time)

    @property
    def unbounded(self) -> str | None:
        if self.pattern.within is not None or self.pattern.bounded:
            return None
        return f"rows that {self.pattern} may still match are kept; WITHIN INTERVAL '1' HOUR behind PATTERN bounds it"

    def details(self) -> Iterator[tuple[str, str]]:
        yield from super().details()
        yield from self.kept_by()


@dataclass(frozen=True)
class StreamIntervalJoin(RowOperator, IntervalJoin):
    """IntervalJoin of streams, over rows that have MARKS."""

    context: StreamContext = TWO_INPUTS

    operator = "IntervalJoin"

    @cached_property
    def schema(self) -> Schema:
        of_right = () if self.kind in OF_LEFT else own_fields(self.right)
        return (*own_fields(self.left), *of_right, *self.own_marks)

    @property
    def times(self) -> tuple[str, ...]:
        """The times of both sides, except of a side that can be NULL: its rows would be in no window."""
        of_left = (self.left_time,) if self.kind in ("inner", "left", *OF_LEFT) else ()
        return (*of_left, self.right_time) if self.kind in ("inner", "right") else of_left


@dataclass(frozen=True)
class StreamRegularJoin(RowOperator, RegularJoin):
    """RegularJoin of streams, over rows that have MARKS. If its rows can go again, OP has the operation."""

    context: StreamContext = TWO_INPUTS

    operator = "RegularJoin"

    @cached_property
    def schema(self) -> Schema:
        op = (Field(OP, STRING),) if self.updating else ()
        own = {part.name for side in (self.left, self.right) for part in own_fields(side)}
        return (*(part for part in self.shown if part.name in own), *op, *self.own_marks)

    @property
    def times(self) -> tuple[str, ...]:
        return ()

    def refuse_other_time(self, time: Scalar) -> None:
        raise UnsupportedError("the rows of a join without time bounds have no time attribute", hint=BOUNDED)


@dataclass(frozen=True)
class StreamTemporalJoin(RowOperator, TemporalJoin):
    """TemporalJoin of streams, over rows that have MARKS."""

    context: StreamContext = TWO_INPUTS

    operator = "TemporalJoin"

    @cached_property
    def schema(self) -> Schema:
        return (*own_fields(self.left), *own_fields(self.right), *self.own_marks)

    @property
    def versions(self) -> Schema:
        return own_fields(self.right)

    @property
    def times(self) -> tuple[str, ...]:
        return (self.left_time,)


def unbounded_state(plan: Node) -> tuple[str, ...]:
    """The operators of a plan whose state is unbounded, each with the reason and a hint."""
    found = (node.unbounded for node in plan.walk() if isinstance(node, StreamOperator))
    return tuple(f"state grows without bound: {reason}" for reason in found if reason)
