"""Arithmetic with Flink's types: operands whose type differs in Spark are cast first."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tvfsql.bind.flink.made import made
from tvfsql.errors import UnsupportedError
from tvfsql.plan.types import ORDER, SqlType, is_decimal, is_float, is_integer, is_number

TypeOf = Callable[[exp.Expr], SqlType]
LESS_THAN_A_DAY = ("HOUR", "MINUTE", "SECOND", "MILLISECOND")
BY_FLOAT = "IF({1} = 0, {0} * POWER({1}, -1), {0} / {1})"  # division by zero gives infinity or NaN


def computed(node: exp.Binary, type_of: TypeOf) -> exp.Expr | None:
    """Return an operator that Spark computes differently; None if Spark's result is the same. Operands may get a
    cast.
    """
    left, right = type_of(node.left), type_of(node.right)
    if is_integer(left) and is_integer(right):
        return _of_integers(node, left, right)
    if (is_float(left) or is_float(right)) and isinstance(node, exp.Div) and is_number(left) and is_number(right):
        divisor = node.right.unnest()
        if isinstance(divisor, exp.Literal) and float(divisor.name) != 0:
            return None
        return made(BY_FLOAT, [node.left, node.right], "double")
    for side, kind, other in (("this", left, right), ("expression", right, left)):
        if is_decimal(kind) and (is_decimal(other) or is_integer(other)):
            node.set(side, below_one(node.args[side]))
        if is_integer(kind) and is_decimal(other):
            node.set(side, _as_decimal(node.args[side], kind))
    _refuse_hours_of_a_date(node, left)
    return None


def _of_integers(node: exp.Binary, left: SqlType, right: SqlType) -> exp.Expr | None:
    """The quotient of integers is an integer, and a remainder has the type of the divisor."""
    if isinstance(node, exp.Div):
        wider = max(left, right, key=lambda kind: ORDER[kind])
        quotient = "({0} DIV {1})" if wider == "bigint" else f"CAST({{0}} DIV {{1}} AS {wider.upper()})"
        return made(quotient, [node.left, node.right], wider)
    if isinstance(node, exp.Mod) and ORDER[right] < ORDER[left]:
        return made(f"CAST({{0}} % {{1}} AS {right.upper()})", [node.left, node.right], right)
    return None


def _as_decimal(tree: exp.Expr, kind: SqlType) -> exp.Expr:
    """Cast an integer beside a DECIMAL. A BIGINT has 19 digits in Flink and 20 in Spark. A literal has the digits of
    its type in Flink, and in Spark those that are written.
    """
    if kind == "bigint":
        return exp.cast(tree.copy(), "decimal(19, 0)")
    return exp.cast(tree.copy(), "int") if isinstance(tree.unnest(), exp.Literal | exp.Neg) else tree


def below_one(tree: exp.Expr) -> exp.Expr:
    """A literal below 1 has one digit before the point in Flink, and none in Spark."""
    if isinstance(tree, exp.Neg):
        return exp.Neg(this=below_one(tree.this))
    if not isinstance(tree, exp.Literal) or tree.is_string or tree.is_int or "e" in tree.name.lower():
        return tree
    whole, _, fraction = tree.name.partition(".")
    return tree if whole.strip("0") else exp.cast(tree.copy(), f"decimal({len(fraction) + 1}, {len(fraction)})")


def _refuse_hours_of_a_date(node: exp.Binary, left: SqlType) -> None:
    interval = node.right
    if left != "date" or not isinstance(interval, exp.Interval):
        return
    unit = interval.args.get("unit")
    if unit is not None and unit.name.upper() in LESS_THAN_A_DAY:
        raise UnsupportedError("hours cannot be added to a DATE", hint="CAST(dt AS TIMESTAMP(3)) + INTERVAL '1' HOUR")
