"""Pass-through queries, which Spark plans: Spark's SQL text, with placeholders for tables that tvfsql planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import OptimizeError
from sqlglot.optimizer.qualify import qualify

from tvfsql.bind.flink.operators.common_type import of_values
from tvfsql.bind.infer import infer
from tvfsql.bind.joins.unnest import elements_of, with_views
from tvfsql.bind.scalar import has_aggregate
from tvfsql.bind.spark_text.functions import SparkText, in_spark_words, spark_text
from tvfsql.bind.spark_text.holes import Holes
from tvfsql.bind.user_function_calls import of_lists, users_in
from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.plan.node import Field, Node
from tvfsql.plan.nodes import SparkSql
from tvfsql.plan.values.scalar import free_name
from tvfsql.plan.values.types import UNKNOWN, SqlType, shown
from tvfsql.syntax import ast
from tvfsql.syntax.places import span_of

NAMED = (exp.Alias, exp.Aliases, exp.Column, exp.Dot, exp.Star)
ROW_BY_ROW = {"expressions", "from_", "laterals", "where"}
SEVERAL_COLUMNS = (exp.Posexplode, exp.PosexplodeOuter, exp.Inline, exp.Stack)


def bind_ordinary(body: ast.Ordinary, sources: Mapping[str, Node]) -> SparkSql:
    """Return the query over its sources as one operator. Raises BindError for a column that no table has."""
    _check_columns(body, sources)
    types = _types(body.tree, sources, body.span)
    with_rows = with_views(body.tree, types, body.span)
    row_by_row = _is_row_by_row(with_rows, sources)
    tree = _named(of_lists(in_spark_words(with_rows, types, body.span), body.span))
    holes: Holes[_Source] = Holes()
    text = spark_text(tree.transform(lambda node: _hole(node, sources, holes)), SparkText(), body.span)
    sql = "".join(
        f"{{{part.name}}}" if isinstance(part, _Source) else part.replace("{", "{{").replace("}", "}}")
        for part in holes.taken_apart(text)
    )
    fields = _fields(tree, sources, types, body.span)
    functions = users_in(tree)
    inputs, names = tuple(sources.values()), tuple(sources)
    return SparkSql(inputs, names, sql, fields, body.reason, functions, row_by_row, span=body.because)


def _is_row_by_row(tree: exp.Expr, sources: Mapping[str, Node]) -> bool:
    """Whether a query makes its rows from each row of one table alone: UNNEST, expressions and WHERE."""
    present = {key for key, value in tree.args.items() if value}
    others = (node for node in tree.find_all(exp.Query, exp.Window) if node is not tree)
    return (
        isinstance(tree, exp.Select)
        and present <= ROW_BY_ROW
        and len(sources) == 1
        and not any(others)
        and not has_aggregate(tree)
    )


def _named(tree: exp.Expr) -> exp.Expr:
    """Name each column that has no name: EXPR$n, as in Flink."""
    tree = tree.copy()
    first = _first_select(tree)
    first.set(
        "expressions",
        [
            item if isinstance(item.unnest(), NAMED) else exp.alias_(item, f"EXPR${i}", quoted=True)
            for i, item in enumerate(first.expressions)
        ],
    )
    return tree


def _first_select(tree: exp.Expr) -> exp.Query:
    """The SELECT that names the query's columns."""
    while isinstance(tree, exp.SetOperation | exp.Subquery):
        tree = tree.this
    assert isinstance(tree, exp.Query), type(tree)
    return tree


@dataclass(frozen=True)
class _Source:
    """A table that tvfsql planned, as `{name}` in the text; spark.sql() replaces it by the DataFrame of that name."""

    name: str


def _hole(node: exp.Expr, sources: Mapping[str, Node], holes: Holes[_Source]) -> exp.Expr:
    """Replace a source by a placeholder."""
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier) and node.name in sources:
        node.set("this", exp.Var(this=holes.leave(_Source(node.name))))  # the tree is transform's own copy
    return node


def _check_columns(body: ast.Ordinary, sources: Mapping[str, Node]) -> None:
    """Check that each column belongs to a source or is named in the query itself; Spark checks everything else."""
    known = {name.lower() for node in sources.values() for name in node.columns}
    known |= {alias.alias.lower() for alias in body.tree.find_all(exp.Alias)}
    known |= {part.name.lower() for alias in body.tree.find_all(exp.TableAlias) for part in alias.columns}
    tables = {alias.name.lower() for alias in body.tree.find_all(exp.TableAlias)}
    open_ended = any(body.tree.find_all(exp.UDTF, exp.Lambda, exp.Values, exp.Pivot))
    for node in body.tree.find_all(exp.Column):
        first = node.parts[0].name.lower()
        if open_ended or isinstance(node.this, exp.Star) or node.name.lower() in known or first in known:
            continue
        meta = node.this.meta
        span = Span(meta["start"], meta["end"] + 1) if "start" in meta else body.span
        names = sorted({name for source in sources.values() for name in source.columns})
        if node.table.lower() in tables:
            message = f"table {node.table} has no column {node.name}"
        elif len(sources) == 1:
            message = f"table {next(iter(sources))} has no column {node.name}"
        else:
            message = f"there is no column {node.name}"
        raise BindError(message, span=span, hint=did_you_mean(node.name, names, otherwise="columns: "))


