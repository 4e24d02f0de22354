"""Binds the views that a query reads. Each statement that reads a view binds it: for the mode and the time zone of
that statement, and to the tables, views and functions that there are then.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest

from sqlglot import exp

from tvfsql.bind.scope import Bound
from tvfsql.catalog import View
from tvfsql.errors import BindError, Span, TvfSqlError
from tvfsql.plan.node import Field, instances
from tvfsql.plan.spans import moved
from tvfsql.syntax import ast, statements


def bound_view(view: View, span: Span, bind: Callable[[View], Bound]) -> Bound:
    """Return the plan of a view that a query names at `span`. `bind` binds the query of a view.

    Raises BindError if the view reads itself or if its columns have changed, and the errors of its query with their
    places in its own text.
    """
    create = view.definition
    assert isinstance(create, statements.CreateView), view.name
    try:
        bound = bind(view)
    except TvfSqlError as error:
        _place(error, view, create.query.span, span)
        raise
    names = tuple(name.text for name in create.columns)
    names = names if len(names) == len(bound.names) else bound.names
    _refuse_others(view, fields_of(names, bound), span)
    return Bound(moved(bound.node, span), names, bound.time)


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
