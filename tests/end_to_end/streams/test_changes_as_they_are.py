"""Changes of a changelog that leave a stream as they are: folded they are the rows that a plain replay leaves."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import write_files
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = dict[str, Any]
KINDS = {"+I": 1, "+U": 1, "-U": -1, "-D": -1, "INSERT": 1, "UPDATE_AFTER": 1, "UPDATE_BEFORE": -1, "DELETE": -1}
DEAR = "SELECT 'dear' AS part, item, CAST(price AS STRING) AS told FROM stock WHERE price > 5"
TAGS = "SELECT 'tags' AS part, item, tag AS told FROM stock CROSS JOIN UNNEST(tags) AS t(tag)"
MINUTES = """SELECT 'minutes' AS part, item, DATE_FORMAT(window_start, 'HH:mm') AS told
    FROM TABLE(TUMBLE(TABLE stock, DESCRIPTOR(changed), INTERVAL '1' MINUTE))"""
GROUPS = """SELECT 'groups' AS part, item, CAST(price AS STRING) AS told FROM (
    SELECT item, ARRAY_AGG(price) AS prices FROM stock GROUP BY item) CROSS JOIN UNNEST(prices) AS t(price)"""
ROWS = "SELECT 'rows' AS part, item, CAST(price AS STRING) AS told FROM stock"


def changes(draw: random.Random, count: int) -> tuple[list[Row], list[Row]]:
    """Changes of five rows, and the rows that they leave."""
    left: dict[int, Row] = {}
    told: list[Row] = []
    for at in range(count):
        key = draw.randrange(5)
        old = left.pop(key, None)
        if old is not None and draw.random() < 0.3:
            told.append({"op": "-D", **old})
            continue
        left[key] = {
            "item": "ABCDE"[key],
            "price": draw.randrange(10),
            "tags": draw.choices("xyz", k=draw.randrange(3)),
            "changed": f"2024-01-01T00:{at // 20:02}:{at % 20:02}",
        }
        told += [{"op": "-U", **old}] if old is not None else []
        told.append({"op": "+I" if old is None else "+U", **left[key]})
    return told, [*left.values()]


def expected(rows: list[Row]) -> Counter[tuple[str, str, str]]:
    """What the queries say of the rows that are left."""
    found: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        item, price = row["item"], str(row["price"])
        found.update(
            {("groups", item, price): 1, ("rows", item, price): 1, ("minutes", item, row["changed"][11:16]): 1}
        )
        found.update([("dear", item, price)] if row["price"] > 5 else [])
        found.update(("tags", item, tag) for tag in row["tags"])
    return found


def folded(changed: Iterable[Any]) -> Counter[tuple[Any, ...]]:
    """The rows that are left after changes, whose first column is their kind. No row goes more often than it
    comes."""
    found: Counter[tuple[Any, ...]] = Counter()
    for kind, *row in changed:
        found[tuple(row)] += KINDS[kind]
    assert min(found.values()) >= 0
    return +found


def session_over(spark: SparkSession, mode: str, folder: Path) -> Session:
    session = Session(spark, mode=mode)
    session.execute(f"""CREATE TABLE stock (op STRING, item STRING, price INT, tags ARRAY<STRING>, changed TIMESTAMP(3),
        WATERMARK FOR changed AS changed) WITH ('connector' = 'filesystem', 'path' = '{folder}/in', 'format' = 'json',
        'changelog.op' = 'op', 'maxFilesPerTrigger' = '2')""")
    return session


@pytest.mark.spark
def test_changes_and_their_rows_leave_those_of_a_replay(spark: SparkSession, tmp_path: Path) -> None:
    told, left = changes(random.Random(42), 60)
    write_files(tmp_path / "in", [told[:20], told[20:35], told[35:60], told[60:]])
    stream = session_over(spark, "streaming", tmp_path)
    query = " UNION ALL ".join((DEAR, TAGS, MINUTES, ROWS, GROUPS))
    of_changes = stream.sql(query).collect()
    assert folded(of_changes) == expected(left)
    assert {row[0] for row in of_changes} == {"+I", "-U", "+U", "-D"}
    assert folded(stream.sql(f"SELECT * FROM TO_CHANGELOG(({query}))").collect()) == expected(left)
    assert Counter(map(tuple, session_over(spark, "batch", tmp_path).sql(query).collect())) == expected(left)


@pytest.mark.spark
@pytest.mark.parametrize("table", ["'changelog.op' = 'op', 'format' = 'csv'", "'format' = 'debezium-json'"])
def test_written_changes_leave_the_same_rows(table: str, spark: SparkSession, tmp_path: Path) -> None:
    told, left = changes(random.Random(7), 60)
    write_files(tmp_path / "in", [told[:20], told[20:]])
    op = "op STRING, " if "op" in table else ""
    stream, batch = (session_over(spark, mode, tmp_path) for mode in ("streaming", "batch"))
    for session in (stream, batch):
        session.execute(
            f"CREATE TABLE copy ({op}item STRING, price INT) WITH ('connector' = 'filesystem', "
            f"'path' = '{tmp_path}/copy', {table})"
        )
    stream.execute("INSERT INTO copy SELECT item, price FROM stock")
    rows = Counter((row["item"], row["price"]) for row in left)
    assert Counter(map(tuple, batch.sql("SELECT * FROM copy").collect())) == rows
    assert folded(stream.sql("SELECT * FROM copy").collect()) == rows


@pytest.mark.spark
def test_rows_by_key_need_no_watermark(spark: SparkSession, tmp_path: Path) -> None:
    """Each row replaces the one of its key, also after a restart."""
    draw, told, left = random.Random(3), list[Row](), dict[int, Row]()
    for _ in range(80):
        key = draw.randrange(6)
        if key in left and draw.random() < 0.3:
            del left[key]
            told.append({"id": key, "code": "d"})
        else:
            left[key] = {"id": key, "item": draw.choice("AB"), "price": draw.randrange(4)}
            told.append({"code": "u", **left[key]})
    rows = """FROM_CHANGELOG(TABLE captured PARTITION BY id, DESCRIPTOR(code),
        MAP['c', 'INSERT', 'u', 'UPDATE_AFTER', 'd', 'DELETE'])"""
    for upto in (1, 3):
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "state", final=upto == 3)
        session.execute(
            "CREATE TABLE captured (id INT, code STRING, item STRING, price INT) WITH ('connector' = 'filesystem', "
            f"'path' = '{tmp_path}/in', 'format' = 'json');"
            "CREATE TABLE told (op STRING, part STRING, item STRING, n BIGINT) WITH ('connector' = 'filesystem', "
            f"'path' = '{tmp_path}/told', 'format' = 'csv', 'changelog.op' = 'op')"
        )
        write_files(tmp_path / "in", [told[:40], told[40:60], told[60:]][:upto])
        session.execute(
            f"INSERT INTO told SELECT 'rows', item, price FROM {rows} WHERE price > 0 "
            f"UNION ALL SELECT 'groups', item, COUNT(*) FROM {rows} GROUP BY item"
        )
    kept = Counter(("rows", row["item"], row["price"]) for row in left.values() if row["price"])
    kept.update(("groups", item, n) for item, n in Counter(row["item"] for row in left.values()).items())
    batch = Session(spark, mode="batch", catalog=session.catalog)
    assert Counter(map(tuple, batch.sql("SELECT * FROM told").collect())) == kept
