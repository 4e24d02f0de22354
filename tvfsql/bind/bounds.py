"""The bounds of columns that a condition states, from its tree in Spark's words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sqlglot import exp

from tvfsql.bind.infer import infer
from tvfsql.bind.spark_text.functions import with_holes
from tvfsql.bind.user_function_calls import users_in
from tvfsql.errors import Span
from tvfsql.plan.values.scalar import Bound, Scalar
from tvfsql.plan.values.types import DATE, TIMESTAMP, TIMESTAMP_LTZ, UNKNOWN, SqlType

SIGNS: dict[type[exp.Expr], str] = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=", exp.EQ: "="}
FLIPPED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "=": "="}
TIMES = (TIMESTAMP, TIMESTAMP_LTZ)


def bounds_of(lowered: exp.Expr, types: dict[str, SqlType], span: Span) -> tuple[Bound, ...]:
    """The bounds that a condition states, if it only compares a column with times that read no column; else none."""
    return tuple(_bounds(lowered.unnest(), types, span))


def _bounds(tree: exp.Expr, types: dict[str, SqlType], span: Span) -> Iterator[Bound]:
    for column, sign, end in _comparisons(tree):
        kind = types.get(column.name, UNKNOWN) if isinstance(column, exp.Column) else UNKNOWN
        time = _time(end, kind) if kind in TIMES else None
        if time is not None:
            yield Bound(column.name, sign, Scalar(with_holes(time, span), kind, not isinstance(time, exp.Binary)))


def _comparisons(tree: exp.Expr) -> list[tuple[exp.Expr, str, exp.Expr]]:
    match tree:
        case exp.Between(args={"this": this, "low": low, "high": high}):
            return [(this.unnest(), ">=", low), (this.unnest(), "<=", high)]
        case exp.GT() | exp.GTE() | exp.LT() | exp.LTE() | exp.EQ():
            left, right, sign = tree.left.unnest(), tree.right.unnest(), SIGNS[type(tree)]
            return [(left, sign, right)] if isinstance(left, exp.Column) else [(right, FLIPPED[sign], left)]
    return []


def _time(tree: exp.Expr, wanted: SqlType) -> exp.Expr | None:
    """A time of the wanted type that reads no column; None for others."""
    tree = tree.unnest()
    if isinstance(tree, exp.Literal):
        return _wall_clock(tree) if wanted == TIMESTAMP and _is_time(tree) else None
    if tree.find(exp.Column, exp.Query, exp.AggFunc) or [*users_in(tree)]:
        return None
    if isinstance(tree, exp.Cast) and isinstance(tree.this, exp.Literal) and not _is_time(tree.this):
        return None
    kind = infer(tree, {})
    if kind == DATE and wanted == TIMESTAMP:
        return _wall_clock(tree)
    return tree if kind == wanted else None


def _wall_clock(tree: exp.Expr) -> exp.Expr:
    return exp.cast(tree.copy(), "timestamp_ntz", dialect="spark")


def _is_time(literal: exp.Literal) -> bool:
    """Whether a literal is a string that surely is a time."""
    try:
        return literal.is_string and bool(datetime.fromisoformat(literal.name))
    except ValueError:
        return False
