"""What is known of the rows of a relation: the window that each belongs to, which columns tell rows apart, and
whether they are rows at all or changes of rows.

The one owner of that knowledge: rules, the binder and the checks of streams ask here and never go by the names
of columns. Source: semantics.md#window-columns.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import singledispatch

from tvfsql.plan import nodes, window_nodes
from tvfsql.plan.columns import WINDOW_COLUMNS
from tvfsql.plan.node import Node
from tvfsql.plan.rank import Rank, WindowDeduplicate, WindowTopN
from tvfsql.plan.sharing import Shared
from tvfsql.plan.window import Window
from tvfsql.plan.window_nodes import AttachedWindow

Names = tuple[str, ...]


@dataclass(frozen=True)
class WindowColumns:
    """The columns that tell a row's window: its `starts`, its `ends`, its `times` (the end less 1 ms).

    Several columns may hold the same, or none. `rowtimes` are the columns by which rows lie in event time:
    `times`, and the time column of the window function.
    """

    window: Window
    zone: str
    starts: Names
    ends: Names
    times: Names
    rowtimes: Names

    @property
    def words(self) -> str:
        """The window as errors speak of it: TUMBLE (size 1 h)."""
        return f"{self.window.name} ({', '.join(f'{name} {value}' for name, value in self.window.parts)})"

    def together(self, other: WindowColumns) -> WindowColumns:
        """The columns of both, where both tell of the same windows."""
        parts = (getattr(self, part) + getattr(other, part) for part in ("starts", "ends", "times", "rowtimes"))
        return WindowColumns(self.window, self.zone, *parts)

    def named_by(self, columns: Collection[str]) -> AttachedWindow | None:
        """The window as some columns name it. None if no start or no end is among them: then they name none."""
        start = next((name for name in self.starts if name in columns), None)
        end = next((name for name in self.ends if name in columns), None)
        return AttachedWindow(self.window, start, end, self.zone) if start and end else None

    def kind(self, column: str) -> str | None:
        """What a column says of the window: its `start`, `end` or `time`; None: nothing."""
        kinds = {"start": self.starts, "end": self.ends, "time": self.times}
        return next((kind for kind, names in kinds.items() if column in names), None)

    def renamed(self, names: Collection[tuple[str, str]]) -> WindowColumns | None:
        """The same where columns are handed on as pairs (old name, new name). None if nothing of the window is left."""

        def moved(columns: Names) -> Names:
            return tuple(new for old, new in names if old in columns)

        parts = map(moved, (self.starts, self.ends, self.times, self.rowtimes))
        made = WindowColumns(self.window, self.zone, *parts)
        return made if made.starts or made.ends or made.times else None


@singledispatch
def window_of(node: Node) -> WindowColumns | None:
    """The window that each row of a logical operator belongs to, and the columns that tell it; None if there is none.

    Kept through projections of the bare column, filters, sorts, ranks, UNION ALL of one window, and aggregates that
    group by the columns. An outer join and an Expand keep only what they never fill with NULL.
    """
    return None


@window_of.register
def _(node: window_nodes.WindowTableFunction) -> WindowColumns | None:
    start, end, time = WINDOW_COLUMNS
    return WindowColumns(node.window, node.zone, (start,), (end,), (time,), (node.time, time))


@window_of.register
def _(node: nodes.Project) -> WindowColumns | None:
    below = window_of(node.input)
    return below and below.renamed([(item.scalar.column or "", item.name) for item in node.items])


@window_of.register(nodes.Filter)
@window_of.register(nodes.Unnest)
@window_of.register(nodes.Distinct)
@window_of.register(nodes.Sort)
@window_of.register(nodes.Limit)
@window_of.register(Shared)
@window_of.register(Rank)
@window_of.register(WindowTopN)
@window_of.register(WindowDeduplicate)
def _(node: nodes.Filter) -> WindowColumns | None:
    return window_of(node.input)


@window_of.register
def _(node: nodes.Expand) -> WindowColumns | None:
    below = window_of(node.input)
    return below and below.renamed([(name, name) for name in node.input.columns if name not in node.keys])


@window_of.register
def _(node: nodes.Aggregate) -> WindowColumns | None:
    below = window_of(node.input)
    return below and below.renamed([(key, key) for key in node.keys])


@window_of.register(window_nodes.WindowAggregate)
@window_of.register(window_nodes.GlobalWindowAggregate)
def _(node: window_nodes.WindowAggregate) -> WindowColumns | None:
    if node.attached:
        of, below = node.attached, node.input
        known = window_of(below.input if isinstance(below, window_nodes.LocalWindowAggregate) else below)
        kept = known and known.renamed([(key, key) for key in node.keys])
        return kept or WindowColumns(of.window, of.zone, (of.start,), (of.end,), (), ())
    names = {
        kind: tuple(part.name for part in node.properties if part.kind == kind) for kind in ("start", "end", "time")
    }
    return WindowColumns(node.window, node.zone, names["start"], names["end"], names["time"], names["time"])


@window_of.register
def _(node: nodes.Join) -> WindowColumns | None:
    left = None if node.kind in ("right", "full") else window_of(node.left)
    right = None if node.kind in ("left", "full", "semi", "anti") else window_of(node.right)
    return left or right


@window_of.register
def _(node: nodes.SetOperation) -> WindowColumns | None:
    left, right = window_of(node.left), window_of(node.right)
    if node.kind != "union" or left is None:
        return left
    if right is None or (left.window, left.zone) != (right.window, right.zone):
        return None
    matching = zip(node.left.columns, node.right.columns, strict=True)
    both = [
        (a, a) for a, b in matching if left.kind(a) == right.kind(b) and (a in left.rowtimes) == (b in right.rowtimes)
    ]
    return left.renamed(both)


@singledispatch
def unique_key(node: Node) -> frozenset[str] | None:
    """Columns of which no two rows of a logical operator share the values; None if none are known."""
    return None


@unique_key.register
def _(node: nodes.Aggregate) -> frozenset[str] | None:
    return frozenset(node.keys)


@unique_key.register
def _(node: nodes.Distinct) -> frozenset[str] | None:
    return frozenset(node.columns)


@unique_key.register
def _(node: nodes.Project) -> frozenset[str] | None:
    below = unique_key(node.input)
    kept = {item.scalar.column: item.name for item in reversed(node.items) if item.scalar.column}
    return frozenset(kept[name] for name in below) if below is not None and below <= kept.keys() else None


@unique_key.register(nodes.Filter)
@unique_key.register(nodes.Sort)
@unique_key.register(nodes.Limit)
@unique_key.register(Shared)
@unique_key.register(Rank)
@unique_key.register(WindowTopN)
@unique_key.register(WindowDeduplicate)
def _(node: nodes.Filter) -> frozenset[str] | None:
    return unique_key(node.input)


@singledispatch
def is_changelog(node: Node) -> bool:
    """Whether the rows of a logical operator are changes, some of which take back others. Passed on by what does
    with a change what it did with the row that came: projections, filters, window functions, grouping sets, UNION
    ALL. Any other operator must see to it that its input is none: `plan.nodes.Scan.sign` makes it one of plain rows."""
    return False


@is_changelog.register
def _(node: nodes.Scan) -> bool:
    return node.changelog


@is_changelog.register
def _(node: nodes.Project) -> bool:
    return is_changelog(node.input) and all(item.scalar.lasting for item in node.items)


@is_changelog.register
def _(node: nodes.Filter) -> bool:
    return is_changelog(node.input) and all(condition.lasting for condition in node.conditions)


@is_changelog.register(window_nodes.WindowTableFunction)
@is_changelog.register(nodes.Expand)
def _(node: window_nodes.WindowTableFunction) -> bool:
    return is_changelog(node.input)


@is_changelog.register
def _(node: nodes.SetOperation) -> bool:
    return node.kind == "union" and node.all and (is_changelog(node.left) or is_changelog(node.right))
