"""Results of the user's functions, converted to the declared type. Spark would turn a value of another type into
NULL."""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import Any

from tvfsql.errors import DataError
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

BITS = dict(zip(types.INTEGERS, (8, 16, 32, 64), strict=True))
Convert = Callable[[Any], object]  # from a function's result to a value of its declared type


def converter(name: str, kind: str) -> Convert:
    """A function that converts results of the function `name` to values that Spark accepts for the type; None is NULL.
    Raises DataError."""
    wanted = types.of_spark(kind)
    convert = _of(wanted)

    def converted(value: object) -> object:
        if value is None:
            return None
        try:
            return convert(value)
        except (TypeError, ValueError, InvalidOperation, OverflowError):
            given = repr(value)
            given = given if len(given) <= 60 else f"{given[:57]}..."
            raise DataError(
                f"function {name} returned {given}, but its type is {wanted.flink}",
                hint=f"return that type, or declare another: @returns('{wanted.ddl}')",
            ) from None

    return converted


def _of(kind: SqlType) -> Convert:
    if types.is_integer(kind):
        return _integer(BITS[kind])
    if types.is_float(kind):
        return _float
    if types.is_decimal(kind):
        return _decimal(kind.precision, kind.scale)
    plain: dict[SqlType, Convert] = {
        types.STRING: _instance(str),
        types.BYTES: lambda value: bytes(memoryview(value)),
        types.BOOLEAN: _boolean,
        types.DATE: lambda value: value.date() if isinstance(value, datetime) else _instance(date)(value),
        types.TIMESTAMP: _clock,
        types.TIMESTAMP_LTZ: _instance(datetime),
    }
    if isinstance(kind, types.Array):
        return _array(_of(kind.element))
    if isinstance(kind, types.Row):
        return _row({name: _of(part) for name, part in kind.fields})
    return plain.get(kind, lambda value: value)


def _integer(bits: int) -> Convert:
    def convert(value: Any) -> int:
        number = operator.index(value)  # refuses floats, whose fraction would be lost
        if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
            raise OverflowError
        return number

    return convert


def _float(value: Any) -> float:
    if isinstance(value, str | bytes):
        raise TypeError
    return float(value)


def _decimal(precision: int, scale: int) -> Convert:
    unit = Decimal(1).scaleb(-scale)

    def convert(value: Any) -> Decimal:
        exact = value if isinstance(value, Decimal) or hasattr(value, "__index__") else repr(_float(value))
        number = Decimal(exact)
        with localcontext(prec=76):
            rounded = number.quantize(unit, ROUND_HALF_UP)
            if abs(rounded) >= Decimal(10) ** (precision - scale):
                raise OverflowError
        return rounded

    return convert


def _boolean(value: object) -> bool:
    if type(value).__name__ not in ("bool", "bool_"):  # also numpy's
        raise TypeError
    return bool(value)


def _clock(value: object) -> datetime:
    if not isinstance(value, datetime) or value.tzinfo is not None:
        raise TypeError
    return value


def _array(element: Convert) -> Convert:
    def convert(value: object) -> list[object]:
        if not isinstance(value, list | tuple):
            raise TypeError
        return [None if each is None else element(each) for each in value]

    return convert


def _row(parts: dict[str, Convert]) -> Convert:
    """A row from a dict by the names of its fields, or from values in their order."""

    def convert(value: object) -> tuple[object, ...]:
        if isinstance(value, dict):
            if value.keys() - parts.keys():
                raise ValueError
            value = [value.get(name) for name in parts]
        if not isinstance(value, list | tuple) or len(value) != len(parts):
            raise TypeError
        return tuple(None if each is None else part(each) for each, part in zip(value, parts.values(), strict=True))

    return convert


def _instance(kind: type) -> Convert:
    def convert(value: object) -> object:
        if not isinstance(value, kind):
            raise TypeError
        return value

    return convert
