"""One row of each key of a stream: the first or the last one, beside Spark's dropDuplicatesWithinWatermark."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import tvfsql
from tests.bench import report
from tests.bench.data import StreamOfBids
from tests.bench.measure import Timed
from tests.bench.processes import cpu_seconds
from tests.bench.stream_engines import bids_of_spark, tables
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.running import Running
from tvfsql.runtime.stream.driver.stream import Stream
from tvfsql.runtime.stream.progress.counts import counted_out

SPARK = "Spark's own"
NEVER, SOON = "1 day", "10 minutes"  # after how long a quiet key is forgotten: after all rows, or between them
KEPT = "SELECT ts, k, v FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts{}) = 1"


@dataclass(frozen=True)
class Case:
    """How many keys, the format of the files, and after how long a quiet key is forgotten."""

    keys: int
    format: str
    quiet: str


CASES = (
    Case(1_000, "csv", NEVER),
    Case(1_000, "parquet", NEVER),
    Case(100_000, "csv", NEVER),
    Case(100_000, "parquet", NEVER),
    Case(100_000, "csv", SOON),
)


def run(rows: int, repeats: int) -> bool:
    """Print what was found. Where no key is forgotten, the engines must keep a row of each key; else they keep other
    rows, and their numbers are told and not compared."""
    agree = True
    for case in CASES:
        bids = StreamOfBids(rows, case.keys, format=case.format)
        folder = bids.whole()
        session = tvfsql.Session(mode="streaming", options={"table.exec.state.ttl": case.quiet})
        session.execute(tables(folder, case.format))
        kept = _compared(session, folder, case, repeats, rows)
        expected = _one_of_each(bids)
        if case.quiet == NEVER and kept != expected:
            report.say(f"  ROWS DIFFER: {kept}, not {expected}")
            agree = False
    session.spark.stop()
    return agree


def _one_of_each(bids: StreamOfBids) -> dict[str, int]:
    """How many rows each engine must keep. The row that ends the input (data.py) is of key 0, and comes so late that
    tvfsql has forgotten the key and keeps one more; Spark has not."""
    keys = set(bids.table()["k"].unique().to_pylist())
    return {"keep first": len(keys) + 1, "keep last": len(keys) + 1, SPARK: len(keys | {0})}


def _compared(session: tvfsql.Session, folder: str, case: Case, repeats: int, rows: int) -> dict[str, int]:
    """Print the times of the engines; gives how many rows each keeps."""
    engines: dict[str, Callable[[], int]] = {
        "keep first": lambda: _tvfsql(session, KEPT.format("")),
        "keep last": lambda: _tvfsql(session, KEPT.format(" DESC")),
        SPARK: lambda: _spark(session, folder, case),
    }
    report.say(
        f"\nOne row of each key until it was quiet for {case.quiet}: {rows:,} rows, {case.keys:,} keys, a {case.format}"
        f" file a micro-batch; medians of {repeats} after a warm-up, engines by turns. Spark's own:"
        " dropDuplicatesWithinWatermark"
    )
    kept = {name: engine() for name, engine in engines.items()}
    pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in engines}
    for _ in range(repeats):
        for name, engine in engines.items():
            clock, cpu = time.perf_counter(), cpu_seconds()
            engine()
            pairs[name].append((time.perf_counter() - clock, cpu_seconds() - cpu))
    report.say(*report.timed([Timed(name, kept[name], 1, tuple(pairs[name])) for name in engines]))
    return kept


def _tvfsql(session: tvfsql.Session, sql: str) -> int:
    """To the end of the input; gives the number of rows that came out."""
    with TemporaryDirectory(prefix="tvfsql-bench-", ignore_cleanup_errors=True) as checkpoint:
        running = Running(
            session.spark,
            [
                Stream(
                    lambda: counted_out(session.sql(sql).dataframe()).writeStream.format("noop"),
                    LocalPlace(Path(checkpoint)),
                )
            ],
        )
        running.wait()
        return sum(each.added["rowsOut"] for each in running.counts)


def _spark(session: tvfsql.Session, folder: str, case: Case) -> int:
    rows = bids_of_spark(session.spark, folder, case.format, case.quiet).select("ts", "k", "v")
    with TemporaryDirectory(prefix="tvfsql-bench-", ignore_cleanup_errors=True) as checkpoint:
        stream = rows.dropDuplicatesWithinWatermark(["k"]).writeStream.format("noop")
        query = stream.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
        query.awaitTermination()
        return sum(progress["sink"]["numOutputRows"] for progress in query.recentProgress)
