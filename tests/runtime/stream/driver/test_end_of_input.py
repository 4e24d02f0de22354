"""The end of a bounded input: announced once all is read, and then the query stops."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import create_table, write_files
from tvfsql import Session
from tvfsql.runtime.stream.driver import running
from tvfsql.runtime.stream.driver.running import StreamDriver
from tvfsql.runtime.stream.lives.end_of_input import found_nothing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("message", "active", "available", "nothing"),
    [
        ("Initializing sources", False, False, False),
        ("Initializing StreamExecution", False, False, False),  # between two micro-batches, for a fraction of a ms
        ("Initializing StreamExecution", True, False, False),
        ("Getting offsets from FileStreamSource[file:/in]", True, False, False),
        ("Processing new data", True, True, False),
        ("Processing new data", False, True, False),
        ("Waiting for next trigger", False, True, False),
        ("Waiting for data to arrive", True, False, False),
        ("Waiting for data to arrive", False, False, True),
        ("Waiting for next trigger", False, False, True),
    ],
)
def test_only_a_query_that_waits_has_found_nothing(message: str, active: bool, available: bool, nothing: bool) -> None:
    """The statuses that a query of Spark 4.3 had, when it was asked all the time."""
    status = {"message": message, "isTriggerActive": active, "isDataAvailable": available}
    assert found_nothing(status) == nothing


@contextmanager
def files_that_keep_coming(folder: Path) -> Iterator[None]:
    done = threading.Event()

    def write() -> None:
        number = 0
        while not done.wait(0.3):
            number += 1
            row = {"ts": "2021-01-01 00:00:00", "n": 1}
            (folder / f"_late{number}").write_text(json.dumps(row), encoding="utf-8")
            (folder / f"_late{number}").rename(folder / f"late{number}.json")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        done.set()
        writer.join()


@pytest.mark.spark
def test_one_run_reads_the_files_and_fires_the_last_windows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while files keep coming; the first files are those of the first micro-batch."""
    runs = []
    run = StreamDriver._run
    monkeypatch.setattr(StreamDriver, "_run", lambda self, *given: (runs.append(1), run(self, *given)))
    write_files(tmp_path / "in", [[{"ts": f"2020-01-01 00:00:0{i}", "n": i}] for i in range(3)])
    session = Session(spark, mode="streaming")
    columns = "ts TIMESTAMP(3), n INT, WATERMARK FOR ts AS ts"
    create_table(session, "t", columns, tmp_path / "in")
    sql = """SELECT window_start, SUM(n) AS s FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
        WHERE ts < TIMESTAMP '2021-01-01 00:00:00' GROUP BY window_start, window_end"""
    assert [row["s"] for row in session.sql(sql).collect()] == [3]
    assert runs == [1]
    create_table(session, "out", "n INT", tmp_path / "out")
    session.execute("INSERT INTO out SELECT n FROM t")  # no operator waits for an end
    assert sorted(row["n"] for row in spark.read.json(str(tmp_path / "out")).collect()) == [0, 1, 2]
    assert runs.pop() == 1
    with files_that_keep_coming(tmp_path / "in"):
        assert [row["s"] for row in session.sql(sql).collect()] == [3]
    assert runs == [1, 1]
    session.execute("""CREATE TABLE bid (price BIGINT, dateTime TIMESTAMP(3), WATERMARK FOR dateTime AS dateTime) WITH (
        'connector' = 'nexmark', 'nexmark.table' = 'bid', 'number-of-rows' = '45', 'rows-per-second' = '30',
        'rows-per-batch' = '20')""")  # the query is at rest before the last rows are due
    generated = """SELECT window_start, COUNT(*) AS s FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(dateTime),
        INTERVAL '1' HOUR)) GROUP BY window_start, window_end"""
    assert [row["s"] for row in session.sql(generated).collect()] == [45]
    assert runs == [1, 1, 1]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("options", "checkpoint", "micro_batches"),
    [("", None, 1), (", 'maxFilesPerTrigger' = '2'", None, 3), ("", "checkpoint", 2)],
)
def test_files_without_a_limit_and_their_end_are_one_micro_batch_of_the_only_run(
    spark: SparkSession, tmp_path: Path, options: str, checkpoint: str | None, micro_batches: int
) -> None:
    """With a checkpoint another run may read more files."""
    write_files(tmp_path / "in", [[{"ts": f"2020-01-01 00:00:0{i}", "n": i}] for i in range(3)])
    session = Session(spark, mode="streaming", checkpoint=checkpoint and str(tmp_path / checkpoint), final=True)
    reports: list[Any] = []
    session.streams.reports.append(reports.append)
    files = f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}"
    session.execute(f"""CREATE TABLE t (ts TIMESTAMP(3), n INT, WATERMARK FOR ts AS ts) WITH ({files}/in'{options});
        CREATE TABLE out (s BIGINT) WITH ({files}/out')""")
    session.execute("""INSERT INTO out SELECT SUM(n) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
        GROUP BY window_start, window_end""")
    assert [row["s"] for row in spark.read.json(str(tmp_path / "out")).collect()] == [3]
    assert [report.micro_batch for report in reports] == [*range(micro_batches)]
    assert reports[-1].sums["rows_in"] == 3


@pytest.mark.spark
@pytest.mark.slow
def test_no_row_is_late_however_often_the_query_is_asked(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two micro-batches Spark shows a status in which nothing happens. Looked at all the time, it is seen."""
    monkeypatch.setattr(running, "BOUNDED", 0.001)
    monkeypatch.setattr(running, "POLL", 0)
    write_files(tmp_path / "in", [[{"ts": f"2020-01-01 00:00:{i:02}", "n": i}] for i in range(30)])
    session = Session(spark, mode="streaming")
    create_table(session, "t", "ts TIMESTAMP(3), n INT, WATERMARK FOR ts AS ts", tmp_path / "in")
    create_table(session, "out", "n INT", tmp_path / "out")
    session.execute("INSERT INTO out SELECT n FROM t")
    assert spark.read.json(str(tmp_path / "out")).count() == 30
    sql = "SELECT COUNT(*) AS c FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR))"
    found = session.sql(f"{sql} GROUP BY window_start, window_end").collect()
    assert ([row["c"] for row in found], session.counts["numLateRecordsDropped"]) == ([30], 0)
