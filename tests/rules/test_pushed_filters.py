"""Filters and projections on their way to the source: rows stay the same, and files are read no wider than needed."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.models.naive import Tumbling
from tests.models.random_windows import RULES_OFF, random_rows, register
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WINDOWS = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
COUNTS = f"""SELECT window_start, window_end, k, f, COUNT(*) AS n, SUM(b) AS total, MIN(n) AS least FROM {WINDOWS}
    GROUP BY window_start, window_end, {{}}"""
A, B = COUNTS.format("events", "k, f"), COUNTS.format("others", "k, f")
QUERIES = {
    "push_filter_below_set_operation": [
        f"SELECT k, n FROM ({A} UNION ALL {B}) WHERE k = 'a' AND n > 1",
        f"SELECT * FROM (SELECT k, f FROM ({A}) INTERSECT SELECT k, f FROM others) WHERE f OR k > ''",
        "SELECT * FROM (SELECT k, n FROM events EXCEPT ALL SELECT k, n FROM others) WHERE k IS NULL",
        "SELECT k FROM (SELECT k, f FROM events UNION SELECT k, f FROM others) WHERE f",
    ],
    "push_filter_below_join": [
        f"SELECT x.k, x.n, y.least FROM ({A}) x {kind} JOIN ({B}) y ON x.window_start = y.window_start AND x.k = y.k "
        "WHERE x.n > 1 AND (y.least < 0 OR y.least IS NULL) AND (x.f OR y.f OR y.f IS NULL)"
        for kind in ("INNER", "LEFT", "RIGHT")
    ],
    "push_filter_below_expand": [
        f"SELECT * FROM ({COUNTS.format('events', 'f, ROLLUP (k)')}) WHERE f AND n > 1 AND (k IS NULL OR k = 'a')"
    ],
    "prune_columns": [f"SELECT k, n FROM ({A}) WHERE n > 1", f"SELECT COUNT(*) FROM ({A} UNION ALL {B})"],
}


@pytest.mark.spark
def test_no_row_changes(spark: SparkSession) -> None:
    ways = [Session(spark), Session(spark, options=RULES_OFF)]
    for name, seed in (("events", 1), ("others", 2)):
        rows = random_rows(random.Random(seed), [Tumbling(60_000)])[:800]
        register(ways, [{**row, "ts": row["ts"] % 600_000} for row in rows], name)
    for rule, queries in QUERIES.items():
        for sql in queries:
            on, off = (session.sql(sql) for session in ways)
            assert rule in {step.rule for step in on.query.steps}
            assert Counter(map(tuple, on.collect())) == Counter(map(tuple, off.collect())) != Counter(), sql


@pytest.mark.spark
def test_only_the_columns_that_are_needed_are_read(spark: SparkSession, tmp_path: Path) -> None:
    stored = "a INT, b STRING, c DOUBLE, ts TIMESTAMP(3), d INT"
    one = spark.sql("SELECT 1 AS a, 'x' AS b, 2D AS c, timestamp_ntz '2020-01-01' AS ts, 3 AS d")
    hop = "TABLE(HOP(TABLE {}, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))"
    session = Session(spark)
    for form in ("parquet", "json", "csv"):
        one.write.format(form).save(str(tmp_path / form))
        source = f"'connector' = 'filesystem', 'path' = '{tmp_path / form}', 'format' = '{form}'"
        session.execute(f"CREATE TABLE {form} ({stored}) WITH ({source})")
        counts = f"SELECT window_end, b, COUNT(*) AS n, SUM(c) AS total, MAX(d) AS most FROM {hop.format(form)}"
        result = session.sql(f"SELECT b, n FROM ({counts} GROUP BY window_start, window_end, b) WHERE n > 0")
        frame = result.dataframe()
        assert [tuple(row) for row in frame.collect()] == [("x", 1)] * 2
        plan = frame._jdf.queryExecution().executedPlan().toString()
        assert "ReadSchema: struct<b:string,ts:timestamp_ntz>" in plan, form
