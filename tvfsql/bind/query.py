"""Binds queries to logical plans: resolves names, expands stars, and gives every error its span."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, repeat, zip_longest
from typing import Generic, TypeVar

from tvfsql.bind import scalar
from tvfsql.bind.aggregates.calls import Grouping
from tvfsql.bind.current_watermark import with_current_watermark
from tvfsql.bind.joins.unnest import UnknownElements
from tvfsql.bind.over_frames import OverFrames
from tvfsql.bind.pass_through.queries import bind_ordinary
from tvfsql.bind.rank import Ranking, are_groups, ranks_by_time, ranks_rows, ranks_windows
from tvfsql.bind.relation import Sources, filtered
from tvfsql.bind.scalar import Resolved
from tvfsql.bind.scope import Bound, Relation, resolve
from tvfsql.bind.select_list import (
    group_target,
    order_target,
    output_names,
    position_of,
    refuse_repeated,
    spread,
    with_items,
)
from tvfsql.bind.semi_join import matched
from tvfsql.bind.set_operation import in_common_types
from tvfsql.bind.user_function_calls import with_functions
from tvfsql.bind.views import BoundView, Named, bound_view, has_asterisk
from tvfsql.catalog import Catalog, View
from tvfsql.errors import BindError, Span, UnsupportedError, spanning
from tvfsql.options import Options
from tvfsql.options.known import APPROX_COUNT_DISTINCT
from tvfsql.options.words import CountDistinct
from tvfsql.plan import nodes
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Order, Project
from tvfsql.plan.rank import RANK_TYPE
from tvfsql.plan.values.scalar import Scalar, column, free_name
from tvfsql.plan.values.types import SqlType
from tvfsql.syntax import ast, statements
from tvfsql.syntax.queries.grouping import constant, refuse_shown_numbers

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class SelectParts(Generic[T]):
    """The expressions of a SELECT by purpose: first as resolved expressions, then as scalars over the operator below
    the projection.
    """

    items: tuple[T, ...]
    hidden: tuple[T, ...]  # expressions that only ORDER BY needs
    ranks: tuple[T, ...] = ()  # PARTITION BY and ORDER BY of a ranking function
    limits: tuple[T, ...] = ()  # QUALIFY

    @property
    def shown(self) -> tuple[T, ...]:
        """The expressions that the projection computes."""
        return (*self.items, *self.hidden)

    def each(self, make: Callable[[T], U]) -> SelectParts[U]:
        """Apply `make` to each expression."""
        items, hidden, ranks, limits = (
            tuple(map(make, part)) for part in (self.items, self.hidden, self.ranks, self.limits)
        )
        return SelectParts(items, hidden, ranks, limits)

    def __iter__(self) -> Iterator[T]:
        return iter((*self.shown, *self.ranks, *self.limits))


@dataclass(frozen=True)
class QueryBinder:
    """Binds queries against a catalog and the CTEs in scope. `views` are the names of the views around the query;
    `tables` is `View.tables` of the innermost one, None if it has no asterisk. `named` is what the query of that
    view names; None outside of views.
    """

    catalog: Catalog
    options: Options
    ctes: Mapping[str, Bound] = field(default_factory=dict)
    views: tuple[str, ...] = ()
    tables: dict[str, tuple[str, ...]] | None = None
    named: Named | None = None

    def bind(self, query: ast.Query) -> Bound:
        """Return the plan of a query. Raises BindError and UnsupportedError with their spans."""
        binder = self
        for cte in query.ctes:
            bound = binder.bind(cte.query)
            names = cte.columns or bound.names
            if len(names) != len(bound.names):
                raise BindError(f"{cte.name} lists {len(names)} columns, but has {len(bound.names)}", span=cte.span)
            binder = replace(binder, ctes={**binder.ctes, cte.name.lower(): replace(bound, names=names)})
        return binder._body(query)

    def bind_view(self, view: View) -> BoundView:
        """Bind the query of a view, which does not see the CTEs of the query that reads it, unless it is bound."""
        if (known := BoundView.known(view, self.catalog, self.options)) is not None:
            return known
        create, functions, named = view.definition, self.catalog.functions, Named()
        assert isinstance(create, statements.CreateView), view.name
        tables = view.tables if has_asterisk(create.query) else None
        within = replace(self, ctes={}, views=(*self.views, view.name), tables=tables, named=named)
        bound = within.bind(with_functions(create.query, functions))
        made = BoundView(bound, create, self.options, {**functions}, named)
        made.keep(view, self.catalog)
        return made

    @property
    def _sources(self) -> Sources:
        return Sources(self.catalog, self.options, self.ctes, self.bind, self._view, self.tables, self.named)

    def _view(self, view: View, span: Span) -> Bound:
        if view.name in self.views:
            raise BindError(f"view {view.name} cannot read itself", span=span, hint="another name")
        return bound_view(view, span, self.named, self.bind_view)

    # ---- bodies --------------------------------------------------------------------------------------

    def _body(self, query: ast.Query) -> Bound:
        match query.body:
            case ast.Select() as select:
                bound = self._select(select, query.order_by, self._from(select))
            case ast.SetOperation() as operation:
                bound = self._sorted(self._set_operation(operation), query.order_by)
            case ast.MaybeOrdinary(select, ordinary):
                relation = self._planned(select)
                if relation is None:
                    if isinstance(ordinary, UnsupportedError):
                        raise ordinary
                    return self._ordinary(ordinary)
                bound = self._select(replace(select, where=None), query.order_by, relation)
            case ast.Ordinary() as ordinary:
                bound = self._ordinary(ordinary)
            case ast.Query() as inner:
                bound = self._sorted(self.bind(inner), query.order_by)
        if query.limit is not None or query.offset:
            bound = replace(bound, node=nodes.Limit(bound.node, query.limit, query.offset, span=query.limited))
        return bound

    def _ordinary(self, ordinary: ast.Ordinary) -> Bound:
        node = bind_ordinary(
            ordinary, {name: self._sources.under_its_names(relation) for name, relation in ordinary.sources}
        )
        return Bound(node, node.columns)

    def _planned(self, select: ast.Select) -> Relation | None:
        """The rows of FROM that satisfy WHERE; None if the planner leaves the SELECT to Spark. It does not if the
        SELECT ranks or semi-joins rows of windows, ranks by time or on streams, or has UNNEST of known types.
        """
        if select.frames and not self.options.streaming:
            return None
        try:
            relation = self._from(select)
        except UnknownElements:
            return None
        streaming = self.options.streaming
        if (over := select.over) and not (
            ranks_windows(over, relation)
            or ranks_by_time(over, relation, streaming=streaming)
            or (streaming and ranks_rows(over, relation))
        ):
            return None
        # in batch the bounds of a window that WHERE states are those of both sides of a semi-join
        after = select.where if select.matches and not self.options.streaming else None
        found: Relation | None = filtered(relation, select.where) if select.where and not after else relation
        for match in select.matches:
            found = matched(found, match, self._sources) if found else None
        return filtered(found, after) if found and after else found

    def _from(self, select: ast.Select) -> Relation:
        relation = self._sources.bind(select.relation) if select.relation else Relation(nodes.Values(), ())
        return with_current_watermark(select, relation)

    def _select(self, select: ast.Select, order_by: Sequence[ast.OrderItem], relation: Relation) -> Bound:
        if select.where:
            relation = filtered(relation, select.where)
        items = [part for item in select.items for part in spread(item, relation)]
        refuse_repeated(items)
        resolved = tuple(resolve(item.expr, relation) for item in items if item.expr)
        targets = [order_target(item, items, relation) for item in order_by]
        parts = SelectParts(resolved, tuple(target for target in targets if isinstance(target, Resolved)))
        having = resolve(select.having, relation) if select.having else None
        ranking = self._ranking(select, items, relation)
        if ranking:
            limits = self._qualify(select, items, relation, ranking)
            parts = replace(parts.each(ranking.in_place), ranks=ranking.parts, limits=limits)
        if select.frames:
            by_sketch = self.options[APPROX_COUNT_DISTINCT] is CountDistinct.HLL
            frames = OverFrames.of(select.frames, relation, by_sketch=by_sketch)
            relation, parts = relation.on(frames.node), parts.each(frames.in_place)
        of_all = [*parts, *([having] if having else [])]
        aggregates = any(scalar.has_aggregate(part.tree) for part in of_all)
        # HAVING over constants: all rows are one group, as with COUNT(*)
        aggregates |= having is not None and not any(part.types for part in of_all)
        if select.group_by or select.grouping_sets or aggregates:
            above = {ranking.name: RANK_TYPE} if ranking else {}
            try:
                node, made = self._grouped(select, relation, items, parts, having, above)
            except BindError:  # a column lacks among the keys: a number is likelier meant as a position
                for expr in select.group_by:
                    if (number := scalar.ordinal(expr)) is not None:
                        position_of(number, items, expr.span)
                raise
        elif having:
            raise BindError("HAVING needs a GROUP BY or an aggregate", span=having.span, hint="use WHERE")
        else:
            node, made = relation.node, parts.each(Resolved.scalar)
        if ranking:
            by_time = node is relation.node and ranks_by_time(ranking.over, relation, streaming=True)
            by_time &= not (self.options.streaming and are_groups(relation.node))
            node = ranking.on(node, made.ranks, made.shown, relation.time, by_time=by_time)
            if made.limits:
                kept = map(scalar.checked, made.limits, parts.limits, repeat("QUALIFY"))
                node = nodes.Filter(node, tuple(kept), span=select.qualify.span if select.qualify else None)
        names = output_names(items)
        hidden = count(len(items))
        order = [
            (target if isinstance(target, int) else next(hidden), item)
            for target, item in zip(targets, order_by, strict=True)
        ]
        return self._projected(select, node, names, made, order, relation.time)

    def _projected(
        self,
        select: ast.Select,
        node: Node,
        names: tuple[str, ...],
        parts: SelectParts[Scalar],
        order: Sequence[tuple[int, ast.OrderItem]],
        time: str | None,
    ) -> Bound:
        """Put the SELECT list, DISTINCT and ORDER BY above the rows. Columns that only ORDER BY needs are dropped at
        the end. `order` has positions in `parts.shown`; `time` is the event time of the rows.
        """
        unique: list[str] = []
        for name in [*names, *(f"order{i}" for i in range(len(parts.hidden)))]:
            unique.append(free_name(name, lambda taken: taken.lower() in (known.lower() for known in unique)))
        span = spanning([item.span for item in select.items])
        project: Node = Project(node, tuple(map(Item, unique, parts.shown)), span=span)
        if select.distinct:
            shown = {made.column: name for name, made in zip(unique, parts.items, strict=False) if made.column}
            for hidden, (_, item) in zip(parts.hidden, (each for each in order if each[0] >= len(names)), strict=True):
                if not hidden.columns <= shown.keys():
                    problem = "SELECT DISTINCT can only be ordered by selected columns"
                    raise BindError(problem, span=item.expr.span)
            own = tuple(map(Item, unique, parts.items))
            project = nodes.Distinct(Project(node, own, span=span), span=span)
            if parts.hidden:
                kept_items = (Item(field.name, column(field.name, field.type)) for field in project.schema)
                over = (one.renamed({str(old): new for old, new in shown.items()}) for one in parts.hidden)
                project = Project(project, (*kept_items, *map(Item, unique[len(names) :], over)), span=span)
        if order:
            places = spanning([item.expr.span for _, item in order])
            keys = tuple(self._order(unique[place], item) for place, item in order)
            project = nodes.Sort(project, keys, span=places)
        if parts.hidden:
            project = Project(project, tuple(Item(name, column(name)) for name in unique[: len(names)]), span=span)
        kept = [name for name, made in zip(unique, parts.items, strict=False) if made.column and made.column == time]
        return Bound(project, names, kept[0] if kept else None)

    def _grouped(
        self,
        select: ast.Select,
        relation: Relation,
        items: list[ast.SelectItem],
        parts: SelectParts[Resolved],
        having: Resolved | None,
        above: Mapping[str, SqlType],
    ) -> tuple[Node, SelectParts[Scalar]]:
        """The Aggregate of a SELECT with HAVING above it, and the expressions of the SELECT over it and the columns
        `above`.
        """
        by_sketch = self.options[APPROX_COUNT_DISTINCT] is CountDistinct.HLL
        grouping = Grouping(relation, above, by_sketch)
        aliases = [item.alias.text if item.alias else None for item in items]

        def add_key(expr: ast.Expr) -> str:
            at = group_target(expr, items, relation)
            key = parts.items[at] if at is not None else resolve(replace(expr, tree=constant(expr.tree)), relation)
            same = next((i for i, item in enumerate(parts.items) if item.tree == key.tree), at)
            return grouping.add_key(key, aliases[same] if same is not None else None)

        keys = [add_key(expr) for expr in select.group_by]
        if select.grouping_sets:
            of_sets = [key for each in select.grouping_sets for key in each.keys]
            shown = (item.expr.tree for item in items if item.expr)
            refuse_shown_numbers((key.tree for key in of_sets), shown, spanning([key.span for key in of_sets]))
            grouping.add_sets([(*keys, *map(add_key, each.keys)) for each in select.grouping_sets])
        for part, alias in zip_longest(parts, aliases):
            grouping.add_calls(part, alias)
        if having:
            grouping.add_calls(having, None)
        by = [expr.span for expr in (*select.group_by, *(key for each in select.grouping_sets for key in each.keys))]
        node: Node = replace(grouping.node, span=spanning(by) or grouping.first_place)
        if having:
            conditions = tuple(grouping.condition(part) for part in scalar.conjuncts(having))
            node = nodes.Filter(node, conditions, span=having.span)
        return node, parts.each(grouping.over)

    def _ranking(self, select: ast.Select, items: list[ast.SelectItem], relation: Relation) -> Ranking | None:
        if select.over is None:
            return None
        return Ranking.of(
            select.over, items, relation, lambda expr: resolve(with_items(expr, items, relation), relation)
        )

    def _qualify(
        self, select: ast.Select, items: list[ast.SelectItem], relation: Relation, ranking: Ranking
    ) -> tuple[Resolved, ...]:
        """The conditions of QUALIFY."""
        if select.qualify is None:
            return ()
        meant = with_items(select.qualify, items, relation)
        return tuple(scalar.conjuncts(ranking.in_place(resolve(meant, relation))))

    def _set_operation(self, operation: ast.SetOperation) -> Bound:
        left, right = self.bind(operation.left), self.bind(operation.right)
        if len(left.names) != len(right.names):
            raise BindError(
                f"the sides of {operation.kind.upper()} have {len(left.names)} and {len(right.names)} columns",
                span=operation.span,
            )
        of_both = [
            a for a, b in zip(left.node.columns, right.node.columns, strict=True) if (a, b) == (left.time, right.time)
        ]
        time = of_both[0] if of_both and operation.kind == "union" else None
        called = f"{operation.kind.upper()}{' ALL' if operation.all else ''}"
        sides = in_common_types(left.node, right.node, called, operation.span)
        node = nodes.SetOperation(*sides, operation.kind, operation.all, span=operation.span)
        return Bound(node, left.names, time)

    def _sorted(self, bound: Bound, order_by: Sequence[ast.OrderItem]) -> Bound:
        """ORDER BY over a whole query: by its columns or their numbers."""
        if not order_by:
            return bound
        relation = Relation.of(bound.node, "", bound.names)
        keys: list[Order] = []
        for item in order_by:
            number = scalar.ordinal(item.expr)
            if number is not None and not 1 <= number <= len(bound.names):
                raise BindError(
                    f"there is no column {number} in this query",
                    span=item.expr.span,
                    hint=f"a number from 1 to {len(bound.names)}",
                )
            key = (
                column(bound.node.columns[number - 1]) if number is not None else resolve(item.expr, relation).scalar()
            )
            keys.append(Order(key, item.descending, item.nulls_first))
        span = spanning([item.expr.span for item in order_by])
        return replace(bound, node=nodes.Sort(bound.node, tuple(keys), span=span))

    @staticmethod
    def _order(name: str, item: ast.OrderItem) -> Order:
        return Order(column(name), item.descending, item.nulls_first)
