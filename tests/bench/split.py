"""COUNT(DISTINCT) of a hot key with the distinct split and without it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

import tvfsql
from tests.bench import report
from tests.bench.cases import SplitCase
from tests.bench.data import SEED, Bids, StreamOfBids
from tests.bench.engines import OnSpark, Tvfsql, WithOption
from tests.bench.measure import Bench
from tests.bench.stream_engines import TvfsqlOnStream

ENABLED = "table.optimizer.distinct-agg.split.enabled"
HOT = 0.9  # of all rows are of key 0
VALUES = 500_000  # so many different items are drawn


def run(bids: Bids, cases: Sequence[SplitCase], repeats: int) -> bool:
    """Print what was found; whether all answers agree."""
    agree = True
    session = tvfsql.Session(mode=None)
    for case in cases:
        rows: Bids = HotBids(bids.rows, bids.keys)
        engine, split = _engines(session, case)
        if case.micro_batches:
            rows = HotStream(bids.rows, bids.keys, case.micro_batches)
        report.say(f"\n{rows.rows:,} rows, {HOT:.0%} of one key, items drawn from {VALUES:,}")
        bench = Bench(rows, engine, [split], repeats)
        agree &= report.compared(bench, case)
    session.spark.stop()
    return agree


class HotBids(Bids):
    """Most rows are of key 0, and there are many items."""

    def _folder(self, name, choose):
        return super()._folder(f"hot-{name}", choose)

    def table(self) -> pa.Table:
        return _heated(super().table())


class HotStream(StreamOfBids):
    def _folder(self, name, choose):
        return super()._folder(f"hot-{name}", choose)

    def table(self) -> pa.Table:
        return _heated(super().table())


def _heated(rows: pa.Table) -> pa.Table:
    draw = np.random.default_rng(SEED + 1)
    keys = np.where(draw.random(len(rows)) < HOT, 0, rows["k"].to_numpy())
    items = draw.integers(0, VALUES, len(rows), dtype=np.int32)
    rows = rows.set_column(rows.column_names.index("k"), "k", pa.array(keys.astype(np.int32)))
    return rows.set_column(rows.column_names.index("item"), "item", pa.array(items))


def _engines(session: tvfsql.Session, case: SplitCase) -> tuple[OnSpark, WithOption]:
    stream = tvfsql.Session(session.spark, mode="streaming")
    engine = TvfsqlOnStream(stream) if case.micro_batches else Tvfsql(tvfsql.Session(session.spark))
    return engine, WithOption(engine, "split", ENABLED, "true")
