"""Streams that run: without end until they are stopped, several at once, with their counters and a line that tells."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import Row
from test_streaming import create_table, some_batches, write_files

from tvfsql import Session, TvfSqlError
from tvfsql.runtime.progress import Line, working
from tvfsql.runtime.stream.control import END_OF_INPUT
from tvfsql.runtime.stream.counts import Counts, newest_window, open_slices, time_text, totals
from tvfsql.runtime.stream.live import Live, duration_text, size_text
from tvfsql.runtime.stream.run import _fresh

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TICKS = """CREATE TABLE ticks (
    `timestamp` TIMESTAMP_LTZ(3), `value` BIGINT,
    ts AS CAST(TIMESTAMP '2020-04-15 08:00:00' + make_interval(0, 0, 0, 0, 0, 0, `value`) AS TIMESTAMP(3)),
    WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH ('connector' = 'rate', 'rowsPerSecond' = '50');
"""
WINDOWS = """SELECT window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end"""
CONTROL = Path("/checkpoint/control")


def progress(batch: int, *, rows: int = 0, control: int = 0, ran: bool = True, **observed: dict[str, Any]) -> Any:
    sources = (("KafkaV2[Subscribe[bids]]", rows), (f"FileStreamSource[file:{CONTROL}]", control))
    return {
        "batchId": batch,
        "durationMs": {"triggerExecution": 5} | ({"addBatch": 3} if ran else {}),
        "sources": [{"description": description, "numInputRows": count} for description, count in sources],
        "observedMetrics": {name: Row(**metrics) for name, metrics in observed.items()},
    }


def test_what_micro_batches_did_is_added_and_what_is_held_is_as_of_the_last() -> None:
    one, other = Counts(), Counts()
    one.take(
        progress(
            0,
            rows=10,
            control=1,
            tvfsql={"numLateRecordsDropped": 2, "watermark": 1000, "stateRows": 7, "stateBytes": 70, "openSlices": 3},
            tvfsql_out={"rowsOut": 4},
            users_own={"rowsOut": 100},
        ),
        CONTROL,
    )
    one.take(progress(1, rows=5, tvfsql={"numLateRecordsDropped": None, "watermark": 3000, "stateRows": 5}), CONTROL)
    assert totals([one]) == {
        "rowsIn": 15,
        "rowsOut": 4,
        "numLateRecordsDropped": 2,
        "numNullRowTimeRecordsDropped": 0,
        "watermark": 3000,
        "stateRows": 5,
        "stateBytes": 70,
    }
    other.take(progress(0, rows=1, tvfsql={"watermark": 2000, "stateRows": 1, "newestWindow": 9000}), CONTROL)
    both = totals([one, other])
    assert (both["rowsIn"], both["watermark"], both["stateRows"]) == (16, 2000, 6)
    assert (newest_window([one, other]), newest_window([one]), open_slices([one, other])) == (9000, None, 3)
    assert "watermark" not in totals([Counts()])


def test_each_micro_batch_is_counted_once_and_none_is_passed_over() -> None:
    def ids(recent: list[Any], seen: int | None) -> list[int]:
        query: Any = SimpleNamespace(lastProgress=recent[-1] if recent else None, recentProgress=recent)
        return [each["batchId"] for each in _fresh(query, seen)]

    idle = progress(3, ran=False)
    batches = [progress(number) for number in range(3)]
    assert ids([], None) == []
    assert ids(batches, None) == [0, 1, 2]
    assert ids(batches, 1) == [2]
    assert ids(batches, 2) == []
    assert ids([*batches, idle], 2) == []
    assert ids([*batches, idle], 1) == [2]
    assert ids([idle, progress(3), idle | {"batchId": 4}, progress(4)], 2) == [3, 4]


def test_the_line_tells_rates_watermark_and_state() -> None:
    counts = Counts()
    running: Any = SimpleNamespace(
        counts=[counts],
        runs=[SimpleNamespace(stream=SimpleNamespace(endless=True))],
        stopping=SimpleNamespace(is_set=lambda: False),
    )
    live = Live(now=lambda: 65_000)
    assert live.text(running) is None
    held = {"watermark": 60_000, "stateRows": 12_000, "stateBytes": 3 << 20, "openSlices": 4}
    counts.take(progress(0, rows=9, tvfsql=held | {"numLateRecordsDropped": 2}), CONTROL)
    said = live.text(running)
    assert said is not None and said.startswith("in 9/s  out 0/s  watermark 1970-01-01 00:01:00.000 (lag 5.0 s)")
    assert said.endswith("4 slices open  state 12,000 rows 3.0 MiB  2 late")
    running.runs[0].stream.endless = False
    assert "lag" not in (live.text(running) or "")
    assert [size_text(size) for size in (0, 1023, 1536, 5 << 40)] == ["0 B", "1023 B", "1.5 KiB", "5.0 TiB"]
    assert [duration_text(ms) for ms in (400, 720_000, -30_000)] == ["0.4 s", "12 min", "-30.0 s"]
    assert (time_text(-1), time_text(END_OF_INPUT)) == ("1969-12-31 23:59:59.999", "end of input")
    rates = Live(now=lambda: 0)
    assert [rates.rates(second, second * 100, second) for second in range(0, 41, 4)][-1] == (100, 1)


def test_rows_are_written_above_the_line_in_whole_lines() -> None:
    screen = io.StringIO()
    line = Line(screen)
    line.show("working")
    above = line.above(screen)
    above.write("a row")
    assert screen.getvalue() == "\rworking"
    above.write("\nanother")
    assert screen.getvalue() == "\rworking\r       \ra row\n"
    above.close()
    assert screen.getvalue().endswith("a row\nanother")
    with working("nothing", out=screen) as other:  # no terminal: nothing is shown
        other.above(screen).write("\n")
    assert screen.getvalue().endswith("another\n")


@pytest.mark.spark
def test_the_inserts_of_a_set_run_at_once_and_one_that_fails_stops_the_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_files(tmp_path / "in", some_batches(seed=1, disorder=3, batches=2))
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint")
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
    assert session.counts["rowsIn"] == 240 + few > 240, "the second filter is the source's own"
    assert session.counts["rowsOut"] == few + spark.read.parquet(str(tmp_path / "totals")).count()
    assert sorted(path.name for path in (tmp_path / "checkpoint").iterdir()) == ["1", "2"]

    session.execute(TICKS)
    wrong = both.format("SELECT ts, `value` FROM ticks", "SELECT CAST(CAST(item AS INT) AS STRING) FROM bid")
    running = session.execute(wrong)[0]
    with pytest.raises(TvfSqlError, match="is no INT"):
        assert running.running is not None
        session._wait(running.running)
    assert not spark.streams.active


@pytest.mark.spark
def test_an_insert_without_end_runs_until_it_is_stopped(spark: SparkSession, tmp_path: Path) -> None:
    session = Session(spark, mode=None)
    session.execute(TICKS + "CREATE TABLE nowhere (n BIGINT) WITH ('connector' = 'blackhole')")
    insert = session.sql("INSERT INTO nowhere SELECT `value` FROM ticks")
    query = insert.start()
    for _ in range(120):
        assert not query.awaitTermination(1)
        if session.counts["rowsOut"]:
            break
    insert.stop()
    assert not query.isActive
    assert session.counts["rowsIn"] >= session.counts["rowsOut"] > 0


@pytest.mark.spark
@pytest.mark.slow
def test_ctrl_c_ends_a_run_cleanly_and_the_next_goes_on_from_there(tmp_path: Path) -> None:
    script = tmp_path / "ticks.sql"
    out = f"'connector' = 'filesystem', 'path' = '{tmp_path / 'out'}', 'format' = 'json'"
    screen = "CREATE TABLE screen (n BIGINT) WITH ('connector' = 'print');\n"
    totals = f"CREATE TABLE totals (ends TIMESTAMP(3), n BIGINT) WITH ({out});\n"
    inserts = f"INSERT INTO totals {WINDOWS.format('ticks')}; INSERT INTO screen SELECT `value` FROM ticks;"
    script.write_text(f"{TICKS}{screen}{totals}EXECUTE STATEMENT SET BEGIN {inserts} END;")
    checkpoint = str(tmp_path / "checkpoint")
    for how in (signal.SIGINT, signal.SIGTERM):
        code, rows, counts = stopped([str(script), "--checkpoint", checkpoint], how, after=200)
        assert code == 130
        assert rows[0] == "+I[0]" if how == signal.SIGINT else rows[0] > "+I[1]"
        assert counts["rowsOut"] > "0" and "2020-04-15" in counts["watermark"] and "interrupted" in counts
    windows = [json.loads(line) for file in (tmp_path / "out").glob("*.json") for line in file.open()]
    ends = sorted(window["ends"] for window in windows)
    assert len(ends) == len(set(ends)) > 20
    assert {window["n"] for window in windows} == {5}

    select = ["-e", TICKS + "SELECT `value` FROM ticks", "--format", "csv"]
    code, rows, _ = stopped(select, signal.SIGINT, after=30)
    assert (code, rows[:3], rows.count("value")) == (130, ["value", "0", "1"], 1)


def stopped(arguments: list[str], how: signal.Signals, after: int) -> tuple[int, list[str], dict[str, str]]:
    """`tvfsql run` that gets a signal once it has printed some lines: exit code, lines, what stderr says by name."""
    command = [sys.executable, "-m", "tvfsql", "run", *arguments]
    # a shell's background job ignores SIGINT, and so would what the tests start from one
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(after)]
        process.send_signal(how)
        rest, said = process.communicate(timeout=60)
    told = dict(line.split(": ") if ": " in line else (line, "") for line in said.splitlines())
    assert set(told) <= {
        "rowsIn", "rowsOut", "numLateRecordsDropped", "numNullRowTimeRecordsDropped", "watermark", "stateRows",
        "stateBytes", "interrupted",
    }, said  # fmt: skip
    return process.returncode, [*lines, *rest.splitlines()], told
