"""Rows in the order of event time: OVER, LAG and patterns of rows, in both modes of tvfsql and in Flink."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import tvfsql
from tests.bench import report, stream_engines
from tests.bench.data import Bids, StreamOfBids, in_one_file
from tests.bench.nexmark.compare import compared, timed
from tests.bench.nexmark.engines import NOTHING, Engine, duck_columns

MOST_OF_FLINK, MOST_OF_GROWTH = 1.5, 1.5
ROW = "ts TIMESTAMP(3), k INT, v BIGINT"
SUMS = "SUM(v) OVER w AS total, COUNT(*) OVER w AS n, MAX(v) OVER w AS top"
FRAME = "(PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL {} PRECEDING AND CURRENT ROW)"
MATCH = "k INT, since TIMESTAMP(3), until TIMESTAMP(3), rise BIGINT"
PATTERN = """
    SELECT k, since, until, rise FROM bid MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY ts MEASURES A.ts AS since, C.ts AS until, C.v - A.v AS rise
        ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
        PATTERN ({}) WITHIN INTERVAL '10' MINUTE DEFINE B AS B.v > {}, C AS C.v > {}
    )
"""


@dataclass(frozen=True)
class Ordered:
    """A query and the columns of its result."""

    name: str
    title: str
    columns: str
    sql: str
    clock: str = ""


def _over(name: str, interval: str) -> Ordered:
    sql = f"SELECT ts, k, v, {SUMS} FROM bid WINDOW w AS {FRAME.format(interval)}"
    return Ordered(name, f"OVER RANGE {interval}", f"{ROW}, total BIGINT, n BIGINT, top BIGINT", sql)


CASES = {
    query.name: query
    for query in (
        _over("over-1min", "'1' MINUTE"),
        _over("over-10min", "'10' MINUTE"),
        _over("over-1h", "'1' HOUR"),
        _over("over-24h", "'1' DAY"),
        Ordered(
            "lag",
            "LAG",
            f"{ROW}, earlier BIGINT",
            "SELECT ts, k, v, LAG(v) OVER (PARTITION BY k ORDER BY ts) AS earlier FROM bid",
        ),
        Ordered("pattern", "three rows that rise", MATCH, PATTERN.format("A B C", "A.v", "B.v")),
        Ordered(
            "pattern-runs",
            "rows that fall, then one that rises",
            MATCH,
            PATTERN.format("A B+ C", "0 AND (LAST(B.v, 1) IS NULL AND B.v < A.v OR B.v < LAST(B.v, 1))", "LAST(B.v)"),
        ),
    )
}


@dataclass(frozen=True)
class Tvfsql:
    """INSERT INTO, from SQL to the end of the input; on streams a file is a micro-batch."""

    session: tvfsql.Session
    bids: StreamOfBids
    mode: str
    name: str

    def can(self, query: Ordered) -> bool:
        return True

    def run(self, query: Ordered, folder: str | None) -> str:
        streams = self.mode == "streaming"
        path = self.bids.whole() if streams else f"{self.bids.whole()}/*.csv"
        keep = f"'connector' = 'filesystem', 'path' = '{folder}/rows', 'format' = 'parquet'"
        more = ", 'maxFilesPerTrigger' = '1'" if streams else ""
        script = statements(query, path, more, keep if folder else NOTHING)
        tvfsql.Session(self.session.spark, mode=self.mode).execute(";".join(script))
        return f"read_parquet('{folder}/rows/*.parquet')"


@dataclass(frozen=True)
class Flink:
    process: stream_engines.Flink
    bids: StreamOfBids
    name: str

    def can(self, query: Ordered) -> bool:
        return True

    def run(self, query: Ordered, folder: str | None) -> str:
        keep = f"'connector' = 'filesystem', 'path' = '{folder}/rows', 'format' = 'csv'"
        path = str(in_one_file(self.bids.whole()))
        self.process.execute(statements(query, path, "", keep if folder else NOTHING))
        return f"read_csv('{folder}/rows/part-*', header = false, columns = {duck_columns(query)})"


def statements(query: Ordered, path: str, options: str, sink: str) -> list[str]:
    """The query as a script for tvfsql and Flink."""
    return [
        f"CREATE TABLE bid ({stream_engines.COLUMNS}, WATERMARK FOR ts AS ts)"
        f" WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv'{options})",
        f"CREATE TABLE answer ({query.columns}) WITH ({sink})",
        f"INSERT INTO answer {query.sql}",
    ]


def run(bids: Bids, queries: Sequence[Ordered], repeats: int) -> bool:
    """Print what was found; whether all answers agree."""
    rows = StreamOfBids(bids.rows, bids.keys)
    report.say(
        f"\nRows in order: {bids.rows:,} rows, {bids.keys:,} keys, CSV, {rows.micro_batches} micro-batches; medians"
        f" of {repeats} after a warm-up whose rows are compared, engines by turns, into sinks that keep no row"
    )
    session = tvfsql.Session(mode="streaming")
    seconds: dict[str, dict[str, float]] = {}
    with stream_engines.flink() as peers:
        engines: list[Engine] = [
            Tvfsql(session, rows, "streaming", "tvfsql"),
            Tvfsql(session, rows, "batch", "tvfsql, batch"),
        ]
        engines += [Flink(peer, rows, peer.name) for peer in peers]
        agree = True
        for query in queries:
            report.say(f"\n{query.title}")
            counts = compared(query, engines, bids.rows)
            agree &= None not in counts.values()
            lines, seconds[query.name] = timed(query, engines, counts, repeats)
            report.say(*lines)
    session.spark.stop()
    report.say(*report.under("Targets of rows in order", _targets(seconds)))
    return agree


def _targets(seconds: dict[str, dict[str, float]]) -> list[str]:
    """One line per target whose cases were run."""
    lines = []
    for name, found in seconds.items():
        for mode in ("tvfsql", "tvfsql, batch"):
            if "Flink" in found:
                ratio = found[mode] / found["Flink"]
                text = f"{CASES[name].title}: {mode} within {MOST_OF_FLINK} of Flink's time: {ratio:.2f}"
                lines.append(report.target(text, ratio <= MOST_OF_FLINK))
    if {"over-1min", "over-24h"} <= seconds.keys():
        for mode in seconds["over-24h"]:
            ratio = seconds["over-24h"][mode] / seconds["over-1min"][mode]
            text = f"a frame of a day to one of a minute, within {MOST_OF_GROWTH}: {mode} {ratio:.2f}"
            lines.append(report.target(text, ratio <= MOST_OF_GROWTH))
    return lines
