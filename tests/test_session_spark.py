"""SESSION on Spark: random rows against plain Python, in one phase and in two; streams against batch."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import naive
import pytest
from bids import TOTALS, bag, sessions, some_batches, write_files
from hypothesis import given, settings
from hypothesis import strategies as st
from random_windows import AGGREGATES, FEW, RULES_OFF, STRATEGY, answer, assert_same, few, random_rows, register

from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

KEYS = ("g", "k")
OF_ITEMS = "SESSION(TABLE bid PARTITION BY item, DESCRIPTOR(ts), INTERVAL '1.5' SECOND)"


@dataclass(frozen=True)
class Sessions:
    """What `naive` has for other windows."""

    gap: int
    keys: tuple[str, ...] = KEYS
    offset = 0

    @property
    def size(self) -> int:  # of random rows around it
        return self.gap

    def call(self, table: str) -> str:
        by = f" PARTITION BY ({', '.join(self.keys)})" if self.keys else ""
        return f"SESSION(TABLE {table}{by}, DESCRIPTOR(ts), {naive.interval(self.gap)})"

    def groups(self, rows: Sequence[naive.Row]) -> dict[naive.Group, list[naive.Row]]:
        found: dict[naive.Group, list[naive.Row]] = {}
        for key in {tuple(row[name] for name in self.keys) for row in rows}:
            of_key = sorted((row for row in rows if tuple(row[n] for n in self.keys) == key), key=lambda row: row["ts"])
            cuts = [i for i, row in enumerate(of_key) if i == 0 or row["ts"] > of_key[i - 1]["ts"] + self.gap]
            for start, stop in zip(cuts, [*cuts[1:], len(of_key)], strict=True):
                held = of_key[start:stop]
                found[(*key, naive.at(held[0]["ts"]), naive.at(held[-1]["ts"] + self.gap))] = held
        return found


GAPS = st.sampled_from([1, 7, 1000, 90_000, 5_000_000])


@settings(few, max_examples=1)
@given(seed=st.integers(0, 2**32), gap=GAPS)
def test_sessions_hold_what_plain_python_puts_into_them(spark: SparkSession, seed: int, gap: int) -> None:
    windows: Any = Sessions(gap)
    rows = random_rows(random.Random(seed), [windows])
    held = windows.groups(rows)
    two_phases: dict[str, str] = {}
    for options, calls in ((two_phases, tuple(AGGREGATES)), ({STRATEGY: "ONE_PHASE"}, FEW), (RULES_OFF, FEW)):
        session = Session(spark, options=options)
        register(session, rows)
        found = answer(session, windows, calls, KEYS)
        wanted = {group: tuple(AGGREGATES[sql](inside) for sql in calls) for group, inside in held.items()}
        assert_same(found, wanted, calls, (windows, options))


STREAMED = {
    "aggregated": TOTALS.replace(" WHERE n < 90", "").format(window=OF_ITEMS),
    "others": f"""
        SELECT window_start, window_end, item, ts, price, n, 'alone' AS what FROM TABLE({OF_ITEMS})
        UNION ALL
        SELECT window_start, window_end, 'all', window_time, SUM(price), CAST(COUNT(*) AS INT), 'chosen'
        FROM TABLE({OF_ITEMS}) WHERE n < 90 GROUP BY window_start, window_end, window_time
        UNION ALL
        SELECT window_start, window_end, item, window_time, MAX(price), MAX(n), 'cascade' FROM TABLE(TUMBLE((
            SELECT window_time AS ended, item, SUM(price) AS price, CAST(COUNT(*) AS INT) AS n FROM TABLE({OF_ITEMS})
            GROUP BY window_start, window_end, window_time, item), DESCRIPTOR(ended), INTERVAL '20' SECOND))
        GROUP BY window_start, window_end, window_time, item
        UNION ALL
        SELECT window_start, window_end, item, ts, price, n, 'first' FROM TABLE({OF_ITEMS})
        QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item ORDER BY ts, n) <= 1""",
}


@pytest.mark.parametrize("name", STREAMED)
def test_streams_of_sessions_give_the_rows_of_batch(name: str, spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "in", some_batches(seed=11, disorder=30, batches=3))
    stream, batch = sessions(spark, tmp_path / "in", delay=30)
    rows = bag(stream.sql(STREAMED[name]).collect())
    assert rows == bag(batch.sql(STREAMED[name]).collect())
    assert sum(rows.values()) > 50
    assert stream.counts["numLateRecordsDropped"] == stream.counts["stateRows"] == 0
