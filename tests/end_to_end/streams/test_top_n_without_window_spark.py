"""Top-N without a window on streams, from SQL to rows: its folded changes are the rows of batch, with restarts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.bids import BIDS, bag, create_table, sessions, some_batches, write_files
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Rows that are equal in ORDER BY are equal in all columns, so that batch has the same ones. Each side of one UNION ALL
# is a query of its own, so one stream tries all of them.
OVER = "OVER (PARTITION BY item ORDER BY price DESC, n, ts)"
QUERIES = {
    "with the rank": f"SELECT item, ts, price, n, ROW_NUMBER() {OVER} AS r FROM bid QUALIFY r <= 5",
    "without": f"SELECT item, ts, price, n, 0 FROM bid QUALIFY ROW_NUMBER() {OVER} <= 5",
    "a range": f"SELECT item, ts, price, n, 0 FROM bid WHERE n > 5 QUALIFY ROW_NUMBER() {OVER} BETWEEN 3 AND 6",
    "rank": "SELECT '', ts, price, n, RANK() OVER (ORDER BY n DESC) AS r FROM bid QUALIFY r <= 9",
    "dense rank": """SELECT item, ts, price, n, DENSE_RANK() OVER (PARTITION BY item ORDER BY n) AS r
        FROM bid QUALIFY r <= 3""",
    "the last row": """SELECT item, ts, price, n, 1
        FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY n, price ORDER BY ts DESC) = 1""",
    "a filter above": f"""SELECT item, ts, price, n, r
        FROM (SELECT *, ROW_NUMBER() {OVER} AS r FROM bid) WHERE r <= 9 AND n > 50""",
    "of groups": """SELECT item, CAST(NULL AS TIMESTAMP(3)), s, n, r FROM (
        SELECT item, n, s, ROW_NUMBER() OVER (PARTITION BY item ORDER BY c DESC, s DESC, n) AS r
        FROM (SELECT item, n, COUNT(*) AS c, SUM(price) AS s FROM bid GROUP BY item, n)) WHERE r <= 4""",
    "groups of the best": f"""SELECT item, MAX(ts), SUM(price), MIN(n), COUNT(*)
        FROM (SELECT * FROM bid QUALIFY ROW_NUMBER() {OVER} <= 7) GROUP BY item""",
    "best of the best": f"""SELECT item, ts, price, n, 0 FROM (SELECT * FROM bid QUALIFY ROW_NUMBER() {OVER} <= 5)
        QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC, price, ts, item) <= 3""",
    "windows": """SELECT item, window_end, p, CAST(k AS INT), 0 FROM (
        SELECT item, window_end, COUNT(*) AS k, SUM(price) AS p
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY item, window_start, window_end)
        QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY p DESC, window_end) <= 2""",
}
UNION = " UNION ALL ".join(
    f"SELECT '{name}' AS q, item, ts, CAST(price AS DECIMAL(38, 2)) AS price, CAST(n AS INT) AS n, "
    f"CAST(r AS BIGINT) AS r FROM ({query}) AS t (item, ts, price, n, r)"
    for name, query in QUERIES.items()
)
COLUMNS = "q STRING, item STRING, ts TIMESTAMP(3), price DECIMAL(38, 2), n INT, r BIGINT"


@pytest.mark.spark
@pytest.mark.usefixtures("several_partitions")
def test_folded_changes_are_the_rows_of_batch_at_each_point(spark: SparkSession, tmp_path: Path) -> None:
    batches = some_batches(seed=7, disorder=2, batches=4)
    _, batch = sessions(spark, tmp_path / "in", delay=5)
    for upto in (2, 3, 4):
        stream = Session(spark, mode="streaming", checkpoint=tmp_path / "state", final=upto == 4)
        create_table(stream, "bid", BIDS.format(delay=5), tmp_path / "in")
        for each in (stream, *([batch] if upto == 2 else [])):
            each.execute(
                f"CREATE TABLE results (op STRING, {COLUMNS}) WITH ('connector' = 'filesystem', "
                f"'path' = '{tmp_path}/results', 'format' = 'parquet', 'changelog.op' = 'op')"
            )
        write_files(tmp_path / "in", batches[:upto])
        stream.execute(f"INSERT INTO results {UNION}")
        final = "" if upto == 4 else " WHERE q <> 'windows'"  # these leave when they end
        expected = batch.sql(f"SELECT * FROM ({UNION}){final}").collect()
        found = batch.sql(f"SELECT * FROM results{final}").collect()
        assert bag(found) == Counter(map(repr, expected))
    ops = Counter((row.q, row.op) for row in spark.read.parquet(str(tmp_path / "results")).collect())
    for name in QUERIES:
        assert ops[name, "+I"], name
        assert ops[name, "-U"] == ops[name, "+U"], name
    assert ops["with the rank", "+U"] and not ops["with the rank", "-D"]
    assert ops["without", "-D"] and not ops["without", "+U"]
    assert ops["of groups", "+U"] and ops["the last row", "+U"]
