"""What is known about the rows of a relation: the window of each row, the columns that identify rows, and whether the
rows are changes.

This module owns that knowledge. Rules, the binder and the checks of streams ask here and never rely on column names.
Source: semantics.md#window-columns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Generic, TypeVar, overload

from tvfsql.plan import changelogs, nodes, window_nodes
from tvfsql.plan.analysis.sharing import CommonPart, Shared
from tvfsql.plan.gaps import GapFill
from tvfsql.plan.joins import RegularJoin, TemporalJoin, WindowJoin
from tvfsql.plan.node import Node
from tvfsql.plan.rank import Rank, TopN, WindowDeduplicate, WindowTopN
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.window import Cumulate, Session, Several, Window
from tvfsql.plan.window_nodes import AttachedWindow

Names = tuple[str, ...]
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Property(Generic[T]):
    """What is known about a node, by its class. It is found once for each node, as `schema` is: a plan whose parts are
    read repeatedly has many more paths than nodes.
    """

    def __init__(self, usual: Callable[[Node], T]) -> None:
        self._find = singledispatch(usual)
        self._name = f"_{usual.__name__}"
        self.__doc__ = usual.__doc__

    @overload
    def register(self, kind: type[Node]) -> Callable[[F], F]: ...
    @overload
    def register(self, kind: F) -> F: ...
    def register(self, kind: Any) -> Any:
        return self._find.register(kind)

    def __call__(self, node: Node) -> T:
        known = node.__dict__
        if self._name not in known:
            known[self._name] = self._find(node)
        found: T = known[self._name]
        return found


@dataclass(frozen=True)
class WindowColumns:
    """The columns that hold a row's window: its `starts`, its `ends`, its `times` (the end minus 1 ms).

    Several columns may hold the same value, or none. `rowtimes` are the columns by which rows are ordered in event
    time: `times`, and the time column of the window function.
    """

    window: Window
    zone: str
    starts: Names
    ends: Names
    times: Names
    rowtimes: Names

    @property
    def words(self) -> str:
        """The window in the words of error messages: TUMBLE (size 1 h)."""
        return f"{self.window.name} ({', '.join(f'{name} {value}' for name, value in self.window.parts)})"

    def together(self, other: WindowColumns) -> WindowColumns:
        """Return the columns of both; their windows must be the same."""
        parts = (getattr(self, part) + getattr(other, part) for part in ("starts", "ends", "times", "rowtimes"))
        return WindowColumns(self.window, self.zone, *parts)

    def named_by(self, columns: Collection[str]) -> AttachedWindow | None:
        """Return the window if its start and its end are both among `columns`; None otherwise."""
        start = next((name for name in self.starts if name in columns), None)
        end = next((name for name in self.ends if name in columns), None)
        return AttachedWindow(self.window, start, end, self.zone) if start and end else None

    def is_told_by(self, columns: Collection[str]) -> bool:
        """Whether a start or an end among `columns` identifies the window. A session can have any length, windows of a
        CUMULATE share a start, and two windows can share an end where a zone changes its clocks.
        """
        if self.zone not in ("", "UTC") or isinstance(self.window, Session):
            return False
        starts = () if isinstance(self.window, Cumulate) else self.starts
        return any(name in columns for name in (*starts, *self.ends, *self.times))

    def kind(self, column: str) -> str | None:
        """Return what a column holds: the window's `start`, `end` or `time`; None if it is not a window column."""
        kinds = {"start": self.starts, "end": self.ends, "time": self.times}
        return next((kind for kind, names in kinds.items() if column in names), None)

    def renamed(self, names: Collection[tuple[str, str]]) -> WindowColumns | None:
        """Return the window columns after a projection of pairs (old name, new name); None if none of them remains."""

        def moved(columns: Names) -> Names:
            return tuple(new for old, new in names if old in columns)

        parts = map(moved, (self.starts, self.ends, self.times, self.rowtimes))
        made = WindowColumns(self.window, self.zone, *parts)
        return made if made.starts or made.ends or made.times else None


