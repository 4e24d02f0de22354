"""For Python functions that SQL is to call: what cannot be said by a type hint.

A scalar function is a function, or a class with `eval`. An aggregate is a class, shaped as in PyFlink:

    class WeightedAvg:
        def create_accumulator(self): ...                   # a new one, of anything that pickles
        def accumulate(self, accumulator, value, weight): ...       # changes it, for each row
        def merge(self, accumulator, accumulators): ...     # changes it, for others of the same kind
        def get_value(self, accumulator) -> float: ...      # the result

Its result type is that of the hint, or what `returns` says. docs/sql.md has the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Made = TypeVar("Made", bound=Callable[..., Any])

RETURNS, DETERMINISTIC = "__tvfsql_returns__", "__tvfsql_deterministic__"


def returns(type: str, *, deterministic: bool = True) -> Callable[[Made], Made]:
    """A decorator for functions and classes: the SQL type of the result ("DECIMAL(10, 2)"), and whether the same
    arguments give the same result, so that Spark may call the function once more or once less."""

    def mark(made: Made) -> Made:
        setattr(made, RETURNS, type)
        setattr(made, DETERMINISTIC, deterministic)
        return made

    return mark
