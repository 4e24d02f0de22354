"""Binds CREATE VIEW: to a view of the catalog."""

from __future__ import annotations

from tvfsql.bind.query import QueryBinder
from tvfsql.catalog import View
from tvfsql.errors import BindError
from tvfsql.syntax import statements


def bind_view(create: statements.CreateView, binder: QueryBinder, source: str) -> View:
    """Return the view that a CREATE VIEW describes; `source` is the script's text. Raises BindError."""
    bound = binder.bind(create.query)
    names = tuple(name.text for name in create.columns) or bound.names
    if len(names) != len(bound.names):
        raise BindError(
            f"view {create.name.text} lists {len(names)} columns, but its query has {len(bound.names)}",
            span=create.name.span,
        )
    span = create.query.span
    return View(create.name.text, bound.node, names, source[span.start : span.end], bound.time)
