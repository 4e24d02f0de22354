"""Binds CREATE TABLE, CREATE VIEW and INSERT: to entries of the catalog, and to plans that end in a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tvfsql.bind import scalar
from tvfsql.bind.flink.zone import local_zone
from tvfsql.bind.query import QueryBinder
from tvfsql.bind.scope import Relation, Visible
from tvfsql.bind.upsert_keys import conflict_of, refuse_other_keys
from tvfsql.catalog import Catalog, Table, TableColumn, View, Watermark
from tvfsql.catalog.changelog import OP, changelog_option
from tvfsql.catalog.connectors import Connector, connector_of, without_ignored
from tvfsql.catalog.history import HISTORY, history_options
from tvfsql.catalog.watermarks import watermark_options
from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.options import Options
from tvfsql.plan import nodes
from tvfsql.plan.node import Field
from tvfsql.plan.nodes import Item, Project
from tvfsql.plan.scalar import PROCTIME, Scalar, column, template, text
from tvfsql.plan.types import SqlType, ddl, is_number, is_time, shown
from tvfsql.syntax import ast, statements

# Metadata that differ between messages even if these describe the same row.
OF_MESSAGE = ("offset", "timestamp")


def bind_table(create: statements.CreateTable) -> Table:
    """Return the table that a CREATE TABLE describes. Raises BindError."""
    _refuse_repeated([part.name for part in create.columns])
    if create.names:
        name = create.names[0]
        raise BindError(f"column {name.text} has no type", span=name.span, hint=f"{name.text} STRING")
    stored = [
        TableColumn(part.name.text, part.type, None, part.comment, part.metadata, part.virtual)
        for part in create.columns
        if isinstance(part, statements.Column)
    ]
    options: dict[str, str] = {}
    for option in create.options:
        if options.get(option.key, option.value) != option.value:
            raise BindError(f"option {option.key} is given twice", span=option.span)
        options[option.key] = option.value
    spans = {option.key: option.span for option in create.options}
    of_rows = [Field(part.name, part.type) for part in stored if part.metadata is None]
    op, others = changelog_option(options, spans, of_rows)
    visible = tuple(Visible(create.name.text, part.name, part.name, part.type) for part in stored if part.name != op)
    fields = tuple(Field(part.name, part.type) for part in stored)
    relation = Relation(nodes.Scan(create.name.text, fields), visible)
    columns = tuple(
        next(known for known in stored if known.name == part.name.text)
        if isinstance(part, statements.Column)
        else _computed(part, relation)
        for part in create.columns
    )
    places = {part.name.text: part.name.span for part in create.columns}
    moves, others = watermark_options(others, spans)
    timed = create.watermark is not None
    history, of_connector = history_options(others, spans, create.name.text, local_zone(), timed=timed)
    mark = bind_watermark(create.watermark, columns) if create.watermark else None
    with_meaning, ignored = without_ignored(of_connector, spans)
    key = tuple(_known(name, columns) for name in create.primary_key)
    declared = {part.name.text: part.declared for part in create.columns if isinstance(part, statements.Column)}
    declared |= {name: replace(kind, nullable=False) for name in key if (kind := declared.get(name))}
    connector = connector_of(
        with_meaning, spans, create.name.span, of_rows, places, create.name.text, key, op, declared
    )
    if op and connector.changes:
        problem = f"{OP} does not work with format {connector.changes.format}"
        raise BindError(problem, span=spans[OP], hint=f"leave out {OP}")
    if history is not None and (op or connector.is_changelog):
        problem = f"{HISTORY} needs insert-only rows, but {create.name.text} is a changelog"
        raise BindError(problem, span=spans[HISTORY], hint=f"leave out {HISTORY}")
    for part in stored:
        _check_metadata(part, connector, places[part.name])
        if (op or connector.changes) and part.metadata in OF_MESSAGE:
            problem = f"a changelog cannot have the metadata column {part.metadata}"
            hint = f"leave out {part.name}"
            raise BindError(problem, span=places[part.name], hint=hint)
    for name in create.distributed_by:
        _known(name, columns)
    return Table(
        create.name.text,
        columns,
        connector,
        replace(mark, on_event=moves.on_event) if mark else None,
        tuple(_known(name, columns) for name in create.partitioned_by),
        tuple(options.items()),
        moves.idle_timeout,
        op,
        (*ignored, *(["DISTRIBUTED"] if create.distributed else [])),
        create,
        history,
        moves.late_output,
        key,
    )


def _check_metadata(part: TableColumn, connector: Connector, span: Span) -> None:
    """Raise BindError for a metadata column that the connector does not have."""
    if part.metadata is None:
        return
    known = connector.metadata
    if part.metadata not in known:
        hint = did_you_mean(part.metadata, known) or "leave out METADATA; 'connector' = 'kafka' has some"
        raise BindError(f"connector {connector.name} has no metadata {part.metadata}", span=span, hint=hint)
    kinds = known[part.metadata]
    if part.type not in kinds:
        wanted = " or ".join(map(shown, kinds))
        hint = f"{part.name} {shown(kinds[0])} METADATA FROM '{part.metadata}' VIRTUAL"
        raise BindError(f"metadata {part.metadata} is {wanted}, not {shown(part.type)}", span=span, hint=hint)


def bind_watermark(mark: statements.Watermark, columns: tuple[TableColumn, ...]) -> Watermark:
    """Return the watermark of a table with these columns. Raises BindError if its column is missing or is not a
    time.
    """
    name = _known(mark.column, columns)
    kind = next(part.type for part in columns if part.name == name)
    if any(part.name == name and part.scalar == PROCTIME for part in columns):
        raise BindError(
            f"{name} is processing time, which needs no watermark",
            span=mark.column.span,
            hint=f"leave out WATERMARK FOR {name}",
        )
    if not is_time(kind):
        raise BindError(
            f"a watermark needs a TIMESTAMP(3) or TIMESTAMP_LTZ(3) column, but {name} is {shown(kind)}",
            span=mark.column.span,
            hint=f"rt AS CAST({name} AS TIMESTAMP(3)), WATERMARK FOR rt AS rt",
        )
    fields = tuple(Field(part.name, part.type) for part in columns)
    relation = Relation.of(nodes.Scan("", fields), "")
    return Watermark(name, _scalar(mark.expr, relation))


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


def bind_insert(insert: statements.Insert, catalog: Catalog, options: Options) -> nodes.Sink:
    """Return the plan of an INSERT: its query's columns, by position, cast to those of the table. A changelog table
    receives inserts (+I), unless the query emits changes (`physical.firing`). Raises BindError.
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
    wanted = [_known(name, stored) for name in insert.columns] or [part.name for part in stored]
    _refuse_repeated(list(insert.columns))
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


