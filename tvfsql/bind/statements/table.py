"""Binds CREATE TABLE to a table of the catalog, with its watermark, and CREATE VIEW to a view."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.bind import scalar
from tvfsql.bind.flink.operators.cast_pairs import as_time
from tvfsql.bind.flink.zone import local_zone
from tvfsql.bind.query import QueryBinder
from tvfsql.bind.scope import Relation, Visible
from tvfsql.bind.views import fields_of
from tvfsql.catalog import Catalog, Table, TableColumn, View, Watermark
from tvfsql.catalog.connectors import Connector, connector_of, without_ignored
from tvfsql.catalog.table_options import HISTORY, OP, changelog_option, history_options, watermark_options
from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.options import Options
from tvfsql.plan import nodes
from tvfsql.plan.node import Field
from tvfsql.plan.values.scalar import PROCTIME, Scalar, quoted
from tvfsql.plan.values.types import UNKNOWN, SqlType, is_time
from tvfsql.syntax import ast, statements

# Metadata that differ between messages even if these describe the same row.
OF_MESSAGE = ("offset", "timestamp")


def bind_table(create: statements.CreateTable) -> Table:
    """Return the table that a CREATE TABLE describes. Raises BindError."""
    refuse_repeated([part.name for part in create.columns])
    if create.names:
        name = create.names[0]
        raise BindError(f"column {name.text} has no type", span=name.span, hint=f"{name.text} STRING")
    if not create.columns:
        what = "a table of files" if any(option.key == "path" for option in create.options) else "a table"
        hint = f"CREATE TABLE {quoted(create.name.text)} (id BIGINT, ts TIMESTAMP(3), ...) WITH (...)"
        raise BindError(f"{what} needs columns", span=create.name.span, hint=hint)
    stored = [_column(part) for part in create.columns if isinstance(part, statements.Column)]
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
    key = tuple(known_column(name, columns) for name in create.primary_key)
    written = [part for part in create.columns if isinstance(part, statements.Column)]
    declared = {part.name.text: part.type if part.written else None for part in written}
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
        known_column(name, columns)
    partitioned_by = tuple(known_column(name, columns) for name in create.partitioned_by)
    return Table(
        create.name.text,
        tuple(_of_folder(part, connector) if part.name in partitioned_by else part for part in columns),
        connector,
        replace(mark, on_event=moves.on_event) if mark else None,
        partitioned_by,
        tuple(options.items()),
        moves.idle_timeout,
        op,
        (*ignored, *(["DISTRIBUTED"] if create.distributed else [])),
        create,
        history,
        moves.late_output,
        key,
    )


def _column(part: statements.Column) -> TableColumn:
    kind = replace(part.type, nullable=True)
    return TableColumn(part.name.text, kind, None, part.comment, part.metadata, part.virtual, part.type.nullable)


def _of_folder(part: TableColumn, connector: Connector) -> TableColumn:
    """A partition column, which is read from names of folders if it rises with the column that it is computed from."""
    if part.scalar is None or not connector.is_folder or part.scalar.rising is None or not part.scalar.rising.exact:
        return part
    return replace(part, scalar=None, of_folder=part.scalar)


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
        wanted = " or ".join(kind.flink for kind in kinds)
        hint = f"{part.name} {kinds[0].flink} METADATA FROM '{part.metadata}' VIRTUAL"
        raise BindError(f"metadata {part.metadata} is {wanted}, not {part.type.flink}", span=span, hint=hint)


def bind_watermark(mark: statements.Watermark, columns: tuple[TableColumn, ...]) -> Watermark:
    """Return the watermark of a table with these columns. Raises BindError if its column is missing or is not a
    time.
    """
    name = known_column(mark.column, columns)
    kind = next(part.type for part in columns if part.name == name)
    if any(part.name == name and part.scalar == PROCTIME for part in columns):
        raise BindError(
            f"{name} is processing time, which needs no watermark",
            span=mark.column.span,
            hint=f"leave out WATERMARK FOR {name}",
        )
    if not is_time(kind):
        raise BindError(
            f"a watermark needs a TIMESTAMP(3) or TIMESTAMP_LTZ(3) column, but {name} is {kind.flink}",
            span=mark.column.span,
            hint=f"rt AS {made}, WATERMARK FOR rt AS rt" if (made := as_time(quoted(name), kind)) else None,
        )
    fields = tuple(Field(part.name, part.type) for part in columns)
    relation = Relation.of(nodes.Scan("", fields), "")
    value = _scalar(mark.expr, relation)
    if value.type not in (UNKNOWN, kind):
        raise BindError(
            f"the watermark of {name} must be {kind.flink} as {name} is, but this is {value.type.flink}",
            span=mark.expr.span,
            hint=f"WATERMARK FOR {name} AS {name} - INTERVAL '5' SECOND",
        )
    return Watermark(name, value)


def _computed(part: statements.ComputedColumn, relation: Relation) -> TableColumn:
    value = _scalar(part.expr, relation)
    return TableColumn(part.name.text, value.type, value, part.comment)


def _scalar(expr: ast.Expr, relation: Relation) -> Scalar:
    def lookup(table: str | None, name: str, span: Span | None) -> tuple[str, SqlType]:
        found = relation.lookup(table, name, span)
        return found.plan, found.type

    resolved = scalar.resolve(expr, lookup)
    if scalar.has_aggregate(resolved.tree):
        raise BindError("aggregates are not allowed in computed columns", span=expr.span)
    return resolved.scalar()


# Binds CREATE VIEW: to a view of the catalog.


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


# Lists of column names in statements.


def known_column(name: ast.Name, columns: tuple[TableColumn, ...]) -> str:
    """Return the column's name as the table spells it. Raises BindError if the table lacks it."""
    found = next((part.name for part in columns if part.name.lower() == name.text.lower()), None)
    if found is None:
        hint = did_you_mean(name.text, [part.name for part in columns], otherwise="columns: ")
        raise BindError(f"the table has no column {name.text}", span=name.span, hint=hint)
    return found


def refuse_repeated(names: list[ast.Name]) -> None:
    """Raise BindError at the first name that occurs twice; the case of letters does not matter."""
    seen: set[str] = set()
    for name in names:
        if name.text.lower() in seen:
            raise BindError(f"two columns are named {name.text}", span=name.span)
        seen.add(name.text.lower())
