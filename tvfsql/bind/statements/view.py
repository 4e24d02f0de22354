"""Binds CREATE VIEW: to a view of the catalog."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.bind.query import QueryBinder
from tvfsql.bind.views import fields_of
from tvfsql.catalog import Catalog, View
from tvfsql.errors import BindError
from tvfsql.options import Options
from tvfsql.syntax import statements


def bind_view(create: statements.CreateView, catalog: Catalog, options: Options, source: str) -> View:
    """Return the view that a CREATE VIEW describes; `source` is the script's text.

    Raises BindError if its name is taken, and the errors of its query.
    """
    span = create.query.span
    view = View(create.name.text, (), source[span.start : span.end], create)
    known = catalog.copy()  # which has the view already, so that one that reads itself is found
    if create.temporary and not create.or_replace:
        known.hide(view.name)
    known.add(view, replace=create.or_replace, span=create.name.span)
    bound = QueryBinder(known, options).bind_view(view).bound
    names = tuple(name.text for name in create.columns) or bound.names
    if len(names) != len(bound.names):
        raise BindError(
            f"view {view.name} lists {len(names)} columns, but its query has {len(bound.names)}",
            span=create.name.span,
        )
    return replace(view, fields=fields_of(names, bound))
