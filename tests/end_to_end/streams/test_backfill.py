"""A history and live rows in one script: the windows of both, each row once, wherever the cut is."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tests.support.examples import SOAK
from tests.support.killing import commits, kill, start, wait_for
from tvfsql import Session
from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LocalPlace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from tests.support.broker import Broker

Bid = tuple[datetime, str, int]
COLUMNS = "ts TIMESTAMP(3), item STRING, price INT"
DELAY = ", WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE"
FILES = "'connector' = 'filesystem', 'path' = '{}', 'format' = 'csv'"
NOON = datetime(2020, 4, 15, 12)
TUMBLE = """SELECT CAST(window_end AS STRING) AS e, item, COUNT(*) AS n, SUM(price) AS s
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end, item"""
# merge kinds with filters above and below; sessions; windows of windows; kinds that Spark cannot merge; one side
# of a join
QUERIES = (
    """SELECT CAST(window_end AS STRING) AS e, item, AVG(price) AS a, MIN(price) AS low, MAX(ts) AS latest,
    STDDEV_POP(price) AS spread, COUNT(DISTINCT price) AS prices, COUNT(*) FILTER (WHERE price > 50) AS dear,
    FIRST_VALUE(price) AS opening, LISTAGG(CAST(price AS STRING)) AS every, MEDIAN(price) AS middle
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' MINUTES, INTERVAL '30' MINUTES))
    WHERE price <> 7 GROUP BY window_start, window_end, item HAVING COUNT(*) > 1""",
    """SELECT CAST(window_start AS STRING) AS b, CAST(window_end AS STRING) AS e, item, COUNT(*) AS n, SUM(price) AS s
    FROM TABLE(SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(ts), INTERVAL '4' MINUTES))
    GROUP BY window_start, window_end, item""",
    """SELECT CAST(window_end AS STRING) AS e, MAX(s) AS most, COUNT(*) AS n FROM TABLE(CUMULATE((
    SELECT window_time, item, SUM(price) AS s FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' MINUTES))
    GROUP BY window_start, window_end, window_time, item), DESCRIPTOR(window_time), INTERVAL '20' MINUTES,
    INTERVAL '1' HOUR)) GROUP BY window_start, window_end""",
    """SELECT CAST(window_end AS STRING) AS e, item, COUNT(DISTINCT price) AS prices, BIT_XOR(price) AS bits,
    SKEWNESS(price) AS skew, CORR(price, price * price) AS r, APPROX_PERCENTILE(price, 0.9) AS p90
    FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' MINUTES, INTERVAL '30' MINUTES))
    GROUP BY window_start, window_end, item""",
    """SELECT CAST(l.window_end AS STRING) AS e, l.price AS price, r.price AS other
    FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) l
    JOIN TABLE(TUMBLE(TABLE fixed, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) r
    ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.item = r.item""",
)


def bids(draw: random.Random, count: int) -> list[Bid]:
    """Bids in the order of their times, less at most a minute."""
    minutes = sorted((draw.randrange(0, 7200), i) for i in range(count))
    times = [NOON + timedelta(seconds=second + draw.randrange(60)) for second, _ in minutes]
    return [(time, draw.choice("abc"), draw.randrange(100)) for time in times]


def write(file: Path, rows: Sequence[Bid]) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(f"{ts:%Y-%m-%d %H:%M:%S},{item},{price}\n" for ts, item, price in rows))


def tables(folder: Path, options: str = ", 'tvfsql.history' = 'past'") -> str:
    return (
        f"CREATE TABLE past ({COLUMNS}) WITH ({FILES.format(folder / 'past')});"
        f"CREATE TABLE bid ({COLUMNS}{DELAY}) WITH ({FILES.format(folder / 'live')}{options});"
        f"CREATE TABLE fixed ({COLUMNS}{DELAY}) WITH ({FILES.format(folder / 'fixed')});"
    )


def run(spark: SparkSession, query: str, folder: Path, *, end: bool = True, options: str = "") -> Counter[str]:
    """The rows of a run with a checkpoint; the last windows fire at the `end`."""
    session = Session(spark, mode="streaming", checkpoint=folder / "checkpoint", final=end)
    session.execute(tables(folder, f", 'tvfsql.history' = 'past'{options}"))
    return Counter(map(shown, session.sql(query).collect()))


def of_batch(spark: SparkSession, query: str, folder: Path, options: str | None = None) -> Counter[str]:
    """The rows of batch over a history and the live rows; without `options` over one table of all."""
    session = Session(spark)
    if options is None:
        session.execute(tables(folder, "").replace("/live'", "/{past,live}/*'"))
    else:
        session.execute(tables(folder, f", 'tvfsql.history' = 'past'{options}"))
    return Counter(map(shown, session.sql(query).collect()))


def shown(row: object) -> str:
    assert isinstance(row, tuple)
    return str([round(value, 6) if isinstance(value, float) else value for value in row])


@pytest.mark.spark
def test_windows_of_a_history_and_live_rows_have_each_row_once(spark: SparkSession, tmp_path: Path) -> None:
    """Wherever history ends and runs begin: the rows of batch over one table. The history is read once, so it may be
    gone when the stream goes on."""
    for seed, query in enumerate(QUERIES * 5 if SOAK else QUERIES[:2]):
        draw, folder = random.Random(seed), tmp_path / str(seed)
        folder.mkdir()
        rows = bids(draw, 150)
        first, second = sorted(draw.sample(range(len(rows) + 1), 2))
        write(folder / "past" / "1.csv", rows[:first])
        write(folder / "live" / "1.csv", rows[first:second])
        write(folder / "live" / "2.csv", rows[second:])
        write(folder / "fixed" / "1.csv", bids(draw, 30))
        wanted = of_batch(spark, query, folder)
        assert of_batch(spark, query, folder, "") == wanted
        if seed % 2 and not SOAK:
            assert run(spark, query, folder) == wanted
            continue
        (folder / "live" / "2.csv").rename(folder / "later")
        found = run(spark, query, folder, end=False)
        shutil.rmtree(folder / "past")
        (folder / "past").mkdir()
        (folder / "later").rename(folder / "live" / "2.csv")
        assert found + run(spark, query, folder) == wanted, seed


@pytest.mark.spark
def test_a_run_that_ends_between_the_stages_leaves_each_row_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the history is noted, and before the first micro-batch begins. Where both tables have a row, it counts
    once; where neither would take it, nothing does."""
    rows = bids(random.Random(1), 100)
    write(tmp_path / "past" / "1.csv", rows[:70])
    write(tmp_path / "live" / "1.csv", rows[30:])
    half = rows[50][0].replace(second=0)
    options = f", 'tvfsql.history.until' = '{half}'"
    wanted = of_batch(spark, TUMBLE, tmp_path, options)
    parts = [row for row in rows[:70] if row[0] < half], [row for row in rows[30:] if row[0] >= half]
    totals = Counter((item, (ts - NOON) // timedelta(minutes=10)) for part in parts for ts, item, _ in part)
    assert sorted(totals.values()) == sorted(int(row.split(", ")[2]) for row in wanted.elements())

    write_text = LocalPlace.write

    def not_noted(place: LocalPlace, text: str) -> None:
        if place.parent.name == "history":
            raise OSError("no space left")
        write_text(place, text)

    monkeypatch.setattr(LocalPlace, "write", not_noted)
    with pytest.raises(DataError, match="no space"):
        run(spark, TUMBLE, tmp_path, options=options)
    monkeypatch.undo()
    history = tmp_path / "checkpoint" / "1" / "history"
    assert [file.is_dir() for file in history.iterdir()] == [True]

    def not_started(writer: DataStreamWriter) -> StreamingQuery:
        raise OSError("not started")

    monkeypatch.setattr(DataStreamWriter, "start", not_started)
    with pytest.raises(DataError, match="not started"):
        run(spark, TUMBLE, tmp_path, options=options)
    monkeypatch.undo()
    noted = json.loads((history / "1.json").read_text())
    assert noted["rows"] == len(parts[0])
    shutil.rmtree(tmp_path / "past" / "1.csv", ignore_errors=True)
    assert run(spark, TUMBLE, tmp_path, options=options) == wanted


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="kills processes for minutes: make soak")
def test_kills_at_any_moment_leave_each_row_once(spark: SparkSession, tmp_path: Path) -> None:
    draw = random.Random(5)
    rows = bids(draw, 2000)
    write(tmp_path / "past" / "1.csv", rows[:1200])
    for i in range(4):
        write(tmp_path / "live" / f"{i}.csv", rows[1200 + 200 * i : 1400 + 200 * i])
    sink = f"CREATE TABLE sums (e STRING, item STRING, n BIGINT, s INT) WITH ({FILES.format(tmp_path / 'sums')});"
    script = tmp_path / "script.sql"
    live = ", 'tvfsql.history' = 'past', 'maxFilesPerTrigger' = '1'"
    script.write_text(f"{tables(tmp_path, live)} {sink} INSERT INTO sums {TUMBLE};")
    checkpoint = tmp_path / "checkpoint"
    history = checkpoint / "1" / "history"
    moments = (
        lambda: history.exists() and any(history.iterdir()),
        lambda: (history / "1.json").exists(),
        lambda: (checkpoint / "1" / "spark" / "offsets" / "0").exists(),
        lambda: commits(checkpoint / "1") >= 1,
        lambda: commits(checkpoint / "1") >= 3,
    )
    for moment in moments:
        process = start(script, checkpoint, "--final")
        wait_for(moment, process)
        kill(process)
    assert start(script, checkpoint, "--final").wait() == 0
    session = Session(spark)
    session.execute(sink)
    found = session.sql("SELECT * FROM sums").collect()
    assert Counter(map(shown, found)) == of_batch(spark, TUMBLE, tmp_path)


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.slow
def test_the_live_end_is_a_topic(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """Its partitions are channels; none of them holds back what the history closes."""
    broker.make_topic(spark, "live_bids")
    rows = bids(random.Random(2), 120)
    write(tmp_path / "past" / "1.csv", rows[:80])
    write(tmp_path / "live" / "1.csv", rows[80:])
    text = [json.dumps({"ts": f"{ts}", "item": item, "price": price}) for ts, item, price in rows[80:]]
    messages = spark.createDataFrame([(i % 2, line) for i, line in enumerate(text)], "partition INT, value STRING")
    servers = {"kafka.bootstrap.servers": broker.servers, "topic": "live_bids"}
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=True)
    topic = f"""'connector' = 'kafka', 'topic' = 'live_bids', 'properties.bootstrap.servers' = '{broker.servers}',
        'format' = 'json', 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'"""
    files = FILES.format(tmp_path / "live")
    session.execute(tables(tmp_path).replace(files, topic))
    messages.write.format("kafka").options(**servers).save()
    assert Counter(map(shown, session.sql(TUMBLE).collect())) == of_batch(spark, TUMBLE, tmp_path)


@pytest.mark.spark
@pytest.mark.parametrize("minutes", [20, 60, 150])
def test_bounds_of_windows_leave_out_early_rows_of_a_history(minutes: int, spark: SparkSession, tmp_path: Path) -> None:
    """Before its end, within it, and beyond it; live rows that are late too."""
    rows = bids(random.Random(minutes), 150)
    write(tmp_path / "past" / "1.csv", rows[:100])
    write(tmp_path / "live" / "1.csv", [*rows[100:], *rows[10:40]])
    bound = NOON + timedelta(minutes=minutes)
    query = f"""SELECT CAST(window_end AS STRING) AS e, item, COUNT(*) AS n, MAX(ts) AS latest
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' MINUTES, INTERVAL '30' MINUTES))
        WHERE window_end > TIMESTAMP '{bound}' AND window_start < TIMESTAMP '{bound + timedelta(minutes=40)}'
        GROUP BY window_start, window_end, item"""
    rule, found = "push_window_bounds_below_window", []
    for off in ("", rule):
        session = Session(spark, mode="streaming", options={"tvfsql.rules.disabled": off} if off else {})
        session.execute(tables(tmp_path))
        result = session.sql(query)
        assert (rule in {step.rule for step in result.query.steps}) == (not off)
        found.append(Counter(map(shown, result.collect())))
    assert found[0] == found[1] and (found[0] or minutes == 150)
