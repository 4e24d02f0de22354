"""The INSERTs of a set in batch: what they have in common is computed once, and the rows are those without that."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tvfsql import Session, TvfSqlError
from tvfsql.api.script import Inserts, Script
from tvfsql.runtime.counters import take_counts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHARING = "table.optimizer.reuse-sub-plan-enabled"
HOP = "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)"
SET = f"""
CREATE VIEW windows AS SELECT window_start, window_end, k, COUNT(*) AS n, SUM(v) AS total
FROM TABLE({HOP}) GROUP BY window_start, window_end, k;
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO a SELECT window_end, k, total FROM windows;
    INSERT INTO b SELECT window_end, k, n FROM windows WHERE n > 2;
    INSERT INTO c SELECT window_end, 0, MAX(total) FROM windows GROUP BY window_end;
    INSERT INTO d SELECT ts, k, v FROM t WHERE v < 10;
END"""


def kept(spark: SparkSession) -> set[int]:
    """The numbers of the RDDs that Spark keeps; other tests may have left some."""
    return set(spark._jsc.getPersistentRDDs().keySet())


@pytest.mark.spark
def test_what_inserts_share_is_computed_once_and_then_let_go(spark: SparkSession, tmp_path: Path) -> None:
    """Rows without a time are counted where windows are made of the rest."""
    start, kept_before = datetime(2020, 1, 1), kept(spark)
    rows = [(start + timedelta(seconds=i % 40) if i % 10 else None, i % 3, i) for i in range(200)]
    written, dropped = {}, {}
    for sharing in ("true", "false"):
        options = {SHARING: sharing, "table.exec.source.rowtime-null-handling": "DROP"}
        session = Session(spark, options=options)
        session.register("t", spark.createDataFrame(rows, "ts TIMESTAMP_NTZ, k INT, v BIGINT"))
        for name in "abcd":
            folder = f"'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{tmp_path / sharing / name}'"
            session.execute(f"CREATE TABLE {name} (ends TIMESTAMP(3), k INT, v BIGINT) WITH ({folder})")
        take_counts()
        session.execute(SET)
        dropped[sharing] = sum(count for name, count in take_counts().items() if "Dropped" in name)
        found = {name: spark.read.parquet(str(tmp_path / sharing / name)).collect() for name in "abcd"}
        written[sharing] = {name: Counter(map(tuple, rows)) for name, rows in found.items()}
        assert kept(spark) <= kept_before
    assert written["true"] == written["false"]
    assert all(written["true"].values())
    assert (dropped["true"], dropped["false"]) == (20, 60)


@pytest.mark.spark
def test_what_they_share_is_let_go_after_a_failure_too(spark: SparkSession) -> None:
    session, kept_before = Session(spark), kept(spark)
    session.register("t", spark.createDataFrame([(1,), (0,)], "v INT"))
    session.execute("CREATE TABLE nowhere (v INT) WITH ('connector' = 'blackhole')")
    counts = "SELECT v, COUNT(*) AS n FROM t GROUP BY v"
    with pytest.raises(TvfSqlError, match=r"(?i)zero"):
        session.execute(
            f"EXECUTE STATEMENT SET BEGIN INSERT INTO nowhere SELECT v FROM ({counts});"
            f"INSERT INTO nowhere SELECT 1 / v FROM ({counts}); END"
        )
    assert kept(spark) <= kept_before


@pytest.mark.parametrize(("mode", "shared"), [("batch", 3), ("streaming", 0)])
def test_streams_share_nothing(mode: str, shared: int) -> None:
    script = Script(mode=mode)
    columns = "(ts TIMESTAMP(3), k INT, v BIGINT, WATERMARK FOR ts AS ts)"
    tables = [f"CREATE TABLE t {columns} WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json')"]
    tables += [f"CREATE TABLE {name} (e TIMESTAMP(3), k INT, v BIGINT) WITH ('connector' = 'print')" for name in "abcd"]
    streamed = SET.replace("MAX(total) FROM windows GROUP BY window_end", "total FROM windows")
    *_, inserts = script.outcomes(";".join([*tables, streamed]))
    assert isinstance(inserts, Inserts)
    plans = [query.explain("physical") for query in inserts.queries]
    assert sum("reuse_id=[1]" in plan or "reference_id=[1]" in plan for plan in plans) == shared
    assert sum("GlobalWindowAggregate" in plan for plan in plans) == (1 if shared else 3)
