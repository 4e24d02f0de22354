"""Binds INSERT: to a plan that ends in a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NoReturn

from tvfsql.bind import scalar
from tvfsql.bind.flink.operators.implicit_casts import is_implicit
from tvfsql.bind.query import QueryBinder
from tvfsql.bind.scope import Bound
from tvfsql.bind.statements.table import known_column, refuse_repeated
from tvfsql.bind.statements.upsert_keys import conflict_of, refuse_other_keys
from tvfsql.catalog import Catalog, Table, TableColumn
from tvfsql.errors import BindError, Span, UnsupportedError, spanning
from tvfsql.options import Options
from tvfsql.plan import nodes
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.node import Field, Node
from tvfsql.plan.nodes import Item, Project
from tvfsql.plan.values.scalar import Scalar, column, free_name, template, text
from tvfsql.plan.values.types import (
    DATE,
    MILLIS,
    STRING,
    UNBOUNDED,
    SqlType,
    Time,
    VarBinary,
    has_length,
    is_number,
    is_time,
)
from tvfsql.syntax import ast, statements


def bind_insert(insert: statements.Insert, catalog: Catalog, options: Options) -> nodes.Sink:
    """Return the plan of an INSERT: its query's columns, by position, cast to those of the table. A changelog table
    receives inserts (+I), unless the query emits changes (`physical.streams.changes`). Raises BindError.
    """
    table = catalog.get(insert.table.text, insert.table.span)
    catalog.refuse_file(insert.table.text, insert.table.span)
    if not isinstance(table, Table) or table.connector is None:
        kind = "a registered DataFrame" if isinstance(table, Table) else "a view"
        problem = f"{table.name} is {kind}, which INSERT cannot fill"
        raise BindError(problem, span=insert.table.span, hint="INSERT INTO a table with a connector")
    if changes := table.connector.changes:
        changes.refuse_insert(table.name, insert.table.span)
        if table.partitioned_by:
            raise UnsupportedError(
                f"INSERT into {table.name} does not work: messages of {changes.format} are not partitioned",
                span=insert.table.span,
                hint=f"leave out PARTITIONED BY in CREATE TABLE {table.name}",
            )
    if not_stored := [part.name for part in table.columns if part.scalar and part.name in table.partitioned_by]:
        raise UnsupportedError(
            f"INSERT into {table.name} does not work: it is partitioned by {not_stored[0]}, which is computed",
            span=insert.table.span,
            hint=f"partition columns can be CAST(ts AS DATE) or DATE_FORMAT(ts, 'yyyy-MM-dd') of a TIMESTAMP in files; "
            f"or declare {not_stored[0]} with a type",
        )
    stored = tuple(part for part in table.written if part.name != table.op and not part.of_folder)
    metadata = {name: part.metadata for name, part in table.metadata.items() if part in stored and part.metadata}
    table.connector.refuse_insert(table.name, metadata, insert.overwrite, insert.table.span)
    bound = _with_partition(QueryBinder(catalog, options).bind(insert.query), insert, table, stored)
    fixed = [known_column(name, stored) for name, _ in insert.partition]
    wanted = [known_column(name, stored) for name in insert.columns]
    wanted = (wanted or [part.name for part in stored if part.name not in fixed]) + fixed
    refuse_repeated([*insert.columns, *(name for name, _ in insert.partition)])
    if len(wanted) != len(bound.names):
        raise BindError(
            f"{table.name} has {_columns(len(wanted))}, but the query has {len(bound.names)}",
            span=insert.query.span,
            hint=f"INSERT INTO {table.name} ({', '.join(wanted)}) SELECT ...",
        )
    _refuse_missing(insert, table, stored, wanted)
    given = dict(zip(wanted, bound.node.schema, strict=True))
    from_query = {name: field.name for name, field in given.items()}
    if insert.conflict:
        conflict = conflict_of(insert.conflict, bound.node, table, from_query)
    else:
        refuse_other_keys(bound.node, table, from_query, insert.table.span)
        conflict = ""
    for part in stored:
        if part.name in given and not is_implicit(given[part.name].type, part.type):
            expr = _expression_of(insert.query, wanted.index(part.name))
            raise BindError(
                f"column {part.name} of {table.name} is {part.type.flink}, but the query gives "
                f"{(given[part.name].type).flink}",
                span=expr.span if expr else insert.query.span,
                hint=_cast_of(expr, given[part.name].type, part.type) if expr else None,
            )
        _refuse_one_byte(part, given, table, insert.table.span)
    of_windows = _window_columns(bound.node)

    def item(part: TableColumn) -> Item:
        if part.name == table.op:
            return Item(part.name, text("'+I'", STRING))
        value = _stored(part, given)
        if part.nullable or from_query.get(part.name) in of_windows:
            return Item(part.name, value)
        return Item(part.name, _not_null(value, f"{part.name} of {table.name}"))

    given_parts = tuple(part for part in table.written if not part.of_folder)
    rows = Project(bound.node, tuple(map(item, given_parts)), span=insert.query.span)
    if table.of_folders:
        own = {part.name: column(part.name, part.type) for part in given_parts}
        values = (Item(part.name, part.of_folder or own[part.name]) for part in table.written)
        rows = Project(rows, tuple(values), span=insert.query.span)
    target = insert.overwrite, conflict, table.takes_changes, table.upserts
    return nodes.Sink(rows, table.name, *target, span=insert.table.span)


def _refuse_one_byte(part: TableColumn, given: Mapping[str, Field], table: Table, span: Span) -> None:
    """Raise BindError where BYTES, such as a sketch, would be cut to the one byte of BINARY and VARBINARY."""
    source = given[part.name].type if part.name in given else None
    if not isinstance(part.type, VarBinary) or not isinstance(source, VarBinary):
        return
    if part.type.length == 1 and source.length == UNBOUNDED:
        raise BindError(
            f"column {part.name} of {table.name} has one byte, as {part.type.flink}, but the query gives BYTES",
            span=span,
            hint=f"{part.name} BYTES in CREATE TABLE {table.name}, or a CAST that cuts the value",
        )


def _with_partition(bound: Bound, insert: statements.Insert, table: Table, stored: tuple[TableColumn, ...]) -> Bound:
    """The query with a last column per column of PARTITION, which holds its value. Raises BindError."""
    if not insert.partition:
        return bound
    names = [known_column(name, stored) for name, _ in insert.partition]
    for name, (written, _) in zip(names, insert.partition, strict=True):
        if name not in table.partitioned_by:
            hint = f"SELECT ..., its value, or PARTITIONED BY ({name}) in CREATE TABLE {table.name}"
            raise BindError(f"{table.name} is not partitioned by {name}", span=written.span, hint=hint)
    if insert.overwrite:
        hint = f"INSERT OVERWRITE {table.name} SELECT ..., which replaces the partitions that it has rows for"
        raise UnsupportedError("PARTITION does not work with INSERT OVERWRITE", span=insert.table.span, hint=hint)

    def constant(of: str | None, name: str, span: Span | None) -> NoReturn:
        raise BindError(f"the value of a partition is a constant, not {name}", span=span, hint="PARTITION (p = 'k')")

    values = [scalar.resolve(expr, constant).scalar() for _, expr in insert.partition]
    taken = {field.name.lower() for field in bound.node.schema}
    free = [free_name(name, lambda each: each.lower() in taken) for name in names]
    own = tuple(Item(field.name, column(field.name, field.type)) for field in bound.node.schema)
    node = Project(bound.node, (*own, *map(Item, free, values)), span=insert.query.span)
    return replace(bound, node=node, names=(*bound.names, *free))


def _refuse_missing(
    insert: statements.Insert, table: Table, stored: tuple[TableColumn, ...], wanted: Collection[str]
) -> None:
    """Raise BindError if the INSERT leaves out a column that cannot be NULL."""
    for part in stored:
        if part.name not in wanted and (not part.nullable or part.name in table.primary_key):
            why = "is NOT NULL" if not part.nullable else "belongs to the PRIMARY KEY"
            raise BindError(
                f"column {part.name} of {table.name} {why}, but the INSERT leaves it out",
                span=spanning([name.span for name in insert.columns]),
                hint=f"INSERT INTO {table.name} ({', '.join([*wanted, part.name])}) SELECT ...",
            )


def _stored(part: TableColumn, given: Mapping[str, Field]) -> Scalar:
    """The value of a column. A time is converted as by CAST; a DECIMAL that does not fit is an error, not NULL."""
    if part.name not in given:
        return text(f"CAST(NULL AS {part.type.ddl})", part.type)
    source = given[part.name]
    value = column(source.name, source.type)
    if any(map(_is_cut, part.type.walk())) and (_is_cut(part.type) or source.type.flink != part.type.flink):
        return scalar.fit_column(source.name, source.type, part.type)
    if source.type == part.type:
        return value
    if any(map(is_time, source.type.walk())):
        return scalar.cast_column(source.name, source.type, part.type)
    return template(f"CAST({{x}} AS {part.type.ddl})", {"x": value}, part.type)


def _is_cut(kind: SqlType) -> bool:
    """Whether a value has no more letters, bytes or digits than its type, although Spark stores more."""
    return has_length(kind) or (is_time(kind) and kind.digits < MILLIS)


def _not_null(value: Scalar, of: str) -> Scalar:
    """The value; Spark fails if it is NULL."""
    failure = scalar.text_literal(f"[TVFSQL_NOT_NULL] {of}")
    return template("COALESCE({x}, RAISE_ERROR({y}))", {"x": value, "y": failure}, value.type)


def _window_columns(query: Node) -> Collection[str]:
    """The columns of a query that hold its windows, which are never NULL."""
    window = window_of(query)
    return (*window.starts, *window.ends, *window.times) if window else ()


def _expression_of(query: ast.Query, position: int) -> ast.Expr | None:
    """The expression at that position of the query; None if an asterisk may have produced the column."""
    body = query.body
    while isinstance(body, ast.Query | ast.SetOperation):
        body = body.body if isinstance(body, ast.Query) else body.left.body
    items = body.items if isinstance(body, ast.Select) else ()
    return items[position].expr if position < len(items) and all(item.expr for item in items) else None


def _cast_of(expr: ast.Expr, given: SqlType, wanted: SqlType) -> str | None:
    """The explicit CAST to write instead; None if there is none."""
    of_numbers = is_number(given) and is_number(wanted)
    of_times = is_time(given) and (wanted == DATE or isinstance(wanted, Time))
    known = of_numbers or of_times or wanted == STRING or (given == STRING and not wanted.parts)
    return f"CAST({expr} AS {wanted.flink})" if known else None


def _columns(count: int) -> str:
    return f"{count} column{'s' if count != 1 else ''}"
