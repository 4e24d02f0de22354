"""The logical window operators: window functions and window aggregates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from tvfsql.errors import Span
from tvfsql.plan.aggregate.columns import AggCall, PartialColumn
from tvfsql.plan.aggregate.function import MergeKind, made_of_rows
from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.nodes import Item
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.tables.internal_columns import INTERVAL_LAST, INTERVAL_START, RANGE, SLICE_END, WINDOW_COLUMNS, shown
from tvfsql.plan.values.scalar import Bound
from tvfsql.plan.values.times import duration
from tvfsql.plan.values.types import BIGINT, TIMESTAMP, SqlType
from tvfsql.plan.window import Cumulate, Endless, Hop, Session, Tumble, Window, time_ranges


@dataclass(frozen=True)
class Fill:
    """That windows without rows are wanted: those of a key up to `retention` ms after its last window with rows; None:
    those between two windows with rows."""

    retention: int | None
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return "between windows" if self.retention is None else duration(self.retention)


@dataclass(frozen=True)
class WindowTableFunction(Node):
    """Each row once per window that contains it, with window_start, window_end and window_time.

    If the time column is an instant (TIMESTAMP_LTZ), windows follow the wall clock of `zone`. Rows that differ in a
    column of `partition` do not share a SESSION. `bounded` are the bounds of windows by which its input has been
    filtered. `fill`: an aggregate by its windows also has those without rows (`plan.gaps`), until the binder has made
    that aggregate.
    """

    input: Node
    window: Window
    time: str
    zone: str = ""
    partition: tuple[str, ...] = ()
    bounded: tuple[Bound, ...] = field(default=(), compare=False)
    fill: Fill | None = None

    @cached_property
    def schema(self) -> Schema:
        start, end, time = WINDOW_COLUMNS
        kind = self.input.type_of(self.time)
        added = (Field(start, TIMESTAMP), Field(end, TIMESTAMP), Field(time, kind))
        return (*self.input.schema, *added)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "window", window_label(self.window, ("time_col", self.time), zone=self.zone, keys=self.partition)


@dataclass(frozen=True)
class WindowProperty:
    """A column that holds the `start`, `end` or `time` (the end minus 1 ms) of a row's window, or the `name` of one of
    several."""

    name: str
    kind: str
    type: SqlType = TIMESTAMP

    def label(self, proctime: bool) -> str:
        """The property as EXPLAIN prints it. `proctime`: the windows are over processing time."""
        function = self.kind if self.kind != "time" else "proctime" if proctime else "rowtime"
        return f"{function}('w$) AS {self.name}"


NO_START = ""  # in place of the column with a window's start, if only the ends of windows count


@dataclass(frozen=True)
class AttachedWindow:
    """A window that rows already carry: the columns that hold its start, or NO_START, and its end."""

    window: Window
    start: str
    end: str
    zone: str = ""

    def without(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns without its start and its end."""
        return tuple(name for name in columns if name not in (self.start, self.end))

    def __str__(self) -> str:
        columns = (("win_start", self.start), ("win_end", self.end))
        return window_label(self.window, *(part for part in columns if part[1]), zone=self.zone)


class AggregateByWindow(Node):
    """A phase of an aggregate by `window`. With an endless one it is the aggregate of a GROUP BY without windows."""

    window: Window

    @property
    def title(self) -> str:
        usual = super().title
        return usual.replace("Window", "Group") if isinstance(self.window, Endless) else usual

    @property
    def placed(self) -> tuple[tuple[str, str], ...]:
        """The window in EXPLAIN, if there are several."""
        return () if isinstance(self.window, Endless) else (("window", self.window_label),)

    @property
    def window_label(self) -> str:
        """The window as EXPLAIN prints it."""
        raise AssertionError(self.title)


