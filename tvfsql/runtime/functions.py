"""A user's Python functions where they run: results checked against their types, mistakes told by name."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tvfsql.errors import DataError
from tvfsql.runtime.results import converter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class ScalarFunction:
    """What Spark calls for a function, or for the `eval` of a class, that SQL knows as `name`."""

    name: str
    object: Any
    result: str

    @cached_property
    def _call(self) -> Callable[..., Any]:
        with told(self.name):
            made = self.object() if isinstance(self.object, type) else self.object
        found: Callable[..., Any] = getattr(made, "eval", made)
        return found

    @cached_property
    def _checked(self) -> Callable[[Any], Any]:
        return converter(self.name, self.result)

    def __call__(self, *arguments: Any) -> Any:
        with told(self.name):
            value = self._call(*arguments)
        return self._checked(value)

    def __reduce__(self) -> Any:
        return ScalarFunction, (self.name, self.object, self.result)


@dataclass(frozen=True)
class AggregateFunction:
    """An aggregate that SQL knows as `name`: how accumulators are made, merged and finished.

    An accumulator travels pickled, so each use has a copy of its own and may change it. Called by Spark with a list of
    rows or with an accumulator it gives the result; NULL is an accumulator into which no row went.
    """

    name: str
    object: Any
    result: str

    @cached_property
    def _made(self) -> Any:
        with told(self.name):
            return self.object() if isinstance(self.object, type) else self.object

    @cached_property
    def _checked(self) -> Callable[[Any], Any]:
        return converter(self.name, self.result)

    def __call__(self, state: Any) -> Any:
        packed = isinstance(state, bytes | bytearray)
        accumulator = self.unpacked(state) if packed else self.of_rows(state or ())
        with told(self.name):
            value = self._made.get_value(accumulator)
        return self._checked(value)

    def of_rows(self, rows: Iterable[Sequence[Any]], accumulator: Any = None) -> Any:
        """The accumulator, or a new one, with rows that are given by the arguments of the call."""
        with told(self.name):
            accumulator = self._made.create_accumulator() if accumulator is None else accumulator
            accumulate = self._made.accumulate
            for row in rows:
                accumulate(accumulator, *row)
        return accumulator

    def merged(self, accumulator: Any, other: Any) -> Any:
        """The first one, with what went into the other."""
        with told(self.name):
            self._made.merge(accumulator, [other])
        return accumulator

    def packed(self, accumulator: Any) -> bytes:
        with told(self.name):
            return pickle.dumps(accumulator, pickle.HIGHEST_PROTOCOL)

    def unpacked(self, state: bytes) -> Any:
        with told(self.name):
            return pickle.loads(state)

    def __reduce__(self) -> Any:
        return AggregateFunction, (self.name, self.object, self.result)


@dataclass(frozen=True)
class OfRows:
    """What Spark calls on streams, where rows may be none of the query's: then `other` is not NULL."""

    function: ScalarFunction | AggregateFunction

    def __call__(self, other: Any, *arguments: Any) -> Any:
        return self.function(*arguments) if other is None else None


def share_folders(spark: SparkSession, folders: Sequence[str]) -> None:
    """Let Spark's Python workers import from these folders: a Spark that runs already has only those of its start.
    Workers on other machines do so if the folders are there too."""
    environment = spark.sparkContext.environment
    before = environment.get("PYTHONPATH", "").split(os.pathsep)
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*filter(None, before), *folders]))


@contextmanager
def told(name: str) -> Iterator[None]:
    """Raise DataError, with the name of the function and the place in the user's code, for whatever it raises."""
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
