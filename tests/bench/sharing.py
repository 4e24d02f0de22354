"""Three INSERTs of a set over one view: what they share computed once, and each by itself."""

from __future__ import annotations

import time
from dataclasses import dataclass

import tvfsql
from tests.bench import report
from tests.bench.data import Bids, StreamOfBids
from tests.bench.processes import cpu_seconds

SHARING = "table.optimizer.reuse-sub-plan-enabled"
VIEW = """CREATE VIEW windows AS SELECT window_start, window_end, k, SUM(v) AS total, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)) GROUP BY window_start, window_end, k;
EXECUTE STATEMENT SET BEGIN
INSERT INTO nothing SELECT window_end, k, total FROM windows;
INSERT INTO nothing SELECT window_end, k, n FROM windows WHERE n > 3;
INSERT INTO nothing {};
END;
DROP VIEW windows"""
MOST = "SELECT window_end, 0, MAX(total) FROM windows GROUP BY window_end"
BEST = """SELECT window_end, k, total FROM windows
QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY total DESC) <= 3"""


@dataclass(frozen=True)
class Way:
    name: str
    mode: str
    form: str
    files: Bids
    sets: str


def run(bids: Bids, repeats: int) -> None:
    """Print what was found."""
    in_batch, on_streams = VIEW.format(MOST), VIEW.format(BEST)
    ways = [
        Way("batch, Parquet", "batch", "parquet", bids, in_batch),
        Way("batch, CSV", "batch", "csv", StreamOfBids(bids.rows, bids.keys), in_batch),
        *(
            Way(f"stream, {n} micro-batches", "streaming", "csv", StreamOfBids(bids.rows, bids.keys, n), on_streams)
            for n in (10, 40)
        ),
    ]
    session = tvfsql.Session(mode=None)
    report.say(
        f"\nThree INSERTs over one view, HOP 1 min/1 h, {bids.rows:,} rows; medians of {repeats} after a warm-up"
    )
    for way in ways:
        report.say(_line(way, session, repeats))
    session.spark.stop()


def _line(way: Way, session: tvfsql.Session, repeats: int) -> str:
    """The median seconds of each by itself and of sharing, by turns."""
    times: dict[str, list[tuple[float, float]]] = {"false": [], "true": []}
    for i in range(repeats + 1):
        for sharing, found in times.items():
            clock, cpu = time.perf_counter(), cpu_seconds()
            _execute(way, session, sharing)
            if i:
                found.append((time.perf_counter() - clock, cpu_seconds() - cpu))
    apart, together = (sorted(times[sharing])[repeats // 2] for sharing in ("false", "true"))
    return (
        f"  {way.name:<30} each by itself {apart[0]:6.2f} s (cpu {apart[1]:.1f}), shared {together[0]:6.2f} s"
        f" (cpu {together[1]:.1f}): {apart[0] / together[0]:.1f} times faster"
    )


def _execute(way: Way, session: tvfsql.Session, sharing: str) -> None:
    one = tvfsql.Session(session.spark, mode=way.mode, options={SHARING: sharing})
    file = way.files.whole()
    more = ", 'maxFilesPerTrigger' = '1'" if way.mode == "streaming" else ""
    pattern = f"{file}/*.csv" if way.form == "csv" and not more else file
    one.execute(
        "CREATE TABLE bid (ts TIMESTAMP(3), k INT, v BIGINT, item INT, WATERMARK FOR ts AS ts)"
        f" WITH ('connector' = 'filesystem', 'path' = '{pattern}', 'format' = '{way.form}'{more});"
        "CREATE TABLE nothing (e TIMESTAMP(3), k INT, v BIGINT) WITH ('connector' = 'blackhole')"
    )
    one.execute(way.sets)
