"""Python functions in plans: their path and result type. Plans do not load them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from tvfsql.plan.types import SqlType

OF_ROWS = "_of_rows"  # behind the name of a function that is only called for rows of the query
MANY = 1 << 10  # what a function with *arguments takes at most


@dataclass(frozen=True)
class UserFunction:
    """A function called `name` in SQL: `object` of the Python module `module`.

    Of an aggregate `merges` tells whether its accumulators can be merged. `folder` is where the module was found, if
    that is no place that Python looks at by itself.
    """

    name: str
    module: str
    object: str
    result: SqlType
    arguments: tuple[int, int]
    aggregate: bool = False
    merges: bool = False
    deterministic: bool = True
    folder: str = ""
    of_rows: bool = False
    of_flink: bool = False

    @property
    def plain(self) -> UserFunction:
        """The function itself, where this one is of rows only."""
        return replace(self, name=self.name.removesuffix(OF_ROWS), of_rows=False) if self.of_rows else self

    @property
    def for_rows(self) -> UserFunction:
        """The function with one more argument, the first: the result is NULL, and the function is not called, where
        that is not NULL. Spark calls Python for every row, also within CASE."""
        return self if self.of_rows or self.of_flink else replace(self, name=f"{self.name}{OF_ROWS}", of_rows=True)

    @property
    def path(self) -> str:
        """What CREATE FUNCTION ... AS names."""
        return f"{self.module}.{self.object}"

    def __str__(self) -> str:
        return self.name


def functions_in(value: Any) -> Iterator[UserFunction]:
    """The functions that a plan, or a part of one, calls: found in its fields, in their order, some several times."""
    if isinstance(value, UserFunction):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from functions_in(part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from functions_in(getattr(value, field.name))
