"""Binds ranking functions over windows, ROW_NUMBER by a time attribute, and on streams all others, to a Rank
operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tvfsql.bind import scalar
from tvfsql.bind.scalar import Resolved
from tvfsql.bind.scope import Relation
from tvfsql.bind.spark_text.functions import is_proctime as is_proctime_call
from tvfsql.plan import nodes
from tvfsql.plan.analysis.properties import unique_key, window_of
from tvfsql.plan.analysis.strings import sides_by
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Order, Project
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.rank import RANK_TYPE, Rank
from tvfsql.plan.values.scalar import Scalar, column, free_name
from tvfsql.plan.values.types import is_orderable
from tvfsql.plan.window_nodes import WindowTableFunction
from tvfsql.syntax import ast


def ranks_windows(over: ast.Over, relation: Relation) -> bool:
    """Whether PARTITION BY names a window of the relation: columns that hold its start and its end, and with several
    windows the column that holds their names.
    """
    names = [named for expr in over.partition_by if (named := scalar.column_name(expr))]
    return _has_windows(relation.node, [part.plan for table, name in names for part in relation.matches(table, name)])


def _has_windows(source: Node, keys: Sequence[str]) -> bool:
    """Whether the keys identify a window, of each side if one of them tells the sides of a UNION ALL apart."""
    if (window := window_of(source)) is not None:
        return window.named_by(keys) is not None
    sides = sides_by(source, keys)
    return sides is not None and all(_has_windows(side, keys) for side in sides)


def ranks_by_time(over: ast.Over, relation: Relation, *, streaming: bool) -> bool:
    """Whether a function orders a relation of plain rows by its time attribute. On streams rows leave in that order.
    ROW_NUMBER may be a deduplication: at some time the first row, or the last, is known.
    """
    if len(over.order_by) != 1 or window_of(relation.node) is not None:
        return False
    if over.function != "ROW_NUMBER" and (not streaming or over.order_by[0].descending):
        return False
    if is_proctime_call(over.order_by[0].expr.tree):
        return True
    named = scalar.column_name(over.order_by[0].expr)
    found = [part.plan for part in relation.matches(*named)] if named else []
    return len(found) == 1 and (found[0] == relation.time or is_proctime(relation.node, found[0]))


def are_groups(node: Node) -> bool:
    """Whether rows are groups without a window. These come in processing time, so an event time among their keys is a
    column like others.
    """
    while isinstance(node, nodes.Project | nodes.Filter | nodes.Unnest):
        node = node.input
    windows = (each for each in node.walk() if isinstance(each, WindowTableFunction))
    return isinstance(node, nodes.Aggregate | nodes.Distinct) and next(windows, None) is None


def ranks_rows(over: ast.Over, relation: Relation) -> bool:
    """Whether a function ranks rows of all times: PARTITION BY names no column of a window. With a limit these are the
    best rows so far, which each row may change.
    """
    window = window_of(relation.node)
    names = [named for expr in over.partition_by if (named := scalar.column_name(expr))]
    found = [part.plan for table, name in names for part in relation.matches(table, name)]
    return window is None or not any(window.kind(name) for name in found)


@dataclass(frozen=True)
class Ranking:
    """A ranking function whose columns are resolved; `name` is the name of its own column."""

    over: ast.Over
    call: Resolved
    partition: tuple[Resolved, ...]
    keys: tuple[Resolved, ...]
    name: str

    @classmethod
    def of(
        cls,
        over: ast.Over,
        items: Sequence[ast.SelectItem],
        relation: Relation,
        resolve: Callable[[ast.Expr], Resolved],
    ) -> Ranking:
        """Resolve the function. It is named after its item in the SELECT list, else after itself, but like no column of
        the relation.
        """
        alias = next((item.alias.text for item in items if item.expr and item.alias and item.expr == over.call), None)
        others = [item.alias.text for item in items if item.alias and item.alias.text != alias]
        taken = {name.lower() for name in (*relation.node.columns, *others)}
        name = free_name(alias or over.function.lower(), lambda name: name.lower() in taken)
        partition = tuple(map(resolve, over.partition_by))
        keys = tuple(resolve(item.expr) for item in over.order_by)
        return cls(over, resolve(over.call), partition, keys, name)

    @property
    def parts(self) -> tuple[Resolved, ...]:
        """The expressions that it reads: PARTITION BY, then ORDER BY."""
        return (*self.partition, *self.keys)

    def in_place(self, part: Resolved) -> Resolved:
        """Replace the function in an expression by the rank's column."""
        tree = scalar.replace_parts(part.tree, {self.call.tree: scalar.column_tree(self.name)})
        return Resolved(tree, {**part.types, self.name: RANK_TYPE}, part.span)

    def on(
        self, source: Node, parts: Sequence[Scalar], shown: Iterable[Scalar], time: str | None, *, by_time: bool
    ) -> Rank:
        """Rank the rows of `source`. `parts` are the function's own expressions over its columns, `shown` is the SELECT
        list. `by_time`: as in Rank.

        Rows that are equal in ORDER BY are ordered by `time`, their event time, the earlier first; in Flink that is
        their order if they arrive in order. ORDER BY the time of the window DESC, in which all its rows are equal,
        keeps the last row in Flink, so the later comes first. Rows still equal are ordered by the key of `source` if it
        has one, else by the columns that the SELECT shows. All of these follow the direction of the last key, so that
        DESC is the reverse of ASC.
        """
        source, names = named_columns(source, parts, self.name)
        partition, keys = names[: len(self.partition)], names[len(self.partition) :]
        order = tuple(
            Order(column(name), item.descending, item.nulls_first)
            for name, item in zip(keys, self.over.order_by, strict=True)
        )
        ties = _ties(source, order, {*names}, shown, time) if self.over.function == "ROW_NUMBER" else ()
        partition = list(dict.fromkeys(partition))
        span = self.over.call.span
        return Rank(source, self.over.function, tuple(partition), order, ties, self.name, by_time, span=span)


def _ties(
    source: Node, order: tuple[Order, ...], used: set[str], shown: Iterable[Scalar], time: str | None
) -> tuple[Order, ...]:
    """The order of rows that are equal so far: by event time, then by columns whose type can be ordered. Window columns
    are left out, because they are the same for all these rows.
    """
    window, last = window_of(source), order[-1]
    keeps_last = window is not None and len(order) == 1 and last.descending and last.scalar.column in window.rowtimes
    key = unique_key(source)
    telling = key or frozenset().union(*(part.columns for part in shown))
    own = [field for field in source.schema if window is None or window.kind(field.name) is None]
    times = [field.name for field in own if field.name == time and time not in used]
    first = [Order(column(name), keeps_last, not keeps_last) for name in times]
    others = (
        Order(column(field.name), last.descending, not last.descending)
        for field in own
        if field.name in telling - used - {time} and is_orderable(field.type) and (key or field.type)
    )
    return (*first, *others)


def named_columns(source: Node, parts: Sequence[Scalar], own: str) -> tuple[Node, list[str]]:
    """Return the columns of `source` that hold the parts. Parts that are more than a column are computed first."""
    computed: dict[Scalar, str] = {}
    for part in parts:
        if part.column is None and part not in computed:
            taken = {name.lower() for name in (*source.columns, *computed.values(), own)}
            computed[part] = free_name("key", lambda name, taken=taken: name.lower() in taken)  # type: ignore[misc]
    names = [part.column or computed[part] for part in parts]
    if computed:
        kept = (Item(field.name, column(field.name, field.type)) for field in source.schema)
        source = Project(source, (*kept, *(Item(name, part) for part, name in computed.items())))
    return source, names
