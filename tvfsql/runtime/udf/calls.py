"""Calls the user's Python functions at run time: checks results against declared types, and names the function in
errors."""

from __future__ import annotations

import pickle
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tvfsql.errors import DataError
from tvfsql.runtime.udf.results import Convert, converter

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
        raise DataError(
            f"function {name} failed: {type(error).__name__}{f': {text}' if text else ''}{place}"
        ) from error
