"""Streams that run: without end until they are stopped, and several at once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import create_table, some_batches, write_files
from tests.support.small_spark import environment
from tvfsql import Session, TvfSqlError
from tvfsql.api.streams.running import wait_for
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.identity import identify
from tvfsql.runtime.stream.driver.running import Running, StreamDriver
from tvfsql.runtime.stream.driver.stream import Stream
from tvfsql.runtime.stream.lives.idle_sources import Source
from tvfsql.runtime.stream.progress.counts import (
    ADDED,
    watermark_text,
)
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT, advance
from tvfsql.runtime.stream.time.valve import is_idle

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TICKS = """CREATE TABLE ticks (
    `timestamp` TIMESTAMP_LTZ(3), `value` BIGINT,
    ts AS CAST(TIMESTAMPADD(SECOND, `value`, TIMESTAMP '2020-04-15 08:00:00') AS TIMESTAMP(3)),
    WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH ('connector' = 'rate', 'rowsPerSecond' = '50');
"""
WINDOWS = """SELECT window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end"""
PATIENCE = 600  # seconds for anything at all to happen, on a busy machine


@pytest.mark.spark
def test_the_inserts_of_a_set_run_at_once_and_one_that_fails_stops_the_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_files(tmp_path / "in", some_batches(seed=1, disorder=3, batches=2))
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=True)
    columns = "ts TIMESTAMP(3), item STRING, n INT, WATERMARK FOR ts AS ts - INTERVAL '3' SECOND"
    create_table(session, "bid", columns, tmp_path / "in")
    for name, column in (("totals", "ends TIMESTAMP(3), n BIGINT"), ("few", "item STRING")):
        path = f"'connector' = 'filesystem', 'path' = '{tmp_path / name}', 'format' = 'parquet'"
        session.execute(f"CREATE TABLE {name} ({column}) WITH ({path})")
    both = "EXECUTE STATEMENT SET BEGIN INSERT INTO totals {}; INSERT INTO few {}; END"
    results = session.execute(both.format(WINDOWS.format("bid"), "SELECT item FROM bid WHERE n < 5"))
    assert [result.query.sink and result.query.sink.name for result in results] == ["totals", "few"]
    assert sum(row.n for row in spark.read.parquet(str(tmp_path / "totals")).collect()) == 240
    few = spark.read.parquet(str(tmp_path / "few")).count()
    assert session.counts["rowsIn"] == 2 * 240 > few > 0, "each reads all rows, to see those that are bad"
    assert session.counts["rowsOut"] == few + spark.read.parquet(str(tmp_path / "totals")).count()
    assert sorted(path.name for path in (tmp_path / "checkpoint").iterdir()) == ["1", "2"]

    with pytest.raises(TvfSqlError, match="/few holds the output of another stream"):
        session.execute("INSERT INTO few SELECT item FROM bid")
    session.execute(
        TICKS + "CREATE TABLE nowhere (n BIGINT) WITH ('connector' = 'blackhole');"
        "CREATE TABLE screen (n INT) WITH ('connector' = 'print')"
    )
    sets = "EXECUTE STATEMENT SET BEGIN INSERT INTO nowhere SELECT `value` FROM ticks; INSERT INTO screen {}; END"
    running = session.execute(sets.format("SELECT CAST(item AS INT) FROM bid"))[0]
    with pytest.raises(TvfSqlError, match="cannot be cast to INT"):
        assert running.running is not None
        wait_for(running.running)
    assert not spark.streams.active


@pytest.mark.spark
def test_an_insert_without_end_runs_until_it_is_stopped(spark: SparkSession, tmp_path: Path) -> None:
    session = Session(spark, mode=None)
    session.execute(TICKS + "CREATE TABLE nowhere (n BIGINT) WITH ('connector' = 'blackhole')")
    insert = session.sql("INSERT INTO nowhere SELECT `value` FROM ticks")
    query = insert.start()
    until(query, lambda: session.counts["rowsOut"])
    insert.stop()
    assert not query.isActive
    assert session.counts["rowsIn"] >= session.counts["rowsOut"] > 0
    named = Session(
        spark, None, {"pipeline.name": "ticks", "execution.checkpointing.interval": "5 min"}, session.catalog
    )
    one = "INSERT INTO nowhere SELECT `value` FROM ticks;"
    running = named.execute(f"EXECUTE STATEMENT SET BEGIN {one} {one} END")[0].running
    assert running is not None
    queries = running.started()
    until(queries[0], lambda: all(query.lastProgress for query in queries))
    assert sorted(query.name for query in queries) == ["ticks", "ticks-2"]
    assert {query.lastProgress["batchId"] for query in queries} == {0}
    running.stop()


@pytest.mark.spark
@pytest.mark.parametrize("fails", ["at its start", "later"])
def test_a_failure_of_the_driver_stops_the_query(
    spark: SparkSession, fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    session = Session(spark, mode=None)
    session.execute(TICKS)
    compiled = session.sql("SELECT `value` FROM ticks").query
    report = full if fails == "later" else None
    if report is None:
        monkeypatch.setattr("tvfsql.runtime.stream.driver.running.repeated_tasks", full)
    stream = Stream(lambda: compiled.dataframe(spark).writeStream.format("noop"), endless=True, report=report)
    running = Running(spark, [stream])
    with pytest.raises(OSError, match="No space left"):
        running.wait()
    assert not spark.streams.active


def test_a_failure_is_reported_even_if_the_query_cannot_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if Java had ended."""

    def failing(driver: StreamDriver, _: object) -> None:
        driver.query = query
        raise OSError("first")

    query: Any = SimpleNamespace(stop=lambda: 1 / 0)
    monkeypatch.setattr(StreamDriver, "_to_end", failing)
    monkeypatch.setattr("tvfsql.runtime.stream.driver.running.quiet_java", lambda spark: nullcontext())
    spark: Any = None
    with pytest.raises(OSError, match="first"):
        Running(spark, [Stream(lambda: query)]).wait()


@pytest.mark.spark
@pytest.mark.slow
def test_ctrl_c_ends_a_run_cleanly_and_the_next_goes_on_from_there(tmp_path: Path) -> None:
    script = tmp_path / "ticks.sql"
    out = f"'connector' = 'filesystem', 'path' = '{tmp_path / 'out'}', 'format' = 'json'"
    screen = "CREATE TABLE screen (n BIGINT) WITH ('connector' = 'print');\n"
    totals = f"CREATE TABLE totals (ends TIMESTAMP(3), n BIGINT) WITH ({out});\n"
    inserts = f"INSERT INTO totals {WINDOWS.format('ticks')}; INSERT INTO screen SELECT `value` FROM ticks;"
    script.write_text(f"{TICKS}{screen}{totals}EXECUTE STATEMENT SET BEGIN {inserts} END;")

    def windows() -> list[dict[str, Any]]:
        return [json.loads(line) for file in sorted((tmp_path / "out").glob("*.json")) for line in file.open()]

    command = [str(script), "--checkpoint", str(tmp_path / "checkpoint")]
    first, rows, counts = stopped(command, signal.SIGINT, tmp_path, lambda _: len(windows()) >= 3)
    before = windows()
    assert (first, rows[0], "interrupted" in counts) == (130, "+I[0]", True)
    assert "2020-04-15" in counts["watermark"] and counts["rowsOut"] > "0"
    second, rows, counts = stopped(command, signal.SIGTERM, tmp_path, lambda _: len(windows()) >= len(before) + 3)
    assert (second, "interrupted" in counts) == (130, True)
    assert int(rows[0].removeprefix("+I[").removesuffix("]")) > 1, "it went on"
    ends = sorted(window["ends"] for window in windows())
    assert len(ends) == len(set(ends))
    assert {window["n"] for window in windows()} == {5}


@pytest.mark.spark
@pytest.mark.slow
def test_ctrl_c_ends_a_select(tmp_path: Path) -> None:
    select = ["-e", TICKS + "SELECT `value` FROM ticks", "--format", "csv"]
    third, rows, _ = stopped(select, signal.SIGINT, tmp_path, lambda printed: len(printed) > 30)
    assert (third, rows[0], rows.count("value")) == (130, "value", 1)
    assert sorted(map(int, rows[1:])) == list(range(len(rows) - 1))


def stopped(
    arguments: list[str], how: signal.Signals, folder: Path, when: Callable[[list[str]], bool]
) -> tuple[int, list[str], dict[str, str]]:
    """`tvfsql run` that gets a signal at some point: exit code, lines of stdout, what stderr says by name."""
    command = [sys.executable, "-m", "tvfsql", "run", *arguments]
    out, err = folder / "stdout", folder / "stderr"
    with out.open("w") as stdout, err.open("w") as stderr:
        process = subprocess.Popen(
            command,
            stdout=stdout,
            stderr=stderr,
            env=environment(),
            # a shell's background job ignores SIGINT, and so would what the tests start from one
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
        )
        try:
            until = time.monotonic() + PATIENCE
            while process.poll() is None and time.monotonic() < until:
                if when(out.read_text().splitlines()):
                    break
                time.sleep(0.2)
            process.send_signal(how)
            code = process.wait(PATIENCE)
        finally:
            process.kill()
    said = err.read_text()
    told = dict(line.split(": ") if ": " in line else (line, "") for line in said.splitlines())
    assert set(told) <= {"rowsIn", *ADDED, "watermark", "stateRows", "stateBytes", "interrupted"}, said
    return code, out.read_text().splitlines(), told


def test_a_call_reaches_the_streams_that_another_process_runs(tmp_path: Path) -> None:
    session = Session(checkpoint=tmp_path)
    session.execute(TICKS)
    call = "CALL advance_watermark({}TIMESTAMP '1970-01-01 00:00:01.500')"
    with pytest.raises(TvfSqlError, match="no running stream"):
        session.execute(call.format(""))
    for number in ("1", "2", "3"):
        (tmp_path / number / "control").mkdir(parents=True)
    advance(LocalPlace(tmp_path / "2" / "control"), END_OF_INPUT)
    assert session.sql(call.format("")).text() == "moved the watermark of 2 streams\n"
    assert session.advance_watermark(datetime(1970, 1, 2), "TICKS") == 2
    said = [json.loads(file.read_text()) for file in sorted((tmp_path / "3" / "control").iterdir())]
    assert said == [{"$control": 1500}, {"$control": 86_400_000, "$channel": "ticks"}]
    assert len(list((tmp_path / "2" / "control").iterdir())) == 1
    with pytest.raises(TvfSqlError, match="there is no table tick") as caught:
        session.advance_watermark(datetime(1970, 1, 2), "tick")
    assert caught.value.hint == "did you mean ticks?"


@pytest.mark.spark
def test_windows_end_when_someone_says_so(spark: SparkSession) -> None:
    session = Session(spark, mode=None)
    day = WINDOWS.format("ticks").replace("'5' SECOND", "'1' DAY")
    session.execute(TICKS + "CREATE TABLE nowhere (ends TIMESTAMP(3), n BIGINT) WITH ('connector' = 'blackhole')")
    insert = session.sql(f"INSERT INTO nowhere {day}")
    query = insert.start()
    until(query, lambda: session.counts.get("stateRows"))
    assert session.counts["rowsOut"] == session.counts["numLateRecordsDropped"] == 0
    session.execute("CALL advance_watermark('ticks', TIMESTAMP '2020-04-16 00:00:00')")
    until(query, lambda: session.counts["rowsOut"] and session.counts["numLateRecordsDropped"])
    insert.stop()
    assert session.counts["rowsOut"] == 1
    assert watermark_text(session.counts["watermark"], "") == "2020-04-16 00:00:00.000"


@pytest.mark.spark
def test_the_last_windows_come_when_all_sources_are_idle(spark: SparkSession, tmp_path: Path) -> None:
    """A folder that is watched without end, in which two files appear, the second after the first one's windows:
    some of its rows are late for the last of these."""
    batches = some_batches(seed=1, disorder=1, batches=2)
    write_files(tmp_path / "in", batches[:1])
    session = Session(spark, mode="streaming")
    columns = "ts TIMESTAMP(3), item STRING, n INT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
    create_table(session, "bid", columns, tmp_path / "in")
    compiled = session.sql(WINDOWS.format("bid")).query
    rows: list[Any] = []

    def build() -> Any:
        return compiled.dataframe(spark).writeStream.foreachBatch(lambda batch, _: rows.extend(batch.collect()))

    place = LocalPlace(tmp_path / "checkpoint")
    place.make()
    sources, id = (Source("bid", timeout=1500),), identify(place, lambda: spark)
    stream = Stream(build, place, endless=True, sources=sources, idle_advance=True, identity=id)
    running = Running(spark, [stream])
    (query,) = running.started()
    until(query, lambda: sum(row.n for row in rows) == 120)
    write_files(tmp_path / "in", batches)
    counts = running.counts[0].added
    until(query, lambda: sum(row.n for row in rows) + counts["numLateRecordsDropped"] == 240)
    running.stop()
    control = tmp_path / "checkpoint" / "control"
    said = [json.loads(file.read_text()) for file in sorted(control.glob("*.json"))]
    newest = [25_000, 50_000]
    assert all(is_idle(each["$control"]) and each["$channel"] == "bid" for each in said[:3:2])
    assert [each["$control"] % 86_400_000 - 8 * 3_600_000 + 1 for each in said[1::2]] == newest
    assert 0 < counts["numLateRecordsDropped"] < 20


def until(query: Any, done: Callable[[], Any]) -> None:
    """Wait for something that a running query brings about."""
    last = time.monotonic() + PATIENCE
    while time.monotonic() < last:
        if done():
            return
        assert not query.awaitTermination(0.2)
    raise AssertionError("it did not come")
