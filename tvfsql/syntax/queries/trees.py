"""Parses the text of a query or an expression to one tree of sqlglot, and words sqlglot's errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from tvfsql.errors import Span, SqlSyntaxError
from tvfsql.syntax.checks.literals import refuse_invalid
from tvfsql.syntax.databases import current
from tvfsql.syntax.dialect import parse_at
from tvfsql.syntax.known import refuse_unknown
from tvfsql.syntax.queries.grouping import distinct_sets, refuse_all_columns
from tvfsql.syntax.queries.semi_joins import in_for_any
from tvfsql.syntax.types.words import nearest_type


def tree_of(text: str, span: Span, kind: type[exp.Expr]) -> exp.Expr:
    """Parse the text to one tree of the wanted kind; errors have places in the text."""
    try:
        trees = parse_at(text, span.start, None if kind is exp.Query else exp.Condition)
    except ParseError as error:
        detail = error.errors[0] if error.errors else {}
        message, hint = _message(detail)
        raise SqlSyntaxError(message, span=_place(text, detail, span), hint=hint) from error
    except TokenError as error:
        raise SqlSyntaxError("this text is not valid SQL", span=span) from error
    tree = trees[0].transform(_columns_of_row) if len(trees) == 1 and trees[0] is not None else None
    if isinstance(tree, exp.Values):
        tree = select_of(tree)
    if not isinstance(tree, kind):
        raise SqlSyntaxError("expected a query" if kind is exp.Query else "expected an expression", span=span)
    tree = tree.transform(distinct_sets).transform(_without_database)
    tree = tree.transform(in_for_any).transform(by_extreme).transform(_limit_for_fetch).transform(with_order_behind)
    refuse_all_columns(tree, text, span)
    refuse_unknown(tree, span)
    refuse_invalid(tree)
    return tree


def _columns_of_row(node: exp.Expr) -> exp.Expr:
    """VALUES ROW(1, 'a') has two columns, like VALUES (1, 'a')."""
    if not isinstance(node, exp.Values):
        return node
    rows = []
    for row in node.expressions:
        (inner,) = row.expressions if isinstance(row, exp.Tuple) and len(row.expressions) == 1 else (row,)
        of_row = isinstance(inner, exp.Anonymous) and inner.name.upper() == "ROW"
        rows.append(exp.Tuple(expressions=inner.expressions) if of_row else row)
    node.set("expressions", rows)
    return node


def select_of(values: exp.Values) -> exp.Select:
    """VALUES as a SELECT; columns without a name are named EXPR$n, as in Flink."""
    alias = values.args.get("alias")
    if alias and alias.columns:
        return exp.select("*").from_(values.copy())
    first = values.expressions[0]
    width = len(first.expressions) if isinstance(first, exp.Tuple) else 1
    names = [exp.to_identifier(f"EXPR${i}", quoted=True) for i in range(width)]
    named = values.copy()
    named.set("alias", exp.TableAlias(this=exp.to_identifier(alias.name if alias else "given"), columns=names))
    return exp.select("*").from_(named)


def _without_database(node: exp.Expr) -> exp.Expr:
    """A column `catalog.database.t.c` or `database.t.c` as `t.c`, if a FROM around it reads that table without an
    alias."""
    names = [*node.parts] if isinstance(node, exp.Column) else []
    around = node.find_ancestor(exp.Select)
    while around is not None and len(names) > 2:
        from_ = around.args.get("from_")
        for table in [each.this for each in (from_, *(around.args.get("joins") or ())) if each]:
            if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
                continue
            if (table.alias or table.name).lower() == names[0].name.lower():
                return node
            whole = [table.catalog or current().catalog, table.db or current().database, table.name]
            for before in (2, 1):
                path = [name.name.lower() for name in names[: before + 1]]
                if (
                    not table.alias
                    and len(names) > before + 1
                    and path == [each.lower() for each in whole[-len(path) :]]
                ):
                    kept = dict(zip(("this", "table", "db", "catalog"), reversed(names[before:]), strict=False))
                    return exp.Column(**kept)
        around = around.find_ancestor(exp.Select)
    return node


def _limit_for_fetch(node: exp.Expr) -> exp.Expr:
    """FETCH FIRST n ROWS ONLY as LIMIT n; without a number it is one row."""
    options = node.args.get("limit_options")
    if (
        not isinstance(node, exp.Fetch)
        or options is None
        or options.args.get("percent")
        or options.args.get("with_ties")
    ):
        return node
    return exp.Limit(expression=node.args.get("count") or exp.Literal.number(1))


def _message(detail: Mapping[str, Any]) -> tuple[str, str | None]:
    """The problem and a hint; in our own words if sqlglot's message would name its classes."""
    text = str(detail.get("description", "syntax error")).rstrip(".")
    word = str(detail.get("highlight") or "")
    if text.startswith("Invalid expression") and word:
        return f"unexpected {word}", None
    if text == "Expected TYPE after CAST":
        return f"unknown type {word}", nearest_type(word)
    if text.startswith("Required keyword") or "<class" in text:
        side = "before" if word == ")" else "after"
        return f"something is missing {side} {word}" if word else "something is missing here", None
    text, _, token = text.partition(" but got ")
    if text == "Expected table name":
        return f"a table name is missing {'after' if 'SENTINEL' in token else 'before'} {word}", None
    return text if text[1:2].isupper() else text[0].lower() + text[1:], None


