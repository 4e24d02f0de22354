"""`make bench`: tvfsql beside Spark's own windows, DuckDB and Flink, in one run on this machine."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

from tests.bench import (
    backfill,
    batch,
    first_row,
    functions,
    groups,
    in_order,
    large_state,
    micro_batches,
    percentiles,
    ranges,
    reading,
    report,
    rest,
    row_level,
    scale,
    several,
    sharing,
    shuffles,
    split,
    streams,
)
from tests.bench.cases import CASES, RANGE_CASES, SPLIT_CASES, STREAM_CASES
from tests.bench.data import Bids
from tests.bench.growth import run as growth
from tests.bench.latency import compare as latency
from tests.bench.nexmark import compare

GROUPS = {
    "batch": {"memory", *(case.name for case in CASES)},
    "streams": {"one-of-each-key", "micro-batch", *(case.name for case in STREAM_CASES)},
    "ranges": {case.name for case in RANGE_CASES},
    "functions": {"functions"},
    "backfill": {case.name for case in backfill.CASES},
    "reading": {*reading.NAMES},
    "shuffles": {*shuffles.NAMES},
    "split": {"sharing", *(case.name for case in SPLIT_CASES)},
    "in-order": {*in_order.CASES},
    "groups": {*groups.CASES},
    "nexmark": {*compare.CASES},
    "scale": {"scale"},
    "several": {*several.CASES},
    "rest": {*rest.NAMES},
    "state": {*large_state.WINDOWS},
    "latency": {*latency.CASES},
    "sustainable": {*latency.SUSTAINABLE},
    "first-row": {"first-row"},
    "percentiles": {*percentiles.NAMES},
    "growth": {*growth.NAMES, growth.WRITTEN},
}
ON_REQUEST = ("rest", "state", "latency", "sustainable", "growth")  # hours


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tests/bench", description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--events", type=int, default=10_000_000, help="of Nexmark")
    parser.add_argument("--repeats", type=int, default=3, help="timed runs of each engine, after one warm-up")
    parser.add_argument("--seconds", type=int, default=300, help="of each run of latency, and of rest")
    parser.add_argument(
        "--warm-up", type=int, default=90, help="seconds that are left out: of those of latency, before those of rest"
    )
    parser.add_argument("--search-seconds", type=int, default=60, help="of each run of the sustainable rate")
    parser.add_argument("--rates", default=",".join(map(str, latency.RATES)), help="of latency, rows a second")
    parser.add_argument("--small", action="store_true", help="fewer and smaller sizes of growth, not shown in docs")
    cases = (*CASES, *STREAM_CASES, *RANGE_CASES, *SPLIT_CASES, *backfill.CASES)
    names = ", ".join(
        (
            *GROUPS,
            *(
                "memory",
                "one-of-each-key",
                "micro-batch",
                "sharing",
                *percentiles.NAMES,
                *reading.NAMES,
                *shuffles.NAMES,
                *several.CASES,
            ),
            *several.CASES,
            *(
                *in_order.CASES,
                *groups.CASES,
                *compare.CASES,
                *latency.CASES,
                *latency.SUSTAINABLE,
                *rest.NAMES,
                *large_state.WINDOWS,
                *growth.NAMES,
                growth.WRITTEN,
            ),
            *(case.name for case in cases),
        )
    )
    usual = ",".join(name for name in GROUPS if name not in ON_REQUEST)
    parser.add_argument("--only", default=usual, help=f"with commas between: {names}; all but {', '.join(ON_REQUEST)}")
    chosen = parser.parse_args(arguments)
    asked = [name for name in chosen.only.split(",") if name]
    only = set().union(*(GROUPS.get(name, {name}) for name in asked))
    if unknown := only - set().union(*GROUPS.values()):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    started = time.perf_counter()
    report.say(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f} before")
    bids = Bids(chosen.rows, chosen.keys)
    agree = True
    if only & GROUPS["batch"]:
        cases = [case for case in CASES if case.name in only]
        agree &= batch.run(bids, cases, chosen.repeats, "memory" in only)
    if only & GROUPS["streams"]:
        cases = [case for case in STREAM_CASES if case.name in only]
        agree &= not cases or streams.run(bids, cases, chosen.repeats)
    if "micro-batch" in only:
        micro_batches.run(chosen.repeats)
    if "one-of-each-key" in only:
        agree &= row_level.run(bids.rows, chosen.repeats)
    if only & GROUPS["ranges"]:
        cases = [case for case in RANGE_CASES if case.name in only]
        agree &= ranges.run(bids, cases, chosen.repeats)
    if found := only & GROUPS["reading"]:
        reading.run(bids, found, chosen.repeats)
    if found := only & GROUPS["shuffles"]:
        agree &= shuffles.run(bids.rows, found, chosen.repeats)
    if only & GROUPS["split"]:
        cases = [case for case in SPLIT_CASES if case.name in only]
        agree &= not cases or split.run(bids, cases, chosen.repeats)
    if only & GROUPS["backfill"]:
        cases = [case for case in backfill.CASES if case.name in only]
        agree &= backfill.run(bids, cases, chosen.repeats)
    if "functions" in only:
        functions.run(min(bids.rows, 1_000_000), chosen.repeats)
    if "first-row" in only:
        first_row.run(chosen.repeats)
    if "scale" in only:
        scale.run()
    if found := only & GROUPS["several"]:
        several.run(bids, found, chosen.repeats)
    if "sharing" in only:
        sharing.run(bids, chosen.repeats)
    if only & GROUPS["in-order"]:
        ordered = [query for name, query in in_order.CASES.items() if name in only]
        agree &= in_order.run(bids, ordered, chosen.repeats)
    if found := [name for name in groups.CASES if name in only]:
        agree &= groups.run(bids.rows, found, chosen.repeats)
    if only & GROUPS["nexmark"]:
        queries = [query for name, query in compare.CASES.items() if name in only]
        agree &= compare.run(chosen.events, queries, chosen.repeats)
    if only & GROUPS["percentiles"]:
        agree &= percentiles.run(bids, only, chosen.repeats)
    if only & GROUPS["growth"]:
        agree &= growth.run(only, chosen.small)
    if only & GROUPS["rest"]:
        agree &= rest.run(only, chosen.seconds, chosen.warm_up)
    if found := only & GROUPS["state"]:
        large_state.run(found)
    if timed := only & (GROUPS["latency"] | GROUPS["sustainable"]):
        rates = [int(rate) for rate in chosen.rates.split(",")]
        lengths = latency.Lengths(chosen.seconds, chosen.warm_up, chosen.search_seconds)
        agree &= latency.run(timed, rates, lengths)
    report.say(f"\n{time.perf_counter() - started:.0f} s in all, load {os.getloadavg()[0]:.1f} at the end")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
