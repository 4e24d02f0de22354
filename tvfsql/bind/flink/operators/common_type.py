"""The type of several values that stand for one: the branches of CASE, the elements of an array."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial, reduce

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import made
from tvfsql.bind.flink.operators.arithmetic import below_one
from tvfsql.bind.flink.time.wall_clock import CLOCK, INSTANT, instant_at, wall_clock
from tvfsql.bind.flink.zone import local_zone
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

TypeOf = Callable[[exp.Expr], SqlType]
# Flink's own functions; CASE, IF, ARRAY, MAP and VALUES have the common type of the SQL standard
FUNCTIONS = ("COALESCE", "IFNULL", "GREATEST", "LEAST")
AS_DECIMAL = dict(zip(types.INTEGERS, ((3, 0), (5, 0), (10, 0), (19, 0)), strict=True))
DIGITS = 38


def common_type(kinds: Iterable[SqlType], of: str = "") -> SqlType:
    """Flink's type for values of these types, in this order, in a call of the function `of`; UNKNOWN if it is not
    certain.
    """
    known = [*kinds]
    return reduce(partial(_wider, of_function=of in FUNCTIONS), known) if known else types.UNKNOWN


def _wider(left: SqlType, right: SqlType, of_function: bool) -> SqlType:
    if left == right:
        return types.widest(left, right)
    if {left, right} == {CLOCK, INSTANT}:
        return INSTANT if of_function else left
    if not types.is_number(left) or not types.is_number(right):
        return _of_collections(left, right)
    if types.is_integer(left) and types.is_integer(right):
        return types.INTEGERS[max(types.ORDER[left], types.ORDER[right])]
    if types.is_float(left) and types.is_float(right):
        return types.DOUBLE if of_function else left
    if types.is_float(left) or types.is_float(right):
        floating, other = (left, right) if types.is_float(left) else (right, left)
        return floating if types.is_integer(other) or (of_function and other == left) else types.DOUBLE
    (p1, s1), (p2, s2) = _digits(left), _digits(right)
    scale = max(s1, s2)
    precision = max(p1 - s1, p2 - s2) + scale
    return types.Decimal(precision, scale) if precision <= DIGITS else types.UNKNOWN


def _of_collections(left: SqlType, right: SqlType) -> SqlType:
    """The type of two arrays, or two maps, whose elements have one type or are integers."""
    match left, right:
        case types.Row(), types.Row():
            return _of_rows(left, right)
        case (types.Array(), types.Array()) | (types.Map(), types.Map()):
            pairs = [*zip(left.parts, right.parts, strict=True)]
            if all(a == b or (types.is_integer(a) and types.is_integer(b)) for a, b in pairs):
                return type(left)(*(_wider(a, b, True) for a, b in pairs))
    return types.UNKNOWN


def _of_rows(left: types.Row, right: types.Row) -> SqlType:
    """The type of two rows with as many fields: the names of the first, and the common types."""
    kinds = [_wider(one, other, False) for one, other in zip(left.parts, right.parts, strict=False)]
    if len(left.parts) != len(right.parts) or not all(kinds):
        return types.UNKNOWN
    return types.Row(tuple(zip(left.names, kinds, strict=True)))


def _digits(kind: SqlType) -> tuple[int, int]:
    return (kind.precision, kind.scale) if isinstance(kind, types.Decimal) else AS_DECIMAL[kind]


def of_values(values: Iterable[exp.Expr], type_of: TypeOf, of: str = "") -> SqlType:
    """The common type of these values; NULL fits all. A COALESCE is NULL only if all values are."""
    arms = [*values]
    kinds = [type_of(value) for value in arms if not isinstance(value, exp.Null)]
    if of == "COALESCE":
        nullable = all(kind.nullable for kind in kinds)
    else:
        nullable = len(kinds) < len(arms) or any(kind.nullable for kind in kinds)
    return replace(common_type(kinds, of), nullable=nullable)


def in_common_type(values: Sequence[exp.Expr], type_of: TypeOf, of: str = "") -> list[exp.Expr]:
    """The values, cast where Spark would find another common type: numbers beside a FLOAT, a BIGINT beside a DECIMAL
    (it has 19 digits, not 20), wall-clock times beside instants.
    """
    values = [below_one(value) for value in values]
    kind, kinds = (
        of_values(values, type_of, of),
        {type_of(value) for value in values if not isinstance(value, exp.Null)},
    )
    differs = (
        kind in (types.FLOAT, CLOCK, INSTANT)
        or isinstance(kind, types.Row)
        or (types.is_decimal(kind) and types.BIGINT in kinds)
    )
    if not differs or len(kinds) == 1:
        return values
    return [value if type_of(value) in (kind, types.UNKNOWN) else _as(value, kind) for value in values]


def _as(value: exp.Expr, kind: SqlType) -> exp.Expr:
    if kind not in (CLOCK, INSTANT):
        return exp.Cast(this=value.copy(), to=exp.DataType.build(kind.spark, dialect="spark"))
    return made(other_time("{0}", kind), [value.copy()], kind)


def other_time(value: str, kind: SqlType) -> str:
    """SQL for the wall-clock time of an instant, or the instant of a wall-clock time, in the local zone."""
    zone = local_zone().replace("'", "''")
    return (wall_clock if kind == CLOCK else instant_at)(value).replace("{zone}", f"'{zone}'")


def unify(values: Sequence[exp.Expr], type_of: TypeOf, of: str = "") -> None:
    """Replace the values in their tree by those `in_common_type`."""
    for value, same in zip(values, in_common_type(values, type_of, of), strict=True):
        if same is not value:
            value.replace(same)


def text_as_instant(value: str) -> str:
    """SQL for the instant at which clocks in the local zone show the time in a text."""
    return other_time(f"CAST({value} AS TIMESTAMP_NTZ)", INSTANT)