def _types(tree: exp.Expr, sources: Mapping[str, Node], span: Span) -> dict[str, SqlType]:
    """The types of the columns of sources, VALUES and UNNEST, by name and, for sources, also by table and name
    (`t.name`). A name with two types, or that the query also defines, is UNKNOWN.
    """
    found: dict[str, SqlType] = {}
    of_sources = ((field.name, field.type) for node in sources.values() for field in node.schema)
    of_tables = (
        (f"{table.alias_or_name}.{field.name}", field.type)
        for table in tree.find_all(exp.Table)
        if table.name in sources
        for field in sources[table.name].schema
    )
    of_values = [column for values in tree.find_all(exp.Values) for column in _columns_of(values, span)]
    for name, kind in (*of_sources, *of_tables, *of_values):
        found[name] = kind if found.get(name, kind) == kind else UNKNOWN
    of_unnest = [*_of_unnest(tree, found, span)]
    for name, kind in of_unnest:
        found[name] = kind if found.get(name, kind) == kind else UNKNOWN
    aliases = (alias for alias in tree.find_all(exp.TableAlias) if not isinstance(alias.parent, exp.Values))
    given = {column.name for alias in aliases for column in alias.columns} - {name for name, _ in of_unnest}
    return {name: UNKNOWN if name in given else kind for name, kind in found.items()}


def _of_unnest(tree: exp.Expr, types: dict[str, SqlType], span: Span) -> Iterator[tuple[str, SqlType]]:
    """The names and types of the columns of each UNNEST of an array or a map of a known type."""
    for unnest in tree.find_all(exp.Unnest):
        kinds = [infer(in_spark_words(array, types, span), types) for array in unnest.expressions]
        if len(kinds) == 1 and kinds[0].startswith(("array<", "map<")):
            alias = unnest.args.get("alias") or exp.TableAlias()
            elements = elements_of(kinds[0], alias.name, numbered=False)
            names = [column.name for column in alias.columns] or [field.name for field in elements]
            yield from zip(names, (field.type for field in elements), strict=False)


def _columns_of(values: exp.Values, span: Span) -> Iterator[tuple[str, SqlType]]:
    """The names and types of the columns of VALUES. A type is UNKNOWN if Spark has to find what the rows have in
    common.
    """
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in values.expressions]
    width = len(rows[0])
    for row, cells in zip(values.expressions, rows, strict=True):
        if len(cells) != width:
            message = f"the first row of VALUES has {width} columns, but this one has {len(cells)}"
            raise BindError(message, span=span_of(row, span))
    alias = values.args.get("alias")
    if not isinstance(alias, exp.TableAlias) or not alias.columns:
        return
    if len(alias.columns) != width:
        message = f"{alias.name} lists {len(alias.columns)} columns, but has {width}"
        raise BindError(message, span=span_of(values, span))
    for column, *arms in zip(alias.columns, *rows, strict=True):
        lowered = [in_spark_words(arm, {}, span) for arm in arms]
        kind = of_values(lowered, lambda arm: infer(arm, {}))
        kinds = [infer(arm, {}) for arm in lowered if not isinstance(arm, exp.Null)]
        if kind == UNKNOWN and kinds and all(kinds):
            odd = next(arm for arm in arms if infer(arm, {}) not in (UNKNOWN, kinds[0]))
            message = f"the rows of VALUES have {', '.join(map(shown, dict.fromkeys(kinds)))} in column {column.name}"
            raise BindError(message, span=span_of(odd, span), hint=f"CAST(x AS {shown(kinds[0])})")
        yield column.name, kind


def _fields(tree: exp.Expr, sources: Mapping[str, Node], types: dict[str, SqlType], span: Span) -> tuple[Field, ...]:
    """The query's output columns, with their types where these are certain."""
    if isinstance(tree, exp.Select) and tree.is_star:
        if tree.args.get("from_") is None:
            raise BindError("SELECT * needs a FROM clause", span=span, hint="SELECT * FROM t")
        if isinstance(values := tree.args["from_"].this, exp.Values):
            return tuple(Field(column.name, types[column.name]) for column in values.args["alias"].columns)
    schema: dict[str, object] = {name: dict.fromkeys(node.columns, "string") for name, node in sources.items()}
    try:
        full = qualify(tree.copy(), schema=schema, dialect="spark", validate_qualify_columns=False, identify=False)
    except OptimizeError as error:
        raise BindError(str(error).splitlines()[0], span=span) from error
    fields: list[Field] = []
    for item in _first_select(full).selects:
        fields += _fields_of(item, types, {field.name for field in fields}, span)
    return tuple(fields)


def _fields_of(item: exp.Expr, types: dict[str, SqlType], taken: set[str], span: Span) -> list[Field]:
    """The output columns of a SELECT item; names in `taken` are in use already."""
    if isinstance(item, exp.Star) or isinstance(item.this, exp.Star):
        raise BindError("this * cannot be expanded", span=span, hint="list the columns by name")
    if isinstance(item, exp.Aliases):
        return [Field(part.name) for part in item.expressions]
    value = item.unalias()
    if isinstance(value, SEVERAL_COLUMNS):
        called = value.sql_name()
        raise BindError(f"{called} gives several columns", span=span_of(item, span), hint=f"{called}(...) AS (a, b)")
    return [Field(free_name(item.alias_or_name or "value", taken.__contains__), infer(value, types))]
