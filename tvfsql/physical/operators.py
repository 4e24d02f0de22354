"""The operators that only physical plans have: scans with their source, calculations, exchanges.

Joins, sorts and set operations are those of `plan.nodes`, lowered onto physical inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self, Unpack

from tvfsql.catalog import Table
from tvfsql.options.words import NullTimes
from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.nodes import Item, Sort, UpsertAggregate, shown_items
from tvfsql.plan.rank import WindowDeduplicate, WindowTopN
from tvfsql.plan.stream import StreamContext, StreamOptions
from tvfsql.plan.tables.internal_columns import ADDED, CHANNEL, CONTROL, LATE, MARKS, OP, ROW, WATERMARK, shown
from tvfsql.plan.values.scalar import Bound, Ref, Scalar, column, template
from tvfsql.plan.values.types import BIGINT, DATE, DOUBLE, STRING, TIMESTAMP, SqlType

MARK_FIELDS = tuple(map(Field, (WATERMARK, CONTROL, CHANNEL), (TIMESTAMP, BIGINT, STRING)))
ROW_FIELD = Field(ROW, DOUBLE)  # only if watermarks count from the next row on


def sign_of_op() -> Scalar:
    """1 for a change in OP that adds a row, -1 for one that removes it."""
    return template(f"CASE WHEN {{op}} IN {ADDED} THEN 1L ELSE -1L END", {"op": column(OP, STRING)}, BIGINT)


def own_fields(node: Node) -> Schema:
    """The columns of an operator's rows, without MARKS and LATE."""
    return tuple(part for part in node.schema if part.name not in (*MARKS, LATE))


@dataclass(frozen=True)
class TableSourceScan(Node):
    """The rows of a source; `fields` are the columns that are kept. A stream (`streaming`) also reads rows that arrive
    later.

    Instants that are read as TIMESTAMP get the wall-clock time of `zone`. For a changelog `sign` names the column that
    is 1 for an insert and -1 for a retraction. Unreadable rows go into the table `dead_letters`; None: they are errors.
    The rows of a stream follow those of the table `history` that meet `history_where`, which window aggregates read
    once (`physical.streams.history`). `versions` and `arrival` are those of `plan.nodes.Scan`. Times outside the years
    1 to 9999 are no errors in the column `drops_far`: what makes its watermarks drops them. In batch, the bounds of the
    first column of PARTITIONED BY say which `folders` are looked into. With `kinds` the column `sign` has the operation
    of each change itself.
    """

    source: Table
    fields: tuple[Field, ...]
    streaming: bool = False
    zone: str = "UTC"
    sign: str = ""
    dead_letters: Table | None = None
    history: Table | None = None
    versions: bool = False
    arrival: tuple[Field, ...] = ()
    drops_far: str = ""
    folders: tuple[Bound, ...] = ()
    kinds: bool = False
    history_where: tuple[Scalar, ...] = ()

    @property
    def is_changelog(self) -> bool:
        """Whether its rows are changes of a stream that no operator above has handled yet."""
        return self.streaming and not self.sign and self.source.reads_changes(streaming=True)

    @cached_property
    def schema(self) -> Schema:
        signs = (Field(self.sign, STRING if self.kinds else BIGINT),) if self.sign else ()
        return (*self.fields, *signs, *self.arrival)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "table", self.source.name
        yield "fields", ", ".join(shown(self.columns))
        order = self.source.connector.order if self.streaming and self.source.connector is not None else None
        if order is not None:
            yield "file order", " ".join(filter(None, (order.by, order.formatter)))
        if self.versions:
            yield "versions", "true"
        if self.dead_letters is not None:
            yield "dead letters", self.dead_letters.name
        if self.history is not None:
            yield "history", str(self.source.history)
        if self.history_where:
            yield "history where", " AND ".join(map(str, self.history_where))
        if self.folders:
            yield "folders", " AND ".join(f"{each.column} {each.sign} {each.end}" for each in self.folders)

    def below(self, conditions: Iterable[Scalar]) -> TableSourceScan:
        """The scan below these conditions, which go on to apply."""
        source, first = self.source.connector, self.source.partitioned_by[:1]
        if self.streaming or source is None or not first or not source.has_folders:
            return self
        bounds = [each for one in conditions if one.deterministic for each in one.bounds]
        in_order = (each for each in bounds if each.column in first and self.type_of(each.column) in (DATE, STRING))
        return replace(self, folders=tuple(in_order))


