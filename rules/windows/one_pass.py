"""Several windows over the same rows, computed in one pass."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tvfsql.options import Options
from tvfsql.plan.aggregate.call import mergeable
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Filter, Item, Project, SetOperation
from tvfsql.plan.tables.internal_columns import WINDOW_NAME
from tvfsql.plan.values.scalar import Scalar, column, free_name
from tvfsql.plan.values.types import STRING
from tvfsql.plan.window import Cumulate, Hop, Several, Tumble, common_slices
from tvfsql.plan.window_nodes import WindowAggregate, WindowProperty
from tvfsql.planner import rule
from tvfsql.rules.windows.time_ranges import SECOND
from tvfsql.rules.windows.two_phase import has_slices, is_its_only_slice

NAME = "name"  # the kind of the property that holds the name of a row's window


@rule
def aggregate_windows_in_one_pass(node: Node, options: Options) -> Node | None:
    """In batch, make several windows over the same rows from one scan and from the same slices.

    Before:
      SetOperation(kind=[union], all=[true])
      :- Project(select=['minute' AS window_name, window_start, window_end, item, n])
      :  +- WindowAggregate(groupBy=[item], window=[TUMBLE(time_col=[ts], size=[1 min])], select=[...])
      :     +- Scan(table=[bid], fields=[item, ts])
      +- Project(select=['hour' AS window_name, window_start, window_end, item, n])
         +- WindowAggregate(groupBy=[item], window=[HOP(time_col=[ts], size=[1 h], slide=[1 min])], select=[...])
            +- Scan(table=[bid], fields=[item, ts])
    After:
      Project(select=[window_name, window_start, window_end, item, n])
      +- WindowAggregate(groupBy=[item], window=[WINDOWS(time_col=[ts], minute=[TUMBLE size 1 min], hour=[...])], ...)
         +- Scan(table=[bid], fields=[item, ts])

    Reason: to read rows and to aggregate them to slices costs more than to make windows from slices.

    Holds because the sides differ in the window and in its name only, and each slice of one window consists of whole
    slices of the one with the shortest. Does not apply
    - if no window has slices of which those of the others are made, such as 7 minutes beside 10 minutes;
    - to SESSION, months, a HOP with gaps, and CUMULATE with EMITONLYONUPDATE or that emits changed steps;
    - to DISTINCT in a TUMBLE, which Spark counts without lists of values;
    - to aggregates that cannot be merged from slices, and with table.optimizer.agg-phase-strategy = ONE_PHASE;
    - without keys, to slices below a second, which are merged by time ranges in parallel;
    - on streams.
    """
    match node:
        case SetOperation(left, right, "union", True) if not options.streaming:
            one, other = _side(left), _side(right)
            if one is None or other is None or one.without_window != other.under_names_of(one).without_window:
                return None
            windows = (*one.windows, *other.windows)
            kinds = [window for _, window in windows]
            if len({name for name, _ in windows}) < len(windows) or not common_slices(kinds):
                return None
            several, aggregate = Several(windows), one.aggregate
            if any(map(is_its_only_slice, kinds)) and any(call.distinct for call in aggregate.calls):
                return None
            parallel = not aggregate.keys and several.slice_size < SECOND
            if parallel or not has_slices(several, options) or not all(map(mergeable, aggregate.calls)):
                return None
            return one.over(several)
    return None


@dataclass(frozen=True)
class _Side:
    """A side of the UNION ALL: an aggregate by window with `having` above it, a projection with the name of the window
    at `at`, and `conditions` above that.
    """

    conditions: tuple[Scalar, ...]
    items: tuple[Item, ...]
    at: int
    having: tuple[Scalar, ...]
    aggregate: WindowAggregate
    windows: tuple[tuple[str, Tumble | Hop | Cumulate], ...]

    @property
    def without_window(self) -> tuple[object, ...]:
        """What both sides must have in common."""
        properties = tuple(part for part in self.aggregate.properties if part.kind != NAME)
        others = (*self.items[: self.at], *self.items[self.at + 1 :])
        rows = replace(self.aggregate, window=Tumble(1), properties=properties)
        return self.at, self.conditions, others, self.having, rows

    def under_names_of(self, other: _Side) -> _Side:
        """The side with the names that the other one gives its columns, by position."""
        parts: list[AggCall | WindowProperty] = [*self.aggregate.calls, *self.aggregate.properties]
        wanted: list[AggCall | WindowProperty] = [*other.aggregate.calls]
        wanted += [part for part in other.aggregate.properties if part.kind != NAME]
        inner = {part.name: name.name for part, name in zip(parts, wanted, strict=False)}
        outer = {item.name: name.name for item, name in zip(self.items, other.items, strict=True)}
        calls = tuple(replace(call, name=inner.get(call.name, call.name)) for call in self.aggregate.calls)
        properties = tuple(replace(part, name=inner.get(part.name, part.name)) for part in self.aggregate.properties)
        return replace(
            self,
            conditions=tuple(one.renamed(outer) for one in self.conditions),
            items=tuple(Item(outer[item.name], item.scalar.renamed(inner)) for item in self.items),
            having=tuple(one.renamed(inner) for one in self.having),
            aggregate=replace(self.aggregate, calls=calls, properties=properties),
        )

    def over(self, several: Several) -> Node:
        """The side over several windows."""
        known = next((part.name for part in self.aggregate.properties if part.kind == NAME), None)
        name = known or free_name(WINDOW_NAME, self.aggregate.columns)
        properties = tuple(part for part in self.aggregate.properties if part.kind != NAME)
        made: Node = replace(
            self.aggregate, window=several, properties=(*properties, WindowProperty(name, NAME, STRING))
        )
        made = Filter(made, self.having) if self.having else made
        items = [*self.items]
        items[self.at] = Item(items[self.at].name, column(name, STRING))
        made = Project(made, tuple(items))
        return Filter(made, self.conditions) if self.conditions else made


def _side(node: Node) -> _Side | None:
    """The parts of a side; None if it has another shape, or a window that is computed alone."""
    conditions, above = _conditions(node)
    if not isinstance(above, Project):
        return None
    items, (having, below) = above.items, _conditions(above.input)
    if not isinstance(below, WindowAggregate) or below.attached or below.buckets:
        return None
    if isinstance(below.window, Several):
        name = next(part.name for part in below.properties if part.kind == NAME)
        named = [i for i, item in enumerate(items) if item.scalar.column == name]
        return _Side(conditions, items, named[0], having, below, below.window.windows) if len(named) == 1 else None
    strings = [(i, item.scalar.string) for i, item in enumerate(items) if item.scalar.string is not None]
    if len(strings) != 1 or not _shares(below.window):
        return None
    ((at, string),) = strings
    assert string is not None and isinstance(below.window, Tumble | Hop | Cumulate)
    return _Side(conditions, items, at, having, below, ((string, below.window),))


def _conditions(node: Node) -> tuple[tuple[Scalar, ...], Node]:
    """The conditions of a filter, and what it filters; none for other operators."""
    return (node.conditions, node.input) if isinstance(node, Filter) else ((), node)


def _shares(window: object) -> bool:
    match window:
        case Tumble():
            return True
        case Hop():
            return not window.has_gaps
        case Cumulate():
            return not (window.emit_only_on_update or window.emit_only_on_change)
    return False
