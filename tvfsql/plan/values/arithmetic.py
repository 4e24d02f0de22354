"""The result type of `left op right` in Spark's ANSI mode: Spark's rules for coercion and decimal precision."""

from __future__ import annotations

import re

from tvfsql.plan.values.types import INTEGERS, ORDER, UNKNOWN, SqlType, is_decimal, is_float, is_integer, is_number

DIGITS = 38
AS_DECIMAL = {"tinyint": (3, 0), "smallint": (5, 0), "int": (10, 0), "bigint": (20, 0)}


def arithmetic(op: str, left: SqlType, right: SqlType) -> SqlType:
    """Return the result type of `op`, one of + - * / %. An integer literal beside a decimal must be passed as the
    decimal of its digits.

    `/` of integers gives bigint, because tvfsql divides integers as Flink does. UNKNOWN if a side is not numeric.
    """
    if not (is_number(left) and is_number(right)):
        return UNKNOWN
    if is_float(left) or is_float(right):
        return "float" if left == right == "float" and op != "/" else "double"
    if is_integer(left) and is_integer(right):
        return "bigint" if op == "/" else INTEGERS[max(ORDER[left], ORDER[right])]
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
    return f"decimal({digits},{scale})"


def precision(kind: SqlType) -> tuple[int, int]:
    """Return the precision and scale of a decimal, or of the decimal that can hold an integer type."""
    if not is_decimal(kind):
        return AS_DECIMAL[kind]
    found = re.fullmatch(r"decimal\((\d+),(\d+)\)", kind)
    assert found, kind
    return int(found.group(1)), int(found.group(2))
