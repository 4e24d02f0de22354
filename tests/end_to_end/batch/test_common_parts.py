"""Parts that a query reads repeatedly: the same rows as without sharing, computed once, kept as long as the result."""

from __future__ import annotations

import gc
from time import monotonic, sleep
from typing import TYPE_CHECKING

import pytest

from tvfsql import Session

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

HOP = "TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE))"
COUNTS = f"""SELECT window_start, window_end, k, COUNT(*) AS n, MAX(x) AS m, SUM(x) AS s FROM {HOP}
GROUP BY window_start, window_end, k"""
SAME = "l.window_start = r.window_start AND l.window_end = r.window_end"
QUERIES = {
    "share": f"""SELECT l.k, l.n, l.m, r.total FROM a AS l JOIN
        (SELECT window_start, window_end, SUM(n) AS total FROM a GROUP BY window_start, window_end) AS r ON {SAME}""",
    "twice": f"""SELECT l.k, l.n + r.n AS n FROM
        (SELECT l.window_start, l.window_end, l.k, l.n + r.m AS n FROM a AS l JOIN a AS r ON {SAME} AND l.k = r.k) AS l
        JOIN
        (SELECT l.window_start, l.window_end, l.k, l.n + r.m AS n FROM a AS l JOIN a AS r ON {SAME} AND l.k = r.k) AS r
        ON {SAME} AND l.k = r.k""",
    "outer": f"SELECT l.k, l.n, r.s FROM a AS l LEFT JOIN (SELECT * FROM a WHERE n > 1) AS r ON {SAME} AND l.k = r.k",
    "union": "SELECT n, m FROM a UNION ALL (SELECT m, n FROM a EXCEPT SELECT n, m FROM a)",
    "in": "SELECT k, n FROM a WHERE n IN (SELECT MAX(n) FROM a)",
}


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Session:
    made = Session(spark)
    made.execute(f"""CREATE TABLE t (k STRING, x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'json')""")
    rows = [(f"'{'abc'[i % 3]}'" if i % 7 else "CAST(NULL AS STRING)", i % 5, i * 17 % 600) for i in range(40)]
    values = (f"({k}, {x}, TIMESTAMP '2024-01-01 00:{s // 60:02}:{s % 60:02}')" for k, x, s in rows)
    made.execute(f"INSERT INTO t VALUES {', '.join(values)}")
    return made


@pytest.mark.spark
def test_a_common_part_has_the_rows_of_its_readings(session: Session, spark: SparkSession) -> None:
    def kept() -> set[int]:
        return set(spark.sparkContext._jsc.getPersistentRDDs().keySet())

    before = kept()  # by results that other tests hold
    for name, query in QUERIES.items():
        sql = f"WITH a AS ({COUNTS}) {query}"
        session.execute("SET 'table.optimizer.reuse-sub-plan-enabled' = 'false'")
        alone = session.sql(sql)
        assert "computed_once" not in alone.query.code
        expected = sorted(map(str, alone.collect()))
        session.execute("RESET 'table.optimizer.reuse-sub-plan-enabled'")
        shared = session.sql(sql)
        assert shared.query.code.count("spark.read") == 1, name
        assert sorted(map(str, shared.collect())) == expected, name
        assert expected, name
    assert "Shared" in session.sql(f"EXPLAIN ANALYZE WITH a AS ({COUNTS}) {QUERIES['share']}").text()
    gc.collect()
    _wait(lambda: kept() <= before)


@pytest.mark.spark
def test_rows_that_came_since_are_read_while_an_earlier_result_is_held(session: Session, tmp_path: Path) -> None:
    sql = f"WITH a AS ({COUNTS}) SELECT SUM(n) AS n FROM (SELECT n FROM a UNION ALL SELECT n FROM a)"
    earlier = session.sql(sql).dataframe()
    before = earlier.collect()[0]["n"]
    (tmp_path / "t" / "later.json").write_text('{"k": "a", "x": 1, "ts": "2024-01-01 00:05:00"}\n')
    assert session.sql(sql).collect()[0]["n"] == before + 2 * 3
    assert earlier.collect()[0]["n"] == before


def _wait(done: object) -> None:
    assert callable(done)
    end = monotonic() + 20
    while not done():
        assert monotonic() < end, "rows are kept although no result is held"
        sleep(0.1)
