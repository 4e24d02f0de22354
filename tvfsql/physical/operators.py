"""The physical operators that the logical plan does not have: scans with their source, calculations, exchanges.

Window operators, joins, sorts and set operations are those of `plan.nodes`: the lowering puts them over
inputs that are physical.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from tvfsql.catalog import Table
from tvfsql.options import KEY_GROUPS
from tvfsql.plan.aggregates import MergeKind
from tvfsql.plan.firing import Firing
from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.nodes import AggCall, Item
from tvfsql.plan.rank import WindowDeduplicate, WindowTopN
from tvfsql.plan.scalar import Scalar
from tvfsql.plan.window import Window
from tvfsql.plan.window_nodes import global_label, local_columns, local_labels, window_label

# Columns that a stream's rows have besides their own; no SQL name holds a $ at its start.
WATERMARK = "$watermark"
CONTROL = "$control"
CHANNEL = "$channel"
LATE = "$late"
OP = "$op"  # what a row does, where windows fire more than once
MARKS = (Field(WATERMARK, "timestamp_ntz"), Field(CONTROL, "bigint"), Field(CHANNEL, "string"))

# What the step before holds, where CUMULATE gives out only steps that differ from it; what a window gave out before,
# where windows fire more than once.
BEFORE = "before"


@dataclass(frozen=True)
class TableSourceScan(Node):
    """Rows of a source; `fields` are the columns that are kept. A stream has more than the rows that are there.

    Instants that are read as TIMESTAMP are on the wall clock of `zone`. Of a changelog `sign` is the column that
    says whether a row comes (1) or goes (-1).
    """

    source: Table
    fields: tuple[Field, ...]
    streaming: bool = False
    zone: str = "UTC"
    sign: str = ""

    @cached_property
    def schema(self) -> Schema:
        return (*self.fields, Field(self.sign, "bigint")) if self.sign else self.fields

    def details(self) -> Iterator[tuple[str, str]]:
        yield "table", self.source.name
        yield "fields", ", ".join(self.columns)


@dataclass(frozen=True)
class AppliedChanges(Node):
    """The rows that are left when all changes of `table` are made: those that came more often than they went, by the
    column `sign`."""

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
    """Rows that meet all conditions, then columns computed from them; no items: the columns stay."""

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


@dataclass(frozen=True)
class RowTimeCheck(Node):
    """What becomes of rows whose time column is NULL: `fail`, or leave them out and count them (`drop`, and
    `skip_watermark` too, as no window holds them)."""

    input: Node
    time: str
    nulls: str
    streaming: bool = field(default=False, repr=False)

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True)
class WatermarkAssigner(Node):
    """A stream's rows with the watermark that each brings, and control rows: MARKS are their columns. `nulls` says what
    becomes of rows whose `rowtime` is NULL: `fail`, `drop` or `skip_watermark`; `table` is whose rows they are."""

    input: Node
    table: str
    rowtime: Scalar
    watermark: Scalar
    nulls: str = "fail"

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, *MARKS)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "rowtime", self.rowtime.sql
        yield "watermark", self.watermark.sql
        if self.nulls != "fail":
            yield "nulls", self.nulls


@dataclass(frozen=True)
class ProcessingTimeAssigner(Node):
    """A stream's rows and control rows, for operators that go by processing time: rows bring no watermark, in MARKS."""

    input: Node
    table: str

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, *MARKS)


@dataclass(frozen=True)
class StreamUnion(Node):
    """UNION ALL of streams on their way to a window operator, MARKS in each; columns go by position."""

    sides: tuple[Node, ...]

    @cached_property
    def schema(self) -> Schema:
        return self.sides[0].schema

    def label(self) -> str:
        return f"Union(all=[true], union=[{', '.join(self.columns)}])"


@dataclass(frozen=True)
class RowSlices(Node):
    """LocalWindowAggregate in Python: partials of single rows merged per key and slice. Windows lie on the wall clock
    of `zone` if times are instants."""

    input: Node
    window: Window
    time: str
    keys: tuple[str, ...]
    merges: tuple[tuple[str, MergeKind], ...]
    zone: str = ""

    @cached_property
    def schema(self) -> Schema:
        of_keys = (Field(key, self.input.type_of(key)) for key in self.keys)
        return (*of_keys, *local_columns(self.window), *(Field(name) for name, _ in self.merges))

    def label(self) -> str:
        return "LocalWindowAggregate" + super().label().removeprefix(type(self).__name__)

    def details(self) -> Iterator[tuple[str, str]]:
        if self.keys:
            yield "groupBy", ", ".join(self.keys)
        yield "window", window_label(self.window, ("time_col", self.time), zone=self.zone, keys=self.keys)
        merged = (f"{kind}({name}) AS {name}" for name, kind in self.merges)
        yield "select", ", ".join((*self.keys, *merged, *local_labels(self.window)))


@dataclass(frozen=True)
class StreamSlices(RowSlices):
    """The same of a stream, key groups apart.

    Watermarks count from the next micro-batch on, or `on_event` from the next row. With `zone` they are instants."""

    on_event: bool = False
    key_groups: int = KEY_GROUPS
    late: bool = False  # with the source's rows, should they come too late
    proctime: bool = False  # the windows go by processing time

    def details(self) -> Iterator[tuple[str, str]]:
        yield from super().details()
        if self.on_event:
            yield "watermarks", "on-event"
        if self.key_groups != KEY_GROUPS:
            yield "key groups", str(self.key_groups)


