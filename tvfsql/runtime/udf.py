"""Calls the user's Python functions at run time: checks results against declared types, and names the function in
errors."""

from __future__ import annotations

import operator
import pickle
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tvfsql.errors import DataError
from tvfsql.plan.values import types
from tvfsql.plan.values.spark_types import of_spark
from tvfsql.plan.values.types import SqlType

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class ScalarFunction:
    """A scalar function for Spark to call: a Python function, or the `eval` of a class. `name` is its SQL name.

    Raises DataError with the function and the line if it raises or returns another type.
    """

    name: str
    object: Any
    result: str

    @cached_property
    def _call(self) -> Callable[..., object]:
        with attributed(self.name):
            made = self.object() if isinstance(self.object, type) else self.object
        found: Callable[..., object] = getattr(made, "eval", made)
        return found

    @cached_property
    def _checked(self) -> Convert:
        return converter(self.name, self.result)

    def __call__(self, *arguments: object) -> object:
        with attributed(self.name):
            value = self._call(*arguments)
            if isinstance(value, Iterator):  # a generator's code runs now
                value = [*value]
        return self._checked(value)

    def __reduce__(self) -> tuple[type[ScalarFunction], tuple[object, ...]]:
        return ScalarFunction, (self.name, self.object, self.result)


@dataclass(frozen=True)
class AggregateFunction:
    """An aggregate in Python, with the SQL name `name`: creates, merges and finishes accumulators.

    Accumulators travel pickled, so each use has its own copy and may modify it. Spark calls the object with a list of
    rows or an accumulator, and gets the result. NULL stands for an accumulator without rows. An aggregate with
    `of_rows` has no accumulators: it is called with the columns of the rows, and is NULL without rows.
    """

    name: str
    object: Any
    result: str

    @cached_property
    def _made(self) -> Any:
        with attributed(self.name):
            return self.object() if isinstance(self.object, type) else self.object

    @cached_property
    def _checked(self) -> Convert:
        return converter(self.name, self.result)

    @cached_property
    def _of_columns(self) -> Callable[[Sequence[Sequence[object]]], object] | None:
        """Calls `of_rows` with columns; None if the aggregate has accumulators."""
        of_rows = getattr(self._made, "of_rows", None)
        if of_rows is None:
            return None
        import pandas as pd
        import pyarrow as pa

        with attributed(self.name):
            hints = typing.get_type_hints(of_rows)
        arrow = pa.Array in hints.values()
        column: Callable[[Sequence[object]], object] = pa.array if arrow else pd.Series
        return lambda columns: of_rows(*map(column, columns))

    def __call__(self, state: Any) -> object:
        if self._of_columns is not None:
            if not state:
                return None
            with attributed(self.name):
                value = self._of_columns([*zip(*state, strict=True)])
                plain = getattr(value, "as_py", getattr(value, "item", None))  # of Arrow and numpy
                value = plain() if plain is not None else value
            return self._checked(value)
        packed = isinstance(state, bytes | bytearray)
        accumulator = self.unpacked(state) if packed else self.of_rows(state or ())
        with attributed(self.name):
            value = self._made.get_value(accumulator)
        return self._checked(value)

    def of_rows(self, rows: Iterable[Sequence[object]], accumulator: object = None) -> object:
        """Add rows, each given as the arguments of a call, to the accumulator, or to a new one."""
        with attributed(self.name):
            accumulator = self._made.create_accumulator() if accumulator is None else accumulator
            accumulate = self._made.accumulate
            for row in rows:
                accumulate(accumulator, *row)
        return accumulator

    def merged(self, accumulator: object, other: object) -> object:
        """The first accumulator, with the other one merged into it."""
        with attributed(self.name):
            self._made.merge(accumulator, [other])
        return accumulator

    def packed(self, accumulator: object) -> bytes:
        with attributed(self.name):
            return pickle.dumps(accumulator, pickle.HIGHEST_PROTOCOL)

    def unpacked(self, state: bytes) -> object:
        with attributed(self.name):
            return pickle.loads(state)

    def __reduce__(self) -> tuple[type[AggregateFunction], tuple[object, ...]]:
        return AggregateFunction, (self.name, self.object, self.result)


@dataclass(frozen=True)
class OfRows:
    """A function for Spark to call on streams, where some rows are not rows of the query. Those have an `other` that is
    not NULL, and result in NULL."""

    function: ScalarFunction | AggregateFunction

    def __call__(self, other: object, *arguments: object) -> object:
        return self.function(*arguments) if other is None else None


@contextmanager
def attributed(name: str) -> Iterator[None]:
    """Raise DataError, with the name of the function and the place in the user's code, for any exception."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        at = error.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        code = at.tb_frame.f_code if at else None
        inside = code is not None and code.co_filename != __file__
        place = f" ({code.co_filename.rpartition('/')[2]}, line {at.tb_lineno})" if inside and at and code else ""
        text = " ".join(str(error).split())
        mixed = isinstance(error, TypeError) and "'float'" in text and "'decimal.Decimal'" in text
        hint = f"{name}(CAST(x AS DOUBLE)) passes a float; or Decimal('1.5'), not 1.5, in the function"
        raise DataError(
            f"function {name} failed: {type(error).__name__}{f': {text}' if text else ''}{place}",
            hint=hint if mixed else None,
        ) from error


# Results of the user's functions, converted to the declared type. Spark would turn a value of another type into NULL.


BITS = dict(zip(types.INTEGERS, (8, 16, 32, 64), strict=True))
Convert = Callable[[Any], object]  # from a function's result to a value of its declared type


def converter(name: str, kind: str) -> Convert:
    """A function that converts results of the function `name` to values that Spark accepts for the type; None is NULL.
    Raises DataError."""
    wanted = of_spark(kind)
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
