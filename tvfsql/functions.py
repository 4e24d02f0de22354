"""For Python functions that SQL calls: declarations that a type hint cannot express.

A scalar function is a function, or a class with `eval`. An aggregate is a class with the methods of PyFlink:

    class WeightedAvg:
        def create_accumulator(self): ...                       # a new one; anything that can be pickled
        def accumulate(self, accumulator, value, weight): ...   # modifies it, for each row
        def merge(self, accumulator, accumulators): ...         # modifies it, optional: merges others into it
        def get_value(self, accumulator) -> float: ...          # the result

An aggregate over all rows of a window is a class with `of_rows`:

    class P95:
        def of_rows(self, values: pandas.Series) -> float: ...  # called once per window, with a column per argument

The columns are pandas Series, or Arrow arrays if a type hint says pyarrow.Array. The result type is the type hint, or
the argument of `returns`. See docs/sql/python-functions.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Made = TypeVar("Made", bound=Callable[..., Any])

RETURNS, DETERMINISTIC = "__tvfsql_returns__", "__tvfsql_deterministic__"


def returns(type: str, *, deterministic: bool = True) -> Callable[[Made], Made]:
    """Decorate a function or class with the SQL type of its result, for example "DECIMAL(10, 2)".

    With `deterministic=False` equal arguments may give different results, so Spark does not change the number of calls.
    This does not check `type`; CREATE FUNCTION does, and raises BindError.
    """

    def mark(made: Made) -> Made:
        setattr(made, RETURNS, type)
        setattr(made, DETERMINISTIC, deterministic)
        return made

    return mark
