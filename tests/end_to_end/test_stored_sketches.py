"""Sketches of minutes are stored in a table by one script; another one merges them to hours: in batch and on streams,
whichever wrote them."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql import Session
from tvfsql.errors import BindError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MINUTES = """CREATE TABLE minutes (
    at TIMESTAMP(3), item STRING, p BYTES, f BYTES, hll BYTES, theta BYTES, paid BYTES, seen BYTES,
    WATERMARK FOR at AS at
) WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = '{format}')"""
STORE = """INSERT INTO minutes SELECT window_time, item,
    KLL_SKETCH_AGG_DOUBLE(price), KLL_SKETCH_AGG_FLOAT(CAST(price AS FLOAT)),
    HLL_SKETCH_AGG(bidder), THETA_SKETCH_AGG(bidder), TUPLE_SKETCH_AGG_DOUBLE(bidder, price),
    BITMAP_CONSTRUCT_AGG(BITMAP_BIT_POSITION(bidder))
FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(at), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, window_time, item"""
HOURS = """SELECT window_start, item, KLL_SKETCH_GET_N_DOUBLE(KLL_MERGE_AGG_DOUBLE(p)) AS n,
    KLL_SKETCH_GET_QUANTILE_DOUBLE(KLL_MERGE_AGG_DOUBLE(p), 0.5) AS p50,
    KLL_SKETCH_GET_QUANTILE_FLOAT(KLL_MERGE_AGG_FLOAT(f), 0.5) AS f50,
    HLL_SKETCH_ESTIMATE(HLL_UNION_AGG(hll)) AS hll, THETA_SKETCH_ESTIMATE(THETA_UNION_AGG(theta)) AS theta,
    THETA_SKETCH_ESTIMATE(THETA_INTERSECTION_AGG(theta)) AS always,
    TUPLE_SKETCH_SUMMARY_DOUBLE(TUPLE_UNION_AGG_DOUBLE(paid)) AS paid, BITMAP_COUNT(BITMAP_OR_AGG(seen)) AS seen
FROM TABLE(HOP(TABLE minutes, DESCRIPTOR(at), INTERVAL '30' MINUTE, INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item"""
ROWS, START = 1_500, datetime(2026, 1, 1, 12)


@pytest.mark.spark
@pytest.mark.parametrize(("mode", "other", "form"), [("batch", "streaming", "parquet"), ("streaming", "batch", "json")])
def test_sketches_of_minutes_that_were_stored_merge_to_hours(
    spark: SparkSession, tmp_path: Path, mode: Any, other: Any, form: str
) -> None:
    draw, expected = random.Random(3), defaultdict[tuple[datetime, str], list[tuple[datetime, int, int]]](list)
    lines = []
    for i in range(ROWS):
        at, item, price, bidder = START + timedelta(seconds=4 * i), draw.choice("ab"), draw.randint(1, 90), i % 200 + 1
        lines.append(f'{{"at": "{at:%Y-%m-%d %H:%M:%S}.000", "item": "{item}", "price": {price}, "bidder": {bidder}}}')
        first = at.replace(minute=at.minute // 30 * 30, second=0)
        for start in (first, first - timedelta(minutes=30)):
            expected[start, item].append((at.replace(second=0), price, bidder))
    (tmp_path / "bids").mkdir()
    (tmp_path / "bids" / "1.json").write_text("\n".join(lines), encoding="utf-8")
    minutes = MINUTES.format(folder=tmp_path / "minutes", format=form)
    writer = Session(spark=spark, mode=mode)
    writer.sql(
        "CREATE TABLE bids (at TIMESTAMP(3), item STRING, price INT, bidder INT, WATERMARK FOR at AS at) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path / 'bids'}', 'format' = 'json')"
    )
    writer.sql(minutes)
    writer.sql(STORE)
    for reading in (mode, other):
        reader = Session(spark=spark, mode=reading)
        reader.sql(minutes)
        rows = reader.sql(HOURS).collect()
        assert {(row.window_start, row.item) for row in rows} == expected.keys()
        for row in rows:
            held = expected[row.window_start, row.item]
            bidders, prices = {bidder for _, _, bidder in held}, [price for _, price, _ in held]
            assert (row.n, row.seen, row.paid) == (len(held), len(bidders), sum(prices))
            assert (row.theta, abs(row.hll - len(bidders)) <= 0.05 * len(bidders)) == (len(bidders), True)
            by_minute = defaultdict(set)
            for minute, _, bidder in held:
                by_minute[minute].add(bidder)
            assert row.always == len(set.intersection(*by_minute.values()))
            for found in (row.p50, row.f50):  # three times the error of k = 200
                assert abs(sum(price < found for price in prices) / len(prices) - 0.5) < 0.04 + prices.count(
                    found
                ) / len(prices)


def test_a_sketch_is_not_cut_to_the_one_byte_of_binary() -> None:
    session = Session()
    session.sql(
        "CREATE TABLE b (x INT, at TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'b', 'format' = 'json')"
    )
    session.sql("CREATE TABLE s (z BINARY) WITH ('connector' = 'filesystem', 'path' = 's', 'format' = 'parquet')")
    with pytest.raises(BindError, match=r"column z of s has one byte, as BINARY\(1\), but the query gives BYTES"):
        session.sql("INSERT INTO s SELECT HLL_SKETCH_AGG(x) FROM b")
