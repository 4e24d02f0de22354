"""The keys of a query whose rows replace those of a table."""

from __future__ import annotations

from collections.abc import Mapping

from tvfsql.catalog import Table
from tvfsql.errors import BindError, Span
from tvfsql.plan import nodes
from tvfsql.plan.node import Node
from tvfsql.plan.properties import window_of


def refuse_other_keys(query: Node, table: Table, given: Mapping[str, str], span: Span) -> None:
    """Raise BindError if rows of a query would replace each other in a table, because they are groups of other columns
    than its primary key.

    `given` are the query's columns by those of the table. Other queries are accepted: their last row of a key stays, as
    in Flink.
    """
    keys = table.connector.replaces_by if table.connector else ()
    missing = _missing(query, {given[key] for key in keys if key in given}) if keys else ()
    if missing:
        raise BindError(
            f"the primary key of {table.name} is ({', '.join(keys)}), but the query has a row for each "
            f"{', '.join(missing)} too, so rows would replace each other",
            span=span,
            hint=f"add {', '.join(missing)} to the SELECT list and to the PRIMARY KEY of {table.name}",
        )


def _missing(node: Node, columns: set[str]) -> tuple[str, ...]:
    """The columns that identify rows of a query together with `columns`, but not these alone. None are known for rows
    that are not grouped.
    """
    match node:
        case nodes.Project(source, items):
            below = {item.scalar.column for item in items if item.name in columns and item.scalar.column}
            return _missing(source, below)
        case nodes.Filter(source) | nodes.Sort(source) | nodes.Limit(source):
            return _missing(source, columns)
        case nodes.Distinct():
            groups: tuple[str, ...] = node.columns
        case nodes.Aggregate(keys=groups):
            pass
        case _:
            return ()
    window = window_of(node)
    if window and (window.named_by(columns) or window.is_told_by(columns)):
        columns = {*columns, *window.starts, *window.ends, *window.times}
    return tuple(key for key in groups if key not in columns)
