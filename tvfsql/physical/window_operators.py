"""The physical operators of windows: rows as slices, windows from slices, and rows with their windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tvfsql.physical.operators import StreamOperator
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.function import MergeKind
from tvfsql.plan.joins import WindowJoin
from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.nodes import Join
from tvfsql.plan.stream import StreamContext
from tvfsql.plan.tables.internal_columns import BEFORE, OP, WINDOW_NAME, is_internal, shown
from tvfsql.plan.values.scalar import Scalar, template
from tvfsql.plan.values.times import duration
from tvfsql.plan.values.types import STRING, TIMESTAMP, TIMESTAMP_LTZ
from tvfsql.plan.window import MANY_COPIES, Endless, Several, Window
from tvfsql.plan.window_nodes import AggregateByWindow, global_label, local_columns, local_labels, window_label


@dataclass(frozen=True)
class RowSlices(AggregateByWindow):
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
            yield "groupBy", ", ".join(shown(self.keys))
        yield from self.placed
        merged = (f"{kind}({name}) AS {name}" for name, kind in self.merges)
        yield "select", ", ".join((*shown(self.keys), *merged, *local_labels(self.window)))

    @property
    def window_label(self) -> str:
        return window_label(self.window, ("time_col", self.time), zone=self.zone, keys=self.keys)


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
        if self.context.by_input:
            yield "late", "by input"
        if self.context.key_groups is not None:
            yield "key groups", str(self.context.key_groups)


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
            yield "groupBy", ", ".join(shown(self.keys))
        yield "window", window_label(self.window, ("time_col", self.time), zone=self.zone, keys=self.keys)
        if self.window.copies > 1:
            yield "copies", str(self.window.copies)
        ends = (f"start('w$) AS {self.struct}.start", f"end('w$) AS {self.struct}.end")
        yield "select", ", ".join((*shown(self.keys), *map(str, self.calls), *ends))


@dataclass(frozen=True)
class SliceMerge(AggregateByWindow):
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
        bounds = (Field("window_start", TIMESTAMP), Field("window_end", TIMESTAMP))
        ends = () if isinstance(self.window, Endless) else bounds
        before = (Field(BEFORE),) if self.window.emit_only_on_change else ()
        names = (Field(WINDOW_NAME, STRING),) if isinstance(self.window, Several) else ()
        return (*keys, *names, *ends, *(Field(name) for name, _ in self.merges), *before)

    def details(self) -> Iterator[tuple[str, str]]:
        if self.keys:
            yield "groupBy", ", ".join(shown(self.keys))
        yield from self.placed
        merged = (f"{kind}({name}) AS {name}" for name, kind in self.merges)
        ends = () if isinstance(self.window, Endless) else ("start('w$) AS window_start", "end('w$) AS window_end")
        yield "select", ", ".join((*shown(self.keys), *merged, *ends))
        if isinstance(self.window, Several) and len(self.window.windows) > 1:
            yield "slices", f"{duration(self.window.slice_size)}, read once for {len(self.window.windows)} windows"
        if type(self) is SliceMerge and self.window.copies >= MANY_COPIES:
            yield "overlap", str(self.window.copies)

    @property
    def window_label(self) -> str:
        return global_label(self.window, self.zone, self.keys)


@dataclass(frozen=True)
class StreamSliceMerge(StreamOperator, SliceMerge):
    """SliceMerge of a stream: each window fires when the watermark passes its end.

    If it emits changes, OP has the operation. BEFORE holds the partials of the previous row in an inserted row, and
    those of the next row in a retracted one. `zeros` are counts that some slices in state lack: there they are 0. A
    group of an endless window is forgotten when it had no rows for `retention` ms of processing time; 0: never.
    """

    context: StreamContext
    zeros: tuple[str, ...] = ()
    retention: int = 0

    @property
    def zone(self) -> str:
        return self.context.zone

    @cached_property
    def schema(self) -> Schema:
        changes = (Field(BEFORE), Field(OP, STRING)) if self.context.emits_changes else ()
        return (*super().schema, *changes, *self.own_marks)

    def details(self) -> Iterator[tuple[str, str]]:
        yield from super().details()
        if isinstance(self.window, Endless):
            if self.retention:
                yield "retention", duration(self.retention)
            return
        if self.context.firing is not None:
            yield "emit", self.context.firing.label
        if self.context.adjust:
            yield "late", "adjust"
        if self.context.by_input:
            yield "late", "by input"
        if self.context.proctime:
            yield "time", "PROCTIME"

    @property
    def unbounded(self) -> str | None:
        keys = [key for key in self.keys if not is_internal(key)]
        if not isinstance(self.window, Endless) or self.retention or not keys:
            return None
        return (
            f"GROUP BY {', '.join(keys)} without a window keeps every group; "
            "SET 'table.exec.state.ttl' = '1 d' forgets groups that had no rows for so long"
        )


def overlap_of(node: Node) -> int:
    """The largest number of windows that a row below is in, where Spark does not count them: it takes the windows of an
    operator in Python for as large as the slices. What it makes of a join, the product of both sides, is no less than
    the windows.
    """
    if isinstance(node, Join | WindowJoin) and node.kind not in ("semi", "anti"):
        return 1
    below = max(map(overlap_of, node.children[:1] if isinstance(node, Join | WindowJoin) else node.children), default=1)
    return below * node.window.copies if isinstance(node, SliceMerge | WindowExpand) else below


def window_time(window_end: Scalar, zone: str) -> Scalar:
    """The last millisecond of a window; an instant if windows follow the wall clock of a zone."""
    last = template("{end} - INTERVAL '0.001' SECOND", {"end": window_end}, TIMESTAMP, atomic=False)
    if not zone:
        return last
    parts = ", ".join(f"{unit}({{t}})" for unit in ("year", "month", "day", "hour", "minute"))
    # from its fields and the zone's name, so that Spark's session zone has no influence
    return template(f"make_timestamp({parts}, extract(SECOND FROM {{t}}), '{zone}')", {"t": last}, TIMESTAMP_LTZ)
