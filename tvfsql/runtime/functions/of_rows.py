"""Makes Arrow functions for Spark from functions of single values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import DataType


def over_arrays(function: Callable[..., object], arrow: pa.DataType, kind: DataType) -> Any:
    """An Arrow function for Spark that calls `function` for each row. Its results have the Arrow type `arrow`, which is
    Spark's `kind`."""

    def over(*arguments: pa.Array) -> pa.Array:
        return pa.array([function(*row) for row in zip(*(part.to_pylist() for part in arguments), strict=True)], arrow)

    return arrow_function(over, kind)


def arrow_function(function: Callable[..., pa.Array], kind: DataType) -> Any:
    """An Arrow function for Spark from a function of arrays."""
    make: Any = arrow_udf  # its type lacks functions with any number of arrays
    return make(function, kind)
