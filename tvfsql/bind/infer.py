"""Types of expressions, where they are certain. Otherwise the type is UNKNOWN and Spark decides."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from sqlglot import exp

from tvfsql.bind.flink.functions.rounding import rounded_type
from tvfsql.bind.flink.functions.texts import concatenated, no_longer, part_type
from tvfsql.bind.flink.lowered_call import KIND, USER, Made
from tvfsql.bind.flink.operators.common_type import of_values
from tvfsql.errors import BindError
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType
from tvfsql.syntax.types.trees import cast_type

INT_MAX, BIGINT_MAX = 2**31, 2**63
BOOLEANS = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean, exp.Escape)
SAME = (exp.BitwiseLeftShift, exp.BitwiseRightShift)
OPERATORS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%"}
BY_NAME = {
    "timestamp_millis": types.TIMESTAMP_LTZ,
    "timestamp_seconds": types.TIMESTAMP_LTZ,
    "to_timestamp_ntz": types.TIMESTAMP,
    "to_timestamp": types.TIMESTAMP,
    "to_timestamp_ltz": types.TIMESTAMP_LTZ,
    "localtimestamp": types.TIMESTAMP,
    "proctime": types.TIMESTAMP_LTZ,
    "make_timestamp_ntz": types.TIMESTAMP,
    "xxhash64": types.BIGINT,
    **dict.fromkeys(
        ("upper", "ucase", "lower", "lcase", "concat_ws", "regexp_replace", "regexp_extract"), types.STRING
    ),
    **dict.fromkeys(("date_format", "replace", "initcap"), types.STRING),
    **dict.fromkeys(("length", "len", "char_length", "character_length", "hash"), types.INT),
    **dict.fromkeys(("year", "month", "day", "hour", "minute", "second"), types.INT),
    **dict.fromkeys(("instr", "locate", "position", "ntile"), types.INT),
    **dict.fromkeys(("sqrt", "exp", "ln", "pow", "power", "percent_rank", "cume_dist"), types.DOUBLE),
    **dict.fromkeys(("regexp_like", "rlike", "ilike", "like", "array_contains", "exists", "not"), types.BOOLEAN),
}


def infer(tree: exp.Expr, kinds: dict[str, SqlType]) -> SqlType:
    """The type of an expression over columns of these types; UNKNOWN if it is not certain. `kinds` are by name, and may
    have others by table and name (`t.name`).
    """
    if KIND in tree.meta:
        return cast(SqlType, tree.meta[KIND])
    match tree:
        case exp.Column():
            return kinds.get(f"{tree.table}.{tree.name}") or kinds.get(tree.name, types.UNKNOWN)
        case exp.Subquery() | exp.Paren():
            return infer(tree.this, kinds)
        case exp.Neg() | exp.Abs():  # Spark takes a text for a DOUBLE
            kind = infer(tree.this, kinds)
            return types.DOUBLE if kind == types.STRING else kind
        case exp.Select() if len(tree.expressions) == 1:
            return infer(tree.expressions[0].unalias(), kinds)
        case Made():
            return tree.kind
        case exp.Dot():
            return types.field_type(infer(tree.this, kinds), tree.expression.name) or types.UNKNOWN
        case exp.Literal():
            return _literal(tree)
        case exp.Interval():
            return _interval(tree)
        case exp.HexString():
            return types.Binary(len(tree.name) // 2, nullable=False)
        case exp.Array():
            inner = _common(tree.expressions, kinds)
            return types.Array(inner, nullable=False) if inner else types.UNKNOWN
        case exp.Cast():
            return cast_type(tree)
        case _ if isinstance(tree, BOOLEANS):
            return types.BOOLEAN
        case exp.DPipe():
            return concatenated(infer(tree.left, kinds), infer(tree.right, kinds))
        case exp.Trim():
            return no_longer(infer(tree.this, kinds))
        case exp.Substring():
            return part_type(infer(tree.this, kinds))
        case _ if isinstance(tree, SAME):
            return infer(tree.this, kinds)
        case exp.StrPosition():
            return types.INT
        case exp.GroupConcat():
            return types.STRING
        case exp.Extract():
            return types.UNKNOWN if tree.name.upper().startswith("SECOND") else types.INT
        case exp.Concat():
            return (
                types.STRING if all(infer(part, kinds) == types.STRING for part in tree.expressions) else types.UNKNOWN
            )
        case exp.Nullif() | exp.Window() | exp.Filter() | exp.IgnoreNulls() | exp.RespectNulls():
            return infer(tree.this, kinds)
        case exp.Min() | exp.Max() | exp.FirstValue() | exp.LastValue():
            return infer(tree.this, kinds)
        case exp.Anonymous() if tree.name.lower() in ("lag", "lead", "nth_value") and tree.expressions:
            return infer(tree.expressions[0], kinds)
        case exp.Count():
            return types.BIGINT
        case exp.RowNumber() | exp.Rank() | exp.DenseRank():
            return types.INT
        case exp.Sum() | exp.Avg() if infer(tree.this, kinds) == types.DOUBLE:
            return types.DOUBLE
        case exp.Sum():
            return types.BIGINT if types.is_integer(infer(tree.this, kinds)) else types.UNKNOWN
        case exp.TimestampAdd():  # for a date it is lowered differently
            kind = infer(tree.this, kinds)
            return kind if types.is_time(kind) else types.UNKNOWN
        case exp.CurrentTimestamp():
            return types.TIMESTAMP_LTZ
        case exp.Coalesce() | exp.Greatest() | exp.Least():
            return _common([tree.this, *tree.expressions], kinds, "COALESCE")
        case exp.If():
            return _common([tree.args["true"], tree.args.get("false") or exp.null()], kinds)
        case exp.Case():
            arms = [arm.args["true"] for arm in tree.args["ifs"]]
            return _common([*arms, tree.args.get("default") or exp.null()], kinds)
        case exp.IntDiv():
            return types.BIGINT
        case exp.BitwiseAnd():
            return _common([tree.left, tree.right], kinds)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod():
            return _arithmetic(tree, kinds)
        case exp.Round():
            return rounded_type(infer(tree.this, kinds), tree.args.get("decimals"))
        case exp.Anonymous() if tree.meta.get(USER):
            return cast(SqlType, tree.meta[USER].result)
        case exp.Anonymous():
            return BY_NAME.get(tree.name.lower(), types.UNKNOWN)
    return types.UNKNOWN


def _interval(tree: exp.Interval) -> SqlType:
    unit = tree.args.get("unit")
    first = unit.this if isinstance(unit, exp.IntervalSpan) else unit
    name = first.name.upper().removesuffix("S") if isinstance(first, exp.Expr) else ""
    if not name:
        return types.UNKNOWN
    return types.INTERVAL_MONTHS if name in ("YEAR", "MONTH", "QUARTER") else types.INTERVAL_SECONDS


def _literal(tree: exp.Literal) -> SqlType:
    return replace(_of_literal(tree), nullable=False)


def _of_literal(tree: exp.Literal) -> SqlType:
    text = tree.name
    if tree.is_string:
        return types.Char(len(text))
    if tree.is_int:
        return types.INT if int(text) < INT_MAX else types.BIGINT if int(text) < BIGINT_MAX else types.UNKNOWN
    if "e" in text.lower():
        return types.DOUBLE
    whole, _, fraction = text.partition(".")
    digits = len(whole.lstrip("0")) + len(fraction)
    return types.Decimal(max(digits, len(fraction), 1), len(fraction))


def _arithmetic(tree: exp.Binary, kinds: dict[str, SqlType]) -> SqlType:
    left, right = infer(tree.left, kinds), infer(tree.right, kinds)
    if _is_interval(tree.right) and isinstance(left, types.Timestamp | types.TimestampLtz | types.Time):
        return left
    if {left, right} == {types.DATE, types.INTERVAL_MONTHS}:
        return types.DATE
    if _is_interval(tree.left) and types.is_time(right):
        return right
    if isinstance(left, types.Interval) and (types.is_number(right) or right == left):
        return left
    if isinstance(right, types.Interval) and isinstance(tree, exp.Mul) and types.is_number(left):
        return right
    _refuse_times_and_numbers(tree, left, right)
    if types.is_decimal(left) != types.is_decimal(right):  # Spark reads an integer literal as the decimal of its digits
        left, right = _as_literal(tree.left, left), _as_literal(tree.right, right)
    return arithmetic(OPERATORS[type(tree)], left, right)


def _refuse_times_and_numbers(tree: exp.Binary, left: SqlType, right: SqlType) -> None:
    """Refuse arithmetic of a timestamp and a number: neither Flink nor Spark has it."""
    for time, number, of in ((left, right, tree.right), (right, left, tree.left)):
        if types.is_time(time) and types.is_number(number):
            unit = f"INTERVAL '{of.name if isinstance(of, exp.Literal) and of.is_int else 1}' SECOND"
            hint = unit if isinstance(tree, exp.Add | exp.Sub) else None
            raise BindError(f"{left.flink} {OPERATORS[type(tree)]} {right.flink} is not defined", hint=hint)


def _is_interval(tree: exp.Expr) -> bool:
    """Whether it is an interval, or a multiple of one."""
    tree = tree.unnest()
    sides = (tree.left.unnest(), tree.right.unnest()) if isinstance(tree, exp.Mul) else (tree,)
    return any(isinstance(side, exp.Interval) for side in sides)


def _as_literal(tree: exp.Expr, kind: SqlType) -> SqlType:
    tree = tree.unnest()
    return types.Decimal(len(tree.name), 0) if isinstance(tree, exp.Literal) and tree.is_int else kind


def _common(arms: list[exp.Expr], kinds: dict[str, SqlType], of: str = "") -> SqlType:
    return of_values(arms, lambda arm: infer(arm, kinds), of)


# The result type of `left op right` in Spark's ANSI mode: Spark's rules for coercion and decimal precision.


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