@dataclass(frozen=True)
class Exchange(Node):
    """Rows brought together by key; no keys: all in one place."""

    input: Node
    keys: tuple[str, ...]

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema

    def details(self) -> Iterator[tuple[str, str]]:
        yield "distribution", f"hash[{', '.join(self.keys)}]" if self.keys else "single"


@dataclass(frozen=True)
class WindowExpand(Node):
    """A window function: each row once per window, which is the struct column `struct` of start and end."""

    input: Node
    window: Window
    time: str
    struct: str
    zone: str = ""
    partition: tuple[str, ...] = ()

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, Field(self.struct))

    def label(self) -> str:
        window = window_label(self.window, ("time_col", self.time), zone=self.zone, keys=self.partition)
        return f"WindowTableFunction(window=[{window}])"


@dataclass(frozen=True)
class GroupByWindow(Node):
    """An aggregate per key and window in one step; the window is the struct column `struct` of start and end."""

    input: Node
    window: Window
    time: str
    keys: tuple[str, ...]
    calls: tuple[AggCall, ...]
    struct: str
    zone: str = ""

    @cached_property
    def schema(self) -> Schema:
        keys = tuple(Field(key, self.input.type_of(key)) for key in self.keys)
        return (*keys, Field(self.struct), *(Field(call.name, call.type) for call in self.calls))

    def label(self) -> str:
        return "WindowAggregate" + super().label().removeprefix("GroupByWindow")

    def details(self) -> Iterator[tuple[str, str]]:
        if self.keys:
            yield "groupBy", ", ".join(self.keys)
        yield "window", window_label(self.window, ("time_col", self.time), zone=self.zone, keys=self.keys)
        ends = (f"start('w$) AS {self.struct}.start", f"end('w$) AS {self.struct}.end")
        yield "select", ", ".join((*self.keys, *map(str, self.calls), *ends))


@dataclass(frozen=True)
class StreamTopN(WindowTopN):
    """WindowTopN of a stream: of the rows that one micro-batch brings."""

    def label(self) -> str:
        return "WindowTopN" + super().label().removeprefix("StreamTopN")


@dataclass(frozen=True)
class StreamDeduplicate(WindowDeduplicate):
    """WindowDeduplicate of a stream: of the rows that one micro-batch brings."""

    def label(self) -> str:
        return "WindowDeduplicate" + super().label().removeprefix("StreamDeduplicate")


@dataclass(frozen=True)
class SliceMerge(Node):
    """Windows made from slices, or sessions from intervals; partials merged by their kinds.

    With emit_only_on_change `before` holds the partials of the step before. With `firing`, unless that purges, it holds
    in rows that come those of the row before, and in rows that go those of the next one; OP says which they are. On
    streams it hands its watermark on with `marks`, and with `late` the rows that came too late. With `zone` windows lie
    on its wall clock. `inputs` are what the names of its channels begin with: windows wait for each of them, but not by
    `proctime`."""

    input: Node
    window: Window
    keys: tuple[str, ...]
    merges: tuple[tuple[str, MergeKind], ...]
    rows: str
    streaming: bool = False
    marks: bool = False
    late: bool = False
    zone: str = ""
    inputs: tuple[str, ...] = ("",)
    firing: Firing | None = None
    proctime: bool = False

    @cached_property
    def schema(self) -> Schema:
        keys = tuple(Field(key, self.input.type_of(key)) for key in self.keys)
        ends = (Field("window_start", "timestamp_ntz"), Field("window_end", "timestamp_ntz"))
        before = (Field(BEFORE),) if self.window.emit_only_on_change or self.gives_changes else ()
        return (
            *keys,
            *ends,
            *(Field(name) for name, _ in self.merges),
            *before,
            *((Field(OP, "string"),) if self.gives_changes else ()),
            *(MARKS if self.marks else ()),
            *((Field(LATE),) if self.late else ()),
        )

    @property
    def gives_changes(self) -> bool:
        return self.firing is not None and not self.firing.purge

    def label(self) -> str:
        return "GlobalWindowAggregate" + super().label().removeprefix("SliceMerge")

    def details(self) -> Iterator[tuple[str, str]]:
        if self.keys:
            yield "groupBy", ", ".join(self.keys)
        yield "window", global_label(self.window, self.zone, self.keys)
        merged = (f"{kind}({name}) AS {name}" for name, kind in self.merges)
        ends = ("start('w$) AS window_start", "end('w$) AS window_end")
        yield "select", ", ".join((*self.keys, *merged, *ends))
        if self.firing is not None:
            yield "emit", self.firing.label
        if self.proctime:
            yield "time", "PROCTIME"


@dataclass(frozen=True)
class LateOutput(Node):
    """The rows of a stream, without those that came too late: these go into a table."""

    input: Node
    table: Table

    @cached_property
    def schema(self) -> Schema:
        return tuple(part for part in self.input.schema if part.name != LATE)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "table", self.table.name
