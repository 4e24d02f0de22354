"""Variances and standard deviations of DECIMALs, from exact sums and from values."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import combinations_with_replacement
from math import isqrt

import pyarrow as pa
from pyspark.sql.types import StringType

from tvfsql.plan.aggregate.exact_spread import LIMB
from tvfsql.runtime.functions.of_rows import over_arrays

EXACT = Context(prec=400, rounding=ROUND_HALF_UP)


def _of_sums(name: str, digits: int, scale: int, count: int, *sums: Decimal | None) -> str | None:
    """The result of `name` with `digits` after the point. `sums` are those of the limbs, the lowest first, and of their
    products, in the order of `combinations_with_replacement`. With several limbs the value is in units of 10^-scale.
    """
    limbs = isqrt(2 * len(sums) + 2) - 1  # n limbs have n (n + 1) / 2 products
    totals, products = sums[:limbs], sums[limbs:]
    total = squares = Decimal(0)
    for i, part in enumerate(totals):
        total = EXACT.add(total, EXACT.scaleb(part or Decimal(0), LIMB * i - scale))
    for (i, j), part in zip(combinations_with_replacement(range(limbs), 2), products, strict=True):
        twice = EXACT.multiply(part or Decimal(0), Decimal(1 if i == j else 2))
        squares = EXACT.add(squares, EXACT.scaleb(twice, LIMB * (i + j) - 2 * scale))
    return _spread(name, digits, count, total, squares)


def _of_values(name: str, digits: int, values: list[Decimal | None] | None) -> str | None:
    """The result of `name` over values, of which NULLs do not count."""
    kept = [value for value in values or () if value is not None]
    total = squares = Decimal(0)
    for value in kept:
        total = EXACT.add(total, value)
        squares = EXACT.fma(value, value, squares)
    return _spread(name, digits, len(kept), total, squares)


def _spread(name: str, digits: int, count: int, total: Decimal, squares: Decimal) -> str | None:
    degrees = count - 1 if name.endswith("SAMP") else count
    if degrees <= 0:
        return None
    n = Decimal(count)
    deviations = EXACT.subtract(EXACT.multiply(n, squares), EXACT.multiply(total, total))
    result = EXACT.divide(deviations, EXACT.multiply(n, Decimal(degrees)))
    if name.startswith("STDDEV"):
        result = EXACT.sqrt(result)
    return f"{EXACT.quantize(result, Decimal(1).scaleb(-digits)):f}"


spread_of_sums = over_arrays(_of_sums, pa.string(), StringType())
spread_of_values = over_arrays(_of_values, pa.string(), StringType())
