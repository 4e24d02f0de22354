"""Queries that Spark plans itself: their text in Spark's dialect, with holes for the tables that tvfsql planned."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.errors import OptimizeError
from sqlglot.optimizer.qualify import qualify

from tvfsql.bind.infer import infer
from tvfsql.bind.spark_words import SparkText, in_spark_words
from tvfsql.bind.users import of_lists, users_in
from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.plan.node import Field, Node
from tvfsql.plan.nodes import SparkSql
from tvfsql.plan.scalar import free_name
from tvfsql.syntax import ast


def bind_ordinary(body: ast.Ordinary, sources: Mapping[str, Node]) -> SparkSql:
    """The query over its sources as one operator. Raises BindError for a column that no table has."""
    _check_columns(body, sources)
    tree = _named(of_lists(in_spark_words(body.tree, {}, body.span), body.span))
    text = SparkText(dialect="spark").generate(tree.transform(lambda node: _hole(node, sources)))
    text = text.replace("{", "{{").replace("}", "}}").replace("\x03", "{").replace("\x04", "}")
    fields = _fields(tree, sources, body.span)
    return SparkSql(tuple(sources.values()), tuple(sources), text, fields, body.reason, users_in(tree))


def _named(tree: exp.Expr) -> exp.Expr:
    """The query with a name, EXPR$n as in Flink, for each column that has none."""
    tree = tree.copy()
    first = _first_select(tree)
    first.set(
        "expressions",
        [
            item if item.alias_or_name or isinstance(item, exp.Star) else exp.alias_(item, f"EXPR${i}", quoted=True)
            for i, item in enumerate(first.expressions)
        ],
    )
    return tree


def _first_select(tree: exp.Expr) -> exp.Query:
    """The SELECT that names the columns of a query."""
    while isinstance(tree, exp.SetOperation | exp.Subquery):
        tree = tree.this
    assert isinstance(tree, exp.Query), type(tree)
    return tree


def _hole(node: exp.Expr, sources: Mapping[str, Node]) -> exp.Expr:
    """A source becomes `{name}`: spark.sql() puts the DataFrame of that name there."""
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier) and node.name in sources:
        node.set("this", exp.Var(this=f"\x03{node.name}\x04"))  # the tree is transform's own copy
    return node


def _check_columns(body: ast.Ordinary, sources: Mapping[str, Node]) -> None:
    """Each column must be of some source, or be named in the query itself; Spark sees to the rest."""
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


def _fields(tree: exp.Expr, sources: Mapping[str, Node], span: Span) -> tuple[Field, ...]:
    """Names of the columns that the query puts out, and their types where they are certain."""
    schema: dict[str, object] = {name: dict.fromkeys(node.columns, "string") for name, node in sources.items()}
    try:
        full = qualify(tree.copy(), schema=schema, dialect="spark", validate_qualify_columns=False, identify=False)
    except OptimizeError as error:
        raise BindError(str(error).splitlines()[0], span=span) from error
    types = {field.name: field.type for node in sources.values() for field in node.schema}
    for node in sources.values():  # a name with two types is certain of neither
        types = {
            name: kind for name, kind in types.items() if all(f.type == kind for f in node.schema if f.name == name)
        }
    fields: list[Field] = []
    for item in _first_select(full).selects:
        if isinstance(item, exp.Star) or isinstance(item.this, exp.Star):
            raise BindError("the columns of this * are known to Spark alone", span=span, hint="list them by name")
        name = free_name(item.alias_or_name or "value", lambda taken: any(f.name == taken for f in fields))
        fields.append(Field(name, infer(item.unalias(), types)))
    return tuple(fields)
