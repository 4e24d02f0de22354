"""The keys of a query whose rows replace those of a table, and what ON CONFLICT says about it.

Source: ON CONFLICT DO NOTHING, ERROR or DEDUPLICATE of Flink 2.3, which says which of several rows with one primary key
stays if the query's own keys are others. As in Flink, such queries with groups are refused without the clause.
"""

from __future__ import annotations

from collections.abc import Mapping

from tvfsql.catalog import Table
from tvfsql.errors import BindError, Span, UnsupportedError
from tvfsql.plan import nodes
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.node import Node
from tvfsql.plan.tables.options import CONFLICTS, DEDUPLICATE
from tvfsql.syntax import ast


def refuse_other_keys(query: Node, table: Table, given: Mapping[str, str], span: Span) -> None:
    """Raise BindError if rows of a query would replace each other in a table, because they are groups of other columns
    than its primary key.

    `given` are the query's columns by those of the table. Other queries are accepted: their last row of a key stays, as
    in Flink.
    """
    keys = _keys(table)
    missing = _missing(query, {given[key] for key in keys if key in given}) if keys else ()
    if missing:
        raise BindError(
            f"the primary key of {table.name} is ({', '.join(keys)}), but the query has a row for each "
            f"{', '.join(missing)} too, so rows would replace each other",
            span=span,
            hint=f"{_addition(query, table, given, missing)}, or ON CONFLICT DO {DEDUPLICATE}: the last row of each "
            f"({', '.join(keys)}) stays, and the others are lost",
        )


def _addition(query: Node, table: Table, given: Mapping[str, str], missing: tuple[str, ...]) -> str:
    """The hint to add columns to a primary key, and to the SELECT list unless they are there. One column that tells
    the window is enough, best one of the SELECT list.
    """
    columns = {shown: ours for ours, shown in given.items()}
    inserted = {group: columns[shown] for group, shown in _shown(query).items() if shown in columns}
    window = window_of(_grouped(query))
    of_window = [name for name in missing if window and name in (*window.starts, *window.ends, *window.times)]
    of_one_window = next((name for name in (*inserted, *of_window) if name in of_window), None)
    needed = [name for name in missing if name not in of_window or name == of_one_window]
    absent = [name for name in needed if name not in inserted]
    key = f"the PRIMARY KEY of {table.name}"
    if not absent:
        return f"add {', '.join(inserted[name] for name in needed)} to {key}"
    if len(absent) == len(needed):
        return f"add {', '.join(needed)} to the SELECT list and to {key}"
    names = ", ".join(inserted.get(name, name) for name in needed)
    return f"add {', '.join(absent)} to the SELECT list, and {names} to {key}"


def _grouped(node: Node) -> Node:
    """The operator whose groups are the rows of a query."""
    while isinstance(node, nodes.Project | nodes.Filter | nodes.Sort | nodes.Limit):
        (node,) = node.children
    return node


def _shown(node: Node) -> dict[str, str]:
    """The column of a query for each column of its groups that it shows unchanged."""
    match node:
        case nodes.Project(source, items):
            names = {item.scalar.column: item.name for item in items if item.scalar.column}
            return {group: names[below] for group, below in _shown(source).items() if below in names}
        case nodes.Filter(source) | nodes.Sort(source) | nodes.Limit(source):
            return _shown(source)
    return {name: name for name in node.columns}


def conflict_of(conflict: ast.Name, query: Node, table: Table, given: Mapping[str, str]) -> str:
    """Return what an INSERT with ON CONFLICT does with rows that have one primary key (`conflicts`); "" if there cannot
    be any, because the key identifies the query's rows.

    Raises BindError if the clause has no meaning for the table, UnsupportedError if the table cannot do it.
    """
    if conflict.text not in CONFLICTS:
        raise BindError(
            f"ON CONFLICT DO {conflict.text} is unknown", span=conflict.span, hint=f"ON CONFLICT DO {DEDUPLICATE}"
        )
    keys = _keys(table)
    if not keys:
        raise BindError(
            f"ON CONFLICT needs a table whose rows are replaced by PRIMARY KEY; {table.name} only appends",
            span=conflict.span,
            hint="PRIMARY KEY (k) NOT ENFORCED, with 'connector' = 'jdbc', 'spark-catalog' or 'upsert-kafka'",
        )
    if _missing(query, {given[key] for key in keys if key in given}) == ():
        return ""
    connector = table.connector
    assert connector is not None, table.name
    known = (DEDUPLICATE,) if table.op is not None else connector.conflicts
    if conflict.text not in known:
        of = f"{table.name}, a changelog" if table.op is not None else f"connector {connector.name}"
        raise UnsupportedError(
            f"ON CONFLICT DO {conflict.text} is not supported for {of}",
            span=conflict.span,
            hint=" or ".join(f"ON CONFLICT DO {word}" for word in known),
        )
    return conflict.text


def _keys(table: Table) -> tuple[str, ...]:
    return table.connector.replaces_by if table.connector else ()


def _missing(node: Node, columns: set[str]) -> tuple[str, ...] | None:
    """The columns that identify rows of a query together with `columns`, but not these alone. None if nothing is known
    to identify rows, as of a query that is not grouped.
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
            return None
    window = window_of(node)
    if window and (window.named_by(columns) or window.is_told_by(columns)):
        columns = {*columns, *window.starts, *window.ends, *window.times}
    return tuple(key for key in groups if key not in columns)
