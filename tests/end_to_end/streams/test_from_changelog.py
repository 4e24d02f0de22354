"""FROM_CHANGELOG: the rows that a plain replay of the changes leaves, in both modes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import create_table, write_files
from tvfsql import Session
from tvfsql.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = dict[str, Any]
COLUMNS = "id INT, code STRING, item STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
RETRACT = "MAP['c, r', 'INSERT', 'b', 'UPDATE_BEFORE', 'u', 'UPDATE_AFTER', 'd', 'DELETE']"
UPSERT = "MAP['c, r', 'INSERT', 'u', 'UPDATE_AFTER', 'd', 'DELETE']"
GROUPS = """SELECT item, COUNT(*) AS n, MAX(price) AS most FROM FROM_CHANGELOG(
    input => TABLE captured{}, op => DESCRIPTOR(code), op_mapping => {}) GROUP BY item"""


def changes(draw: random.Random, count: int, *, before: bool) -> Iterator[tuple[Row, dict[int, Row]]]:
    """Changes of ten rows, each with the rows that are left after it."""
    left: dict[int, Row] = {}
    for at in range(count):
        key = draw.randrange(10)
        row = {
            "id": key,
            "item": draw.choice("AB"),
            "price": draw.randrange(100),
            "ts": f"2024-01-01 00:{at // 60:02}:{at % 60:02}",
        }
        old = left.get(key)
        if old is None:
            left[key] = row
            yield row | {"code": draw.choice("cr")}, left
        elif draw.random() < 0.3:
            del left[key]
            yield (old if before else row | {"item": None, "price": None}) | {"code": "d"}, left
        else:
            if before:
                yield old | {"code": "b"}, left
            left[key] = row
            yield row | {"code": "u"}, left


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["batch", "streaming"])
@pytest.mark.parametrize("upsert", [False, True], ids=["both rows of an update", "by key"])
def test_groups_are_those_of_the_rows_that_are_left(
    mode: str, upsert: bool, spark: SparkSession, tmp_path: Path
) -> None:
    told = [(row, [*left.values()]) for row, left in changes(random.Random(42), 120, before=not upsert)]
    rows = [row for row, _ in told]
    write_files(tmp_path / "in", [rows[start : start + 30] for start in range(0, len(rows), 30)])
    session = Session(spark, mode=mode)
    create_table(session, "captured", COLUMNS, tmp_path / "in")
    found: Counter[Any] = Counter()
    sql = GROUPS.format(" PARTITION BY id", UPSERT) if upsert else GROUPS.format("", RETRACT)
    for row in session.sql(sql).collect():
        op, *values = row if mode == "streaming" else ("+I", *row)
        found[tuple(values)] += 1 if op[0] == "+" else -1
    left = told[-1][1]
    expected = {
        (item, len(prices), max(prices))
        for item in "AB"
        if (prices := [row["price"] for row in left if row["item"] == item])
    }
    assert {**+found} == dict.fromkeys(expected, 1)


@pytest.mark.spark
@pytest.mark.parametrize("code", ["x", None])
def test_an_unknown_code_stops_the_query(code: str | None, spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "in", [[{"id": 1, "code": code, "item": "A", "price": 1, "ts": None}]])
    session = Session(spark)
    create_table(session, "captured", COLUMNS, tmp_path / "in")
    with pytest.raises(DataError, match="column code contains"):
        session.sql(GROUPS.format("", RETRACT)).collect()
