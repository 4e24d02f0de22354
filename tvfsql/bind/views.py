"""Binds the views that a query reads: for the mode and the time zone of the statement that reads them, and to the
tables, views and functions that there are then. A view is bound again only if one of these is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest

from sqlglot import exp

from tvfsql.bind.scope import Bound
from tvfsql.catalog import Catalog, Table, View
from tvfsql.errors import BindError, Span, TvfSqlError
from tvfsql.options import Options
from tvfsql.options.known import RUNTIME_MODE
from tvfsql.plan.node import Field, Node, instances
from tvfsql.plan.spans import moved
from tvfsql.plan.values.user_function import UserFunction
from tvfsql.syntax import ast, statements


@dataclass
class Named:
    """What the query of a view names: `entries` of the catalog by name, and the plans of views in it. Beside each of
    `plans` stands the same without places in a text: only the view that reads it directly knows its place.
    """

    entries: dict[str, Table | View] = field(default_factory=dict)
    plans: list[tuple[Node, Node]] = field(default_factory=list)


@dataclass(frozen=True)
class BoundView:
    """The plan of a view, and all that it rests on: the CREATE VIEW, the options, the functions, and what its query
    `named`. Spark's tables are others in each statement, so views over them are bound in each.
    """

    bound: Bound
    definition: object
    options: Options
    functions: Mapping[str, UserFunction]
    named: Named

    @classmethod
    def known(cls, view: View, catalog: Catalog, options: Options) -> BoundView | None:
        """A view as it was bound before; None if it must be bound again."""
        found = catalog.bound_views.get(_key(view, options))
        return found if isinstance(found, cls) and found._holds(view, catalog, options) else None

    def _holds(self, view: View, catalog: Catalog, options: Options) -> bool:
        if self.definition is not view.definition or (self.options, self.functions) != (options, catalog.functions):
            return False
        for name, entry in self.named.entries.items():
            if catalog.look_up(name) is not entry:
                return False
            if isinstance(entry, View) and self.known(entry, catalog, options) is None:
                return False
        return True

    def keep(self, view: View, catalog: Catalog) -> None:
        catalog.bound_views[_key(view, self.options)] = self

    @cached_property
    def placeless(self) -> Node:
        """Its plan without places."""
        return moved(self.bound.node, None, self.named.plans)


def _key(view: View, options: Options) -> tuple[str, str]:
    return view.name, str(options[RUNTIME_MODE])


def bound_view(view: View, span: Span, within: Named | None, bind: Callable[[View], BoundView]) -> Bound:
    """Return the plan of a view that a query names at `span`. `within`: what the view around that query names; None: it
    is the query of a statement. `bind` binds the query of a view.

    Raises BindError if the view reads itself or if its columns have changed, and the errors of its query with their
    places in its own text.
    """
    create = view.definition
    assert isinstance(create, statements.CreateView), view.name
    try:
        known = bind(view)
    except TvfSqlError as error:
        _place(error, view, create.query.span, span)
        raise
    bound = known.bound
    names = tuple(name.text for name in create.columns)
    names = names if len(names) == len(bound.names) else bound.names
    _refuse_others(view, fields_of(names, bound), span)
    if within is None:
        return Bound(moved(bound.node, span), names, bound.time)
    node = moved(bound.node, span, known.named.plans)
    within.plans.append((node, known.placeless))
    return Bound(node, names, bound.time)


def has_asterisk(query: ast.Query) -> bool:
    items = any(item.expr is None for item in instances(query, ast.SelectItem))
    return items or any(part.tree.find(exp.Star) for part in instances(query, ast.Ordinary))


def fields_of(names: tuple[str, ...], bound: Bound) -> tuple[Field, ...]:
    """The columns of a bound query under these names."""
    return tuple(Field(name, part.type) for name, part in zip(names, bound.node.schema, strict=True))


def _refuse_others(view: View, now: tuple[Field, ...], span: Span) -> None:
    """Raise BindError if the query has not the columns and types that it had at CREATE VIEW."""
    for old, new in zip_longest(view.fields, now):
        if old != new:
            raise BindError(
                f"view {view.name} has changed since CREATE VIEW: it had {_shown(old)}, and now has {_shown(new)}",
                span=span,
                hint=f"CREATE OR REPLACE VIEW {view.name} AS ...",
            )


def _shown(part: Field | None) -> str:
    return f"{part.name} {part.type.flink}" if part else "no such column"


def _place(error: TvfSqlError, view: View, query: Span, span: Span) -> None:
    """Show the place of an error in the text of the view, unless it is in that of a view below."""
    if error.source is not None:
        return
    if error.span is None or not query.start <= error.span.start <= query.end:
        error.span = span
        return
    error.span = Span(error.span.start - query.start, error.span.end - query.start)
    error.within(view.sql, f"view {view.name}")
