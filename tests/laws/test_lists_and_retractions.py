"""Lists in an order, counts of different pairs, aggregates of what changes leave: each window has what a plain model
says, in batch and on a stream that is stopped and goes on, over rows and over changes."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cmp_to_key, reduce
from operator import and_, or_, xor
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from naive import Cumulating, Hopping, Row, Tumbling, Windows, at, groups, joined, order, values
from pyspark.sql import SparkSession

from tvfsql import Session

pytestmark = pytest.mark.spark
Rows = Sequence[Row]
Key = tuple[str, bool, bool]  # column, descending, NULLs first
COLUMNS = "k INT, price INT, f DOUBLE, n DECIMAL(12, 2), word STRING"
MINUTE = 60_000
WINDOWS: list[Windows] = [
    Hopping(10 * MINUTE, 60 * MINUTE),
    Hopping(60 * MINUTE, 60 * MINUTE),
    Tumbling(60 * MINUTE),
    Cumulating(20 * MINUTE, 60 * MINUTE),
]
ASC, DESC, DESC_FIRST, ASC_LAST = (False, True), (True, False), (True, True), (False, False)


def in_order(rows: Rows, column: str, *keys: Key, nulls: bool = False) -> list[Any]:
    """The values of the column in the order of the keys; equal keys by time, and at the same time by value."""

    def compared(one: Row, other: Row) -> int:
        for name, down, nulls_first in keys:
            a, b = one[name], other[name]
            if (a is None) != (b is None):
                return -1 if (a is None) == nulls_first else 1
            if a != b:
                return (-1 if a < b else 1) * (-1 if down else 1)
        a, b = ((row["ts"], order(row[column])) for row in (one, other))
        return (a > b) - (a < b)

    kept = [row for row in rows if nulls or row[column] is not None]
    return [row[column] for row in sorted(kept, key=cmp_to_key(compared))]


def once(found: Sequence[Any]) -> list[Any]:
    return [*dict.fromkeys(found)]


def pairs(rows: Rows) -> list[tuple[float, float]]:
    return [(float(row["price"]), row["f"]) for row in rows if row["price"] is not None and row["f"] is not None]


def correlation(rows: Rows) -> float | None:
    found = pairs(rows)
    if not found:
        return None
    a, b = (math.fsum(part) / len(found) for part in zip(*found, strict=True))
    aa, bb = (math.fsum((pair[i] - mean) ** 2 for pair in found) for i, mean in enumerate((a, b)))
    return math.fsum((x - a) * (y - b) for x, y in found) / math.sqrt(aa * bb) if aa and bb else None


def power(found: Sequence[float], of: Callable[[float, float, float, int], float]) -> float | None:
    if not found:
        return None
    mean = math.fsum(found) / len(found)
    m2, m3, m4 = (math.fsum((x - mean) ** i for x in found) for i in (2, 3, 4))
    return None if m2 == 0 else of(m2, m3, m4, len(found))


def of_some(function: Callable[[list[Any]], Any], column: str) -> Callable[[Rows], Any]:
    return lambda rows: function(found) if (found := values(rows, column)) else None


def dear(rows: Rows) -> Rows:
    return [row for row in rows if row["price"] is not None and row["price"] > 3]


CALLS: dict[str, Callable[[Rows], Any]] = {
    "LISTAGG(word, ';') WITHIN GROUP (ORDER BY price DESC, f NULLS LAST)": lambda rows: joined(
        in_order(rows, "word", ("price", *DESC), ("f", *ASC_LAST)), ";"
    ),
    "LISTAGG(word) WITHIN GROUP (ORDER BY price) FILTER (WHERE price > 3)": lambda rows: joined(
        in_order(dear(rows), "word", ("price", *ASC)), ","
    ),
    "LISTAGG(DISTINCT word, '') WITHIN GROUP (ORDER BY word DESC)": lambda rows: joined(
        sorted({*values(rows, "word")}, reverse=True), ""
    ),
    "ARRAY_AGG(price ORDER BY f DESC NULLS FIRST)": lambda rows: (
        in_order(rows, "price", ("f", *DESC_FIRST), nulls=True) or None
    ),
    "ARRAY_AGG(price) WITHIN GROUP (ORDER BY word, price DESC)": lambda rows: (
        in_order(rows, "price", ("word", *ASC), ("price", *DESC), nulls=True) or None
    ),
    "ARRAY_AGG(f ORDER BY n) IGNORE NULLS": lambda rows: in_order(rows, "f", ("n", *ASC)) or None,
    "ARRAY_AGG(DISTINCT word ORDER BY word)": lambda rows: once(in_order(rows, "word", ("word", *ASC), nulls=True)),
    "COLLECT_LIST(word ORDER BY n DESC)": lambda rows: in_order(rows, "word", ("n", *DESC)),
    "LISTAGG(DISTINCT word)": lambda rows: joined(once(in_order(rows, "word")), ","),
    "COUNT(DISTINCT price, word)": lambda rows: len(
        {(row["price"], row["word"]) for row in rows if None not in (row["price"], row["word"])}
    ),
    "COUNT(DISTINCT word, f, n) FILTER (WHERE price > 3)": lambda rows: len(
        {found for row in dear(rows) if None not in (found := (row["word"], row["f"], row["n"]))}
    ),
    "COUNT(DISTINCT price)": lambda rows: len({*values(rows, "price")}),
    "COUNT(DISTINCT word) FILTER (WHERE price > 3)": lambda rows: len({*values(dear(rows), "word")}),
    "SUM(DISTINCT price)": of_some(lambda found: sum({*found}), "price"),
    "BIT_AND(price)": of_some(lambda found: reduce(and_, found), "price"),
    "BIT_OR(price)": of_some(lambda found: reduce(or_, found), "price"),
    "BIT_XOR(price)": of_some(lambda found: reduce(xor, found), "price"),
    "TRY_SUM(price)": of_some(sum, "price"),
    "TRY_AVG(price)": of_some(lambda found: sum(found) / len(found), "price"),
    "SKEWNESS(price)": lambda rows: power(values(rows, "price"), lambda m2, m3, m4, n: math.sqrt(n) * m3 / m2**1.5),
    "KURTOSIS(f)": lambda rows: power(values(rows, "f"), lambda m2, m3, m4, n: n * m4 / m2**2 - 3),
    "CORR(price, f)": correlation,
    "REGR_COUNT(price, f)": lambda rows: len(pairs(rows)),
    "MEDIAN(price)": of_some(median, "price"),
    "PERCENTILE(DISTINCT price, 0.5)": of_some(lambda found: median({*found}), "price"),
    "MODE(word)": of_some(lambda found: min(found, key=lambda word: (-found.count(word), word)), "word"),
    "MAX_BY(word, price)": lambda rows: max(
        ((row["price"], order(row["word"]), row["word"]) for row in rows if row["price"] is not None), default=[None]
    )[-1],
    "COLLECT_SET(word)": lambda rows: sorted({*values(rows, "word")}),
    "ANY_VALUE(word)": of_some(min, "word"),
    "VAR_POP(n)": lambda rows: None if not (found := values(rows, "n")) else float(
        sum((x - sum(found) / len(found)) ** 2 for x in found) / len(found)
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    draw, made = random.Random(5), []
    for i in range(260):
        row = {
            "k": draw.choice([1, 2]),
            "price": draw.choice([None, *range(-3, 9)]),
            "f": draw.choice([None, 0.5, 2.25]),
        }
        row |= {"n": draw.choice([None, Decimal("1.25"), Decimal("-3.50")]), "word": draw.choice([None, "a", "b", "é"])}
        made.append(row | {"ts": 1_767_225_600_000 + 41_000 * i + draw.choice([0, 500]) - draw.choice([0, 0, 41_000])})
    return made


@pytest.mark.parametrize("window", WINDOWS, ids=repr)
@pytest.mark.parametrize("changes", [False, True])
def test_windows_have_what_the_model_says(
    spark: SparkSession, rows: list[dict[str, Any]], tmp_path: Path, window: Windows, changes: bool
) -> None:
    gone = [row for i, row in enumerate(rows) if changes and i % 3 == 0]
    left = [row for i, row in enumerate(rows) if not (changes and i % 3 == 0)]
    expected = {
        (start, end, k): [_plain(model(held)) for model in CALLS.values()]
        for (k, start, end), held in groups(left, window, ["k"]).items()
    }
    messages = [("+I", row) for row in rows]
    for row in gone:  # at some time after it came
        messages.insert(messages.index(("+I", row)) + random.Random(row["ts"]).randint(1, 9), ("-D", row))
    half = len(messages) // 2
    folder = tmp_path / "in"
    folder.mkdir()
    _write(folder / "1.json", messages[:half], changes)
    stream = [*_windows(spark, folder, window, changes, checkpoint=tmp_path / "state", final=False)]
    _write(folder / "2.json", messages[half:], changes)
    stream += _windows(spark, folder, window, changes, checkpoint=tmp_path / "state", final=True)
    batch = _windows(spark, folder, window, changes)
    for found in (batch, stream):
        assert Counter(key for key, _ in found) == Counter(expected.keys())
        assert [
            (key, call, value, wanted)
            for key, row in found
            for call, value, wanted in zip(CALLS, row, expected[key], strict=True)
            if value != wanted
        ] == []


def _write(file: Path, messages: list[tuple[str, dict[str, Any]]], changes: bool) -> None:
    lines = []
    for op, row in messages:
        shown = row | {"ts": f"{at(row['ts']):%Y-%m-%d %H:%M:%S.%f}"[:-3], "n": row["n"] and str(row["n"])}
        lines.append(json.dumps(shown | ({"op": op} if changes else {})))
    file.write_text("\n".join(lines), encoding="utf-8")


def _windows(spark: SparkSession, folder: Path, window: Windows, changes: bool, **of_stream: Any) -> list[Any]:
    session = Session(spark=spark, mode="streaming" if of_stream else "batch", **of_stream)
    op, option = ("op STRING, ", ", 'changelog.op' = 'op'") if changes else ("", "")
    session.sql(
        f"CREATE TABLE t ({op}{COLUMNS}, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '30' MINUTE) "
        f"WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json'{option})"
    )
    items = ", ".join(f"{call} AS c{i}" for i, call in enumerate(CALLS))
    source = f"TABLE({window.call('t')}) GROUP BY window_start, window_end, k"
    query = f"SELECT window_start, window_end, k, {items} FROM {source}"
    found = session.sql(query).collect()
    return [((start, end, k), [_plain(value) for value in results]) for start, end, k, *results in found]


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return round(float(value), 6) + 0.0 if isinstance(value, float | int) or hasattr(value, "quantize") else value
