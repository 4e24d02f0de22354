"""WINDOWS gives the rows of a query for each window, in one pass or not, in batch and on streams."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULE = "aggregate_windows_in_one_pass"
WINDOWS = {
    "minute": ("TUMBLE", "INTERVAL '1' MINUTE"),
    "hour": ("HOP", "INTERVAL '1' MINUTE, INTERVAL '1' HOUR"),
    "odd": ("HOP", "INTERVAL '4' MINUTE, INTERVAL '6' MINUTE, INTERVAL '1' MINUTE"),
    "day": ("CUMULATE", "INTERVAL '10' MINUTE, INTERVAL '1' DAY"),
}
CALLS = """COUNT(*) AS n, COUNT(x) AS known, SUM(x) AS total, AVG(x) AS middle, MIN(s) AS first, MAX(s) AS last,
    STDDEV_POP(x) AS spread, SUM(x) FILTER (WHERE x > 0) AS gains, FIRST_VALUE(x) AS opening"""


def query(session: Session, text: str) -> Counter[tuple[object, ...]]:
    rows = session.execute(text)[-1].collect()
    return Counter(tuple(f"{each:.9g}" if isinstance(each, float) else each for each in row) for row in rows)


@pytest.mark.spark
def test_windows_are_those_of_queries_alone(spark: SparkSession, tmp_path: Path) -> None:
    random = Random(42)
    minutes = sorted(random.choices(range(3 * 60), k=300))
    lines = [
        f"2024-03-01 {9 + m // 60:02}:{m % 60:02}:{random.randrange(60):02},{random.choice('abc')},"
        f"{random.choice(['', '1.50', '-2.25', '7.00'])},{random.choice(['x', 'y', ''])}"
        for m in minutes
    ]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "rows.csv").write_text("\n".join(lines) + "\n")
    table = f"""CREATE TABLE t (ts TIMESTAMP(3), k STRING, x DECIMAL(10, 2), s STRING,
        WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path / "in"}', 'format' = 'csv')"""
    keys = "window_start, window_end, window_time"
    alone = " UNION ALL ".join(
        f"SELECT '{name}' AS name, {keys}, k, {CALLS} FROM TABLE({function}(TABLE t, DESCRIPTOR(ts), {lengths})) "
        f"GROUP BY {keys}, k HAVING COUNT(*) > 1"
        for name, (function, lengths) in WINDOWS.items()
    )
    several = ", ".join(f"{function}({lengths}) AS {name}" for name, (function, lengths) in WINDOWS.items())
    together = (
        f"SELECT window_name, {keys}, k, {CALLS} FROM WINDOWS(TABLE t, DESCRIPTOR(ts), {several}) "
        f"GROUP BY window_name, {keys}, k HAVING COUNT(*) > 1"
    )
    without = Session(spark, mode="batch", options={"tvfsql.rules.disabled": RULE})
    without.execute(table)
    expected = query(without, alone)
    assert {row[0] for row in expected} == {*WINDOWS}
    for mode in ("batch", "streaming"):
        session = Session(spark, mode=mode)
        session.execute(table)
        fired = {step.rule for step in session.execute(f"{together}")[-1].query.steps}
        assert (RULE in fired) == (mode == "batch")
        assert query(session, together) == expected, mode
