"""Batch: tvfsql, Spark's own windows and DuckDB side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence

import tvfsql
from tests.bench import report
from tests.bench.cases import CASES, MEMORY, Case
from tests.bench.data import Bids
from tests.bench.engines import DuckDb, SparkWindows, Tvfsql
from tests.bench.measure import Bench, Timed
from tests.bench.processes import PeakMemory

NEW_WORKERS = "--conf spark.python.worker.reuse=false pyspark-shell"


def run(bids: Bids, cases: Sequence[Case], repeats: int, memory: bool) -> bool:
    """Print what was found; whether all answers agree."""
    bids.whole()
    report.say(
        f"\nBatch: {bids.rows:,} rows, {bids.keys:,} keys, 60 rows a second of event time; medians of {repeats} after"
        " a warm-up, engines by turns. Spark writes to its noop sink, DuckDB adds its result's columns up."
    )
    session = tvfsql.Session()
    bench = Bench(bids, Tvfsql(session), (SparkWindows(session), DuckDb()), repeats)
    times: dict[str, list[Timed]] = {}
    agree = True
    for case in cases:
        found = list(bench.answers(case))
        agree &= all(answer.agrees for answer in found)
        report.say(*report.answers(case, found))
        times[case.name] = list(bench.timed(case, found))
        report.say(*report.timed(times[case.name]))
    session.spark.stop()
    peaks = _peaks(bids) if memory else {}
    if peaks:
        report.say(*report.memory(peaks))
    report.say(*report.under("Targets", report.targets(times, peaks)))
    return agree


def _peaks(bids: Bids) -> dict[str, int]:
    """Bytes of the largest Python worker by case. In a new Spark that starts new workers for each: a used one
    keeps what an earlier case took."""
    os.environ["PYSPARK_SUBMIT_ARGS"] = NEW_WORKERS
    session = tvfsql.Session()
    peaks = {}
    for case in CASES:
        if case.name in MEMORY:
            with PeakMemory() as memory:
                Tvfsql(session).run(case, bids.whole())
            peaks[case.title] = memory.largest
    session.spark.stop()
    del os.environ["PYSPARK_SUBMIT_ARGS"]
    return peaks
