"""`x > ALL (SELECT ...)` and `x > ANY (SELECT ...)`, by the extreme of the rows and their number."""

from __future__ import annotations

from sqlglot import exp

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
