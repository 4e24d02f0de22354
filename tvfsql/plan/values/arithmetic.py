"""The result type of `left op right` in Spark's ANSI mode: Spark's rules for coercion and decimal precision."""

from __future__ import annotations

from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

DIGITS = 38
AS_DECIMAL = {types.TINYINT: (3, 0), types.SMALLINT: (5, 0), types.INT: (10, 0), types.BIGINT: (20, 0)}


def arithmetic(op: str, left: SqlType, right: SqlType) -> SqlType:
    """Return the result type of `op`, one of + - * / %. An integer literal beside a decimal must be passed as the
    decimal of its digits.

    `/` of integers gives bigint, because tvfsql divides integers as Flink does. UNKNOWN if a side is not numeric.
    """
    if not (types.is_number(left) and types.is_number(right)):
        return types.UNKNOWN
    if types.is_float(left) or types.is_float(right):
        return types.FLOAT if left == right == types.FLOAT and op != "/" else types.DOUBLE
    if types.is_integer(left) and types.is_integer(right):
        return types.BIGINT if op == "/" else types.INTEGERS[max(types.ORDER[left], types.ORDER[right])]
    (p1, s1), (p2, s2) = precision(left), precision(right)
    match op:
        case "*":
            scale, digits = s1 + s2, p1 + p2 + 1
        case "/":
            scale = max(6, s1 + p2 + 1)
            digits = p1 - s1 + s2 + scale
        case "%":
            scale = max(s1, s2)
            digits = min(p1 - s1, p2 - s2) + scale
        case _:
            scale = max(s1, s2)
            digits = max(p1 - s1, p2 - s2) + scale + 1
    if digits > DIGITS:  # digits before the point take precedence; at least six after it are kept
        scale = max(DIGITS - (digits - scale), min(scale, 6))
        digits = DIGITS
    return types.Decimal(digits, scale)


def precision(kind: SqlType) -> tuple[int, int]:
    """Return the precision and scale of a decimal, or of the decimal that can hold an integer type."""
    return (kind.precision, kind.scale) if isinstance(kind, types.Decimal) else AS_DECIMAL[kind]
