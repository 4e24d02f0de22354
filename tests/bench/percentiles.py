"""Percentiles beside other aggregates in one query, exact and by sketch: tvfsql, Spark's own windows and DuckDB, and on
streams beside the query of SUM alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol

import duckdb
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import tvfsql
from tests.bench import report
from tests.bench.cases import DAY, HOUR, MINUTE
from tests.bench.data import Bids, StreamOfBids
from tests.bench.processes import PeakMemory, cpu_seconds
from tests.bench.stream_engines import tables
from tvfsql.plan.window import Hop
from tvfsql.runtime.stream.progress.metrics import Metrics

FRACTIONS = (0.5, 0.95, 0.99)
DEAR = 500_000
MICRO_BATCHES = 10
BATCH, STREAM = "percentiles-batch", "percentiles-stream"
NAMES = (BATCH, STREAM)
NEAR = {"exact": 1e-9, "sketch": 0.02}  # how far sums of percentiles may be apart, as a part
COPIES = 10_000_000  # about a minute of Spark's percentile() on two cores


@dataclass(frozen=True)
class Question:
    """SUM, COUNT_IF, MAX_BY and three percentiles, "exact" or by "sketch", per key and window of HOP 1 min/`size`."""

    kind: str
    size: int

    @property
    def title(self) -> str:
        return f"HOP 1 min/{self.size // HOUR} h, {self.kind}"

    @property
    def window(self) -> Hop:
        return Hop(MINUTE, self.size)

    @property
    def sql(self) -> str:
        function = "PERCENTILE" if self.kind == "exact" else "APPROX_PERCENTILE"
        fractions = ", ".join(map(str, FRACTIONS))
        return self.of(
            f"SUM(v) AS total, COUNT_IF(v > {DEAR}) AS dear, MAX_BY(item, v) AS best, "
            f"{function}(v, ARRAY[{fractions}]) AS p"
        )

    def of(self, calls: str) -> str:
        window = f"HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '{self.size // HOUR}' HOUR)"
        return f"SELECT window_start, window_end, k, {calls} FROM TABLE({window}) GROUP BY window_start, window_end, k"


QUESTIONS = tuple(Question(kind, size) for size in (HOUR, DAY) for kind in ("exact", "sketch"))
SUMS = ("total", "dear", "best", *(f"p[{i}]" for i in range(len(FRACTIONS))))
Sums = tuple[float, ...]


class Engine(Protocol):
    name: str

    def run(self, question: Question, file: str) -> None: ...

    def sums(self, question: Question, file: str) -> Sums: ...


class Tvfsql:
    name = "tvfsql"

    def __init__(self, session: tvfsql.Session) -> None:
        self.session = session

    def run(self, question: Question, file: str) -> None:
        self.frame(question, file).write.format("noop").mode("overwrite").save()

    def sums(self, question: Question, file: str) -> Sums:
        return _sums(self.frame(question, file))

    def frame(self, question: Question, file: str) -> DataFrame:
        self.session.execute(
            "DROP TABLE IF EXISTS bid; CREATE TABLE bid (ts TIMESTAMP(3), k INT, v BIGINT, item INT, WATERMARK FOR ts "
            f"AS ts) WITH ('connector' = 'filesystem', 'path' = '{file}', 'format' = 'parquet')"
        )
        return self.session.sql(question.sql).dataframe()


class SparkWindows(Tvfsql):
    """Spark's window(), with its own percentile() and approx_percentile(), which is a sketch too."""

    name = "Spark's own"

    def frame(self, question: Question, file: str) -> DataFrame:
        function = "percentile" if question.kind == "exact" else "approx_percentile"
        window = F.window("ts", f"{question.size} milliseconds", f"{MINUTE} milliseconds")
        calls = ("sum(v) AS total", f"count_if(v > {DEAR}) AS dear", "max_by(item, struct(v, item)) AS best")
        of = f"{function}(v, array({', '.join(map(str, FRACTIONS))})) AS p"
        bid = self.session.spark.read.parquet(file)
        return bid.groupBy("k", window).agg(*map(F.expr, (*calls, of)))


class DuckDb:
    """Percentiles of DuckDB's own, which are t-digests for sketches."""

    name = "DuckDB"

    def run(self, question: Question, file: str) -> None:
        self.sums(question, file)

    def sums(self, question: Question, file: str) -> Sums:
        connection = duckdb.connect(config={"threads": len(os.sched_getaffinity(0))})
        function = "quantile_cont" if question.kind == "exact" else "approx_quantile"
        copies = (
            f"SELECT *, epoch_us(ts) // {MINUTE * 1000} - i AS w FROM bid, range({question.size // MINUTE}) AS c(i)"
        )
        windows = (
            f"SELECT k, w, sum(v) AS total, count_if(v > {DEAR}) AS dear, "
            f"arg_max(item, {{'v': v, 'i': item}}) AS best, "
            f"{function}(v, [{', '.join(map(str, FRACTIONS))}]) AS p FROM ({copies}) GROUP BY k, w"
        )
        sums = ", ".join(f"sum({_from_one(name)})" for name in SUMS)
        of = f"WITH bid AS (FROM read_parquet('{file}/*.parquet')) SELECT count(*), {sums} FROM ({windows})"
        found = connection.execute(of).fetchone()
        assert found is not None
        return tuple(map(float, found))


def run(bids: Bids, only: set[str], repeats: int) -> bool:
    """Print what was found; whether all answers agree."""
    agree = True
    if BATCH in only:
        agree &= _in_batch(bids, repeats)
    if STREAM in only:
        _on_streams(bids, repeats)
    return agree


