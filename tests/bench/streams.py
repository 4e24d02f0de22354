"""Streams: tvfsql, Spark's own windows and Flink side by side, over the same files, one a micro-batch."""

from __future__ import annotations

from collections.abc import Sequence

import tvfsql
from tests.bench import report
from tests.bench.cases import StreamCase
from tests.bench.data import Bids, StreamOfBids
from tests.bench.engines import Engine
from tests.bench.measure import Bench, Timed
from tests.bench.stream_engines import Flink, InBatch, SparkWindowsOnStream, TvfsqlOnStream, flink
from tvfsql.plan.window import Cumulate


def run(bids: Bids, cases: Sequence[StreamCase], repeats: int) -> bool:
    """Print what was found; whether all answers agree."""
    with flink() as peers:
        report.say(
            f"\nStreams: {bids.rows:,} rows, {bids.keys:,} keys, one file a micro-batch; medians of"
            f" {repeats} after a warm-up, engines by turns; dear cases once. All write to sinks that take every row and"
            " keep none."
        )
        session = tvfsql.Session(mode="streaming")
        engine = TvfsqlOnStream(session)
        times: dict[str, list[Timed]] = {}
        agree = True
        for case in cases:
            rows = StreamOfBids(bids.rows, case.keys or bids.keys, case.micro_batches, case.format)
            bench = Bench(rows, engine, _others(case, session, peers), 1 if case.dear else repeats, check_share=1)
            found = list(bench.answers(case))
            agree &= all(answer.agrees for answer in found)
            report.say(*report.answers(case, found))
            times[case.name] = list(bench.timed(case, found))
            report.say(*report.timed(times[case.name]))
        report.say(*report.under("Targets of streams", report.stream_targets(times)))
        session.spark.stop()
    return agree


def _others(case: StreamCase, session: tvfsql.Session, peers: Sequence[Flink]) -> list[Engine]:
    if case.alone:
        return [InBatch(tvfsql.Session(session.spark))]
    others: list[Engine] = [*peers]
    if isinstance(case.window, Cumulate):
        report.say("\nSpark has no CUMULATE to compare with")
        return others
    return [SparkWindowsOnStream(session), *others]
