"""The operators that only physical plans have: scans with their source, calculations, exchanges.

Window operators, joins, sorts and set operations are those of `plan.nodes`, lowered onto physical inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self, Unpack

from tvfsql.catalog import Table
from tvfsql.options.words import NullTimes
from tvfsql.plan.aggregate.function import MergeKind
from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.nodes import AggCall, Item, Sort
from tvfsql.plan.rank import WindowDeduplicate, WindowTopN
from tvfsql.plan.stream import StreamContext, StreamOptions
from tvfsql.plan.tables.internal_columns import BEFORE, LATE, MARKS, OP
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.window import Window
from tvfsql.plan.window_nodes import global_label, local_columns, local_labels, window_label

MARK_FIELDS = tuple(map(Field, MARKS, ("timestamp_ntz", "bigint", "string")))


def own_fields(node: Node) -> Schema:
    """The columns of an operator's rows, without MARKS and LATE."""
    return tuple(part for part in node.schema if part not in MARK_FIELDS and part.name != LATE)


@dataclass(frozen=True)
class TableSourceScan(Node):
    """The rows of a source; `fields` are the columns that are kept. A stream (`streaming`) also reads rows that arrive
    later.

    Instants that are read as TIMESTAMP get the wall-clock time of `zone`. For a changelog `sign` names the column that
    is 1 for an insert and -1 for a retraction. Unreadable rows go into the table `dead_letters`; None: they are errors.
    The rows of a stream follow those of the table `history`, which window aggregates read once
    (`physical.streams.history`).
    """

    source: Table
    fields: tuple[Field, ...]
    streaming: bool = False
    zone: str = "UTC"
    sign: str = ""
    dead_letters: Table | None = None
    history: Table | None = None

    @cached_property
    def schema(self) -> Schema:
        return (*self.fields, Field(self.sign, "bigint")) if self.sign else self.fields

    def details(self) -> Iterator[tuple[str, str]]:
        yield "table", self.source.name
        yield "fields", ", ".join(self.columns)
        if self.dead_letters is not None:
            yield "dead letters", self.dead_letters.name
        if self.history is not None:
            yield "history", str(self.source.history)


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
        yield "select", ", ".join(self.columns)


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
        yield "select", ", ".join(map(str, self.items)) or ", ".join(self.columns)
        if self.conditions:
            yield "where", " AND ".join(map(str, self.conditions))

    def where(self, conditions: Sequence[Scalar]) -> Calc:
        """The rows of this operator that also satisfy conditions over its columns."""
        moved = tuple(one.substitute({item.name: item.scalar for item in self.items}) for one in conditions)
        if all(one.deterministic for one in moved) or not self.items:
            return replace(self, conditions=(*self.conditions, *moved))
        return Calc(self, (), tuple(conditions))


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
    what happens to rows whose `rowtime` is NULL; `table` is the table that errors name.
    """

    input: Node
    table: str
    rowtime: Scalar
    watermark: Scalar
    nulls: NullTimes = NullTimes.FAIL

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, *MARK_FIELDS)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "rowtime", self.rowtime.sql
        yield "watermark", self.watermark.sql
        if self.nulls is not NullTimes.FAIL:
            yield "nulls", str(self.nulls)


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
        yield "union", ", ".join(self.columns)


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


@dataclass(frozen=True)
class RowSlices(Node):
    """LocalWindowAggregate in Python: partials of single rows, merged per key and slice. If times are instants, windows
    follow the wall clock of `zone`.
    """

    input: Node
    window: Window
    time: str
    keys: tuple[str, ...]
    merges: tuple[tuple[str, MergeKind], ...]

    operator = "LocalWindowAggregate"

    @property
    def zone(self) -> str:
        raise AssertionError(type(self).__name__)

    @cached_property
    def schema(self) -> Schema:
        of_keys = (Field(key, self.input.type_of(key)) for key in self.keys)
        return (*of_keys, *local_columns(self.window), *(Field(name) for name, _ in self.merges))

    def details(self) -> Iterator[tuple[str, str]]:
        if self.keys:
            yield "groupBy", ", ".join(self.keys)
        yield "window", window_label(self.window, ("time_col", self.time), zone=self.zone, keys=self.keys)
        merged = (f"{kind}({name}) AS {name}" for name, kind in self.merges)
        yield "select", ", ".join((*self.keys, *merged, *local_labels(self.window)))


@dataclass(frozen=True)
class BatchSlices(RowSlices):
    """The slices of all rows."""

    zone: str = ""


@dataclass(frozen=True)
class StreamSlices(StreamOperator, RowSlices):
    """The slices of one micro-batch, separated by key group. With `late` in its context each slice carries the rows of
    the source. `counts` are the partials that are 0, not NULL, without rows; of these, a history that was read before a
    change of the query may lack `zeros`.
    """

    context: StreamContext
    counts: tuple[str, ...] = ()
    zeros: tuple[str, ...] = ()

    @property
    def zone(self) -> str:
        return self.context.zone

    def details(self) -> Iterator[tuple[str, str]]:
        yield from super().details()
        if self.context.on_event:
            yield "watermarks", "on-event"
        if self.context.key_groups is not None:
            yield "key groups", str(self.context.key_groups)


@dataclass(frozen=True)
class Exchange(Node):
    """A shuffle by key; without keys, all rows go to one partition."""

    input: Node
    keys: tuple[str, ...]

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema

    def details(self) -> Iterator[tuple[str, str]]:
        yield "distribution", f"hash[{', '.join(self.keys)}]" if self.keys else "single"


@dataclass(frozen=True)
class WindowExpand(Node):
    """A window function: each row once per window, with the window's start and end in the struct column `struct`."""

    input: Node
    window: Window
    time: str
    struct: str
    zone: str = ""
    partition: tuple[str, ...] = ()

    operator = "WindowTableFunction"

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, Field(self.struct))

    def details(self) -> Iterator[tuple[str, str]]:
        yield "window", window_label(self.window, ("time_col", self.time), zone=self.zone, keys=self.partition)


