"""Values that streams cannot keep (physical/refused/kept_values.py). The refusals are tests/cases/errors/streams."""

from __future__ import annotations

import pytest

from tvfsql import compile

TABLE = """CREATE TABLE t (k STRING, n INT, m MAP<STRING, INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');"""
WINDOWS = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT COUNT(DISTINCT UPPER(k)) FILTER (WHERE m['a'] > 1) AS c FROM {WINDOWS}",
        f"SELECT SUM(DISTINCT m['a']) AS c FROM {WINDOWS}",
        f"SELECT MAX(ts + n * INTERVAL '1' MONTH) AS c FROM {WINDOWS}",
        "SELECT n * INTERVAL '1' MONTH AS age FROM t",
    ],
)
def test_a_map_and_months_within_an_expression_are_taken(query: str) -> None:
    compile(TABLE + query, mode="streaming")
