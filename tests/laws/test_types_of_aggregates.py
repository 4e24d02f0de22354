"""Each aggregate over each type is the same in TUMBLE, in a HOP of one slice and in a CUMULATE of one step: they are
computed in three ways, by Spark's aggregates, by merged slices and by merged steps. VAR_* and STDDEV_* of DECIMALs are
also those of Python's integers, and of Flink.
"""

from __future__ import annotations

import math
import random
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

D = Decimal
NAN, INFINITY = float("nan"), float("inf")
TYPES: dict[str, tuple[str, list[Any]]] = {
    "f": ("double", [NAN, -0.0, 0.0, INFINITY, 1.5, -2.25, None]),
    "h": ("double", [1e300, 1.0, -3.5, None]),
    "z": ("double", [-0.0, 0.0]),
    "g": ("float", [0.1, 0.2, -0.0, 16777217.0, 3.3, None]),
    "ti": ("tinyint", [3, -2, 1, None]),
    "si": ("smallint", [30, -28, 5, None]),
    "i": ("int", [4600, -4600, 7, None]),
    "l": ("bigint", [10**7, 10**7 + 6, -3, None]),  # doubles hold their spread
    "d9": ("decimal(9,2)", [D("0.01"), D("9999999.99"), D("-5"), None]),
    "d18": ("decimal(18,8)", [D("0.0001"), D("0.0002"), D("0.0003"), D("1234567890.12345678"), None]),
    "d26": ("decimal(26,2)", [D(10**23 + n) / 100 for n in (1, 7, 99)] + [None]),
    "d38": ("decimal(38,10)", [D("1234567890123.0123456789"), D("-1234567890123"), D("0.0000000001"), None]),
    "b": ("boolean", [True, False, None]),
    "s": ("string", ["", "a", "A", "é", "\U0001f600", None]),
    "at": ("timestamp_ntz", [datetime(2024, 1, 1, 0, 0, 0, 1), datetime(1969, 1, 1), None]),
    "day": ("date", [date(2024, 1, 1), date(1900, 1, 1), None]),
}
DECIMALS = ("d9", "d18", "d26", "d38")
NUMBERS = ("f", "h", "g", "ti", "si", "i", "l", *DECIMALS)
OF_ANY = ("COUNT({})", "COUNT(DISTINCT {})", "MIN({})", "MAX({})", "FIRST_VALUE({})", "LAST_VALUE({})", "ARRAY_AGG({})")
OF_NUMBER = ("SUM({})", "AVG({})", "STDDEV_POP(DISTINCT {})")
SPREADS = ("VAR_POP({})", "VAR_SAMP({})", "STDDEV_POP({})", "STDDEV_SAMP({})")
WINDOWS = {
    "TUMBLE": "INTERVAL '10' SECOND",
    "HOP": "INTERVAL '10' SECOND, INTERVAL '10' SECOND",
    "CUMULATE": "INTERVAL '10' SECOND, INTERVAL '10' SECOND",
}
# Flink 2.3: values of a type, VAR_POP, STDDEV_POP and STDDEV_SAMP of them
OF_FLINK = [
    ("18, 8", ["0.0004", "0.0004"], ["0E-8", "0E-8", "0E-8"]),
    ("18, 8", ["0.0001", "0.0002", "0.0003"], ["1.0E-8", "0.00008165", "0.00010000"]),
]


def calls() -> list[str]:
    of_any = [call.format(name) for name in TYPES for call in OF_ANY]
    of_numbers = [call.format(name) for name in NUMBERS for call in (*OF_NUMBER, *SPREADS)]
    of_others = ["BOOL_AND(b)", "BOOL_OR(b)", "LISTAGG(s)", "COLLECT(s)", "ARRAY_AGG(DISTINCT d18)"]
    return [*of_any, *of_numbers, *of_others]


def random_rows(draw: random.Random, count: int) -> list[tuple[Any, ...]]:
    start = datetime(2024, 1, 1)
    return [
        (
            draw.choice(["x", "y", None]),
            start + timedelta(milliseconds=draw.randrange(30_000)),
            *(draw.choice(values) for _, values in TYPES.values()),
        )
        for _ in range(count)
    ]


def spread(call: str, values: list[Decimal], digits: int) -> Decimal | None:
    """The function over values, rounded at last."""
    count = len(values) - call.startswith(("VAR_SAMP", "STDDEV_SAMP"))
    if count < 1:
        return None
    exact = Context(prec=200, rounding=ROUND_HALF_UP)
    total = squares = D(0)
    for value in values:
        total, squares = exact.add(total, value), exact.fma(value, value, squares)
    variance = exact.divide(exact.subtract(squares, exact.divide(exact.multiply(total, total), len(values))), count)
    result = exact.sqrt(max(variance, D(0))) if call.startswith("STDDEV") else variance
    return exact.quantize(result, D(1).scaleb(-digits))


def shown(value: Any) -> Any:
    """A value as text; floats with 11 digits, because the order of additions may differ."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else f"{value:.11g}"
    return [shown(each) for each in value] if isinstance(value, list) else repr(value)


@pytest.mark.spark
@pytest.mark.slow
def test_an_aggregate_over_a_type_is_the_same_in_windows_of_one_slice(spark: SparkSession) -> None:
    rows = random_rows(random.Random(5), 60)
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in TYPES.items())
    named = calls()
    items = ", ".join(f"{call} AS c{i}" for i, call in enumerate(named))
    with Session(spark) as session:
        session.register("t", spark.createDataFrame(rows, f"k string, ts timestamp_ntz, {columns}"))
        found = {}
        for window, sizes in WINDOWS.items():
            made = session.sql(
                f"SELECT window_start, k, {items} FROM TABLE({window}(TABLE t, DESCRIPTOR(ts), {sizes})) "
                "GROUP BY window_start, window_end, k"
            ).collect()
            found[window] = {(row.window_start, row.k): row[2:] for row in made}
    for (start, key), of_tumble in found["TUMBLE"].items():
        for window in ("HOP", "CUMULATE"):
            for call, one, other in zip(named, of_tumble, found[window][start, key], strict=True):
                assert shown(one) == shown(other), f"{call} in {window}"
        inside = [row for row in rows if row[0] == key and start <= row[1] < start + timedelta(seconds=10)]
        for name in DECIMALS:
            values = [value for row in inside if (value := row[2 + [*TYPES].index(name)]) is not None]
            digits = max(6, int(TYPES[name][0].rstrip(")").split(",")[1]))
            for call in SPREADS:
                expected = spread(call, values, digits)
                assert of_tumble[named.index(call.format(name))] == expected, (call, name, values)


@pytest.mark.spark
def test_spreads_of_small_decimals_are_those_of_flink(spark: SparkSession) -> None:
    queries = [
        f"SELECT {i} AS place, VAR_POP(d), STDDEV_POP(d), STDDEV_SAMP(d) "
        f"FROM (VALUES {', '.join(f'(CAST({value} AS DECIMAL({kind})))' for value in values)}) AS t(d)"
        for i, (kind, values, _) in enumerate(OF_FLINK)
    ]
    with Session(spark) as session:
        found = {place: rest for place, *rest in session.sql(" UNION ALL ".join(queries)).collect()}
    assert found == {i: [*map(D, expected)] for i, (*_, expected) in enumerate(OF_FLINK)}