def endless_tables(node: Node) -> Iterator[str]:
    """Yield the unbounded tables below."""
    tables = (scan.source for scan in node.walk() if isinstance(scan, TableSourceScan) and scan.streaming)
    return (table.name for table in tables if table.connector is not None and table.connector.endless)


@dataclass(frozen=True)
class AppliedChanges(Node):
    """The rows that remain after all changes of `table`, as many copies as the sum of the column `sign`."""

    input: Node
    table: str
    sign: str

    @cached_property
    def schema(self) -> Schema:
        return tuple(part for part in self.input.schema if part.name != self.sign)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "select", ", ".join(shown(self.columns))


@dataclass(frozen=True)
class Calc(Node):
    """The rows that satisfy all conditions, projected to `items`; without items all columns stay."""

    input: Node
    items: tuple[Item, ...]
    conditions: tuple[Scalar, ...] = ()

    @cached_property
    def schema(self) -> Schema:
        if not self.items:
            return self.input.schema
        return tuple(Field(item.name, item.scalar.type) for item in self.items)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "select", ", ".join(shown_items(self.items) if self.items else shown(self.columns))
        if self.conditions:
            yield "where", " AND ".join(map(str, self.conditions))

    def where(self, conditions: Sequence[Scalar]) -> Calc:
        """The rows of this operator that also satisfy conditions over its columns."""
        moved = tuple(one.substitute({item.name: item.scalar for item in self.items}) for one in conditions)
        if all(one.deterministic for one in moved) or not self.items:
            return replace(self, conditions=(*self.conditions, *moved))
        return Calc(self, (), tuple(conditions))


def calc(source: Node, items: tuple[Item, ...]) -> Node:
    """A projection over an operator. It is merged into a Calc below it, unless an expression would be computed
    twice.
    """
    if not isinstance(source, Calc):
        return Calc(source, items)
    if not source.items:
        return Calc(source.input, items, source.conditions)
    computed = {item.name: item.scalar for item in source.items}
    read = [part.name for item in items for part in item.scalar.parts if isinstance(part, Ref)]
    cheap = all(read.count(name) <= 1 or len(scalar.parts) <= 2 for name, scalar in computed.items())
    if cheap and all(scalar.deterministic for scalar in computed.values()):
        melted = tuple(Item(item.name, typed(item.scalar.substitute(computed), item.scalar.type)) for item in items)
        return Calc(source.input, melted, source.conditions)
    return Calc(source, items)


def typed(scalar: Scalar, kind: SqlType) -> Scalar:
    """The expression with the type, if it is known."""
    return replace(scalar, type=kind or scalar.type)


@dataclass(frozen=True)
class ToChangelog(Node):
    """The changes of a stream as rows. Below it they have their operation in OP; the input has made a code of it."""

    input: Node
    op: str
    codes: tuple[tuple[str, Scalar], ...]

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema

    def details(self) -> Iterator[tuple[str, str]]:
        yield "op", self.op
        yield "codes", ", ".join(f"{kind}={code}" for kind, code in self.codes)


@dataclass(frozen=True)
class RowTimeCheck(Node):
    """Checks for rows whose time column is NULL. It fails, or drops and counts them (also with SKIP_WATERMARK, because
    no window contains them).
    """

    input: Node
    time: str
    nulls: NullTimes
    streaming: bool = field(default=False, repr=False)

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True)
class WatermarkAssigner(Node):
    """A stream's rows with the watermark that each carries, and its control rows; the columns are MARKS. `nulls` says
    what happens to rows whose `rowtime` is NULL; `table` is the table that errors name. With `on_event` a watermark
    counts from the next row on: ROW tells operators which rows are copies of one. Where the column `ends` is negative a
    row deletes another one, and may lack a time.
    """

    input: Node
    table: str
    rowtime: Scalar
    watermark: Scalar
    nulls: NullTimes = NullTimes.FAIL
    on_event: bool = False
    ends: str = ""

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, *MARK_FIELDS, *((ROW_FIELD,) if self.on_event else ()))

    def details(self) -> Iterator[tuple[str, str]]:
        yield "rowtime", str(self.rowtime)
        yield "watermark", str(self.watermark)
        if self.nulls is not NullTimes.FAIL:
            yield "nulls", str(self.nulls)
        if self.on_event:
            yield "watermarks", "on-event"


