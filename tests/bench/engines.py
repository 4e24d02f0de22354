"""The engines, each asked the same question as its users would ask it.

`run` computes every row and keeps none: Spark's noop sink, and for DuckDB an aggregate over the result.
`totals` computes the same and adds the rows up, so that the answers can be compared.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import duckdb
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import tvfsql
from tests.bench.cases import Case
from tvfsql.plan.window import Cumulate, Hop, Session, Tumble


@dataclass(frozen=True)
class Totals:
    """The number of rows that came out and the sums of their columns."""

    rows: int
    sums: tuple[int, ...]


UNITS = ((3_600_000, "HOUR"), (60_000, "MINUTE"), (1_000, "SECOND"))
COPIES = 400_000_000  # about a minute of Spark's window() on two cores


class Engine(Protocol):
    name: str

    def share(self, case: Case, rows: int) -> int:
        """1, or where whole data would take too long the divisor of the part of the keys to run over."""

    def run(self, case: Case, file: str) -> None: ...

    def totals(self, case: Case, file: str) -> Totals: ...


class OnSpark(ABC):
    """What tvfsql and Spark's own windows have in common: the session, its settings and the sink."""

    def __init__(self, session: tvfsql.Session) -> None:
        self.session = session

    @property
    def spark(self) -> SparkSession:
        return self.session.spark

    @abstractmethod
    def frame(self, case: Case, file: str) -> DataFrame: ...

    def run(self, case: Case, file: str) -> None:
        self.frame(case, file).write.format("noop").mode("overwrite").save()

    def totals(self, case: Case, file: str) -> Totals:
        sums = (F.sum(name) for name in results(case))
        rows, *found = self.frame(case, file).agg(F.count("*"), *sums).first()
        return Totals(rows, tuple(map(int, found)))


class Tvfsql(OnSpark):
    """SQL, compiled by tvfsql (its time counts) and run by the code that it writes."""

    name = "tvfsql"

    def share(self, case: Case, rows: int) -> int:
        return 1

    def frame(self, case: Case, file: str) -> DataFrame:
        self.session.execute(
            "DROP TABLE IF EXISTS bid;"
            "CREATE TABLE bid (ts TIMESTAMP(3), k INT, v BIGINT, item INT, WATERMARK FOR ts AS ts)"
            f" WITH ('connector' = 'filesystem', 'path' = '{file}', 'format' = 'parquet')"
        )
        return self.session.sql(flink_sql(case)).dataframe()


@dataclass(eq=False)  # engines are told apart as such
class WithOption:
    """An engine with an option of its own."""

    engine: OnSpark
    name: str
    option: str
    value: str

    def share(self, case: Case, rows: int) -> int:
        return 1

    def run(self, case: Case, file: str) -> None:
        with self._set():
            self.engine.run(case, file)

    def totals(self, case: Case, file: str) -> Totals:
        with self._set():
            return self.engine.totals(case, file)

    @contextmanager
    def _set(self) -> Iterator[None]:
        self.engine.session.execute(f"SET '{self.option}' = '{self.value}'")
        try:
            yield
        finally:
            self.engine.session.execute(f"RESET '{self.option}'")


class SparkWindows(OnSpark):
    """Spark's window(); CUMULATE, which Spark does not have, by exploding the sequence of its windows' ends."""

    name = "Spark's own"

    def share(self, case: Case, rows: int) -> int:
        if rows * case.copies <= COPIES:
            return 1
        return 1000 if isinstance(case.window, Hop) else 100  # a copy of window() costs more the more there are

    def frame(self, case: Case, file: str) -> DataFrame:
        bid = self.spark.read.parquet(file)
        results = (F.sum("v").alias("total"), F.count("*").alias("n"), F.max("v").alias("top"))
        if isinstance(case.window, Cumulate):
            ends = bid.withColumn("window_end", F.expr(_cumulate_ends(case.window)))
            return ends.groupBy("k", "window_end").agg(*results)
        size, slide = (f"{ms} milliseconds" for ms in size_and_slide(case.window))
        windows = bid.groupBy("k", F.window("ts", size, slide)).agg(*results)
        return windows.select("window.start", "window.end", "k", "total", "n", "top")


class DuckDb:
    """DuckDB with as many threads as there are cores. Windows are numbers in it, which are quicker than times."""

    name = "DuckDB"

    def share(self, case: Case, rows: int) -> int:
        return 1 if rows * case.copies <= COPIES else 100

    @cached_property
    def connection(self) -> duckdb.DuckDBPyConnection:
        return duckdb.connect(config={"threads": len(os.sched_getaffinity(0))})

    def run(self, case: Case, file: str) -> None:
        self.totals(case, file)

    def totals(self, case: Case, file: str) -> Totals:
        sums = ", ".join(f"sum({name})" for name in results(case))
        found = self.connection.execute(f"SELECT count(*), {sums} FROM ({duck_sql(case, file)})").fetchone()
        assert found is not None
        return Totals(found[0], tuple(map(int, found[1:])))


def flink_sql(case: Case) -> str:
    match case.window:
        case Hop(slide, size):
            call = f"HOP(TABLE bid, DESCRIPTOR(ts), {_interval(slide)}, {_interval(size)})"
        case Cumulate(step, size):
            call = f"CUMULATE(TABLE bid, DESCRIPTOR(ts), {_interval(step)}, {_interval(size)})"
        case Tumble(size):
            call = f"TUMBLE(TABLE bid, DESCRIPTOR(ts), {_interval(size)})"
        case Session(gap):
            call = f"SESSION(TABLE bid PARTITION BY k, DESCRIPTOR(ts), {_interval(gap)})"
    results = "COUNT(DISTINCT item) AS items" if case.distinct else "SUM(v) AS total, COUNT(*) AS n, MAX(v) AS top"
    columns = "window_start, window_end, k" if case.keyed else "window_start, window_end"
    return f"SELECT {columns}, {results} FROM TABLE({call}) GROUP BY {columns}"


def duck_sql(case: Case, file: str) -> str:
    if isinstance(case.window, Cumulate):
        step, size = case.window.step * 1000, case.window.size * 1000
        steps = f"range(epoch_us(ts) % {size} // {step} + 1, {size // step + 1})"
        windows = f"SELECT *, epoch_us(ts) // {size} * {size // step} + unnest({steps}) AS w FROM bid"
    else:
        size, slide = size_and_slide(case.window)
        windows = f"SELECT *, epoch_us(ts) // {slide * 1000} - i AS w FROM bid, range({size // slide}) AS copy(i)"
    results = "count(DISTINCT item) AS items" if case.distinct else "sum(v) AS total, count(*) AS n, max(v) AS top"
    return f"WITH bid AS (FROM read_parquet('{file}/*.parquet')) SELECT k, w, {results} FROM ({windows}) GROUP BY k, w"


def results(case: Case) -> tuple[str, ...]:
    return ("items",) if case.distinct else ("total", "n", "top")


def size_and_slide(window: Tumble | Hop) -> tuple[int, int]:
    return window.size, window.slide if isinstance(window, Hop) else window.size


def _cumulate_ends(window: Cumulate) -> str:
    step, size = _interval(window.step), _interval(window.size)
    return f"explode(sequence(time_bucket({step}, ts) + {step}, time_bucket({size}, ts) + {size}, {step}))"


def _interval(ms: int) -> str:
    length, unit = next(((ms // each, unit) for each, unit in UNITS if ms % each == 0), (ms / 1000, "SECOND"))
    return f"INTERVAL '{length}' {unit}"
