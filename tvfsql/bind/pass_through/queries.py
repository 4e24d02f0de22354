"""Pass-through queries, which Spark plans: Spark's SQL text, with placeholders for tables that tvfsql planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from tvfsql.bind.joins.unnest import with_views
from tvfsql.bind.pass_through.names import with_types
from tvfsql.bind.pass_through.over_windows import written_out
from tvfsql.bind.scalar import has_aggregate
from tvfsql.bind.spark_text.text import Holes, SparkText, in_spark_words, spark_text
from tvfsql.bind.user_function_calls import of_lists, users_in
from tvfsql.errors import BindError, Span, UnsupportedError
from tvfsql.plan.node import Field, Node
from tvfsql.plan.nodes import Item, Project, SparkSql
from tvfsql.plan.values.scalar import column, free_name
from tvfsql.plan.values.types import has_map
from tvfsql.syntax import ast
from tvfsql.syntax.queries.grouping import constant, refuse_shown_numbers
from tvfsql.syntax.queries.semi_joins import conjuncts

NAMED = (exp.Alias, exp.Aliases, exp.Column, exp.Dot, exp.Star)
ROW_BY_ROW = {"expressions", "from_", "laterals", "where"}


def bind_ordinary(body: ast.Ordinary, sources: Mapping[str, Node]) -> SparkSql:
    """Return the query over its sources as one operator. Raises BindError for a column that no table has."""
    typed, made = with_types(body.tree, sources, body.span)
    with_rows = with_views(typed, body.span)
    row_by_row = _is_row_by_row(with_rows, sources)
    tree = _decided(
        _with_constants(written_out(_named(of_lists(in_spark_words(with_rows, {}, body.span), body.span))), body.span)
    )
    holes: Holes[_Source] = Holes()
    text = spark_text(tree.transform(lambda node: _hole(node, sources, holes)), SparkText(), body.span)
    sql = "".join(
        f"{{{part.name}}}" if isinstance(part, _Source) else part.replace("{", "{{").replace("}", "}}")
        for part in holes.taken_apart(text)
    )
    fields = _fields(made, body.span)
    if tree.args.get("distinct") and (maps := [field.name for field in fields if has_map(field.type)]):
        reason = f"DISTINCT of {maps[0]}, which is or has a MAP, is not supported beside {body.reason}"
        raise UnsupportedError(reason, span=body.because, hint="SELECT DISTINCT * FROM (SELECT ...)")
    functions = users_in(tree)
    inputs, names = tuple(_with_columns_of(tree, source) for source in sources.values()), tuple(sources)
    return SparkSql(inputs, names, sql, fields, body.reason, functions, row_by_row, span=body.because)


def _with_columns_of(tree: exp.Expr, source: Node) -> Node:
    """A source with the columns that a query may mean by its names: the others are not read, nor can they fail."""
    stars = (each for each in tree.find_all(exp.Star) if not isinstance(each.parent, exp.Count))
    if any(stars) or any(join.args.get("method") for join in tree.find_all(exp.Join)):
        return source
    if any(alias.columns for alias in tree.find_all(exp.TableAlias)):
        return source
    meant = {each.name.casefold() for each in tree.find_all(exp.Identifier)}
    kept = [each.name for each in source.schema if each.name.casefold() in meant]
    kept = kept or [each.name for each in source.schema[:1]]
    if len(kept) == len(source.schema):
        return source
    return Project(source, tuple(Item(name, column(name)) for name in kept), span=source.span)


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


def _with_constants(tree: exp.Expr, span: Span) -> exp.Expr:
    """A number in GROUPING SETS, ROLLUP and CUBE is a constant, which Spark would take for a position; so is a number
    in GROUP BY that cannot be a position."""
    for sets in tree.find_all(exp.GroupingSets, exp.Rollup, exp.Cube):
        parts = [constant(part) for part in sets.expressions]
        sets.set("expressions", parts if isinstance(sets, exp.GroupingSets) else [*dict.fromkeys(parts)])
        if (select := sets.find_ancestor(exp.Select)) is not None:
            refuse_shown_numbers(sets.find_all(exp.Cast), select.expressions, span)
    for group in tree.find_all(exp.Group):
        items = group.parent.expressions if isinstance(group.parent, exp.Select) else []
        places = {str(at) for at, item in enumerate(items, 1) if not item.find(exp.AggFunc, exp.Window)}
        keys = [key if key.name in places else constant(key) for key in group.expressions]
        group.set("expressions", keys)
    return tree


def _decided(tree: exp.Expr) -> exp.Expr:
    """The query with conditions of subqueries alone, as in `WHERE (SELECT MAX(b) FROM t)`, written so that Spark does
    not push them into a scan: its reader of JSON fails at a condition without columns, once the subquery has a value.
    """
    conditions = [
        *(each.this for each in tree.find_all(exp.Where)),
        *(each.args.get("on") for each in tree.find_all(exp.Join)),
    ]
    for condition in filter(None, conditions):
        for part in [*conjuncts(condition)]:
            if part.find(exp.Subquery) and _is_truth(part):
                part.replace(exp.Coalesce(this=exp.paren(part), expressions=[exp.false()]))
    return tree


def _is_truth(condition: exp.Expr) -> bool:
    """Whether a condition is made of subqueries and constants alone."""
    match condition:
        case exp.Paren() | exp.Not():
            return _is_truth(condition.this)
        case exp.And() | exp.Or():
            return _is_truth(condition.left) and _is_truth(condition.right)
    return isinstance(condition, exp.Subquery | exp.Boolean | exp.Null)


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


def _fields(made: tuple[Field, ...] | None, span: Span) -> tuple[Field, ...]:
    """The query's output columns. A name that occurs twice, in any case, gets a number."""
    if made is None:
        raise BindError("this * cannot be expanded", span=span, hint="list the columns by name")
    fields: list[Field] = []
    for part in made:
        fields.append(replace(part, name=free_name(part.name, [field.name for field in fields])))
    return tuple(fields)