@dataclass(frozen=True)
class ProcessingTimeAssigner(Node):
    """A stream's rows and control rows for operators in processing time. The rows carry no watermark in MARKS."""

    input: Node
    table: str

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, *MARK_FIELDS)


@dataclass(frozen=True)
class StreamUnion(Node):
    """UNION ALL of streams that feed a window operator, each with MARKS. Columns correspond by position."""

    sides: tuple[Node, ...]

    operator = "Union"

    @cached_property
    def schema(self) -> Schema:
        return self.sides[0].schema

    def details(self) -> Iterator[tuple[str, str]]:
        yield "all", "true"
        yield "union", ", ".join(shown(self.columns))


class StreamOperator(Node):
    """A stateful operator of a stream; `context` has its settings."""

    context: StreamContext

    def told(self, **options: Unpack[StreamOptions]) -> Self:
        """Return the same operator with some settings of its context changed."""
        return replace(self, context=replace(self.context, **options))  # type: ignore[call-arg]

    @property
    def own_marks(self) -> Schema:
        """The columns of its own watermark, and of late rows; empty if it emits none."""
        return (*(MARK_FIELDS if self.context.marks else ()), *((Field(LATE),) if self.context.late else ()))

    @property
    def unbounded(self) -> str | None:
        """Why its state grows without bound, and a hint; None if it does not."""
        return None


@dataclass(frozen=True)
class Exchange(Node):
    """A shuffle by key; without keys, all rows go to one partition. `overlap`: that of the windows which a join reads
    (`physical.window_operators.overlap_of`), so that Spark does not take them for few.
    """

    input: Node
    keys: tuple[str, ...]
    overlap: int = 1

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema

    def details(self) -> Iterator[tuple[str, str]]:
        yield "distribution", f"hash[{', '.join(shown(self.keys))}]" if self.keys else "single"
        if self.overlap > 1:
            yield "overlap", str(self.overlap)


@dataclass(frozen=True)
class StreamTopN(WindowTopN):
    """WindowTopN of a stream, over the rows of one micro-batch."""

    operator = "WindowTopN"


@dataclass(frozen=True)
class StreamDeduplicate(WindowDeduplicate):
    """WindowDeduplicate of a stream, over the rows of one micro-batch."""

    operator = "WindowDeduplicate"


@dataclass(frozen=True)
class StreamSort(Sort):
    """Sort of a stream by the time of its windows: of the rows that one micro-batch brings."""

    operator = "Sort"


@dataclass(frozen=True)
class UpsertMaterialize(Node):
    """The changes of a micro-batch for a table that replaces rows by `keys`: of each key the row that comes, or that it
    goes if none comes. Its rows may have been in several tasks, whose changes have no order.
    """

    input: Node
    keys: tuple[str, ...]

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True)
class StreamUpsertAggregate(StreamOperator, UpsertAggregate):
    """UpsertAggregate of a stream: Spark's own aggregate, in update mode. It follows no time."""

    context: StreamContext

    operator = "UpsertAggregate"

    @property
    def unbounded(self) -> str:
        return (
            f"GROUP BY {', '.join(shown(self.keys))} without a window keeps every group; "
            "SET 'table.exec.state.ttl' = '1 d' forgets groups that had no rows for so long"
        )


@dataclass(frozen=True)
class LateOutput(Node):
    """The rows of a stream without its late rows, which go into tables. `every`: no source lacks such a table."""

    input: Node
    tables: tuple[Table, ...]
    every: bool = field(default=True, repr=False)

    @cached_property
    def schema(self) -> Schema:
        return own_fields(self.input)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "table", ", ".join(table.name for table in self.tables)