def _in_batch(bids: Bids, repeats: int) -> bool:
    session = tvfsql.Session()
    engines: Sequence[Engine] = (Tvfsql(session), SparkWindows(session), DuckDb())
    agree = True
    for question in QUESTIONS:
        report.say(f"\n{question.title}: SUM, COUNT_IF, MAX_BY, p50, p95 and p99 of {bids.rows:,} rows")
        own, *others = engines
        shares = {engine.name: 1 if engine is own else _share(bids, question) for engine in engines}
        for engine in others:
            file = bids.part(max(1, bids.keys // shares[engine.name]))
            wanted, found = own.sums(question, file), engine.sums(question, file)
            same = _alike(question, wanted, found)
            agree &= same
            report.say(f"  {engine.name} {'agrees with' if same else 'DISAGREES WITH'} tvfsql: {found[0]:,.0f} rows")
            if not same:
                report.say(f"    {wanted}", f"    {found}")
        own.run(question, bids.whole())
        seconds: dict[str, list[float]] = {engine.name: [] for engine in engines}
        cpus: dict[str, list[float]] = {engine.name: [] for engine in engines}
        for _ in range(repeats):
            for engine in engines:
                share = shares[engine.name]
                before = _timed(engine.run, question, bids.few()) if share > 1 else (0.0, 0.0)
                taken = _timed(engine.run, question, bids.part(max(1, bids.keys // share)))
                for known, part, fixed in zip((seconds, cpus), taken, before, strict=True):
                    known[engine.name].append(fixed + max(0.0, part - fixed) * share)
        ours = median(seconds[own.name])
        for name, taken in seconds.items():
            scaled = f", SCALED from 1/{shares[name]} of the keys" if shares[name] > 1 else ""
            cpu = median(cpus[name])
            times = f"{median(taken):8.2f} s, {median(taken) / ours:6.1f} x tvfsql; {cpu:8.1f} CPU s"
            report.say(f"  {name:<12} {times}{scaled}")
        if question.size == HOUR:
            least = 10 if question.kind == "sketch" else 4
            ratio = median(seconds["Spark's own"]) / ours
            report.say(
                report.target(f"{question.title}: at least {least} times Spark's own: {ratio:.1f}", ratio >= least)
            )
    for question in QUESTIONS:
        with PeakMemory() as memory:
            Tvfsql(session).run(question, bids.whole())
        report.say(f"  {question.title}: peak of the largest Python worker so far {memory.largest / 2**20:.0f} MiB")
    session.spark.stop()
    return agree


def _on_streams(bids: Bids, repeats: int) -> None:
    session = tvfsql.Session(mode="streaming")
    rows = StreamOfBids(bids.rows, bids.keys, MICRO_BATCHES, "parquet").whole()
    most = [0]

    def take(metrics: Metrics) -> None:
        most[0] = max(most[0], int(metrics.latest.get("state_bytes", 0)))

    session.streams.reports.append(take)
    exact, sketch = (Question(kind, HOUR) for kind in ("exact", "sketch"))
    queries = {
        "SUM": (exact.of("SUM(v) AS total"), "total"),
        "sketch": (sketch.sql, "total, dear, best, p"),
        "exact": (exact.sql, "total, dear, best, p"),
    }
    report.say(f"\nStream of {bids.rows:,} rows in {MICRO_BATCHES} micro-batches, HOP 1 min/1 h")
    times: dict[str, list[float]] = {name: [] for name in queries}
    for number in range(repeats + 1):
        for name, (query, columns) in queries.items():
            most[0] = 0
            taken, cpu = _timed(session.execute, _insert(rows, query, columns))
            if number:  # the first one warms up
                times[name].append(taken)
            report.say(f"  {name:<7} {taken:6.2f} s, {cpu:5.1f} CPU s, state {most[0] / 2**20:.1f} MiB")
    alone = median(times["SUM"])
    for name in ("sketch", "exact"):
        ratio = median(times[name]) / alone
        report.say(report.target(f"stream, {name}, within 2.5 times the query of SUM alone: {ratio:.2f}", ratio <= 2.5))
    session.spark.stop()


def _insert(rows: str, query: str, columns: str) -> str:
    types = {"total": "BIGINT", "dear": "BIGINT", "best": "INT", "p": "ARRAY<DOUBLE>"}
    if "APPROX" in query:
        types["p"] = "ARRAY<BIGINT>"
    fields = ", ".join(f"{name} {types[name]}" for name in columns.split(", "))
    return (
        tables(rows, "parquet") + "DROP TABLE IF EXISTS results; CREATE TABLE results (window_start TIMESTAMP(3), "
        f"window_end TIMESTAMP(3), k INT, {fields}) WITH ('connector' = 'blackhole'); "
        f"INSERT INTO results {query}"
    )


def _share(bids: Bids, question: Question) -> int:
    """The divisor of the keys for engines that copy rows."""
    copies = bids.rows * (question.size // MINUTE)
    return 1 if copies <= COPIES else min(bids.keys, -(-copies // COPIES))


def _timed(what: Callable[..., object], *arguments: object) -> tuple[float, float]:
    clock, cpu = time.perf_counter(), cpu_seconds()
    what(*arguments)
    return time.perf_counter() - clock, cpu_seconds() - cpu


def _sums(frame: DataFrame) -> Sums:
    return tuple(map(float, frame.agg(F.count("*"), *(F.sum(F.expr(name)) for name in SUMS)).first()))


def _from_one(name: str) -> str:
    """DuckDB counts elements of lists from one."""
    return f"p[{int(name[2:-1]) + 1}]" if name.startswith("p[") else name


def _alike(question: Question, wanted: Sums, found: Sums) -> bool:
    near = (*(0.0,) * 4, *(NEAR[question.kind],) * len(FRACTIONS))
    return all(abs(a - b) <= part * abs(a) for a, b, part in zip(wanted, found, near, strict=True))