@dataclass(frozen=True)
class WindowAggregate(AggregateByWindow):
    """GROUP BY `keys` within each window, in one operator. Rows are copied per window first only if an aggregate cannot
    be merged from slices.

    Rows that already have a window (`attached`, whose start and end are keys) are grouped by it; `window` then has one
    window per end. `buckets` are keys that only split the rows of the other keys; an aggregate above merges them.

    Of an endless window the rows are changes that no operator above has handled yet, or with `sign` plain rows, in
    which that column is 1 for a new result and -1 for one that goes.

    With `by_input` the rows are those of a UNION ALL of two streams, which are late each by the watermark of its own:
    the sides of a join, aggregated together.
    """

    input: Node
    window: Window
    time: str
    keys: tuple[str, ...]
    calls: tuple[AggCall, ...]
    properties: tuple[WindowProperty, ...]
    zone: str = ""
    attached: AttachedWindow | None = None
    buckets: tuple[str, ...] = ()
    sign: str = ""
    by_input: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it makes the windows of the rows of one input, and its rows are its results."""
        return not (self.attached or self.buckets or self.sign or self.by_input)

    @cached_property
    def schema(self) -> Schema:
        keys = tuple(Field(key, self.input.type_of(key)) for key in self.keys)
        calls = tuple(Field(call.name, call.type) for call in self.calls)
        signs = (Field(self.sign, BIGINT),) if self.sign else ()
        return (*keys, *calls, *(Field(part.name, part.type) for part in self.properties), *signs)

    @property
    def changes(self) -> bool:
        """Whether a result can replace an earlier one: that of an endless window. Without aggregates, a group has only
        one result."""
        return isinstance(self.window, Endless) and bool(self.calls)

    def details(self) -> Iterator[tuple[str, str]]:
        if self.keys:
            yield "groupBy", ", ".join(shown(self.keys))
        yield from self.placed
        proctime = is_proctime(self.input, self.time)
        told = (part.label(proctime) for part in self.properties)
        yield "select", ", ".join((*shown(self.keys), *map(str, self.calls), *told))
        if self.by_input:
            yield "late", "by input"

    @property
    def window_label(self) -> str:
        own = window_label(self.window, ("time_col", self.time), zone=self.zone, keys=self.keys)
        return str(self.attached or own)


@dataclass(frozen=True)
class LocalWindowAggregate(AggregateByWindow):
    """Rows aggregated once per key and slice. The column `rows` counts them: a slice without rows opens no window.

    For a SESSION, rows become intervals from `$start` to `$last`, which are later merged. With `by_input` the rows of
    each input of a UNION ALL stay apart until it is known which are late.
    """

    input: Node
    window: Window
    time: str
    keys: tuple[str, ...]
    partials: tuple[PartialColumn, ...]
    rows: str = "rows"
    zone: str = ""
    by_input: bool = False

    @property
    def of_single_rows(self) -> bool:
        """Whether it starts from partials of single rows, as for sessions, numbers of distinct values, users'
        accumulators and sketches."""
        return isinstance(self.window, Session) or any(made_of_rows(part.merge) for part in self.partials)

    @cached_property
    def schema(self) -> Schema:
        keys = tuple(Field(key, self.input.type_of(key)) for key in self.keys)
        partials = tuple(Field(part.name, part.type) for part in self.partials)
        return (*keys, *local_columns(self.window), *partials)

    def details(self) -> Iterator[tuple[str, str]]:
        if self.keys:
            yield "groupBy", ", ".join(shown(self.keys))
        yield from self.placed
        parts = (
            *shown(self.keys),
            *map(str, self.partials),
            *local_labels(self.window),
        )
        yield "select", ", ".join(parts)
        if self.by_input:
            yield "late", "by input"

    @property
    def window_label(self) -> str:
        return window_label(self.window, ("time_col", self.time), zone=self.zone, keys=self.keys)


@dataclass(frozen=True)
class TimeRanges(Node):
    """Slices, each once per time range that has a window with it. `$range` is the end of the range; windows that are
    grouped by it are made in parallel.
    """

    input: Node
    window: Tumble | Hop | Cumulate

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, Field(RANGE, TIMESTAMP))

    def details(self) -> Iterator[tuple[str, str]]:
        ranges = time_ranges(self.window)
        yield "range", duration(ranges.slide)
        if ranges.size > ranges.slide:
            yield "leadIn", duration(ranges.size - ranges.slide)


@dataclass(frozen=True)
class GlobalWindowAggregate(AggregateByWindow):
    """Windows computed from slices: partials are merged by their merge kinds, then `finish` computes the results.

    With the key `$range` a window is made only from the slices of its own time range.
    """

    input: Node
    window: Window
    keys: tuple[str, ...]
    merges: tuple[tuple[str, MergeKind], ...]
    finish: tuple[Item, ...]
    properties: tuple[WindowProperty, ...]
    rows: str = "rows"
    zone: str = ""
    attached: AttachedWindow | None = None
    sign: str = ""

    @cached_property
    def schema(self) -> Schema:
        keys = tuple(Field(key, self.input.type_of(key)) for key in self.keys)
        results = tuple(Field(item.name, item.scalar.type) for item in self.finish)
        signs = (Field(self.sign, BIGINT),) if self.sign else ()
        return (*keys, *results, *(Field(part.name, part.type) for part in self.properties), *signs)

    @property
    def changes(self) -> bool:
        """Whether a result can replace an earlier one, as of `WindowAggregate`."""
        return isinstance(self.window, Endless) and bool(self.finish)

    def details(self) -> Iterator[tuple[str, str]]:
        if self.keys:
            yield "groupBy", ", ".join(shown(self.keys))
        yield from self.placed
        yield "merge", ", ".join(f"{kind}({name})" for name, kind in self.merges)
        told = (part.label(_of_proctime(self)) for part in self.properties)
        yield "select", ", ".join((*shown(self.keys), *map(str, self.finish), *told))

    @property
    def window_label(self) -> str:
        return global_label(self.window, self.zone, self.keys)


@is_proctime.register(WindowTableFunction)
def _(node: WindowTableFunction, name: str) -> bool:
    source = node.time if name == "window_time" else name
    return source in node.input.columns and is_proctime(node.input, source)


@is_proctime.register(WindowAggregate)
def _(node: WindowAggregate, name: str) -> bool:
    if any(part.name == name for part in node.properties):
        return _kind(node, name) == "time" and is_proctime(node.input, node.time)
    return name in node.keys and is_proctime(node.input, name)


@is_proctime.register(GlobalWindowAggregate)
def _(node: GlobalWindowAggregate, name: str) -> bool:
    if any(part.name == name for part in node.properties):
        return _kind(node, name) == "time" and _of_proctime(node)
    return name in node.keys and is_proctime(node.input, name)


def _kind(node: WindowAggregate | GlobalWindowAggregate, name: str) -> str:
    return next(part.kind for part in node.properties if part.name == name)


def _of_proctime(node: GlobalWindowAggregate) -> bool:
    below = node.input
    return isinstance(below, LocalWindowAggregate) and is_proctime(below.input, below.time)


def local_columns(window: Window) -> Schema:
    """The columns that place a row of the local phase in time: the end of its slice, or the times of the first and last
    row of its interval.
    """
    names = (INTERVAL_START, INTERVAL_LAST) if isinstance(window, Session) else (SLICE_END,)
    return tuple(Field(name, TIMESTAMP) for name in names)


def local_labels(window: Window) -> tuple[str, ...]:
    """These columns as EXPLAIN prints them."""
    if isinstance(window, Endless):
        return ()
    return tuple(f"{(name := part.name.removeprefix('$'))}('w$) AS {name}" for part in local_columns(window))


def global_label(window: Window, zone: str, keys: tuple[str, ...]) -> str:
    """The window of a global phase as EXPLAIN prints it, over the columns of the local phase."""
    where = ((name := part.name.removeprefix("$"), name) for part in local_columns(window))
    return window_label(window, *where, zone=zone, keys=keys)


def window_label(window: Window, *where: tuple[str, str], zone: str = "", keys: tuple[str, ...] = ()) -> str:
    """A window as EXPLAIN prints it: `HOP(time_col=[ts], size=[10 min], slide=[5 min])`. `keys` are the partition keys
    of a SESSION; other windows have none.
    """
    of_keys = (("partition keys", ", ".join(keys)),) if keys and isinstance(window, Session) else ()
    parts = (*where, *window.parts, *of_keys, *((("zone", zone),) if zone else ()))
    return f"{window.name}({', '.join(f'{name}=[{value}]' for name, value in parts)})"
