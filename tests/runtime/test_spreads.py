"""Variances of DECIMALs from sums of limbs: those of the values, whatever their digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement
from math import isqrt

from hypothesis import given
from hypothesis import strategies as st

from tvfsql.plan.aggregate.exact_spread import LIMB
from tvfsql.runtime.functions.spreads import _of_sums, _of_values

SPREADS = ("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP")


def limbs_of(unscaled: int, count: int) -> list[int]:
    """The limbs of an integer, as `%` and `/` of SQL cut them: all have its sign."""
    sign, size = (-1 if unscaled < 0 else 1), abs(unscaled)
    return [sign * (size // 10 ** (LIMB * i) % 10**LIMB) for i in range(count)]


@given(st.integers(1, 38), st.data())
def test_sums_of_limbs_give_the_spread_of_the_values(precision: int, data: st.DataObject) -> None:
    scale = data.draw(st.integers(0, precision))
    bound = 10**precision - 1
    unscaled = data.draw(st.lists(st.integers(-bound, bound), max_size=9))
    values = [Decimal(number).scaleb(-scale) if precision <= LIMB else Decimal(number) for number in unscaled]
    count = -(-precision // LIMB)
    if count == 1:
        sums = [sum(values, Decimal(0)), sum((value * value for value in values), Decimal(0))]
    else:
        rows = [limbs_of(number, count) for number in unscaled]
        pairs = combinations_with_replacement(range(count), 2)
        totals = [sum(row[i] for row in rows) for i in range(count)]
        sums = [*map(Decimal, totals), *(Decimal(sum(row[i] * row[j] for row in rows)) for i, j in pairs)]
    digits = max(6, scale)
    for name in SPREADS:
        found = _of_sums(name, digits, scale if count > 1 else 0, len(values), *sums)
        assert found == _of_values(name, digits, [Decimal(number).scaleb(-scale) for number in unscaled])
        assert found == expected(name, digits, [Fraction(number, 10**scale) for number in unscaled])


def expected(name: str, digits: int, values: list[Fraction]) -> str | None:
    degrees = len(values) - name.endswith("SAMP")
    if degrees < 1:
        return None
    mean = sum(values, Fraction(0)) / len(values)
    variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / degrees
    unit = 10**digits
    if name.startswith("STDDEV"):
        rounded = (isqrt(4 * variance.numerator * unit**2 // variance.denominator) + 1) // 2
    else:
        rounded = (2 * variance * unit + 1) // 2
    with localcontext(prec=100):  # a result can have more digits than Python's default
        return f"{Decimal(rounded).scaleb(-digits):f}"


def test_the_spreads_of_a_finding_are_those_of_flink() -> None:
    small: list[Decimal | None] = [Decimal("0.0001"), Decimal("0.0002"), Decimal("0.0003")]
    assert [_of_values(name, 8, small) for name in SPREADS] == ["0.00000001", "0.00000001", "0.00008165", "0.00010000"]
    assert _of_values("STDDEV_SAMP", 8, [Decimal("0.0004")] * 2) == "0.00000000"
