"""Joins without time bounds, whose rows are kept for a retention: over all rows they are those of batch."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import BIDS, bag, create_table, some_batches, write_files
from tests.support.tvfsql_rows import PLACE, left_of, rows
from tvfsql import Session
from tvfsql.testing.run import run_case
from tvfsql.testing.suite import Case, Step, Suite

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TTL = {"table.exec.state.ttl": "1 d"}
# each side of one UNION ALL is a query of its own, so one stream tries all of them
QUERIES = {
    "left": """SELECT b.item, b.n, a.price, a.item FROM bid AS b LEFT JOIN ask AS a ON b.n = a.n AND a.price > 3""",
    "right": "SELECT a.item, a.n, b.price, b.item FROM bid AS b RIGHT JOIN ask AS a ON b.n = a.n AND b.item = a.item",
    "full": """SELECT b.item, b.n, a.price, a.item FROM (SELECT * FROM bid WHERE price > 2) AS b
        FULL JOIN (SELECT * FROM ask WHERE price > 3) AS a ON b.n = a.n""",
    "not exists": """SELECT item, n, price, '' FROM bid AS b
        WHERE NOT EXISTS (SELECT * FROM ask AS a WHERE a.n = b.n AND a.price > 3)""",
    "of counts": """SELECT b.item, a.n, a.price, '' FROM (
        SELECT item, CAST(COUNT(*) / 3 AS INT) AS n FROM bid GROUP BY item) AS b LEFT JOIN ask AS a ON a.n = b.n""",
    "exists in counts": """SELECT item, n, price, '' FROM bid AS b
        WHERE n IN (SELECT CAST(COUNT(*) / 3 AS INT) FROM ask GROUP BY item)""",
    "not exists of counts": """SELECT item, n, 0, '' FROM (SELECT item, COUNT(*) AS n FROM bid GROUP BY item) AS b
        WHERE NOT EXISTS (SELECT * FROM (SELECT COUNT(*) + 1 AS n FROM ask GROUP BY item) AS a WHERE a.n = b.n)""",
    "groups of a left join": """SELECT b.item, COUNT(a.n), SUM(a.price), '' FROM bid AS b LEFT JOIN ask AS a
        ON b.n = a.n GROUP BY b.item""",
    "last rows": """SELECT b.item, b.n, a.price, a.item FROM (SELECT * FROM (SELECT *, ROW_NUMBER() OVER (
        PARTITION BY item ORDER BY ts DESC, n DESC) AS place FROM bid) WHERE place = 1) AS b
        FULL JOIN (SELECT item, MAX(price) AS price FROM ask GROUP BY item) AS a ON b.item = a.item""",
    "computed keys": """SELECT b.item, b.n, a.price, a.item FROM bid AS b
        FULL JOIN ask AS a ON LOWER(b.item) = LOWER(a.item) AND b.n + 1 = a.n""",
    "inner": "SELECT b.item, b.n, a.price, a.item FROM bid AS b JOIN ask AS a ON b.n = a.n",
    "conditions": """SELECT b.item, b.n, a.price, a.item FROM bid AS b, ask AS a
        WHERE b.item = a.item AND b.n = a.n + 1 AND b.price > a.price AND b.ts BETWEEN a.ts AND a.due""",
    "exists": """SELECT item, n, price, '' FROM bid AS b
        WHERE EXISTS (SELECT * FROM ask AS a WHERE a.n = b.n AND a.price > 3) AND n < 70""",
    "of a join": """SELECT b.item, b.n, c.price, a.item FROM bid AS b JOIN ask AS a ON b.n = a.n
        JOIN ask AS c ON a.price = c.price AND c.item = b.item""",
    "windows": """SELECT b.item, b.n, b.price, '' FROM bid AS b JOIN (SELECT MAX(n) AS n, window_end AS e
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end) AS w
        ON b.n = w.n WHERE b.ts BETWEEN w.e - INTERVAL '10' SECOND AND w.e""",
    "groups": """SELECT b.item, COUNT(*), MAX(a.price), '' FROM bid AS b JOIN ask AS a ON b.n = a.n GROUP BY b.item""",
    "groups of groups": """SELECT item, COUNT(*), MAX(p), '' FROM (SELECT a.item, b.n, MAX(b.price) AS p
        FROM bid AS b JOIN ask AS a ON b.n = a.n GROUP BY a.item, b.n) GROUP BY item""",
    "best": """SELECT item, n, price, '' FROM (SELECT a.item, b.n, b.price, ROW_NUMBER() OVER (
        PARTITION BY a.item ORDER BY b.price DESC, b.n, a.n, b.ts) AS place FROM bid AS b JOIN ask AS a ON b.n = a.n)
        WHERE place <= 2""",
}
UNION = " UNION ALL ".join(
    f"SELECT '{name}' AS q, item, CAST(n AS BIGINT) AS n, CAST(price AS DECIMAL(10, 2)) AS price, other FROM "
    f"({query}) AS t (item, n, price, other)"
    for name, query in QUERIES.items()
)
COLUMNS = "q STRING, item STRING, n BIGINT, price DECIMAL(10, 2), other STRING"


@pytest.mark.spark
@pytest.mark.usefixtures("several_partitions")
def test_folded_changes_are_the_rows_of_batch_also_after_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    bids, asks = (some_batches(seed=seed, disorder=9, batches=4) for seed in (5, 6))
    batch = Session(spark, mode="batch")
    for upto in (2, 4):
        stream = Session(spark, mode="streaming", checkpoint=tmp_path / "state", final=upto == 4, options=TTL)
        for each in (stream, *([batch] if upto == 4 else [])):
            create_table(each, "bid", BIDS.format(delay=9), tmp_path / "bid")
            create_table(each, "ask", f"due AS ts + INTERVAL '4' SECOND, {BIDS.format(delay=9)}", tmp_path / "ask")
            each.execute(
                f"CREATE TABLE results (op STRING, {COLUMNS}) WITH ('connector' = 'filesystem', "
                f"'path' = '{tmp_path}/results', 'format' = 'parquet', 'changelog.op' = 'op')"
            )
        write_files(tmp_path / "bid", bids[:upto])
        write_files(tmp_path / "ask", asks[: upto - 1] if upto == 2 else asks)
        stream.execute(f"INSERT INTO results {UNION}")
    expected = Counter(map(repr, batch.sql(UNION).collect()))
    assert bag(batch.sql("SELECT * FROM results").collect()) == expected
    assert len({row.q for row in batch.sql(UNION).collect()}) == len(QUERIES)


SCRIPT = """
CREATE TABLE l (k INT, v STRING) WITH ('connector' = 'filesystem', 'path' = 'l', 'format' = 'json');
CREATE TABLE r (k INT, w STRING) WITH ('connector' = 'filesystem', 'path' = 'r', 'format' = 'json');
{query}
"""


@pytest.mark.spark
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT l.k, v, w FROM l JOIN r ON l.k = r.k", ['[1, "a", "x"]', '[1, "b", "x"]', '[2, "c", "y"]']),
        (
            "SELECT /*+ STATE_TTL('l' = '4 h') */ l.k, v, w FROM l LEFT JOIN r ON l.k = r.k",
            [
                '[null, "n", null]',
                *('[1, "a", "x"]', '[1, "b", "x"]', '[1, "late", null]'),
                *('[2, "c", "y"]', '[2, "c", "late"]'),
            ],
        ),
        ("SELECT k, v FROM l WHERE k IN (SELECT k FROM r)", ['[1, "a"]', '[1, "b"]', '[2, "c"]']),
    ],
)
def test_rows_are_joined_if_they_arrive_within_the_retention(
    spark: SparkSession, tmp_path: Path, query: str, expected: list[str]
) -> None:
    """Rows of one key are joined if they arrive within an hour of each other, also across a restart."""
    file = tmp_path / "script.sql"
    file.write_text(SCRIPT.format(query=query))
    given: list[tuple[str, dict[str, list[dict[str, Any]]]]] = [
        ("08:00:00", {"l": [{"k": 1, "v": "a"}, {"k": None, "v": "n"}], "r": [{"k": None, "w": "n"}]}),
        ("08:59:59", {"r": [{"k": 1, "w": "x"}]}),
        ("09:30:00", {"l": [{"k": 1, "v": "b"}, {"k": 2, "v": "c"}]}),
        ("10:00:00", {"r": [{"k": 2, "w": "y"}], "l": [{"k": 1, "v": "late"}]}),
        ("11:30:00", {"r": [{"k": 2, "w": "late"}]}),
    ]
    steps = tuple(
        Step(
            PLACE,
            rows={name: rows(of_table) for name, of_table in tables.items()},
            now=(f"2024-03-01 {now}", PLACE),
            restart=("", PLACE) if number == 2 else None,
            end=number == len(given) - 1,
        )
        for number, (now, tables) in enumerate(given)
    )
    case = Case("case", file, "streaming", {"table.exec.state.ttl": "1 h"}, steps, PLACE)
    result = run_case(Suite(tmp_path / "case.tvfsql.yaml", "-", (case,)), case, spark)
    assert result.error is None, result.error
    assert sum(left_of(result).values(), Counter()) == Counter(expected)
