"""Python functions in plans: a path and a result type. Plans do not import the functions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tvfsql.plan.values.types import SqlType

OF_ROWS = "_of_rows"  # suffix of a function that is only called for rows of the query
MANY = 1 << 10  # the most arguments that a function with *arguments accepts


@dataclass(frozen=True)
class UserFunction:
    """A function called `name` in SQL: `object` of the Python module `module`.

    `merges` says whether the accumulators of an aggregate can be merged. `folder` is where the module was found, if
    Python does not search that folder by itself.
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
        """The original function, if this one is made by `for_rows`."""
        return replace(self, name=self.name.removesuffix(OF_ROWS), of_rows=False) if self.of_rows else self

    @property
    def for_rows(self) -> UserFunction:
        """The function with an additional first argument. If that argument is not NULL, the result is NULL and the
        function is not called. This is needed because Spark calls Python for every row, even within CASE.
        """
        return self if self.of_rows or self.of_flink else replace(self, name=f"{self.name}{OF_ROWS}", of_rows=True)

    @property
    def path(self) -> str:
        """The path that CREATE FUNCTION ... AS names."""
        return f"{self.module}.{self.object}"

    def __str__(self) -> str:
        return self.name
