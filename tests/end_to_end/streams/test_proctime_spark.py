"""Processing time on Spark: windows end with the clock though rows have stopped; in batch there is one instant."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from tvfsql import Session, compile
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.running import Running
from tvfsql.runtime.stream.driver.stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

CLICK = (
    "CREATE TABLE click (item STRING, n INT, proc AS PROCTIME()) "
    "WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json')"
)
# windows of a second, and windows of two over them
CASCADE = """
SELECT item, SUM(n) AS n, window_end, UNIX_MILLIS(PROCTIME()) AS told FROM TABLE(TUMBLE(
    (SELECT item, SUM(n) AS n, window_time AS proc
     FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(proc), INTERVAL '1' SECOND))
     GROUP BY window_start, window_end, window_time, item),
    DESCRIPTOR(proc), INTERVAL '2' SECOND))
GROUP BY window_start, window_end, item"""


def write(folder: Path, number: int, rows: int) -> None:
    folder.mkdir(exist_ok=True)
    lines = (json.dumps({"item": f"i{i % 3}", "n": number * 1000 + i}) for i in range(rows))
    (folder / f"{number}.json").write_text("\n".join(lines), encoding="utf-8")


def until(running: Running, found: Callable[[], Any], wanted: Any, seconds: float = 120) -> None:
    """Wait for what a stream brings about."""
    end = time.monotonic() + seconds
    while found() != wanted and time.monotonic() < end and running.active:
        time.sleep(0.1)
    if running.failures:
        raise running.failures[0]
    assert found() == wanted


@pytest.mark.usefixtures("several_partitions")
def test_windows_end_with_the_clock_though_rows_have_stopped(spark: SparkSession, tmp_path: Path) -> None:
    """A tick ends them, also those that were open when a run ended; no row is lost, and none counts twice."""
    clicks = tmp_path / "click"
    query = compile(f"{CLICK.format(path=clicks)}; {CASCADE}", mode="streaming")
    found: dict[int, list[Any]] = {}  # rows by micro-batch: one that is run again replaces its own

    def take(rows: DataFrame, micro_batch: int) -> None:
        found[micro_batch] = list(map(tuple, rows.collect()))

    def run() -> Running:
        def build() -> Any:
            return query.dataframe(spark).writeStream.foreachBatch(take)

        return Running(spark, [Stream(build, LocalPlace(tmp_path / "checkpoint"), endless=True)])

    def rows() -> list[Any]:
        return [row for batch in [*found.values()] for row in batch]

    def total() -> int:
        return sum(row[1] for row in rows())

    write(clicks, 0, 30)
    sums = [sum(range(30)), sum(range(1000, 1020)), sum(range(2000, 2010))]
    running = run()
    try:
        until(running, total, sums[0])
        write(clicks, 1, 20)
        until(running, lambda: running.counts[0].added["rowsIn"], 50)
    finally:
        running.stop()
    time.sleep(2)  # what was open is over when the next run starts, and comes out without a row
    running = run()
    try:
        until(running, total, sum(sums[:2]))
        write(clicks, 2, 10)
        until(running, total, sum(sums))
    finally:
        running.stop()
    assert len({(item, end) for item, _, end, _ in rows()}) == len(rows()), "a window came twice"
    ends = [end.replace(tzinfo=UTC).timestamp() * 1000 for _, _, end, _ in rows()]
    assert all(end <= row[3] for end, row in zip(ends, rows(), strict=True)), "a window came before its end"


def test_in_batch_processing_time_is_one_instant(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "click", 0, 50)
    session = Session(spark, options={"table.local-time-zone": "Asia/Kathmandu"})
    session.execute(CLICK.format(path=tmp_path / "click"))
    session.execute(
        "CREATE VIEW windows AS SELECT window_start, window_end, COUNT(*) AS n, MIN(proc) AS first, MAX(proc) AS last, "
        "MAX(PROCTIME()) AS now FROM TABLE(HOP(TABLE click, DESCRIPTOR(proc), INTERVAL '1' HOUR, INTERVAL '3' HOUR)) "
        "GROUP BY window_start, window_end"
    )
    found = session.sql("SELECT * FROM windows").collect()
    clock = datetime.now(ZoneInfo("Asia/Kathmandu")).replace(tzinfo=None)
    assert all(row.window_start < clock < row.window_end + timedelta(minutes=1) for row in found)
    assert [row.n for row in found] == [50] * 3
    assert len({moment for row in found for moment in (row.first, row.last, row.now)}) == 1
    assert len({row.window_end - row.window_start for row in found}) == 1


def test_first_rows_by_processing_time_are_in_windows_by_event_time(spark: SparkSession, tmp_path: Path) -> None:
    """As in Flink: a row comes when it arrives, whatever its time, and watermarks of event time go on. A key is
    remembered by the next run."""
    rows, made = tmp_path / "rows", tmp_path / "made"
    rows.mkdir()
    script = f"""
        CREATE TABLE src (id STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '{rows}', 'format' = 'csv');
        CREATE TABLE made (start TIMESTAMP(3), n BIGINT, s INT)
        WITH ('connector' = 'filesystem', 'path' = '{made}', 'format' = 'csv');
        CREATE VIEW firsts AS SELECT id, v, ts
        FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY pt) AS rn FROM src) WHERE rn = 1;
        INSERT INTO made SELECT window_start, COUNT(*), SUM(v)
        FROM TABLE(TUMBLE(TABLE firsts, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end"""
    first = (
        "a,1,2024-01-01 00:00:10",
        "a,10,2024-01-01 00:00:20",
        "b,2,2024-01-01 00:00:30",
        "c,4,2024-01-01 00:01:10",
    )
    (rows / "1.csv").write_text("\n".join(first))
    Session(spark, mode="streaming", checkpoint=tmp_path / "cp", final=False).execute(script)
    (rows / "2.csv").write_text("c,8,2024-01-01 00:01:05\nd,16,2024-01-01 00:01:30\ne,32,2024-01-01 00:00:50\n")
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "cp", final=True)
    session.execute(script)
    found = sorted(line for file in made.glob("*.csv") for line in file.read_text().splitlines())
    assert found == ["2024-01-01T00:00:00.000,2,3", "2024-01-01T00:01:00.000,2,20"]
    assert session.counts["numLateRecordsDropped"] == 1  # e: its window had fired
