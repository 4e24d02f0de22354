"""The order in which a stream reads files, the options of Flink that choose them, and what is said about late rows."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tvfsql import Session, compile

FILES = 8
COUNT = (
    "SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) "
    "GROUP BY window_start, window_end"
)


def table(folder: Path, more: str = "") -> str:
    return (
        "CREATE TABLE t (v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ("
        f"'connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json'{more})"
    )


def write(folder: Path, names: list[str], modified: dict[str, int]) -> None:
    """Files in the order of their names in event time: ten rows each, a minute apart. They are written in another
    order, so that the file system lists them in another one.
    """
    folder.mkdir()
    for number in sorted(range(len(names)), key=lambda n: (n * 5) % len(names), reverse=True):
        rows = ({"v": i, "ts": f"2020-01-01 00:{number:02d}:{5 * i:02d}"} for i in range(10))
        file = folder / names[number]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        os.utime(file, (modified.get(names[number], 1_600_000_000),) * 2)


@pytest.mark.spark
def test_files_of_one_time_are_read_in_order_of_name(spark: SparkSession, tmp_path: Path) -> None:
    names = [f"{i:02d}.json" for i in range(FILES)]
    write(tmp_path / "in", names, {})
    (tmp_path / "in" / "_temporary").mkdir()
    (tmp_path / "in" / "_temporary" / "half.json").write_text("{", encoding="utf-8")
    session = Session(spark, mode="streaming")
    session.execute(table(tmp_path / "in", ", 'maxFilesPerTrigger' = '1'"))
    assert [row["n"] for row in session.sql(COUNT).collect()] == [10] * FILES
    assert (session.counts["rowsIn"], session.counts["numLateRecordsDropped"]) == (10 * FILES, 0)


@pytest.mark.spark
def test_late_rows_are_a_warning_unless_they_go_into_a_table(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "in", ["a.json", "b.json", "c.json"], {"a.json": 1_700_000_000})
    late = f"'connector' = 'filesystem', 'path' = '{tmp_path}/late', 'format' = 'json'"
    for option in ("", "SET 'tvfsql.late-output' = 'late';"):
        session = Session(spark, mode="streaming")
        session.execute(table(tmp_path / "in", ", 'maxFilesPerTrigger' = '1'"))
        session.execute(f"CREATE TABLE late (v INT, ts TIMESTAMP(3)) WITH ({late}); {option}")
        assert [row["n"] for row in session.sql(COUNT).collect()] == [10, 10]
        said = capfd.readouterr().err
        if option:
            assert "late" not in said
            assert session.counts["numLateRecordsDropped"] == 0 < session.counts["numLateRecordsWritten"] == 10
        else:
            warning = "warning: 10 of 30 (33%) rows of t were late and dropped: files are read in order of modification"
            assert warning in said and "'tvfsql.late-output' = 'TABLE' keeps them" in said
            assert session.counts["numLateRecordsDropped"] == 10


@pytest.mark.spark
def test_a_regular_expression_chooses_files_by_their_path(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "a+b c"
    write(folder, ["a.json", "b.json", "b.json.bak", "c.txt"], {})
    pattern = r", 'source.path.regex-pattern' = '/.*/a\+b c/[ab]\.json'"
    for mode in ("batch", "streaming"):
        session = Session(spark, mode=mode)
        session.execute(table(folder, pattern))
        assert sorted(row["n"] for row in session.sql(COUNT).collect()) == [10, 10]


def test_a_folder_that_is_looked_into_again_and_again_is_endless(tmp_path: Path) -> None:
    monitored = table(tmp_path, ", 'source.monitor-interval' = '10 s'")
    compiled = compile(f"{monitored}; {COUNT}", mode="streaming")
    assert 'Job(printed(query), reads=[Source("t")], endless=True, interval=10' in compiled.code.replace("\n", "")
    assert "endless" not in compile(f"{table(tmp_path)}; {COUNT}", mode="streaming").code
