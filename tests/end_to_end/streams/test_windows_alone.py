"""Window functions without an aggregate: batch and stream alike, no row late, rows without a time counted."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import WINDOWS, create_table, sessions, some_batches, write_files
from tests.support.examples import SOAK
from tvfsql import Session, TvfSqlError
from tvfsql.runtime.frames.dead_letters import counting_dropped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NULLS = "table.exec.source.rowtime-null-handling"
COPIES = "SELECT ts, item, n, window_start, window_end, window_time FROM TABLE({}) WHERE n < 90"
ALL = " UNION ALL ".join(COPIES.format(window) for window in WINDOWS.values())
EPOCH, SECOND = datetime(1970, 1, 1), timedelta(seconds=1)


def windows_of(ts: datetime) -> list[tuple[datetime, datetime]]:
    """The windows of WINDOWS that hold a time, by their definitions."""
    starts = [
        second * SECOND + EPOCH for second in range(int((ts - EPOCH) / SECOND) - 25, int((ts - EPOCH) / SECOND) + 1)
    ]
    tumble = [(s, s + 10 * SECOND) for s in starts if (s - EPOCH) % (10 * SECOND) == 3 * SECOND]
    hop = [(s, s + 10 * SECOND) for s in starts if (s - EPOCH) % (4 * SECOND) == timedelta()]
    cycles = [s for s in starts if (s - EPOCH) % (20 * SECOND) == timedelta()]
    steps = [(s, s + step * SECOND) for s in cycles for step in (5, 10, 15, 20)]
    return [(start, end) for start, end in (*tumble, *hop, *steps) if start <= ts < end]


def test_rows_come_once_per_window_however_late(spark: SparkSession, tmp_path: Path) -> None:
    """Micro-batches out of order by more than any window; a HOP whose size is no multiple of its slide."""
    batches = some_batches(seed=12, disorder=60, batches=3)
    write_files(tmp_path / "in", batches)
    expected: Counter[Any] = Counter()
    for row in (row for batch in batches for row in batch if row["n"] < 90):
        ts = datetime.fromisoformat(row["ts"])
        for start, end in windows_of(ts):
            expected[ts, row["item"], row["n"], start, end, end - timedelta(milliseconds=1)] += 1
    stream, batch = sessions(spark, tmp_path / "in", delay=0)
    found = stream.sql(ALL).collect()
    assert Counter(map(tuple, found)) == Counter(map(tuple, batch.sql(ALL).collect())) == expected
    assert stream.counts["numLateRecordsDropped"] == stream.counts["numNullRowTimeRecordsDropped"] == 0
    assert stream.counts["rowsOut"] == len(found)


def test_rows_without_a_time_fail_or_are_dropped_and_counted(spark: SparkSession, tmp_path: Path) -> None:
    rows = [{"ts": ts, "n": n} for n, ts in enumerate(("2024-01-01 00:00:01", None, "2024-01-01 00:00:12", None))]
    write_files(tmp_path / "in", [rows[:2], rows[2:]])
    for mode in ("batch", "streaming"):
        for handling in ("FAIL", "DROP", "SKIP_WATERMARK"):
            session = Session(spark, mode=mode, options={NULLS: handling})
            create_table(session, "bid", "ts TIMESTAMP(3), n INT, WATERMARK FOR ts AS ts", tmp_path / "in")
            if handling == "FAIL":
                with pytest.raises(TvfSqlError, match="time column ts is NULL"):
                    session.sql(ALL.replace("item, ", "")).collect()
                continue
            with counting_dropped() as dropped:
                found = session.sql(ALL.replace("item, ", "")).collect()
            assert {row.n for row in found} == {0, 2}
            if mode == "batch":
                assert dropped.counts == {"numNullRowTimeRecordsDropped (ts)": 6}
            else:  # each window function leaves out what it is given
                assert session.counts["numNullRowTimeRecordsDropped"] == 6
                assert session.counts["numNullRowTimeRecordsSkipped"] == 0


def test_a_window_function_reads_another(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "in", some_batches(seed=13, disorder=30, batches=2))
    query = f"""SELECT t, item, window_start, window_end FROM TABLE(HOP(
        (SELECT item, window_time AS t FROM TABLE({WINDOWS["hop"]})),
        DESCRIPTOR(t), INTERVAL '20' SECOND, INTERVAL '40' SECOND))"""
    stream, batch = sessions(spark, tmp_path / "in", delay=0)
    found = Counter(map(tuple, stream.sql(query).collect()))
    assert found == Counter(map(tuple, batch.sql(query).collect())) != Counter()


@pytest.mark.soak
def test_window_columns_are_aggregated_too(spark: SparkSession, tmp_path: Path) -> None:
    """HOP and CUMULATE; in `make soak` also TUMBLE, in more micro-batches."""
    write_files(tmp_path / "in", some_batches(seed=14, disorder=10, batches=5 if SOAK else 2))
    query = " UNION ALL ".join(
        f"""SELECT window_start, window_end, item, COUNT(DISTINCT window_time) AS times, COUNT(*) AS n,
            MAX(window_end) AS last, SUM(n) FILTER (WHERE ts < window_start + INTERVAL '3' SECOND) AS early
        FROM TABLE({window}) WHERE n < 90 GROUP BY window_start, window_end, item"""
        for kind, window in WINDOWS.items()
        if SOAK or kind != "tumble"
    )
    stream, batch = sessions(spark, tmp_path / "in", delay=10)
    found = Counter(map(tuple, stream.sql(query).collect()))
    assert found == Counter(map(tuple, batch.sql(query).collect())) != Counter()
