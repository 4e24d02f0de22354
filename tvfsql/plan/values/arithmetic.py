"""The result type of `left op right` in Spark's ANSI mode: Spark's rules for coercion and decimal precision."""

from __future__ import annotations

from tvfsql.plan.values.types import (
    BIGINT,
    DOUBLE,
    FLOAT,
    INT,
    INTEGERS,
    ORDER,
    SMALLINT,
    TINYINT,
    UNKNOWN,
    Decimal,
    SqlType,
    is_float,
    is_integer,
    is_number,
)

DIGITS = 38
AS_DECIMAL = {TINYINT: (3, 0), SMALLINT: (5, 0), INT: (10, 0), BIGINT: (20, 0)}


def arithmetic(op: str, left: SqlType, right: SqlType) -> SqlType:
    """Return the result type of `op`, one of + - * / %. An integer literal beside a decimal must be passed as the
    decimal of its digits.

    `/` of integers gives bigint, because tvfsql divides integers as Flink does. UNKNOWN if a side is not numeric.
    """
    if not (is_number(left) and is_number(right)):
        return UNKNOWN
    if is_float(left) or is_float(right):
        return FLOAT if left == right == FLOAT and op != "/" else DOUBLE
    if is_integer(left) and is_integer(right):
        return BIGINT if op == "/" else INTEGERS[max(ORDER[left], ORDER[right])]
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
    return Decimal(digits, scale)


def precision(kind: SqlType) -> tuple[int, int]:
    """Return the precision and scale of a decimal, or of the decimal that can hold an integer type."""
    return (kind.precision, kind.scale) if isinstance(kind, Decimal) else AS_DECIMAL[kind]
