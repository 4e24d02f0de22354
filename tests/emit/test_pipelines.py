"""`tvfsql compile --target sdp`: Spark runs the pipeline of a script, and what a pipeline cannot do is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tvfsql.cli import main
from tvfsql.runtime.local_spark.java import find_java, spark_java_home

BIDS = """
CREATE TABLE bid (ts TIMESTAMP(3), k INT, v BIGINT, WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
"""
HOURS = "TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))"
BATCH = f"""{BIDS}
CREATE TABLE per_minute (e TIMESTAMP(3), k INT, total BIGINT, WATERMARK FOR e AS e) PARTITIONED BY (k);
CREATE TABLE hourly (e TIMESTAMP(3), total BIGINT);
INSERT INTO per_minute SELECT window_end, k, SUM(v) FROM {HOURS} GROUP BY window_start, window_end, k;
INSERT INTO hourly SELECT window_end, SUM(total) FROM TABLE(TUMBLE(TABLE per_minute, DESCRIPTOR(e), INTERVAL '1' DAY))
GROUP BY window_start, window_end;
"""
STREAMS = f"""{BIDS}
CREATE TABLE large (k INT, v BIGINT);
CREATE TABLE two (v BIGINT);
INSERT INTO large SELECT k, v FROM bid WHERE v >= 90;
INSERT INTO two SELECT v FROM bid WHERE v >= 90 AND k = 1;
INSERT INTO two SELECT v FROM bid WHERE v = 7;
"""


def compiled(script: str, mode: str, *arguments: str) -> int:
    return main(["compile", "--target", "sdp", "--mode", mode, "-e", script, *arguments])


@pytest.mark.spark
@pytest.mark.cluster
def test_spark_runs_the_pipeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Materialized views with windows of two kinds, one of them over the other, and streaming tables, one with two
    flows. Rows are those of the queries."""
    pytest.importorskip("pyspark.pipelines", reason="Spark 4.1 has pipelines")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    rows = [{"ts": f"2026-01-01 {i // 60:02}:{i % 60:02}:00", "k": i % 2, "v": i} for i in range(100)]
    (tmp_path / "in" / "rows.json").write_text("\n".join(map(json.dumps, rows)))
    assert compiled(BATCH, "batch", "-o", ".") == 0
    assert compiled(STREAMS, "streaming") == 0
    (tmp_path / "transformations" / "streams.py").write_text(capsys.readouterr().out)
    here = {
        "PYSPARK_PYTHON": sys.executable,
        "JAVA_HOME": str(spark_java_home(find_java())),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_CONF_DIR": str(tmp_path),
    }
    (tmp_path / "spark-defaults.conf").write_text("spark.ui.enabled false\nspark.sql.shuffle.partitions 1\n")
    command = [str(Path(sys.executable).with_name("spark-pipelines")), "run"]
    done = subprocess.run(command, env=os.environ | here, capture_output=True, text=True, check=False)
    assert "Run is COMPLETED" in done.stdout + done.stderr, (done.stdout + done.stderr)[-3000:]

    def stored(table: str) -> list[dict[str, object]]:
        return pq.read_table(tmp_path / "spark-warehouse" / table).to_pylist()

    minutes = stored("per_minute")
    first = datetime(2026, 1, 1)
    ends = {(row["e"] - first).total_seconds() // 60: row["total"] for row in minutes if str(row["k"]) == "1"}
    assert ends == {end: sum(v for v in range(max(0, end - 60), min(end, 100)) if v % 2) for end in range(2, 160)}
    assert [row["total"] for row in stored("hourly")] == [sum(row["total"] for row in minutes)]
    assert sorted(row["v"] for row in stored("large")) == [*range(90, 100)]  # type: ignore[type-var]
    assert sorted(row["v"] for row in stored("two")) == [7, 91, 93, 95, 97, 99]  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("mode", "statements", "problem"),
    [
        ("batch", "SELECT k FROM bid", "a pipeline fills tables, and a SELECT fills none"),
        (
            "batch",
            "CREATE TABLE t (k INT); INSERT INTO t SELECT k FROM bid; INSERT INTO t SELECT 1",
            "2 INSERTs fill t, and a materialized view has one query",
        ),
        (
            "batch",
            "CREATE TABLE t (k INT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');"
            "INSERT INTO t SELECT k FROM bid",
            "a pipeline stores its tables itself, and cannot fill t: it has a connector",
        ),
        (
            "batch",
            "CREATE TABLE t (e TIMESTAMP(3), n BIGINT, WATERMARK FOR e AS e); CREATE TABLE u (n BIGINT);"
            f"INSERT INTO t SELECT window_end, COUNT(*) FROM {HOURS} GROUP BY window_start, window_end;"
            f"INSERT INTO u SELECT SUM(n) FROM {HOURS.replace('bid', 't').replace('(ts)', '(e)')}"
            " GROUP BY window_start, window_end",
            "the INSERT into u needs the types of the columns of t, which the same pipeline fills",
        ),
        (
            "streaming",
            f"CREATE TABLE t (n BIGINT); INSERT INTO t SELECT COUNT(*) FROM {HOURS} GROUP BY window_start, window_end",
            "the stream into t needs GlobalWindowAggregate, which tvfsql's own driver runs",
        ),
        (
            "streaming",
            "CREATE TABLE t (k INT); CREATE TABLE u (k INT);"
            "INSERT INTO t SELECT k FROM bid; INSERT INTO u SELECT k FROM t",
            "the stream into u reads t, which the same pipeline fills",
        ),
        (
            "batch",
            "SET 'spark.sql.warehouse.dir' = '${ENV:HOME}'; CREATE TABLE t (k INT); INSERT INTO t SELECT k FROM bid",
            "the specification of a pipeline has no variables of the environment",
        ),
    ],
)
def test_what_a_pipeline_cannot_do(
    mode: str, statements: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compiled(f"{BIDS}{statements}", mode, "-o", str(tmp_path)) == 1
    assert problem in capsys.readouterr().err
    assert not [*tmp_path.rglob("*.py")]


def test_a_folder_has_one_pipeline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compiled(BATCH, "batch", "-o", str(tmp_path)) == compiled(BATCH, "batch", "-o", str(tmp_path)) == 0
    (tmp_path / "transformations" / "other.py").touch()
    assert compiled(BATCH, "batch", "-o", str(tmp_path)) == 1
    assert "other files" in capsys.readouterr().err
