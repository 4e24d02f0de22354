"""The engines on streams. `run` writes to a sink that keeps nothing, `totals` adds up what came out."""

from __future__ import annotations

import json
import os
import subprocess
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tests.bench import report
from tests.bench.cases import DAY, Case, StreamCase
from tests.bench.data import END, in_one_file
from tests.bench.engines import OnSpark, Totals, flink_sql, results, size_and_slide
from tests.bench.flink_jars import parquet_jars
from tvfsql.plan.window import Hop, Session
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.local_spark.java import find_java
from tvfsql.runtime.stream.driver.running import Running
from tvfsql.runtime.stream.driver.stream import Stream

COLUMNS = "ts TIMESTAMP(3), k INT, v BIGINT, item INT"
FLINK = Path(".venv-flink")
DURABLE_FLINK = "Flink, RocksDB"
FLINK_JOBS = Path(__file__).with_name("flink_jobs.py")


class OnStream(OnSpark):
    """What tvfsql and Spark's own windows have in common on streams."""

    def totals(self, case: Case, file: str) -> Totals:
        found = Totals(0, (0,) * len(results(case)))

        def take(batch: DataFrame, number: int) -> None:
            nonlocal found
            sums = (F.sum(name) for name in results(case))
            rows, *more = batch.where(F.col("window_start") < F.lit(END)).agg(F.count("*"), *sums).first()
            added = (a + int(b or 0) for a, b in zip(found.sums, more, strict=True))
            found = Totals(found.rows + rows, tuple(added))

        with TemporaryDirectory(prefix="tvfsql-bench-", ignore_cleanup_errors=True) as checkpoint:
            self.to_end(lambda: self.frame(case, file).writeStream.foreachBatch(take), checkpoint)
        return found

    @abstractmethod
    def to_end(self, build: Callable[[], DataStreamWriter], checkpoint: str) -> None:
        """Run the stream over all that there is."""


class TvfsqlOnStream(OnStream):
    """An INSERT into a sink that keeps nothing, from SQL to the end of the input: the checkpoint is made, the last
    windows fire."""

    name = "tvfsql"

    def share(self, case: Case, rows: int) -> int:
        return 1

    def run(self, case: Case, file: str) -> None:
        columns = ", ".join(("window_start", "window_end", "k", *results(case)))
        self.session.execute(tables(file, format_of(case)) + f"INSERT INTO nothing ({columns}) {flink_sql(case)}")

    def frame(self, case: Case, file: str) -> DataFrame:
        self.session.execute(tables(file, format_of(case)))
        return self.session.sql(flink_sql(case)).dataframe()

    def to_end(self, build: Callable[[], DataStreamWriter], checkpoint: str) -> None:
        Running(self.spark, [Stream(build, LocalPlace(Path(checkpoint)))]).wait()


class InBatch(OnSpark):
    """The same SQL over the same files in batch: a check where the other engines would take too long."""

    name = "tvfsql, batch"

    def share(self, case: Case, rows: int) -> int:
        return 1

    def frame(self, case: Case, file: str) -> DataFrame:
        self.session.execute(tables(file, format_of(case)))
        return self.session.sql(flink_sql(case)).dataframe().where(F.col("window_start") < F.lit(END))


class SparkWindowsOnStream(OnStream):
    """Spark's window() with a watermark, in the same session: RocksDB, as many partitions."""

    name = "Spark's own"

    def share(self, case: Case, rows: int) -> int:
        return 1000 if _copies_a_day(case) else 1

    def frame(self, case: Case, file: str) -> DataFrame:
        rows = bids_of_spark(self.spark, file, format_of(case), "0 seconds")
        calls = (F.sum("v").alias("total"), F.count("*").alias("n"), F.max("v").alias("top"))
        if isinstance(case.window, Session):  # Spark parts rows that are exactly the gap apart
            window = F.session_window("ts", f"{case.window.gap} milliseconds 1 microsecond").alias("window")
        else:
            size, slide = (f"{ms} milliseconds" for ms in size_and_slide(case.window))
            window = F.window("ts", size, slide)
        windows = rows.groupBy("k", window).agg(*calls)
        return windows.selectExpr("window.start AS window_start", "window.end AS window_end", "k", "total", "n", "top")

    def run(self, case: Case, file: str) -> None:
        with TemporaryDirectory(prefix="tvfsql-bench-", ignore_cleanup_errors=True) as checkpoint:
            self.to_end(lambda: self.frame(case, file).writeStream.format("noop"), checkpoint)

    def to_end(self, build: Callable[[], DataStreamWriter], checkpoint: str) -> None:
        build().option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()


