"""TYPEOF: Flink's name of an expression's type, with NOT NULL if it is never NULL."""

from __future__ import annotations

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import Made
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values.types import BYTES, STRING, UNKNOWN, Row, SqlType, element_type

NEVER_NULL = exp.Coalesce | exp.Predicate | exp.Count | exp.Array | exp.Struct
CLOCKS = ("NOW()", "CURRENT_TIMESTAMP()")


def type_name(tree: exp.Expr, kind: SqlType) -> str:
    """The type's name, for a column, a constant, or an expression that can be NULL."""
    if isinstance(tree, exp.Null):
        return "NULL"
    if kind == UNKNOWN:
        raise UnsupportedError("the type of this expression is only known when Spark runs it", hint="TYPEOF(column)")
    if isinstance(tree, exp.Literal):
        return (f"CHAR({len(tree.name)})" if tree.is_string else kind.flink) + " NOT NULL"
    if isinstance(tree, exp.Boolean | exp.CurrentTimestamp) or _is_clock(tree) or _is_constant_cast(tree, kind):
        return f"{_shown(kind)} NOT NULL"
    if isinstance(tree, exp.Array) and tree.expressions and all(map(_is_number, tree.expressions)):
        return f"ARRAY<{element_type(kind).flink} NOT NULL> NOT NULL"
    if isinstance(tree, NEVER_NULL) or tree.find(exp.Column) is None:
        raise UnsupportedError(
            "TYPEOF takes a column, a literal, or an expression that can be NULL", hint="TYPEOF(column)"
        )
    return _shown(kind)


def _shown(kind: SqlType) -> str:
    if not isinstance(kind, Row) and any(isinstance(part, Row) for part in kind.walk()):
        raise UnsupportedError("the type of this expression is only known when Spark runs it", hint="TYPEOF(column)")
    return kind.flink


def _is_clock(tree: exp.Expr) -> bool:
    return isinstance(tree, Made) and not tree.expressions and any(clock in tree.template for clock in CLOCKS)


def _is_constant_cast(tree: exp.Expr, kind: SqlType) -> bool:
    """Whether it is a CAST of a literal to a type without a length."""
    literal = tree.this if isinstance(tree, exp.Cast) else None
    return isinstance(literal, exp.Literal) and kind not in (STRING, BYTES)


def _is_number(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Literal) and not tree.is_string
