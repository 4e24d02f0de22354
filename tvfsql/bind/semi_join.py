"""Binds EXISTS and IN to semi-joins, and NOT EXISTS and NOT IN to anti-joins, of rows in the same window, and on
streams of rows whose times are near each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tvfsql.bind import scalar
from tvfsql.bind.relation import Sources, beside
from tvfsql.bind.scope import Relation, resolve
from tvfsql.errors import BindError, Span
from tvfsql.plan import nodes
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.analysis.window_joins import NoWindowJoin, window_join
from tvfsql.plan.values.scalar import Scalar, column, template
from tvfsql.plan.values.types import BOOLEAN, SqlType
from tvfsql.syntax import ast


def matched(relation: Relation, match: ast.Match, sources: Sources) -> Relation | None:
    """Return the rows of a relation for which `match` holds; None if Spark computes this join: in batch all but window
    joins.

    Conditions of the other query that read the relation's columns become join conditions; names are looked up in the
    other query first. NOT IN drops a row that has a NULL or is compared with one.
    """
    query = match.query
    body = query.body
    conditions: list[Scalar] = []
    if isinstance(body, ast.Select) and _plain(query, body):
        assert body.relation is not None
        inner = beside(sources.bind(body.relation), relation.node.columns)

        def lookup(table: str | None, name: str, span: Span | None) -> tuple[str, SqlType]:
            found = (inner if inner.matches(table, name) else relation).lookup(table, name, span)
            return found.plan, found.type

        if body.where:
            conditions += _conditions(body.where, lookup)
        items = [scalar.resolve(item.expr, lookup).scalar() for item in body.items if item.expr] \
            if match.operands else []  # fmt: skip
    else:
        try:
            bound = sources.query(query)
        except BindError:  # it may be correlated, or wrong: binding it as a pass-through query will show which
            return None
        inner = beside(Relation.of(bound.node, "", bound.names), relation.node.columns)
        items = [column(part.plan, part.type) for part in inner.visible]
    if len(items) != len(match.operands) and match.operands:
        return None
    operands = [resolve(expr, relation).scalar() for expr in match.operands]
    own = [one for one in conditions if one.columns and one.columns <= {*inner.node.columns}]
    node = nodes.Filter(inner.node, tuple(own), span=match.span) if own else inner.node
    made = nodes.Join(relation.node, node, "anti" if match.negated else "semi")
    equal = [_equal(made, *pair, match.negated) for pair in zip(operands, items, strict=False)]
    rest = (*(one for one in conditions if one not in own), *equal)
    made = nodes.Join(made.left, made.right, made.kind, rest, span=match.span)
    of_rows = window_of(made.left) is None and window_of(made.right) is None
    planned = sources.options.streaming and of_rows
    return None if isinstance(window_join(made), NoWindowJoin) and not planned else relation.on(made)


def _plain(query: ast.Query, body: ast.Select) -> bool:
    """Whether the query's rows are those of FROM that satisfy WHERE: no grouping, ranking or LIMIT."""
    grouped = body.group_by or body.grouping_sets or body.having or body.over or body.matches
    limited = query.limit is not None or query.offset or query.ctes
    aggregated = any(item.expr and scalar.has_aggregate(item.expr.tree) for item in body.items)
    return body.relation is not None and not (grouped or limited or aggregated)


def _conditions(where: ast.Expr, lookup: scalar.Lookup) -> Iterator[Scalar]:
    resolved = scalar.resolve(where, lookup)
    if scalar.has_aggregate(resolved.tree):
        raise BindError("aggregates are not allowed in WHERE", span=where.span, hint="use HAVING")
    return (scalar.condition(part, "WHERE") for part in scalar.conjuncts(resolved))


def _equal(join: nodes.Join, operand: Scalar, item: Scalar, negated: bool) -> Scalar:
    """The condition that an operand of IN equals a value of the other query. NOT IN also matches NULLs on either
    side.
    """
    one, other = column("$o", operand.type), column("$i", item.type)
    same = scalar.equal(one, other).substitute({"$o": operand, "$i": item})
    parts = {"o": operand, "i": item, "same": replace(same, atomic=True)}
    left, right = window_of(join.left), window_of(join.right)
    of_window = left and right and operand.column and item.column and left.kind(operand.column)
    if not negated or (of_window and right and of_window == right.kind(item.column or "")):
        return same
    return template("{same} OR {o} IS NULL OR {i} IS NULL", parts, BOOLEAN, atomic=False)