class Flink:
    """Flink SQL in a process of its own, from one file: it reads the files of a folder in no order, and what
    lies behind its watermark would be late. It has no micro-batches; state is on the heap, its default, unless it is
    `durable`: then in RocksDB, with an incremental checkpoint each second."""

    def __init__(self, jobs: subprocess.Popen[str], checkpoints: str = "") -> None:
        self.jobs, self.checkpoints = jobs, checkpoints
        self.name = DURABLE_FLINK if checkpoints else "Flink"

    def share(self, case: Case, rows: int) -> int:
        if not _copies_a_day(case):
            return 1
        return 200 if self.checkpoints else 5  # RocksDB reads each slice of each window

    def run(self, case: Case, file: str) -> None:
        self._answer(case, file, False)

    def totals(self, case: Case, file: str) -> Totals:
        rows, *sums = self._answer(case, file, True)
        return Totals(rows, tuple(sums))

    def execute(self, statements: Sequence[str]) -> None:
        """Statements one after the other; an INSERT to its end."""
        self._job({"statements": statements})

    def last_row(self, statements: Sequence[str], select: str) -> list[int]:
        """The last row of a query that has one row, which changes."""
        return self._job({"statements": statements, "select": select})

    def _answer(self, case: Case, file: str, totals: bool) -> list[int]:
        format = format_of(case)
        job = {
            "file": str(in_one_file(file, format)),
            "format": format,
            "jars": parquet_jars() if format != "csv" else [],
        }
        return self._job({**job, "select": flink_sql(case), "before": str(END), "totals": totals})

    def _job(self, job: dict[str, Any]) -> list[int]:
        assert self.jobs.stdin is not None and self.jobs.stdout is not None
        job["settings"] = durable(self.checkpoints) if self.checkpoints else {}
        print(json.dumps(job), file=self.jobs.stdin, flush=True)
        answer: list[int] = json.loads(self.jobs.stdout.readline())
        return answer


@contextmanager
def flink() -> Iterator[tuple[Flink, ...]]:
    """Flink with as many slots as there are cores, with state on the heap and in RocksDB, if `make bench-flink` has
    installed it; else none."""
    if not (FLINK / ".installed").exists():
        report.say("Flink is left out: `make bench-flink` installs it.")
        yield ()
        return
    command = (FLINK / "bin/python", FLINK_JOBS, str(len(os.sched_getaffinity(0))))
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    environment = {**os.environ, "JAVA_HOME": str(find_java().home)}
    folder = TemporaryDirectory(prefix="tvfsql-bench-", ignore_cleanup_errors=True)
    with folder as checkpoints, subprocess.Popen(command, text=True, env=environment, **pipes) as jobs:
        yield Flink(jobs), Flink(jobs, checkpoints)
        assert jobs.stdin is not None
        jobs.stdin.close()


def durable(checkpoints: str) -> dict[str, str]:
    """Flink's settings for state in RocksDB, with a checkpoint each second in the folder."""
    return {
        "state.backend.type": "rocksdb",
        "execution.checkpointing.interval": "1 s",
        "execution.checkpointing.incremental": "true",
        "execution.checkpointing.dir": Path(checkpoints).as_uri(),
    }


def format_of(case: Case) -> str:
    return case.format if isinstance(case, StreamCase) else "csv"


def bids_of_spark(spark: SparkSession, folder: str, format: str, delay: str) -> DataFrame:
    """The rows of a stream's folder, a file each micro-batch, with a watermark that is so far behind."""
    kind = "_NTZ" if format == "parquet" else ""  # its files have no other type
    bid = spark.readStream.schema(COLUMNS.replace("(3)", kind)).option("maxFilesPerTrigger", 1)
    rows = bid.format(format).load(folder)
    return rows.withColumn("ts", F.col("ts").cast("timestamp")).withWatermark("ts", delay)  # takes no other type


def tables(folder: str, format: str = "csv") -> str:
    return (
        f"DROP TABLE IF EXISTS bid; CREATE TABLE bid ({COLUMNS}, WATERMARK FOR ts AS ts) WITH ("
        f"'connector' = 'filesystem', 'path' = '{folder}', 'format' = '{format}', 'maxFilesPerTrigger' = '1');"
        "DROP TABLE IF EXISTS nothing; CREATE TABLE nothing (window_start TIMESTAMP(3), window_end TIMESTAMP(3), k INT,"
        " total BIGINT, n BIGINT, top BIGINT, items BIGINT) WITH ('connector' = 'blackhole');"
    )


def _copies_a_day(case: Case) -> bool:
    """Whether a row would be copied, or a slice merged, more than a thousand times."""
    return isinstance(case.window, Hop) and case.window.size >= DAY
