"""What a micro-batch costs: 40 of 20 rows, TUMBLE, beside Spark's own window aggregate and a stream without state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from pyspark.sql.streaming.query import StreamingQuery

import tvfsql
from tests.bench import report
from tests.bench.cases import MINUTE, Case
from tests.bench.data import StreamOfBids
from tests.bench.engines import flink_sql
from tests.bench.processes import cpu_seconds
from tests.bench.stream_engines import COLUMNS, SparkWindowsOnStream, tables
from tvfsql.plan.window import Tumble
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.running import Running
from tvfsql.runtime.stream.driver.stream import Stream

MICRO_BATCHES, ROWS = 40, 20
FIRST = 5  # these plan and compile what later ones reuse
CASE = Case("micro-batch", "TUMBLE 1 min", Tumble(MINUTE))
PHASES = ("triggerExecution", "addBatch", "queryPlanning", "walCommit", "commitOffsets", "latestOffset")


@dataclass(frozen=True)
class Cost:
    """The durations of micro-batches after the first ones (ms, by phase), and the CPU seconds of the whole stream."""

    durations: tuple[dict[str, int], ...]
    cpu: float

    def of(self, phase: str) -> float:
        return median(each.get(phase, 0) for each in self.durations)


def run(repeats: int) -> None:
    """Print the median micro-batch of each engine."""
    folder = StreamOfBids(MICRO_BATCHES * ROWS, 10, MICRO_BATCHES).whole()
    session = tvfsql.Session(mode="streaming")
    session.execute(tables(folder))
    engines: dict[str, Callable[[], StreamingQuery]] = {
        report.TVFSQL: lambda: _tvfsql(session),
        "Spark's own": lambda: _spark(session, folder, windows=True),
        "no state": lambda: _spark(session, folder, windows=False),
    }
    report.say(
        f"\nA micro-batch of {ROWS} rows, {CASE.title}: ms, medians of {repeats} streams of {MICRO_BATCHES} after a"
        " warm-up, engines by turns"
    )
    costs: dict[str, list[Cost]] = {name: [] for name in engines}
    for turn in range(repeats + 1):
        for name, start in engines.items():
            cost = _cost(start)
            if turn:
                costs[name].append(cost)
    report.say(*_told(costs))
    session.spark.stop()


def _told(costs: dict[str, list[Cost]]) -> Iterator[str]:
    yield "  " + " " * 14 + "".join(phase.rjust(18) for phase in PHASES) + "cpu s a stream".rjust(18)
    for name, found in costs.items():
        cells = (f"{median(cost.of(phase) for cost in found):.0f}" for phase in PHASES)
        cpu = median(cost.cpu for cost in found)
        yield "  " + name.ljust(14) + "".join(cell.rjust(18) for cell in cells) + f"{cpu:.1f}".rjust(18)
    own, windows, *_ = (median(cost.of(PHASES[0]) for cost in found) for found in costs.values())
    yield report.target(f"a micro-batch at most 1.2 times Spark's own: {own / windows:.2f}", own / windows <= 1.2)


def _cost(start: Callable[[], StreamingQuery]) -> Cost:
    cpu = cpu_seconds()
    query = start()
    seen = [each["durationMs"] for each in query.recentProgress if each["numInputRows"]]
    return Cost(tuple(seen[FIRST:]), cpu_seconds() - cpu)


def _tvfsql(session: tvfsql.Session) -> StreamingQuery:
    """To the end of the input, and its last windows."""
    with TemporaryDirectory(prefix="tvfsql-bench-", ignore_cleanup_errors=True) as checkpoint:
        build = session.sql(flink_sql(CASE)).dataframe
        running = Running(
            session.spark, [Stream(lambda: build().writeStream.format("noop"), LocalPlace(Path(checkpoint)))]
        )
        query = running.started()[0]
        running.wait()
        return query


def _spark(session: tvfsql.Session, folder: str, *, windows: bool) -> StreamingQuery:
    bid = session.spark.readStream.schema(COLUMNS.replace("(3)", "")).option("maxFilesPerTrigger", 1).csv(folder)
    rows = SparkWindowsOnStream(session).frame(CASE, folder) if windows else bid
    with TemporaryDirectory(prefix="tvfsql-bench-", ignore_cleanup_errors=True) as checkpoint:
        stream = rows.writeStream.format("noop").option("checkpointLocation", checkpoint)
        query = stream.trigger(availableNow=True).start()
        query.awaitTermination()
        return query
