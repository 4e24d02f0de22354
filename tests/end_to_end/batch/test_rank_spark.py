"""Ranks within windows on Spark: what plain Python gives, with the rules and without them."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from tests.models import naive
from tests.models.naive import Cumulating, Hopping, Tumbling, Windows
from tests.models.random_windows import RULES_OFF
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COLUMNS = "ts TIMESTAMP_NTZ, k STRING, n INT, d DOUBLE, p DECIMAL(5,1), f BOOLEAN, s STRING, a ARRAY<INT>"
NAMES = tuple(part.split()[0] for part in COLUMNS.split(", "))
WINDOW = "window_start, window_end"


@dataclass(frozen=True)
class Ranked:
    """A query over rows or over their aggregates, and the same in Python: `order` as (column, DESC, NULLS FIRST)."""

    windows: Windows
    function: str
    keys: tuple[str, ...]
    order: tuple[tuple[str, bool, bool], ...]
    condition: str
    passes: Callable[[int], bool]
    aggregated: bool = False
    rule: str = "make_window_top_n"

    @property
    def columns(self) -> tuple[str, ...]:
        return (WINDOW, "k", "f", "total", "times") if self.aggregated else (WINDOW, *NAMES)

    @property
    def sql(self) -> str:
        order = ", ".join(
            f"{name} {'DESC' if down else 'ASC'} NULLS {'FIRST' if first else 'LAST'}"
            for name, down, first in self.order
        )
        rows = f"TABLE({self.windows.call('events')})"
        if self.aggregated:
            calls = "SUM(n) AS total, COUNT(DISTINCT s) AS times"
            rows = f"(SELECT {WINDOW}, k, f, {calls} FROM {rows} GROUP BY {WINDOW}, k, f)"
        columns = ", ".join(self.columns)
        rank = f"{self.function}() OVER (PARTITION BY {', '.join((WINDOW, *self.keys))} ORDER BY {order}) AS place"
        return f"SELECT {columns}, place FROM (SELECT {columns}, {rank} FROM {rows}) WHERE {self.condition}"

    def expected(self, events: list[dict[str, Any]]) -> Counter[str]:
        found: Counter[str] = Counter()
        for group, rows in naive.groups(events, self.windows, ()).items():
            inside = aggregates(rows) if self.aggregated else [dict(row, ts=naive.at(row["ts"])) for row in rows]
            for key in {tuple(row[name] for name in self.keys) for row in inside}:
                members = [row for row in inside if tuple(row[name] for name in self.keys) == key]
                for row, place in self.places(members):
                    if self.passes(place):
                        found[shown((*group, *(row[c] for c in self.columns[1:]), place))] += 1
        return found

    def places(self, rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], int]]:
        last = self.order[-1][1]
        ties = [(name, last, not last) for name in (("k", "f") if self.aggregated else NAMES)]
        if not self.aggregated:  # the earlier row first
            ties.insert(0, ("ts", False, True))
        for name, down, first in reversed([*self.order, *ties]):
            rows.sort(key=lambda row, name=name, down=down, first=first: position(row[name], down, first))
        heads = [tuple(position(row[name], down, first) for name, down, first in self.order) for row in rows]
        match self.function:
            case "ROW_NUMBER":
                numbers = range(1, len(rows) + 1)
            case "RANK":
                numbers = [1 + heads.index(head) for head in heads]
            case _:
                numbers = [len(set(heads[: i + 1])) for i in range(len(heads))]
        return list(zip(rows, numbers, strict=True))


def position(value: Any, down: bool, nulls_first: bool) -> tuple[Any, ...]:
    """What Python sorts as Spark sorts the value: NaN is the largest number, NULL inside an array the smallest."""
    if value is None:
        return (-1 if nulls_first else 1,)
    if isinstance(value, list):
        elements = [(element is not None, element or 0) for element in value]
        return (0, Reversed(elements)) if down else (0, elements)
    parts = tuple(map(ord, value)) if isinstance(value, str) else value
    if isinstance(value, float):
        parts = (math.isnan(value), 0 if math.isnan(value) else value)
    return (0, Reversed(parts)) if down else (0, parts)


@dataclass(frozen=True)
class Reversed:
    value: Any

    def __lt__(self, other: Reversed) -> bool:
        return bool(other.value < self.value)


def aggregates(rows: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    made = []
    for k, f in {(row["k"], row["f"]) for row in rows}:
        of = [row for row in rows if (row["k"], row["f"]) == (k, f)]
        total = naive.total(naive.values(of, "n"))
        made.append({"k": k, "f": f, "total": total, "times": len({*naive.values(of, "s")})})
    return made


def shown(row: Any) -> str:
    return repr([0.0 if value == 0 and isinstance(value, float) else value for value in row])


def some_events(seed: int, count: int = 400) -> list[dict[str, Any]]:
    """Rows with many ties and NULLs; some are the same in every column."""
    draw = random.Random(seed)

    def maybe(*values: Any) -> Any:
        return draw.choice([None, *values])

    return [
        {
            "ts": draw.randrange(60) * 500,
            "k": maybe("a", "b", ""),
            "n": maybe(-1, 0, 7),
            "d": maybe(math.nan, -0.0, 0.0, 1.5, math.inf, -math.inf),
            "p": maybe(Decimal("-1.5"), Decimal("10.0")),
            "f": maybe(True, False),
            "s": maybe("x", "é", "🜁", "﹏"),
            "a": maybe([], [None], [1, 2], [1]),
        }
        for _ in range(count)
    ]


def below(limit: int) -> Callable[[int], bool]:
    return lambda place: place <= limit


QUERIES = (
    Ranked(Tumbling(10_000), "ROW_NUMBER", (), (("n", True, False),), "place <= 5", below(5)),
    Ranked(Tumbling(10_000), "RANK", ("k",), (("d", False, True), ("p", True, True)), "3 >= place", below(3)),
    Ranked(Hopping(4_000, 10_000), "DENSE_RANK", ("f",), (("s", True, False),), "place < 3", below(2)),
    Ranked(
        Hopping(5_000, 10_000), "ROW_NUMBER", (), (("total", True, True), ("times", False, False)), "place <= 2",
        below(2), aggregated=True,
    ),
    Ranked(
        Cumulating(5_000, 10_000), "RANK", ("f",), (("times", False, True),), "place > 1 AND place <= 4",
        lambda place: 1 < place <= 4, aggregated=True,
    ),
    Ranked(
        Tumbling(10_000), "DENSE_RANK", (), (("total", False, False),), "place BETWEEN 2 AND 9 AND place = 3",
        lambda place: place == 3, aggregated=True,
    ),
    Ranked(
        Tumbling(10_000), "ROW_NUMBER", ("k",), (("ts", False, True),), "place = 1", below(1),
        rule="make_window_deduplicate",
    ),
    Ranked(
        Hopping(5_000, 10_000), "ROW_NUMBER", ("n",), (("ts", True, False),), "place < 2", below(1),
        rule="make_window_deduplicate",
    ),
)  # fmt: skip


def test_top_n_of_arrow_batches_is_that_of_spark(spark: SparkSession) -> None:
    """What streams run, over columns of every kind, one under a name that needs care; rows of `$control` pass."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    from tvfsql.runtime.stream import top_n_stream

    events = some_events(seed=8)
    tuples = [(*(naive.at(row[c]) if c == "ts" else row[c] for c in NAMES), (row["n"], row["s"])) for row in events]
    frame = spark.createDataFrame(tuples, f"{COLUMNS}, z STRUCT<n: INT, s: STRING>").toDF(*NAMES[:-1], "the.`a", "z")
    frame = frame.withColumn("$control", F.lit(None).cast("bigint")).repartition(3).localCheckpoint()
    marked = frame.unionByName(spark.sql("SELECT 42L AS `$control`"), allowMissingColumns=True)
    orders = (
        {"n": "desc", "d": "asc", "s": "desc_nulls_first"},
        {"the.`a": "asc_nulls_last", "z": "desc", "f": "asc"},
        {"d": "desc_nulls_first", "ts": "asc", "p": "asc"},
        {"p": "asc", "ts": "desc"},
        {"z": "asc_nulls_last"},
        {"the.`a": "desc"},
    )
    kinds = product(("row_number", "rank", "dense_rank"), (["k"], ["f", "d"]))
    for (function, partition), order in zip(kinds, orders, strict=True):
        rest = {name: "desc" for name in frame.columns if name not in (*order, *partition, "$control")}
        keys = {**order, **rest} if function == "row_number" else order
        directions = [getattr(F.col(f"`{name.replace('`', '``')}`"), way)() for name, way in keys.items()]
        rank = getattr(F, function)().over(Window.partitionBy(*partition).orderBy(*directions)).cast("bigint")
        expected = frame.withColumn("place", rank).where("place BETWEEN 2 AND 5").collect()
        found = top_n_stream(marked, function, partition=partition, order=order, ties=rest, ranks=(2, 5), name="place")
        assert found.schema == frame.withColumn("place", F.lit(None).cast("bigint")).schema
        rows = Counter(map(shown, found.collect()))
        assert rows - Counter(map(shown, expected)) == Counter([shown([None] * len(frame.columns[:-1]) + [42, None])])
        assert rows.total() == len(expected) + 1 > 6


def test_rows_are_those_of_plain_python_with_the_rules_and_without(spark: SparkSession) -> None:
    events = some_events(seed=7)
    tuples = [tuple(naive.at(event[name]) if name == "ts" else event[name] for name in NAMES) for event in events]
    frame = spark.createDataFrame(tuples, COLUMNS).repartition(3).localCheckpoint()
    for query in QUERIES:
        expected = query.expected(events)
        assert expected
        for options in ({}, RULES_OFF):
            session = Session(spark, options=options)
            session.register("events", frame)
            result = session.sql(query.sql)
            assert (query.rule in {step.rule for step in result.query.steps}) == (not options)
            found = Counter(shown(row) for row in result.collect())
            assert found == expected, (query.sql, options, list((found - expected).items())[:3])
