"""Runs over one checkpoint, ends of tables, and files of any time. Source: docs/streams.md#runs-ends-and-lulls."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import BIDS, create_table, some_batches, write_files
from tvfsql import Session
from tvfsql.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE = 120  # seconds
FILES = 5
QUERIES = {
    window: f"SELECT window_end, item, COUNT(*), SUM(n) FROM TABLE({window}(TABLE bid, DESCRIPTOR(ts), {sizes})) "
    "GROUP BY window_start, window_end, item"
    for window, sizes in (
        ("TUMBLE", "INTERVAL '10' SECOND"),
        ("HOP", "INTERVAL '4' SECOND, INTERVAL '12' SECOND"),
        ("CUMULATE", "INTERVAL '5' SECOND, INTERVAL '20' SECOND"),
    )
} | {
    "first": "SELECT ts, item, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts) AS row_number "
    "FROM bid) WHERE row_number = 1",
    "join": "SELECT a.ts, a.item, b.n FROM bid AS a JOIN bid AS b ON a.item = b.item AND a.n = b.n "
    "AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '5' SECOND",
}


def rows_of(session: Session, folder: Path, query: str) -> Counter[tuple[Any, ...]]:
    create_table(session, "bid", BIDS.format(delay=30), folder)
    return Counter(map(tuple, session.sql(query).collect()))


@pytest.mark.spark
@pytest.mark.parametrize(("name", "runs"), [("TUMBLE", 5), ("HOP", 2), ("CUMULATE", 3), ("first", 2), ("join", 3)])
def test_runs_over_a_growing_folder_equal_one_run(spark: SparkSession, tmp_path: Path, name: str, runs: int) -> None:
    batches = some_batches(seed=runs, disorder=30, batches=FILES, rows=40)
    write_files(tmp_path / "all", batches)
    expected = rows_of(Session(spark, mode="streaming"), tmp_path / "all", QUERIES[name])
    found: Counter[tuple[Any, ...]] = Counter()
    for run in range(runs):
        write_files(tmp_path / "in", batches[: FILES * (run + 1) // runs])
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=run == runs - 1)
        found += rows_of(session, tmp_path / "in", QUERIES[name])
        assert session.counts["numLateRecordsDropped"] == 0
    assert found == expected and len(expected) > 3


@pytest.mark.spark
def test_a_table_that_was_closed_refuses_new_files_before_they_are_read(spark: SparkSession, tmp_path: Path) -> None:
    batches = some_batches(seed=1, disorder=3, batches=3, rows=20)

    def run(files: int) -> Session:
        write_files(tmp_path / "in", batches[:files])
        session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=files < 3)
        rows_of(session, tmp_path / "in", QUERIES["TUMBLE"])
        return session

    assert run(2).counts["rowsIn"] == 40
    assert run(2).counts["rowsIn"] == 0, "nothing is new"
    with pytest.raises(DataError, match=r"table bid was closed by --final, but there is a new file: .*002.json"):
        run(3)
    (tmp_path / "in" / "002.json").unlink()
    assert run(2).counts["rowsIn"] == 0


@pytest.mark.spark
def test_files_of_the_future_are_all_read(spark: SparkSession, tmp_path: Path) -> None:
    """The clock of a file server may be ahead: half of the rows came after the end that was announced too early."""
    (tmp_path / "in").mkdir()
    for number in range(6):
        rows = [{"ts": f"2020-04-15 08:{number:02d}:{second:02d}", "n": 1} for second in range(10)]
        file = tmp_path / "in" / f"{number}.json"
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        os.utime(file, (time.time() + 3600 + number,) * 2)
    session = Session(spark, mode="streaming")
    create_table(session, "t", "ts TIMESTAMP(3), n INT, WATERMARK FOR ts AS ts", tmp_path / "in")
    query = "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    rows = session.sql(f"{query} GROUP BY window_start, window_end").collect()
    assert [row[0] for row in rows] == [10] * 6


@pytest.mark.spark
def test_a_table_that_has_ended_holds_nobody_back(spark: SparkSession, tmp_path: Path) -> None:
    """A folder beside a table without end: its windows fire, with the rows of both."""
    write_files(tmp_path / "in", [[{"ts": "2020-04-15 08:00:01", "n": 1}]])
    session = Session(spark, mode="streaming")
    create_table(session, "files", "ts TIMESTAMP(3), n INT, WATERMARK FOR ts AS ts", tmp_path / "in")
    session.execute(f"""CREATE TABLE ticks (`timestamp` TIMESTAMP_LTZ(3), `value` BIGINT,
            ts AS CAST(TIMESTAMPADD(SECOND, `value`, TIMESTAMP '2020-04-15 08:00:00') AS TIMESTAMP(3)),
            WATERMARK FOR ts AS ts) WITH ('connector' = 'rate', 'rowsPerSecond' = '50');
        CREATE TABLE out (ends TIMESTAMP(3), n BIGINT) WITH (
            'connector' = 'filesystem', 'path' = '{tmp_path / "out"}', 'format' = 'json')""")
    result = session.sql("""INSERT INTO out SELECT window_end, COUNT(*) FROM TABLE(TUMBLE((
            SELECT ts FROM files UNION ALL SELECT ts FROM ticks
        ), DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end""")
    result.start()

    def windows() -> list[dict[str, Any]]:
        files = sorted((tmp_path / "out").glob("*.json"))
        return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]

    until = time.monotonic() + PATIENCE
    while len(windows()) < 2 and time.monotonic() < until:
        time.sleep(0.2)
    result.stop()
    first = min(windows(), key=lambda window: window["ends"])
    assert (first["ends"][:19], first["n"]) == ("2020-04-15T08:00:10", 11)
