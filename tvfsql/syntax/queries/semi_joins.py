"""Finds EXISTS and IN with a subquery as conditions of WHERE in sqlglot's trees, and removes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp


@dataclass(frozen=True)
class MatchTree:
    """The condition that some row of `query` matches or, if `negated`, that none does; for IN with its `operands`."""

    whole: exp.Expr
    query: exp.Expr
    operands: tuple[exp.Expr, ...]
    negated: bool


def matches_of(tree: exp.Select) -> list[MatchTree]:
    """The matches that AND connects in WHERE. A match inside another expression is not included."""
    where = tree.args.get("where")
    return [found for part in conjuncts(where.this) if (found := _match(part))] if where else []


def without(where: exp.Expr, taken: list[MatchTree]) -> exp.Expr | None:
    """The other conditions that AND connects; None if there are none."""
    wholes = [match.whole for match in taken]
    rest = [part for part in conjuncts(where) if not any(part is whole for whole in wholes)]
    return exp.and_(*rest) if rest else None


def conjuncts(tree: exp.Expr) -> Iterator[exp.Expr]:
    inner = tree.unnest()
    if isinstance(inner, exp.And):
        for side in (inner.left, inner.right):
            yield from conjuncts(side)
    else:
        yield tree


def _match(whole: exp.Expr) -> MatchTree | None:
    tree, negated = whole.unnest(), False
    while isinstance(tree, exp.Not):
        tree, negated = tree.this.unnest(), not negated
    if isinstance(tree, exp.Exists) and isinstance(tree.this, exp.Query):
        return MatchTree(whole, tree.this.unnest(), (), negated)
    if isinstance(tree, exp.In) and isinstance(query := tree.args.get("query"), exp.Query):
        operand = tree.this.unnest()
        operands = tuple(operand.expressions) if isinstance(operand, exp.Tuple) else (operand,)
        if not any(part.find(exp.Query, exp.Window) for part in operands):
            return MatchTree(whole, query.unnest(), operands, negated)
    return None


def in_for_any(node: exp.Expr) -> exp.Expr:
    """`x = ANY (SELECT ...)` as IN, and `x <> ALL (SELECT ...)` as NOT IN; any other node is unchanged."""
    query = node.args.get("expression")
    if isinstance(node, exp.EQ) and isinstance(query, exp.Any) and isinstance(query.this, exp.Query):
        return exp.In(this=node.this, query=_in_parentheses(query.this))
    if isinstance(node, exp.NEQ) and isinstance(query, exp.All) and isinstance(query.this, exp.Query):
        return exp.Not(this=exp.In(this=node.this, query=_in_parentheses(query.this)))
    return node


def _in_parentheses(query: exp.Query) -> exp.Query:
    return query if isinstance(query, exp.Subquery) else exp.Subquery(this=query)