def _place(text: str, detail: Mapping[str, Any], fallback: Span) -> Span:
    """The span of an error; sqlglot counts lines and columns in the text at `fallback`."""
    if not detail.get("line"):
        return fallback
    start = 0
    for _ in range(detail["line"] - 1):
        start = text.index("\n", start) + 1
    end = start + detail["col"]
    first = max(start, end - max(1, len(detail.get("highlight") or "")))
    return Span(fallback.start + first, fallback.start + max(end, start + 1))


# The order of a list that an aggregate makes, wherever it is written.


LISTS = (exp.ArrayAgg, exp.GroupConcat)
COLLECT_LIST = "COLLECT_LIST"


def with_order_behind(node: exp.Expr) -> exp.Expr:
    """ARRAY_AGG(x ORDER BY y) as ARRAY_AGG(x) WITHIN GROUP (ORDER BY y), likewise LISTAGG and COLLECT_LIST. sqlglot
    has the order of LISTAGG in its argument in any case.
    """
    values = [node.this] if isinstance(node, LISTS) else node.expressions if _is_collect_list(node) else []
    if len(values) != 1 or not isinstance(values[0], exp.Order) or values[0].this is None:
        return node
    order: exp.Order = values[0]
    if isinstance(node, LISTS):
        node.set("this", order.this)
    else:
        node.set("expressions", [order.this])
    order.set("this", None)
    return exp.WithinGroup(this=node.copy(), expression=order)


def _is_collect_list(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.upper() == COLLECT_LIST


# `x > ALL (SELECT ...)` and `x > ANY (SELECT ...)`, by the extreme of the rows and their number.


LOWER, UPPER = (exp.GT, exp.GTE), (exp.LT, exp.LTE)


def by_extreme(node: exp.Expr) -> exp.Expr:
    """A comparison with ALL or ANY rows of a query as a comparison with their MAX or MIN; any other node is unchanged.

    Without rows ALL holds and ANY does not. Else the result is NULL if x or a row is NULL, unless a row decides it.
    """
    if not isinstance(node, LOWER + UPPER) or not isinstance(node.expression, exp.All | exp.Any):
        return node
    query = node.expression.this.unnest()
    if not isinstance(query, exp.Query):
        return node
    of_all = isinstance(node.expression, exp.All)
    extreme = exp.Max if isinstance(node, LOWER) == of_all else exp.Min
    rows, values = _aggregated(query, exp.Count, star=True), _aggregated(query, exp.Count)
    holds = type(node)(this=node.this.copy(), expression=_aggregated(query, extreme))
    empty = exp.EQ(this=rows, expression=exp.Literal.number(0))
    unknown = exp.or_(exp.Is(this=node.this.copy(), expression=exp.Null()), exp.LT(this=values, expression=rows.copy()))
    decided = exp.Not(this=exp.paren(holds)) if of_all else holds
    branches = ((empty, _truth(of_all)), (decided, _truth(not of_all)), (unknown, exp.Null()))
    return exp.Case(ifs=[exp.If(this=when, true=then) for when, then in branches], default=_truth(of_all))


def _truth(value: bool) -> exp.Boolean:
    return exp.Boolean(this=value)


def _aggregated(query: exp.Query, function: type[exp.Func], *, star: bool = False) -> exp.Subquery:
    """A query for an aggregate of the only column of a query, or for the number of its rows."""
    if _is_plain(query):
        item = query.expressions[0].unalias()
        made = query.copy()
        made.set("expressions", [function(this=exp.Star() if star else item.copy())])
        made.set("order", None)
        return exp.Subquery(this=made)
    names = exp.TableAlias(this=exp.to_identifier("quantified"), columns=[exp.to_identifier("item")])
    value = exp.Star() if star else exp.column("item")
    return exp.Subquery(this=exp.select(function(this=value)).from_(exp.Subquery(this=query.copy(), alias=names)))


def _is_plain(query: exp.Query) -> bool:
    """Whether the rows are those of FROM and WHERE, so that the aggregate can take the place of the column."""
    clauses = {key for key, value in query.args.items() if value}
    return (
        isinstance(query, exp.Select)
        and clauses <= {"expressions", "from_", "joins", "where", "order"}
        and len(query.expressions) == 1
        and not query.is_star
        and not query.expressions[0].find(exp.AggFunc, exp.Window)
    )
