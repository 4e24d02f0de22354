"""The pace of micro-batches in Spark: rows wait for it, the end of a window and a message do not."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TICKS = """
CREATE TABLE ticks (`timestamp` TIMESTAMP_LTZ(3), `value` BIGINT, WATERMARK FOR `timestamp` AS `timestamp`)
WITH ('connector' = 'rate', 'rowsPerSecond' = '20');
CREATE TABLE nowhere (n BIGINT) WITH ('connector' = 'blackhole');
"""
WINDOWS = """INSERT INTO nowhere SELECT COUNT(*)
FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(`timestamp`), INTERVAL '{}' SECOND)) GROUP BY window_start, window_end"""
PATIENCE = 60


def started(spark: SparkSession, pace: str, insert: str) -> tuple[Any, Any, Session]:
    session = Session(spark, None, {"tvfsql.pace": pace, "tvfsql.pace.between-windows": pace})
    session.execute(TICKS)
    running = session.sql(insert)
    return running, running.start(), session


def starts(query: Any) -> list[float]:
    """When micro-batches with rows began, in seconds."""
    reports = (each for each in query.recentProgress if each["numInputRows"])
    return [datetime.fromisoformat(each["timestamp"]).timestamp() for each in reports]


def until(found: Callable[[], Any]) -> None:
    end = time.monotonic() + PATIENCE
    while not found():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.1)


def test_rows_wait_for_the_pace(spark: SparkSession) -> None:
    running, query, _ = started(spark, "2 s", "INSERT INTO nowhere SELECT `value` FROM ticks")
    until(lambda: len(starts(query)) > 3)
    running.stop()
    first, *later = starts(query)
    gaps = [after - before for before, after in zip([first, *later], later, strict=False)][1:]
    assert min(gaps) > 1.9, gaps


def test_a_window_does_not_wait_for_the_pace(spark: SparkSession) -> None:
    """With a pace of ten minutes: windows end because they are expected to."""
    running, _, session = started(spark, "10 min", WINDOWS.format(2))
    until(lambda: session.counts["rowsOut"] >= 3)
    running.stop()


def test_a_message_does_not_wait_for_the_pace(spark: SparkSession) -> None:
    running, _, session = started(spark, "10 min", WINDOWS.format(86_400))
    until(lambda: session.counts.get("stateRows"))
    session.execute("CALL advance_watermark('ticks', TIMESTAMP '2999-01-01 00:00:00')")
    until(lambda: session.counts["rowsOut"])
    running.stop()


def test_without_a_pace_spark_goes_on_at_once(spark: SparkSession) -> None:
    running, query, _ = started(spark, "0", "INSERT INTO nowhere SELECT `value` FROM ticks")
    until(lambda: len(starts(query)) > 3)
    running.stop()
