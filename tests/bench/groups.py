"""GROUP BY without a window on streams: tvfsql, Spark's update mode and Flink, into sinks that keep no row."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

import tvfsql
from tests.bench import report, stream_engines
from tests.bench.data import StreamOfBids, in_one_file
from tests.bench.engines import Totals
from tests.bench.measure import Timed
from tests.bench.processes import cpu_seconds
from tests.bench.stream_engines import COLUMNS
from tvfsql.api.compiled import Compiled
from tvfsql.api.script import Script, queries_of
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.running import Running
from tvfsql.runtime.stream.driver.stream import Stream

CASES = {"groups-1000": 1_000, "groups-million": 1_000_000}
RESULTS = ("total", "n", "top")
QUERY = "SELECT k, SUM(v) AS total, COUNT(*) AS n, MAX(v) AS top FROM bid GROUP BY k"


class Engine(Protocol):
    @property
    def name(self) -> str: ...

    def run(self, bids: StreamOfBids) -> None:
        """Make all changes, and keep none."""

    def totals(self, bids: StreamOfBids) -> Totals:
        """The groups that are left after all changes, added up."""


class OnSpark(ABC):
    """A stream in the session of tvfsql."""

    name: str

    def __init__(self, session: tvfsql.Session) -> None:
        self.session = session

    def totals(self, bids: StreamOfBids) -> Totals:
        with TemporaryDirectory(prefix="tvfsql-bench-", ignore_cleanup_errors=True) as folder:

            def keep(changes: DataFrame, number: int) -> None:
                changes.withColumn("number", F.lit(number)).write.parquet(f"{folder}/rows/{number}")

            self.to_end(lambda: self.changes(bids).foreachBatch(keep), f"{folder}/checkpoint")
            changes = self.session.spark.read.parquet(f"{folder}/rows/*")
            rows, *sums = self.left(changes).agg(F.sum("one"), *map(F.sum, RESULTS)).first() or ()
        return Totals(int(rows), tuple(map(int, sums)))

    @abstractmethod
    def changes(self, bids: StreamOfBids) -> DataStreamWriter:
        """A stream of changes."""

    @abstractmethod
    def to_end(self, build: Callable[[], DataStreamWriter], checkpoint: str) -> None:
        """Run a stream over all that there is."""

    @staticmethod
    def left(changes: DataFrame) -> DataFrame:
        """The groups after all changes: their last results. `number` is the micro-batch of a change."""
        last = changes.groupBy("k").agg(*(F.max_by(name, "number").alias(name) for name in RESULTS))
        return last.withColumn("one", F.lit(1))


class Tvfsql(OnSpark):
    """An INSERT, from SQL to the end of the input. A change is a row with the new result, by Spark's own aggregate."""

    name = report.TVFSQL

    def run(self, bids: StreamOfBids) -> None:
        self.session.execute(";".join([*tables(bids.whole(), ", 'maxFilesPerTrigger' = '1'"), INSERT]))

    def changes(self, bids: StreamOfBids) -> DataStreamWriter:
        script = ";".join([*tables(bids.whole(), ", 'maxFilesPerTrigger' = '1'"), INSERT])
        (insert,) = (query for each in Script(mode="streaming").outcomes(script) for query in queries_of(each))
        assert isinstance(insert, Compiled)
        return insert.dataframe(self.session.spark).writeStream.outputMode("update")

    def to_end(self, build: Callable[[], DataStreamWriter], checkpoint: str) -> None:
        Running(self.session.spark, [Stream(build, LocalPlace(Path(checkpoint)))]).wait()


class SparksOwn(OnSpark):
    """groupBy in update mode: RocksDB, as many partitions. A change is a row with the new result."""

    name = "Spark's own"

    def run(self, bids: StreamOfBids) -> None:
        with TemporaryDirectory(prefix="tvfsql-bench-", ignore_cleanup_errors=True) as checkpoint:
            self.to_end(lambda: self.changes(bids).format("noop"), checkpoint)

    def changes(self, bids: StreamOfBids) -> DataStreamWriter:
        read = self.session.spark.readStream.schema(COLUMNS.replace("(3)", "")).option("maxFilesPerTrigger", 1)
        results = (F.sum("v").alias("total"), F.count("*").alias("n"), F.max("v").alias("top"))
        return read.csv(bids.whole()).groupBy("k").agg(*results).writeStream.outputMode("update")

    def to_end(self, build: Callable[[], DataStreamWriter], checkpoint: str) -> None:
        build().option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()


@dataclass(frozen=True)
class Flink:
    """The same INSERT in the process of Flink, from one file."""

    process: stream_engines.Flink

    @property
    def name(self) -> str:
        return self.process.name

    def run(self, bids: StreamOfBids) -> None:
        self.process.execute([*self._tables(bids), INSERT])

    def totals(self, bids: StreamOfBids) -> Totals:
        sums = ", ".join(f"SUM({name})" for name in RESULTS)
        rows, *found = self.process.last_row(self._tables(bids), f"SELECT COUNT(*), {sums} FROM ({QUERY})")
        return Totals(rows, tuple(found))

    def _tables(self, bids: StreamOfBids) -> list[str]:
        return tables(str(in_one_file(bids.whole())))


INSERT = f"INSERT INTO nothing {QUERY}"


def tables(path: str, options: str = "") -> list[str]:
    """The tables of the query, for tvfsql and Flink."""
    return [
        "DROP TABLE IF EXISTS bid",
        f"CREATE TABLE bid ({COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv'{options})",
        "DROP TABLE IF EXISTS nothing",
        "CREATE TABLE nothing (k INT, total BIGINT, n BIGINT, top BIGINT) WITH ('connector' = 'blackhole')",
    ]


def run(rows: int, names: Sequence[str], repeats: int) -> bool:
    """Print what was found; whether all answers agree."""
    session = tvfsql.Session(mode="streaming")
    agree = True
    with stream_engines.flink() as peers:
        engines: list[Engine] = [Tvfsql(session), SparksOwn(session), *map(Flink, peers)]
        for name in names:
            bids = StreamOfBids(rows, CASES[name])
            report.say(
                f"\nGROUP BY without a window: {rows:,} rows, {CASES[name]:,} keys, CSV, {bids.micro_batches}"
                f" micro-batches; medians of {repeats} after a warm-up, engines by turns"
            )
            agree &= _compared(bids, engines, repeats)
    session.spark.stop()
    return agree


def _compared(bids: StreamOfBids, engines: Sequence[Engine], repeats: int) -> bool:
    found = {engine.name: engine.totals(bids) for engine in engines}
    own = found[report.TVFSQL]
    for name, totals in found.items():
        verdict = "agrees" if totals == own else "DISAGREES"
        report.say(f"  {name} {verdict}: {totals.rows:,} groups, sums {', '.join(f'{each:,}' for each in totals.sums)}")
    pairs: dict[str, list[tuple[float, float]]] = {engine.name: [] for engine in engines}
    for _ in range(repeats):
        for engine in engines:
            clock, cpu = time.perf_counter(), cpu_seconds()
            engine.run(bids)
            pairs[engine.name].append((time.perf_counter() - clock, cpu_seconds() - cpu))
    timed = [Timed(name, found[name].rows, 1, tuple(of_engine)) for name, of_engine in pairs.items()]
    report.say(*report.timed(timed))
    ratio = timed[0].seconds / timed[1].seconds
    report.say(report.target(f"no slower than Spark's own: {ratio:.2f} times its time", ratio <= 1))
    return all(totals == own for totals in found.values())
