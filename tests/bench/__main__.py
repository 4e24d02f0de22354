"""`make bench`: tvfsql, Spark's own windows and DuckDB side by side, in one run on this machine."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

import report
from cases import CASES, MEMORY, Case
from data import Bids
from engines import DuckDb, SparkWindows, Tvfsql
from measure import Bench, Timed
from processes import PeakMemory

import tvfsql

NEW_WORKERS = "--conf spark.python.worker.reuse=false pyspark-shell"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tests/bench", description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--repeats", type=int, default=3, help="timed runs of each engine, after one warm-up")
    names = ", ".join(case.name for case in CASES)
    parser.add_argument("--only", default="", help=f"cases, with commas between: {names}, memory")
    chosen = parser.parse_args(arguments)
    only = {name for name in chosen.only.split(",") if name}
    if unknown := only - {case.name for case in CASES} - {"memory"}:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    started = time.perf_counter()
    bids = Bids(chosen.rows, chosen.keys)
    bids.whole()
    _say(
        f"{bids.rows:,} rows, {bids.keys:,} keys, 60 rows a second of event time; {len(os.sched_getaffinity(0))} cores;"
        f" medians of {chosen.repeats} after a warm-up, engines by turns."
        " Spark writes to its noop sink, DuckDB adds its result's columns up."
    )
    session = tvfsql.Session()
    bench = Bench(bids, Tvfsql(session), (SparkWindows(session), DuckDb()), chosen.repeats)
    times: dict[str, list[Timed]] = {}
    wrong = False
    for case in CASES:
        if not only or case.name in only:
            found = list(bench.answers(case))
            wrong |= not all(answer.agrees for answer in found)
            _say(*report.answers(case, found))
            times[case.name] = list(bench.timed(case, found))
            _say(*report.timed(times[case.name]))
    peaks = _peaks(bids, session) if not only or "memory" in only else {}
    if peaks:
        _say(*report.memory(peaks))
    _say(*report.targets(times, peaks), f"\n{time.perf_counter() - started:.0f} s in all")
    return 1 if wrong else 0


def _peaks(bids: Bids, session: tvfsql.Session) -> dict[str, int]:
    """Bytes of the largest Python worker by case. In a new Spark that starts new workers for each: a used one
    keeps what an earlier case took."""
    session.spark.stop()
    os.environ["PYSPARK_SUBMIT_ARGS"] = NEW_WORKERS
    engine = Tvfsql(tvfsql.Session())
    return {case.title: _peak(engine, case, bids) for case in CASES if case.name in MEMORY}


def _peak(engine: Tvfsql, case: Case, bids: Bids) -> int:
    with PeakMemory() as memory:
        engine.run(case, bids.whole())
    return memory.largest


def _say(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
