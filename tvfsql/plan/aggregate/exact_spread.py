"""VAR_* and STDDEV_* of a DECIMAL, from exact sums.

A double holds 16 digits of a DECIMAL, and a variance loses twice as many as values and their differences are apart. A
product of two DECIMALs loses what is behind its 38th digit, or behind the sixth after the point. So a value is cut into
limbs of 13 digits, and slices keep the sums of the limbs and of their products, each of which has room for 10^12 rows.
`tvfsql.runtime.functions.spreads` makes the result of them, with integers of Python.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from tvfsql.plan.aggregate.function import AggregateFunction, Partial
from tvfsql.plan.values.types import STRING, Decimal
from tvfsql.plan.values.user_function import MANY, UserFunction

LIMB = 13  # digits: the sum of 10^12 products of two limbs has 38
FUNCTIONS_OF_SPREADS = {
    name: UserFunction(name, "tvfsql.runtime.functions", name, STRING, (0, MANY), of_flink=True)
    for name in ("spread_of_sums", "spread_of_values")
}


@cache
def exact_spread(
    row: AggregateFunction, kind: Decimal, result: Decimal, counted: Partial, values: Partial
) -> AggregateFunction:
    """Return the row of VAR_* or STDDEV_* for a DECIMAL type. `counted` counts values, `values` keeps distinct ones."""
    limbs = _limbs(kind.precision, kind.scale)
    scale = kind.scale if len(limbs) == 1 else 0
    products = [(left, right) for i, left in enumerate(limbs) for right in limbs[i:]]
    sums = [
        *(_summed(f"sum{number}", limb, scale) for number, limb in enumerate(limbs)),
        *(_summed(f"squares{number}", f"{left} * {right}", 2 * scale) for number, (left, right) in enumerate(products)),
    ]
    settings = ", ".join(map(str, (f"'{row.name}'", *settings_of(kind, result))))

    def made(of: Callable[[Partial], str]) -> str:
        parts = ", ".join(of(part) for part in (counted, *sums))
        return f"CAST({{spread_of_sums}}({settings}, {parts}) AS {result.ddl})"

    return replace(
        row,
        whole=made(lambda part: part.sql),
        partials=(counted, *sums),
        finish=made(lambda part: f"{{{part.suffix}}}"),
        distinct_rows=values,
        of_rows=f"CAST({{spread_of_values}}('{row.name}', {result.scale}, {{rows}}) AS {result.ddl})",
    )


def settings_of(kind: Decimal, result: Decimal) -> tuple[int, int]:
    """The digits of a result after the point, and of a value in limbs."""
    return result.scale, kind.scale if kind.precision > LIMB else 0


def _limbs(precision: int, scale: int) -> list[str]:
    """The limbs of `{x}`, the lowest first: the value itself if it is one limb, else integers, of which that at `i` is
    in units of 10^(13 i - scale).
    """
    count = -(-precision // LIMB)
    if count == 1:
        return ["{x}"]
    units = [_power(LIMB * i - scale) for i in range(count)]
    rests = [f"{{x}} % {unit}" for unit in units[1:]]
    differences = [rests[0], *(f"({rest} - {below})" for below, rest in zip(rests, [*rests[1:], "{x}"], strict=True))]
    parts = zip(differences, units, strict=True)
    return [f"CAST({difference} / {unit} AS DECIMAL({LIMB}, 0))" for difference, unit in parts]


def _power(exponent: int) -> str:
    """A power of 10 as a DECIMAL literal."""
    return f"1{'0' * exponent}BD" if exponent >= 0 else f"0.{'0' * (-exponent - 1)}1BD"


def _summed(suffix: str, value: str, scale: int) -> Partial:
    """The sum of a limb or of a product of limbs, which has `scale` digits after the point. Two of 37 digits are added
    without a loss.
    """
    whole = f"DECIMAL(37, {scale})"
    of_bag = f"CAST({value.replace('{x}', 'e.x')} * CAST(e.n AS DECIMAL(10, 0)) AS {whole})"
    return Partial(
        suffix,
        f"sum({value}){{f}}",
        "sum",
        value,
        net=f"aggregate({{net}}, CAST(0 AS {whole}), (total, e) -> CAST(total + {of_bag} AS {whole}))",
    )
