"""What batch reads, computes and joins once: a day of a year, a share of the total, windows joined with themselves."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import tvfsql
from tests.bench import report
from tests.bench.data import Bids
from tests.bench.processes import cpu_seconds

ALONE, EARLIER = "the windows alone", "joined with the hour before"
SECONDS = (ALONE, EARLIER)
NAMES = ("one-day", "shared-windows", "joined-seconds")
DAYS = 365
BY_MINUTE = """SELECT window_start, window_end, k, SUM(v) AS total, COUNT(*) AS n, MAX(v) AS most
FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) {} GROUP BY window_start, window_end, k"""
DAY = "WHERE window_start >= TIMESTAMP '2026-07-01 00:00:00' AND window_end <= TIMESTAMP '2026-07-02 00:00:00'"
HOUR = """WITH w AS (SELECT window_start, window_end, k, SUM(v) AS total FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts),
INTERVAL '1' {}, INTERVAL '1' HOUR)) GROUP BY window_start, window_end, k) """
SHARE = """SELECT w.window_end, k, w.total / t.total FROM w JOIN (SELECT window_start, window_end, SUM(total) AS total
FROM w GROUP BY window_start, window_end) AS t ON w.window_start = t.window_start AND w.window_end = t.window_end"""
SELF = """SELECT a.window_end, a.k, a.total - b.total FROM w AS a JOIN w AS b
ON a.window_start = b.window_start AND a.window_end = b.window_end AND a.k = b.k"""
BEFORE = """SELECT a.window_end, a.k, a.total - b.total FROM w AS a JOIN w AS b
ON a.window_start = b.window_end AND a.k = b.k"""
Run = Callable[[], object]


def run(bids: Bids, names: set[str], repeats: int) -> None:
    """Print what was found. Queries by turns, after a warm-up; Spark writes to its noop sink."""
    session = tvfsql.Session()
    if "one-day" in names:
        report.say(f"\nOne day of {bids.rows:,} rows in {DAYS} folders, TUMBLE 1 min; medians of {repeats}")
        report.say(*_compared(_one_day(bids, session), repeats))
    session.execute(_table("bid", bids.whole()))
    if "shared-windows" in names:
        report.say(f"\nHOP 1 min/1 h of {bids.rows:,} rows, {bids.keys:,} keys, read once and twice")
        report.say(*_compared(_queries(session, "MINUTE"), repeats))
    if "joined-seconds" in names:
        few = Bids(max(1, bids.rows // 50), min(bids.keys, 10))
        session.execute(f"DROP TABLE bid; {_table('bid', few.whole())}")
        report.say(f"\nHOP 1 s/1 h of {few.rows:,} rows, {few.keys} keys, joined with those of the hour before")
        report.say(*_compared({name: q for name, q in _queries(session, "SECOND").items() if name in SECONDS}, repeats))
    session.spark.stop()


def _table(name: str, folder: str, day: str = "", by: str = "") -> str:
    columns = f"ts TIMESTAMP(3), k INT, v BIGINT, {day}WATERMARK FOR ts AS ts"
    return f"CREATE TABLE {name} ({columns}) {by} WITH ('connector' = 'filesystem', 'path' = '{folder}', " \
        "'format' = 'parquet')"  # fmt: skip


def _one_day(bids: Bids, session: tvfsql.Session) -> dict[str, Run]:
    """The query over a year in folders, the same if folders are not said to be computed, and over that day's files."""
    folder = Path(tempfile.gettempdir(), "tvfsql-bench", f"year-{bids.rows}-{bids.keys}")
    session.execute(_table("year", str(folder), "dt AS DATE_FORMAT(ts, 'yyyy-MM-dd'), ", "PARTITIONED BY (dt)"))
    if not (folder / "_SUCCESS").exists():
        width = DAYS * 86_400_000_000 // bids.rows  # microseconds between rows
        rows = session.spark.sql(
            f"SELECT TIMESTAMP_NTZ '2026-01-01' + make_dt_interval(0, 0, 0, id * {width} / 1000000) AS ts, "
            f"INT(pmod(hash(id), {bids.keys})) AS k, pmod(hash(id, 1), 1000000L) AS v FROM range({bids.rows})"
        )
        session.register("made", rows.repartitionByRange(64, "ts"))
        session.execute("INSERT INTO year SELECT ts, k, v FROM made")
    session.execute(
        f"{_table('unsaid', str(folder), 'dt STRING, ', 'PARTITIONED BY (dt)')};"
        f"{_table('own_files', str(folder / 'dt=2026-07-01'))}"
    )
    found = {
        "that day's files alone": BY_MINUTE.format("own_files", ""),
        "the year, one day": BY_MINUTE.format("year", DAY),
        "the year, folders not computed": BY_MINUTE.format("unsaid", DAY),
    }
    counts = {name: session.sql(f"SELECT COUNT(*), SUM(total) FROM ({sql})").collect() for name, sql in found.items()}
    assert len({str(rows) for rows in counts.values()}) == 1, counts
    return {name: _writing(session, sql) for name, sql in found.items()}


def _queries(session: tvfsql.Session, slide: str) -> dict[str, Run]:
    windows = HOUR.format(slide)
    queries = {ALONE: "SELECT * FROM w", "share": SHARE, "joined with themselves": SELF, EARLIER: BEFORE}
    return {name: _writing(session, windows + sql) for name, sql in queries.items()}


def _writing(session: tvfsql.Session, sql: str) -> Run:
    return lambda: session.sql(sql).dataframe().write.format("noop").mode("overwrite").save()


def _compared(runs: dict[str, Run], repeats: int) -> Sequence[str]:
    """Seconds of each, and times those of the first."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    for i in range(repeats + 1):
        for name, each in runs.items():
            clock, cpu = time.perf_counter(), cpu_seconds()
            each()
            if i:
                times[name].append((time.perf_counter() - clock, cpu_seconds() - cpu))
    found = {name: (median(s for s, _ in pairs), median(c for _, c in pairs)) for name, pairs in times.items()}
    first = next(iter(found.values()))
    return [
        f"  {name:<34}{seconds:7.2f} s, cpu {cpu:6.1f}: {seconds / first[0]:.2f} times"
        for name, (seconds, cpu) in found.items()
    ]