@dataclass(frozen=True)
class GroupByWindow(Node):
    """An aggregate per key and window in one phase; the struct column `struct` has the window's start and end."""

    input: Node
    window: Window
    time: str
    keys: tuple[str, ...]
    calls: tuple[AggCall, ...]
    struct: str
    zone: str = ""

    operator = "WindowAggregate"

    @cached_property
    def schema(self) -> Schema:
        keys = tuple(Field(key, self.input.type_of(key)) for key in self.keys)
        return (*keys, Field(self.struct), *(Field(call.name, call.type) for call in self.calls))

    def details(self) -> Iterator[tuple[str, str]]:
        if self.keys:
            yield "groupBy", ", ".join(self.keys)
        yield "window", window_label(self.window, ("time_col", self.time), zone=self.zone, keys=self.keys)
        ends = (f"start('w$) AS {self.struct}.start", f"end('w$) AS {self.struct}.end")
        yield "select", ", ".join((*self.keys, *map(str, self.calls), *ends))


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
class SliceMerge(Node):
    """Windows merged from slices, or sessions from intervals; partials are merged by their merge kinds.

    With emit_only_on_change the column BEFORE holds the partials of the previous step.
    """

    input: Node
    window: Window
    keys: tuple[str, ...]
    merges: tuple[tuple[str, MergeKind], ...]
    rows: str

    operator = "GlobalWindowAggregate"

    @property
    def zone(self) -> str:
        """The zone whose wall clock windows follow. In batch it is "": slices are in wall-clock time already."""
        return ""

    @cached_property
    def schema(self) -> Schema:
        keys = tuple(Field(key, self.input.type_of(key)) for key in self.keys)
        ends = (Field("window_start", "timestamp_ntz"), Field("window_end", "timestamp_ntz"))
        before = (Field(BEFORE),) if self.window.emit_only_on_change else ()
        return (*keys, *ends, *(Field(name) for name, _ in self.merges), *before)

    def details(self) -> Iterator[tuple[str, str]]:
        if self.keys:
            yield "groupBy", ", ".join(self.keys)
        yield "window", global_label(self.window, self.zone, self.keys)
        merged = (f"{kind}({name}) AS {name}" for name, kind in self.merges)
        ends = ("start('w$) AS window_start", "end('w$) AS window_end")
        yield "select", ", ".join((*self.keys, *merged, *ends))


@dataclass(frozen=True)
class StreamSliceMerge(StreamOperator, SliceMerge):
    """SliceMerge of a stream: each window fires when the watermark passes its end.

    If it emits changes, OP has the operation. BEFORE holds the partials of the previous row in an inserted row, and
    those of the next row in a retracted one. `zeros` are counts that some slices in state lack: there they are 0.
    """

    context: StreamContext
    zeros: tuple[str, ...] = ()

    @property
    def zone(self) -> str:
        return self.context.zone

    @cached_property
    def schema(self) -> Schema:
        changes = (Field(BEFORE), Field(OP, "string")) if self.context.emits_changes else ()
        return (*super().schema, *changes, *self.own_marks)

    def details(self) -> Iterator[tuple[str, str]]:
        yield from super().details()
        if self.context.firing is not None:
            yield "emit", self.context.firing.label
        if self.context.adjust:
            yield "late", "adjust"
        if self.context.proctime:
            yield "time", "PROCTIME"


@dataclass(frozen=True)
class LateOutput(Node):
    """The rows of a stream without its late rows, which go into tables."""

    input: Node
    tables: tuple[Table, ...]

    @cached_property
    def schema(self) -> Schema:
        return own_fields(self.input)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "table", ", ".join(table.name for table in self.tables)