def _computed(part: statements.ComputedColumn, relation: Relation) -> TableColumn:
    value = _scalar(part.expr, relation)
    return TableColumn(part.name.text, value.type, value, part.comment)


def _scalar(expr: ast.Expr, relation: Relation) -> Scalar:
    def lookup(table: str | None, name: str, span: Span | None) -> tuple[str, str]:
        found = relation.lookup(table, name, span)
        return found.plan, found.type

    resolved = scalar.resolve(expr, lookup)
    if scalar.has_aggregate(resolved.tree):
        raise BindError("aggregates are not allowed in computed columns", span=expr.span)
    return resolved.scalar()


def _columns(count: int) -> str:
    return f"{count} column{'s' if count != 1 else ''}"


def _known(name: ast.Name, columns: tuple[TableColumn, ...]) -> str:
    found = next((part.name for part in columns if part.name.lower() == name.text.lower()), None)
    if found is None:
        hint = did_you_mean(name.text, [part.name for part in columns], otherwise="columns: ")
        raise BindError(f"the table has no column {name.text}", span=name.span, hint=hint)
    return found


def _refuse_repeated(names: list[ast.Name]) -> None:
    seen: set[str] = set()
    for name in names:
        if name.text.lower() in seen:
            raise BindError(f"two columns are named {name.text}", span=name.span)
        seen.add(name.text.lower())
