"""Binds INSERT: to a plan that ends in a table."""

from __future__ import annotations

from collections.abc import Mapping

from tvfsql.bind.query import QueryBinder
from tvfsql.bind.statements.column_lists import known_column, refuse_repeated
from tvfsql.bind.statements.upsert_keys import conflict_of, refuse_other_keys
from tvfsql.catalog import Catalog, Table, TableColumn
from tvfsql.catalog.changelog import OP
from tvfsql.errors import BindError
from tvfsql.options import Options
from tvfsql.plan import nodes
from tvfsql.plan.node import Field
from tvfsql.plan.nodes import Item, Project
from tvfsql.plan.values.scalar import column, template, text
from tvfsql.plan.values.types import SqlType, ddl, is_number, is_time, shown
from tvfsql.syntax import ast, statements


def bind_insert(insert: statements.Insert, catalog: Catalog, options: Options) -> nodes.Sink:
    """Return the plan of an INSERT: its query's columns, by position, cast to those of the table. A changelog table
    receives inserts (+I), unless the query emits changes (`physical.streams.firing`). Raises BindError.
    """
    table = catalog.get(insert.table.text, insert.table.span)
    if not isinstance(table, Table) or table.connector is None:
        kind = "a registered DataFrame" if isinstance(table, Table) else "a view"
        problem = f"{table.name} is {kind}, which INSERT cannot fill"
        raise BindError(problem, span=insert.table.span, hint="INSERT INTO a table with a connector")
    if table.connector.changes:
        raise BindError(
            f"{table.name} is read-only: its format is {table.connector.changes.format}",
            span=insert.table.span,
            hint=f"INSERT INTO a table with another format; '{OP}' = 'op' writes changes as rows",
        )
    stored = tuple(part for part in table.written if part.name != table.op)
    metadata = {name: part.metadata for name, part in table.metadata.items() if part in stored and part.metadata}
    table.connector.refuse_insert(table.name, metadata, insert.overwrite, insert.table.span)
    bound = QueryBinder(catalog, options).bind(insert.query)
    wanted = [known_column(name, stored) for name in insert.columns] or [part.name for part in stored]
    refuse_repeated(list(insert.columns))
    if len(wanted) != len(bound.names):
        raise BindError(
            f"{table.name} has {_columns(len(wanted))}, but the query has {len(bound.names)}",
            span=insert.query.span,
            hint=f"INSERT INTO {table.name} ({', '.join(wanted)}) SELECT ...",
        )
    given = dict(zip(wanted, bound.node.schema, strict=True))
    from_query = {name: field.name for name, field in given.items()}
    if insert.conflict:
        conflict = conflict_of(insert.conflict, bound.node, table, from_query)
    else:
        refuse_other_keys(bound.node, table, from_query, insert.query.span)
        conflict = ""
    for part in stored:
        if part.name in given and not _castable(given[part.name].type, part.type):
            expr = _expression_of(insert.query, wanted.index(part.name))
            raise BindError(
                f"column {part.name} of {table.name} is {shown(part.type)}, but the query gives "
                f"{shown(given[part.name].type)}",
                span=expr.span if expr else insert.query.span,
                hint=f"CAST({expr} AS {shown(part.type)})" if expr and given[part.name].type == "string" else None,
            )
    items = tuple(
        Item(part.name, text("'+I'", "string")) if part.name == table.op else _stored(part, given)
        for part in table.written
    )
    rows = Project(bound.node, items, span=insert.query.span)
    return nodes.Sink(rows, table.name, insert.overwrite, conflict, span=insert.table.span)


def _stored(part: TableColumn, given: Mapping[str, Field]) -> Item:
    if part.name not in given:
        return Item(part.name, text(f"CAST(NULL AS {ddl(part.type)})", part.type))
    source = given[part.name]
    value = column(source.name, source.type)
    if source.type == part.type:
        return Item(part.name, value)
    return Item(part.name, template(f"CAST({{x}} AS {ddl(part.type)})", {"x": value}, part.type))


def _expression_of(query: ast.Query, position: int) -> ast.Expr | None:
    """The expression at that position of the query; None if an asterisk may have produced the column."""
    body = query.body
    while isinstance(body, ast.Query | ast.SetOperation):
        body = body.body if isinstance(body, ast.Query) else body.left.body
    items = body.items if isinstance(body, ast.Select) else ()
    return items[position].expr if items and all(item.expr for item in items) else None


def _castable(given: SqlType, wanted: SqlType) -> bool:
    """Whether values of one type can be stored in a column of another; Spark decides finally. As in Flink, text is not
    converted implicitly.
    """
    if given == "string" and wanted != "string":
        return False
    families = [
        (is_time(kind), is_number(kind), kind == "boolean", "<" in kind)  # other types can be stored in any column
        for kind in (given, wanted)
    ]
    return families[0] == families[1] or not all(map(any, families))


def _columns(count: int) -> str:
    return f"{count} column{'s' if count != 1 else ''}"
