"""ROUND and TRUNCATE to as many digits as a column says, on numbers as texts."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal

import pyarrow as pa
from pyspark.sql.types import StringType

from tvfsql.runtime.functions.of_rows import over_arrays

EXACT = Context(prec=800)  # enough for every DOUBLE


def _to_digits(rounding: str) -> Callable[[str | None, int | None], str | None]:
    def to_digits(number: str | None, digits: int | None) -> str | None:
        if number is None or digits is None:
            return None
        value = Decimal(number)
        if not value.is_finite() or -value.as_tuple().exponent <= digits:  # type: ignore[operator]  # finite: a number
            return number
        return f"{value.quantize(Decimal((0, (1,), -digits)), rounding, EXACT):f}"

    return to_digits


rounded = over_arrays(_to_digits(ROUND_HALF_UP), pa.string(), StringType())
truncated = over_arrays(_to_digits(ROUND_DOWN), pa.string(), StringType())
