"""Which columns of its rows an operator of a stream is not sent."""

from __future__ import annotations

import pytest

import tvfsql

TABLE = """
CREATE TABLE bid (ts TIMESTAMP(3), price INT, item STRING, WATERMARK FOR ts AS {})
WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'csv');
"""
COUNTS = """
SELECT window_start, window_end, item, COUNT(*) AS n{}
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
{} GROUP BY window_start, window_end, item
"""


def code(sql: str, watermark: str = "ts - INTERVAL '5' SECOND") -> str:
    return tvfsql.compile(TABLE.format(watermark) + sql, mode="streaming").code


@pytest.mark.parametrize(
    ("watermark", "delay"),
    [
        ("ts", "delay=0"),
        ("ts - INTERVAL '5' SECOND", "delay=5_000"),
        ("ts - INTERVAL '2' HOUR", "delay=7_200_000"),
        ("ts - INTERVAL '0.001' SECOND", None),  # not read
        ("ts - INTERVAL '1' DAY", None),
        ("ts - INTERVAL '24' HOUR", None),
        ("ts - INTERVAL '1' MONTH", None),
        ("ts + INTERVAL '5' SECOND", None),
    ],
)
def test_a_watermark_that_follows_the_time_with_a_delay_is_not_sent(watermark: str, delay: str | None) -> None:
    for program in (code(COUNTS.format("", ""), watermark), code(FIRST, watermark)):
        assert (delay in program) if delay else ("delay=" not in program)


FIRST = "SELECT * FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY ts) = 1"


def test_a_row_that_a_filter_drops_has_a_watermark_of_its_own() -> None:
    assert "delay=" not in code(COUNTS.format("", "WHERE price > 3"))


def test_a_partial_that_another_column_has_is_not_sent() -> None:
    program = code(COUNTS.format(", SUM(price) AS total, MAX(price) AS highest, MIN(item) AS same_item", ""))
    assert 'same={"highest": "total", "same_item": "item"}' in program
    assert 'ones=["n"]' in program
    assert '.alias("total")' in program and '.alias("highest")' not in program
