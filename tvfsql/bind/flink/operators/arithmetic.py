"""Arithmetic with Flink's types: operands whose type differs in Spark are cast first."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import made
from tvfsql.bind.flink.time.wall_clock import INSTANT, in_utc, of_utc
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

TypeOf = Callable[[exp.Expr], SqlType]
SYMBOLS = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Mod: "%"}
BY_FLOAT = "IF({1} = 0, {0} * POWER({1}, -1), {0} / {1})"  # division by zero gives infinity or NaN


def computed(node: exp.Binary, type_of: TypeOf) -> exp.Expr | None:
    """Return an operator that Spark computes differently; None if Spark's result is the same. Operands may get a
    cast.
    """
    left, right = type_of(node.left), type_of(node.right)
    if types.is_integer(left) and types.is_integer(right):
        return _of_integers(node, left, right)
    if types.is_number(left) and types.is_number(right) and _is_float(left, right):
        operands = "CAST({0} AS FLOAT)", "CAST({1} AS FLOAT)"
        template = BY_FLOAT if isinstance(node, exp.Div) else f"{{0}} {SYMBOLS[type(node)]} {{1}}"
        return made(f"CAST({template.format(*operands)} AS FLOAT)", [node.left, node.right], types.FLOAT)
    if (
        (types.is_float(left) or types.is_float(right))
        and isinstance(node, exp.Div)
        and types.is_number(left)
        and types.is_number(right)
    ):
        divisor = node.right.unnest()
        if isinstance(divisor, exp.Literal) and float(divisor.name) != 0:
            return None
        return made(BY_FLOAT, [node.left, node.right], types.DOUBLE)
    for side, kind, other in (("this", left, right), ("expression", right, left)):
        if types.is_decimal(kind) and (types.is_decimal(other) or types.is_integer(other)):
            node.set(side, below_one(node.args[side]))
        if types.is_integer(kind) and types.is_decimal(other):
            node.set(side, _as_decimal(node.args[side], kind))
    return _moved_date(node, left, right) or _moved_instant(node, left, right)


def _is_float(left: SqlType, right: SqlType) -> bool:
    """Whether the result is a FLOAT: of FLOATs and integers, and if the first is a FLOAT, with a DOUBLE too."""
    if left == types.FLOAT:
        return types.is_float(right) or types.is_integer(right)
    return right == types.FLOAT and types.is_integer(left)


def _of_integers(node: exp.Binary, left: SqlType, right: SqlType) -> exp.Expr | None:
    """The quotient of integers is an integer, and a remainder has the type of the divisor."""
    if isinstance(node, exp.Div):
        wider = max(left, right, key=lambda kind: types.ORDER[kind])
        quotient = "({0} DIV {1})" if wider == types.BIGINT else f"CAST({{0}} DIV {{1}} AS {wider.ddl})"
        return made(quotient, [node.left, node.right], wider)
    if isinstance(node, exp.Mod) and types.ORDER[right] < types.ORDER[left]:
        return made(f"CAST({{0}} % {{1}} AS {right.ddl})", [node.left, node.right], right)
    return None


def _as_decimal(tree: exp.Expr, kind: SqlType) -> exp.Expr:
    """Cast an integer beside a DECIMAL. A BIGINT has 19 digits in Flink and 20 in Spark. A literal has the digits of
    its type in Flink, and in Spark those that are written.
    """
    if kind == types.BIGINT:
        return exp.cast(tree.copy(), "decimal(19, 0)")
    return exp.cast(tree.copy(), "int") if isinstance(tree.unnest(), exp.Literal | exp.Neg) else tree


def below_one(tree: exp.Expr) -> exp.Expr:
    """The literal 0.5 has one digit before the point in Flink, and none in Spark. In both, .5 has none."""
    if isinstance(tree, exp.Neg):
        return exp.Neg(this=below_one(tree.this))
    if not isinstance(tree, exp.Literal) or tree.is_string or tree.is_int or "e" in tree.name.lower():
        return tree
    whole, _, fraction = tree.name.partition(".")
    if not whole or whole.strip("0"):
        return tree
    return exp.cast(tree.copy(), f"decimal({len(fraction) + 1}, {len(fraction)})")


def _moved_date(node: exp.Binary, left: SqlType, right: SqlType) -> exp.Expr | None:
    """A DATE plus or minus an interval of days and hours moves by the interval's whole days, and stays a DATE."""
    if not isinstance(node, exp.Add | exp.Sub) or {left, right} != {types.DATE, types.INTERVAL_SECONDS}:
        return None
    date, interval = (node.left, node.right) if left == types.DATE else (node.right, node.left)
    days = "EXTRACT(DAY FROM {1} + INTERVAL '0 00:00:00' DAY TO SECOND)"
    return made(f"DATE_ADD({{0}}, {'-' if isinstance(node, exp.Sub) else ''}{days})", [date, interval], types.DATE)


def _moved_instant(node: exp.Binary, left: SqlType, right: SqlType) -> exp.Expr | None:
    """A TIMESTAMP_LTZ plus or minus months."""
    if not isinstance(node, exp.Add | exp.Sub) or {left, right} != {INSTANT, types.INTERVAL_MONTHS}:
        return None
    instant, months = (node.left, node.right) if left == INSTANT else (node.right, node.left)
    sign = "+" if isinstance(node, exp.Add) else "-"
    return made(of_utc(f"{in_utc('{0}')} {sign} {{1}}"), [instant, months], INSTANT)
