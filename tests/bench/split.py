"""COUNT(DISTINCT) of a hot key with the distinct split and without it; and INSERTs of a set that share windows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import report
from cases import SplitCase
from data import SEED, Bids, StreamOfBids
from engines import OnSpark, Totals, Tvfsql
from measure import Bench
from processes import cpu_seconds
from stream_engines import TvfsqlOnStream

import tvfsql

ENABLED = "table.optimizer.distinct-agg.split.enabled"
SHARING = "table.optimizer.reuse-sub-plan-enabled"
HOT = 0.9  # of all rows are of key 0
VALUES = 500_000  # so many different items are drawn
SET = """
CREATE VIEW windows AS SELECT window_start, window_end, k, SUM(v) AS total, COUNT(*) AS n
FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)) GROUP BY window_start, window_end, k;
EXECUTE STATEMENT SET BEGIN
INSERT INTO nothing SELECT window_end, k, total FROM windows;
INSERT INTO nothing SELECT window_end, k, n FROM windows WHERE n > 3;
INSERT INTO nothing SELECT window_end, 0, MAX(total) FROM windows GROUP BY window_end;
END;
DROP VIEW windows"""


def run(bids: Bids, cases: Sequence[SplitCase], shared: bool, repeats: int) -> bool:
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
        found = list(bench.answers(case))
        agree &= all(answer.agrees for answer in found)
        report.say(*report.answers(case, found))
        report.say(*report.timed(list(bench.timed(case, found))))
    if shared:
        report.say("\nThree INSERTs over one view, HOP 1 min/1 h", *_sharing(session, bids, repeats))
    session.spark.stop()
    return agree


class HotBids(Bids):
    """Most rows are of key 0, and there are many items."""

    def _folder(self, name, choose):  # type: ignore[no-untyped-def]
        return super()._folder(f"hot-{name}", choose)

    def _table(self) -> pa.Table:
        return _heated(super()._table())


class HotStream(StreamOfBids):
    def _folder(self, name, choose):  # type: ignore[no-untyped-def]
        return super()._folder(f"hot-{name}", choose)

    def _table(self) -> pa.Table:
        return _heated(super()._table())


def _heated(rows: pa.Table) -> pa.Table:
    draw = np.random.default_rng(SEED + 1)
    keys = np.where(draw.random(len(rows)) < HOT, 0, rows["k"].to_numpy())
    items = draw.integers(0, VALUES, len(rows), dtype=np.int32)
    rows = rows.set_column(rows.column_names.index("k"), "k", pa.array(keys.astype(np.int32)))
    return rows.set_column(rows.column_names.index("item"), "item", pa.array(items))


@dataclass(eq=False)  # engines are told apart as such
class Split:
    """An engine with the split switched on."""

    engine: OnSpark
    name: str = "split"

    def share(self, case: SplitCase, rows: int) -> int:
        return 1

    def run(self, case: SplitCase, file: str) -> None:
        self.engine.session.execute(f"SET '{ENABLED}' = 'true'")
        self.engine.run(case, file)
        self.engine.session.execute(f"RESET '{ENABLED}'")

    def totals(self, case: SplitCase, file: str) -> Totals:
        self.engine.session.execute(f"SET '{ENABLED}' = 'true'")
        found = self.engine.totals(case, file)
        self.engine.session.execute(f"RESET '{ENABLED}'")
        return found


def _engines(session: tvfsql.Session, case: SplitCase) -> tuple[OnSpark, Split]:
    stream = tvfsql.Session(session.spark, mode="streaming")
    engine = TvfsqlOnStream(stream) if case.micro_batches else Tvfsql(tvfsql.Session(session.spark))
    return engine, Split(engine)


def _sharing(session: tvfsql.Session, bids: Bids, repeats: int) -> Iterator[str]:
    """A line with the best seconds of each way, by form of the source."""
    for form in ("parquet", "csv"):
        file = bids.whole() if form == "parquet" else StreamOfBids(bids.rows, bids.keys).whole()
        pattern = str(Path(file, "*.csv")) if form == "csv" else file
        times: dict[str, list[tuple[float, float]]] = {"false": [], "true": []}
        for i in range(repeats + 1):
            for sharing, found in times.items():
                one = tvfsql.Session(session.spark, options={SHARING: sharing})
                one.execute(
                    "CREATE TABLE bid (ts TIMESTAMP(3), k INT, v BIGINT, item INT, WATERMARK FOR ts AS ts)"
                    f" WITH ('connector' = 'filesystem', 'path' = '{pattern}', 'format' = '{form}');"
                    "CREATE TABLE nothing (e TIMESTAMP(3), k INT, v BIGINT) WITH ('connector' = 'blackhole')"
                )
                clock, cpu = time.perf_counter(), cpu_seconds()
                one.execute(SET)
                if i:  # after a warm-up
                    found.append((time.perf_counter() - clock, cpu_seconds() - cpu))
        apart, together = (sorted(times[sharing])[repeats // 2] for sharing in ("false", "true"))
        yield (
            f"  {form:<8} each by itself {apart[0]:6.2f} s (cpu {apart[1]:.1f}), shared {together[0]:6.2f} s"
            f" (cpu {together[1]:.1f}): {apart[0] / together[0]:.1f} times faster"
        )
