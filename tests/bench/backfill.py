"""A history and live rows: the batch query over both, the history in batch and then the stream, the stream over all."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from pyspark.sql import functions as F

import tvfsql
from tests.bench import report
from tests.bench.cases import HOUR, MINUTE, Case
from tests.bench.data import AS_CSV, FILES, Bids
from tests.bench.engines import Totals, flink_sql, results
from tests.bench.processes import cpu_seconds
from tvfsql.plan.window import Hop, Session, Tumble

LIVE_SHARE = 100  # every hundredth row is live
COLUMNS = "ts TIMESTAMP(3), k INT, v BIGINT, item INT"
LIVE = "history, then live"
TARGET = 1.5  # times the batch query


@dataclass(frozen=True)
class BackfillCase(Case):
    """`format`: of the files."""

    format: str = "parquet"


CASES = (
    Case("backfill-tumble-1h", "TUMBLE 1 h", Tumble(HOUR)),
    BackfillCase("backfill-csv", "TUMBLE 1 h, files of CSV", Tumble(HOUR), format="csv"),
    Case("backfill-hop", "HOP 10 min/1 h", Hop(10 * MINUTE, HOUR)),
    Case("backfill-sparse", "TUMBLE 1 min, nearly each row in a window of its own", Tumble(MINUTE)),
    Case("backfill-session", "SESSION 1 min", Session(MINUTE)),
)


@dataclass(frozen=True)
class BidsInTwo(Bids):
    """The same rows in files: those of the history in the folder `past`, the last ones in `live`."""

    format: str = "parquet"

    def whole(self) -> str:
        return self._folder(f"past-and-live-{self.format}", lambda rows: rows)

    def _write(self, rows: pa.Table, folder: Path) -> None:
        cut = len(rows) - len(rows) // LIVE_SHARE
        size = -(-cut // FILES)
        parts = {f"past/{i}": rows.slice(0, cut).slice(i * size, size) for i in range(FILES)}
        for name, part in {**parts, f"live/{FILES}": rows.slice(cut)}.items():
            file = folder / f"{name}.{self.format}"
            file.parent.mkdir(exist_ok=True)
            if self.format == "csv":
                pyarrow.csv.write_csv(part, file, AS_CSV)
            else:
                pq.write_table(part, file)


@dataclass(frozen=True)
class Way:
    """How the query is run. `table` defines the table bid."""

    name: str
    mode: str
    table: str


def run(bids: Bids, cases: Sequence[Case], repeats: int) -> bool:
    """Print what was found; whether all answers agree."""
    session = tvfsql.Session(mode=None)
    report.say(
        f"\n{bids.rows:,} rows of {bids.keys:,} keys in files: a history, and one live row in {LIVE_SHARE};"
        f" medians of {repeats} after a warm-up, by turns"
    )
    agree = True
    for case in cases:
        rows = BidsInTwo(bids.rows, bids.keys, getattr(case, "format", "parquet"))
        found = {way: _totals(way, case, session) for way in _ways(rows)}
        agree &= len(set(found.values())) == 1
        verdict = "agree" if len(set(found.values())) == 1 else "DISAGREE"
        report.say(f"\n{case.title}: {next(iter(found.values())).rows:,} rows out; the answers {verdict}")
        times: dict[Way, list[tuple[float, float]]] = {way: [] for way in found}
        for _ in range(repeats):
            for way in found:
                times[way].append(_timed(way, case, session))
        first = median(seconds for seconds, _ in next(iter(times.values())))
        shares = {}
        for way, pairs in times.items():
            seconds, cpu = (median(each) for each in zip(*pairs, strict=True))
            shares[way.name] = seconds / first
            report.say(
                f"  {way.name:<22} {seconds:7.2f} s, cpu {cpu:6.1f} s, {seconds / first:.2f} times the batch query"
            )
        share = shares[LIVE]
        report.say(report.target(f"a history in at most {TARGET} times the batch query: {share:.2f}", share <= TARGET))
    session.spark.stop()
    return agree


def _ways(rows: BidsInTwo) -> list[Way]:
    def table(name: str, path: str, more: str = "") -> str:
        files = f"'connector' = 'filesystem', 'path' = '{path}', 'format' = '{rows.format}'{more}"
        return f"CREATE TABLE {name} ({COLUMNS}, WATERMARK FOR ts AS ts) WITH ({files});"

    past, live = (f"{rows.whole()}/{name}" for name in ("past", "live"))
    history = table("past", past) + table("bid", live, ", 'tvfsql.history' = 'past'")
    everything = table("bid", f"{rows.whole()}/*/*.{rows.format}")
    return [
        Way("batch", "batch", history),
        Way(LIVE, "streaming", history),
        Way("stream over all", "streaming", everything),
    ]


def _timed(way: Way, case: Case, session: tvfsql.Session) -> tuple[float, float]:
    clock, cpu = time.perf_counter(), cpu_seconds()
    _execute(way, case, session, "'connector' = 'blackhole'")
    return time.perf_counter() - clock, cpu_seconds() - cpu


def _totals(way: Way, case: Case, session: tvfsql.Session) -> Totals:
    with TemporaryDirectory(prefix="tvfsql-bench-") as folder:
        _execute(way, case, session, f"'connector' = 'filesystem', 'path' = '{folder}/out', 'format' = 'parquet'")
        found = session.spark.read.parquet(f"{folder}/out").agg(F.count("*"), *(F.sum(name) for name in results(case)))
        rows, *sums = found.first()
    return Totals(rows, tuple(map(int, sums)))


def _execute(way: Way, case: Case, session: tvfsql.Session, sink: str) -> None:
    one = tvfsql.Session(session.spark, mode=way.mode)
    columns = ", ".join(("window_start", "window_end", "k", *results(case)))
    one.execute(
        f"{way.table} CREATE TABLE sink (window_start TIMESTAMP(3), window_end TIMESTAMP(3), k INT, total BIGINT,"
        f" n BIGINT, top BIGINT) WITH ({sink}); INSERT INTO sink ({columns}) {flink_sql(case)}"
    )
