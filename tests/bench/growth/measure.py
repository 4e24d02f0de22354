"""Points of a curve: each question asked of tvfsql, in batch and as a stream, with its time, memory and state."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Observation
from pyspark.sql import functions as F

import tvfsql
from tests.bench.data import Bids
from tests.bench.growth.curves import Curve, Question
from tests.bench.processes import PeakMemory, cpu_seconds, forget_peaks

WATCH = 0.5  # seconds between two looks at the memory: a look takes some ms


@dataclass(frozen=True)
class RowsInFiles(Bids):
    """The rows in Parquet, one file for each micro-batch."""

    files: int = 10

    def _folder(self, name: str, choose: Any) -> str:
        return super()._folder(f"{name}-files-{self.files}", choose)

    def _write(self, rows: pa.Table, folder: Path) -> None:
        size = -(-len(rows) // self.files)
        for i in range(self.files):
            file = folder / f"{i:04}.parquet"
            pq.write_table(rows.slice(i * size, size).select(["ts", "k", "v"]), file)
            os.utime(file, (i, i))  # file streams go by the time of the last change


@dataclass(frozen=True)
class Point:
    """What a question of a size took. `worker` and `java`: bytes at the peak of the largest Python worker and of the
    JVM. `state`: bytes, and pairs of key and slice, when there were most of them. `late`: rows that were dropped, which
    must be none."""

    curve: str
    mode: str
    size: int
    values: int
    rows_out: int
    seconds: float
    cpu: float
    worker: int
    java: int
    state: tuple[int, int] = (0, 0)
    least_state: int = 0
    late: int = 0

    @property
    def state_bytes(self) -> float:
        """Of a key and slice; 0 without state."""
        held, pairs = self.state
        return held / pairs if pairs else 0.0


@dataclass
class States:
    """The largest state of a stream, by the reports of its micro-batches."""

    most: tuple[int, int] = (0, 0)
    rows_out: int = 0
    late: int = 0

    def take(self, metrics: Any) -> None:
        found = int(metrics.latest.get("state_bytes", 0)), int(metrics.latest.get("state_rows", 0))
        self.most = max(self.most, found)
        self.rows_out, self.late = int(metrics.sums["rows_out"]), int(metrics.sums["late_rows_dropped"])


@dataclass
class Measurer:
    """Asks one question after the other in one Spark, smaller ones first: the JVM does not give its memory back."""

    spark: Any = field(default_factory=lambda: tvfsql.Session().spark)

    def points(self, curve: Curve, small: bool) -> Iterator[Point]:
        questions = curve.questions(small)
        for mode in curve.modes:
            first = next(iter(questions.values()))
            self.point(curve, mode, 0, first)  # a warm-up
            for size, question in questions.items():
                yield self.point(curve, mode, size, question)

    def point(self, curve: Curve, mode: str, size: int, question: Question) -> Point:
        files = RowsInFiles(question.rows, question.keys, question.micro_batches).whole()
        ask = self._stream if mode == "stream" else self._batch
        forget_peaks()
        with PeakMemory(WATCH) as memory:
            clock, cpu = time.perf_counter(), cpu_seconds()
            states = ask(question, files)
            seconds, cpu = time.perf_counter() - clock, cpu_seconds() - cpu
        values = question.values(states.rows_out)
        peaks = max(memory.peaks.values(), default=0), memory.java
        told = (states.rows_out, seconds, cpu, *peaks, states.most, question.least_state, states.late)
        return Point(curve.name, mode, size, values, *told)

    def _batch(self, question: Question, files: str) -> States:
        session = tvfsql.Session(self.spark)
        session.execute(_table(question, files, ""))
        counted = Observation()
        rows = session.sql(question.select).dataframe().observe(counted, F.count(F.lit(1)).alias("rows"))
        rows.write.format("noop").mode("overwrite").save()
        return States(rows_out=counted.get["rows"])

    def _stream(self, question: Question, files: str) -> States:
        session, states = tvfsql.Session(self.spark, mode="streaming"), States()
        session.streams.reports.append(states.take)
        sink = f"CREATE TABLE nothing ({question.columns}) WITH ('connector' = 'blackhole')"
        script = (
            _table(question, files, ", 'maxFilesPerTrigger' = '1'"),
            sink,
            f"INSERT INTO nothing {question.select}",
        )
        session.execute(";".join(script))
        return states


def _table(question: Question, files: str, more: str) -> str:
    watermark = f"ts - INTERVAL '{question.delay}' SECOND(6)" if question.delay else "ts"
    return (
        f"CREATE TABLE bid (ts TIMESTAMP(3), k INT, v BIGINT, WATERMARK FOR ts AS {watermark}) WITH ("
        f"'connector' = 'filesystem', 'path' = '{files}', 'format' = 'parquet'{more})"
    )
