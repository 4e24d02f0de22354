"""GROUP BY without a window on streams, from SQL to rows: its folded changes are the rows of batch."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.bids import BIDS, bag, create_table, sessions, some_batches, write_files
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# each side of one UNION ALL is a query of its own, so one stream tries all of them
QUERIES = {
    "aggregates": """SELECT item, COUNT(*) AS a, SUM(price) AS b, AVG(n) AS c, MAX(n) FILTER (WHERE n < 80) AS d,
        COUNT(DISTINCT n) AS e, LISTAGG(CAST(n AS STRING)) FILTER (WHERE n > 95) AS f FROM bid GROUP BY item""",
    "having": "SELECT item, COUNT(*), 1.0, 1, MIN(n), 1, '' FROM bid GROUP BY item, n HAVING COUNT(*) IN (1, 3)",
    "no keys": "SELECT '', COUNT(*), SUM(price), 1, MAX(n), COUNT(DISTINCT item), '' FROM bid WHERE n > 10",
    "groups of groups": """SELECT item, COUNT(*), SUM(b), 1, MAX(c), COUNT(DISTINCT c), '' FROM
        (SELECT item, n, SUM(price) AS b, CAST(COUNT(*) AS INT) AS c FROM bid GROUP BY item, n) GROUP BY item""",
    "sets": "SELECT item, COUNT(*), SUM(price), 1, n, GROUPING(n), '' FROM bid WHERE n < 5 GROUP BY ROLLUP (item, n)",
    "windows": """SELECT item, COUNT(*), SUM(price), 1, 1, 1, ''
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '4' SECOND, INTERVAL '10' SECOND)) GROUP BY item""",
    "final windows": """SELECT item, SUM(k), MAX(p), 1, 1, 1, '' FROM (SELECT item, COUNT(*) AS k, SUM(price) AS p
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND))
        GROUP BY item, window_start, window_end) GROUP BY item""",
}
UNION = " UNION ALL ".join(
    f"SELECT '{name}' AS q, item, a, CAST(b AS DECIMAL(38, 2)) AS b, c, d, e, f FROM "
    f"({query}) AS t (item, a, b, c, d, e, f)"
    for name, query in QUERIES.items()
)
COLUMNS = "q STRING, item STRING, a BIGINT, b DECIMAL(38, 2), c INT, d INT, e BIGINT, f STRING"


@pytest.mark.spark
@pytest.mark.usefixtures("several_partitions")
def test_folded_changes_are_the_rows_of_batch_also_after_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    batches = some_batches(seed=5, disorder=2, batches=4)
    _, batch = sessions(spark, tmp_path / "in", delay=5)
    for upto in (3, 4):
        stream = Session(spark, mode="streaming", checkpoint=tmp_path / "state", final=upto == 4)
        create_table(stream, "bid", BIDS.format(delay=5), tmp_path / "in")
        for each in (stream, *([batch] if upto == 3 else [])):
            each.execute(
                f"CREATE TABLE results (op STRING, {COLUMNS}) WITH ('connector' = 'filesystem', "
                f"'path' = '{tmp_path}/results', 'format' = 'parquet', 'changelog.op' = 'op')"
            )
        write_files(tmp_path / "in", batches[:upto])
        stream.execute(f"INSERT INTO results {UNION}")
    expected = batch.sql(UNION).collect()
    found = batch.sql("SELECT * FROM results").collect()
    assert bag(found) == Counter(map(repr, expected))
    ops = Counter((row.q, row.op) for row in spark.read.parquet(str(tmp_path / "results")).collect())
    assert all(ops[name, "+I"] and ops[name, "+U"] for name in QUERIES if name != "having")
    assert ops["having", "-D"] > 0