@Property
def window_of(node: Node) -> WindowColumns | None:
    """Return the window of each row of a logical operator, with the columns that hold it; None if there is none.

    Window columns are kept by projections of the bare column, filters, sorts, ranks, lookup and temporal joins, UNION
    ALL of one window, and aggregates that group by them. An outer join and an Expand keep only columns that they never
    fill with NULL.
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
@window_of.register(CommonPart)
@window_of.register(Rank)
@window_of.register(WindowTopN)
@window_of.register(WindowDeduplicate)
@window_of.register(GapFill)
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
        return kept or WindowColumns(of.window, of.zone, (of.start,) if of.start else (), (of.end,), (), ())
    if isinstance(node.window, Several):
        return None
    names = {
        kind: tuple(part.name for part in node.properties if part.kind == kind) for kind in ("start", "end", "time")
    }
    return WindowColumns(node.window, node.zone, names["start"], names["end"], names["time"], names["time"])


@window_of.register
def _(node: nodes.Join) -> WindowColumns | None:
    left = None if node.kind in ("right", "full") else window_of(node.left)
    right = None if node.kind in ("left", "full", "semi", "anti") else window_of(node.right)
    return left or right


@window_of.register(nodes.LookupJoin)
@window_of.register(TemporalJoin)
def _(node: nodes.LookupJoin | TemporalJoin) -> WindowColumns | None:
    return window_of(node.left)


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


@Property
def unique_key(node: Node) -> frozenset[str] | None:
    """Return columns whose values identify the rows of a logical operator; None if none are known."""
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
@unique_key.register(CommonPart)
@unique_key.register(Rank)
@unique_key.register(WindowTopN)
@unique_key.register(WindowDeduplicate)
@unique_key.register(GapFill)
def _(node: nodes.Filter) -> frozenset[str] | None:
    return unique_key(node.input)


@Property
def is_changelog(node: Node) -> bool:
    """Whether the rows of a logical operator are changes, some of which retract earlier ones.

    Operators that treat a change like its row pass the changelog on: projections, filters, window functions, grouping
    sets, UNNEST and UNION ALL. Any other operator must make sure that its input has plain rows: `plan.nodes.Scan.sign`
    makes them.
    """
    return False


@is_changelog.register(nodes.Scan)
@is_changelog.register(changelogs.ChangelogNormalize)
def _(node: nodes.Scan | changelogs.ChangelogNormalize) -> bool:
    return node.changelog


@is_changelog.register
def _(node: changelogs.FromChangelog) -> bool:
    return not node.sign


@is_changelog.register(window_nodes.WindowAggregate)
@is_changelog.register(window_nodes.GlobalWindowAggregate)
def _(node: window_nodes.WindowAggregate | window_nodes.GlobalWindowAggregate) -> bool:
    return node.changes and not node.sign


@is_changelog.register
def _(node: TopN) -> bool:
    return not node.sign


@is_changelog.register
def _(node: RegularJoin) -> bool:
    return not node.sign and (node.updating or any(map(is_changelog, node.children)))


@is_changelog.register(nodes.Project)
@is_changelog.register(nodes.Filter)
@is_changelog.register(window_nodes.WindowTableFunction)
@is_changelog.register(nodes.Expand)
@is_changelog.register(nodes.Unnest)
def _(node: window_nodes.WindowTableFunction) -> bool:
    return is_changelog(node.input)


@is_changelog.register
def _(node: nodes.SetOperation) -> bool:
    return node.kind == "union" and node.all and (is_changelog(node.left) or is_changelog(node.right))


@window_of.register
def _(node: WindowJoin) -> WindowColumns | None:
    """A side whose columns may be NULL contributes no window columns. Windows that only end together stay those of the
    left side."""
    left = None if node.kind in ("right", "full") else window_of(node.left)
    right = None if node.kind in ("left", "full", "semi", "anti") else window_of(node.right)
    return left.together(right) if left and right and not node.by_ends else left or right


@unique_key.register
def _(node: WindowJoin) -> frozenset[str] | None:
    left, right = unique_key(node.left), unique_key(node.right)
    if node.kind in ("semi", "anti"):
        return left
    return left | right if left is not None and right is not None else None
