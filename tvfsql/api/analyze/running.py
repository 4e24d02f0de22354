"""Runs a query to measure it: all of its rows are computed and discarded."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from tvfsql.api.analyze.measured import Measured, MicroBatch
from tvfsql.api.analyze.refused import no_insert, refuse_endless
from tvfsql.runtime.measured import SparkRun
from tvfsql.runtime.stream.progress.counts import watermark_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from tvfsql.api.compiled import Compiled
    from tvfsql.api.program import Program
    from tvfsql.runtime.stream.progress.metrics import Metrics, Report

DESCRIPTION = "spark.job.description"
WRITERS = ("OverwriteByExpression", "AppendData", "WriteToDataSourceV2", "MicroBatchWrite", "WriteToContinuous")
SUMMED = ("rows_in", "rows_out", "late_rows_dropped")


class Runner(Protocol):
    """The part of a session that this module uses."""

    @property
    def spark(self) -> SparkSession: ...

    def measure_stream(self, query: Compiled, build: Callable[[Program, SparkSession], Any], report: Report) -> str:
        """Run a streaming SELECT until it ends, and report its micro-batches. Returns the id of Spark's query."""


def analyze(query: Compiled, runner: Runner) -> Measured:
    """Run a SELECT and measure it. A stream runs until its input ends.

    Raises UnsupportedError for an INSERT and for an unbounded stream, and DataError as the query does.
    """
    if query.sink is not None:
        raise no_insert(None)
    refuse_endless(query)
    return _stream(query, runner) if query.mode == "streaming" else _batch(query, runner)


def _batch(query: Compiled, runner: Runner) -> Measured:
    from tvfsql.runtime.host.failures import translated
    from tvfsql.runtime.measured import ROWS, runs_of

    frame, context = query.dataframe(runner.spark), runner.spark.sparkContext
    mark, before = f"tvfsql EXPLAIN ANALYZE {uuid.uuid4()}", context.getLocalProperty(DESCRIPTION)
    begun = time.monotonic()
    try:
        context.setLocalProperty(DESCRIPTION, mark)
        with translated():
            frame.write.format("noop").mode("overwrite").save()
    finally:
        context.setLocalProperty(DESCRIPTION, before)  # type: ignore[arg-type]  # None takes it away
    seconds = time.monotonic() - begun
    runs = runs_of(runner.spark, mark)
    writer = runs[-1].root
    rows = round(writer.figures[ROWS].total) if ROWS in writer.figures else 0
    return Measured(query.physical, rows, seconds, below_writer(runs[-1]))


def _stream(query: Compiled, runner: Runner) -> Measured:
    from tvfsql.runtime.measured import runs_of, sum_of
    from tvfsql.runtime.stream import counted_out

    def build(program: Program, spark: SparkSession) -> Any:
        return counted_out(program.run("query", spark)).writeStream.format("noop")

    reports: list[Metrics] = []
    begun = time.monotonic()
    stream = runner.measure_stream(query, build, reports.append)
    seconds = time.monotonic() - begun
    runs = [run for each in runs_of(runner.spark, f"id = {stream}") if (run := below_writer(each)) is not None]
    batches = micro_batches(reports)
    rows = sum(each.rows_out for each in batches)
    return Measured(query.physical, rows, seconds, sum_of(runs) if runs else None, batches, tuple(runs))


def below_writer(run: SparkRun) -> SparkRun | None:
    """The plan that computes the rows, without the node that discards them; None if nothing else is left."""
    writes = run.root.name.startswith(WRITERS)
    if not writes:
        return run
    return replace(run, root=run.root.children[0]) if run.root.children else None


def micro_batches(reports: Iterable[Metrics]) -> tuple[MicroBatch, ...]:
    """The separate micro-batches, computed from reports with running totals."""
    found: list[MicroBatch] = []
    before = dict.fromkeys(SUMMED, 0.0)
    for report in reports:
        new = {name: report.sums[name] - before[name] for name in SUMMED}
        before = {name: report.sums[name] for name in SUMMED}
        rows, size, mark = (report.latest.get(name) for name in ("state_rows", "state_bytes", "watermark"))
        found.append(
            MicroBatch(
                number=report.micro_batch,
                rows_in=int(new["rows_in"]),
                rows_out=int(new["rows_out"]),
                time=round(report.latest["last_micro_batch_seconds"] * 1000),
                watermark=None if mark is None else watermark_text(round(mark * 1000), report.zone),
                late=int(new["late_rows_dropped"]),
                state_rows=None if rows is None else int(rows),
                state_bytes=None if size is None else int(size),
            )
        )
    return tuple(found)
