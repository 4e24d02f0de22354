"""A stream whose query is changed between two runs goes on with its state, or its checkpoint is refused."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tvfsql import Session, TvfSqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = """
CREATE TABLE bid (item STRING, shop STRING, price BIGINT, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '{delay}' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{folder}/in', 'format' = 'json');
CREATE TABLE totals (ends TIMESTAMP(3), item STRING, shop STRING, n BIGINT, s BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{folder}/{out}', 'format' = 'json');
"""
# the same keys, one aggregate less, with other names, in another order, and with other conditions above them
BEFORE = """INSERT INTO totals SELECT window_end, item, shop, COUNT(*) AS n, SUM(price) + MAX(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, item, shop"""
AFTER = """INSERT INTO totals SELECT window_end, item, shop, c, -amount FROM (
  SELECT window_end, shop, item, SUM(price) AS amount, COUNT(*) AS c
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY shop, item, window_start, window_end
) WHERE amount > 1"""


def write(file: Path, *rows: tuple[str, str, int, str]) -> None:
    file.parent.mkdir(exist_ok=True)
    names = ("item", "shop", "price", "ts")
    file.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))


def run(
    spark: SparkSession,
    folder: Path,
    query: str,
    out: str = "out",
    delay: int = 1,
    final: bool = False,
    start: str | None = None,
) -> Session:
    session = Session(spark, mode="streaming", checkpoint=folder / "checkpoint", final=final, start_mode=start)
    session.execute(TABLES.format(folder=folder, out=out, delay=delay) + query)
    return session


def read(folder: Path) -> Counter[tuple[object, ...]]:
    return Counter(
        tuple(json.loads(line).values()) for file in folder.glob("part-*") for line in file.read_text().splitlines()
    )


@pytest.mark.spark
def test_a_changed_query_goes_on_with_open_windows(spark: SparkSession, tmp_path: Path) -> None:
    """A window is open with rows of two keys when names, order, projection, sink and watermark change, and MAX goes;
    sums go on. The first run must start anew, and the last one must resume."""
    write(tmp_path / "in" / "1.json", ("a", "x", 1, "2024-01-01 00:00:01"), ("b", "y", 1, "2024-01-01 00:00:02"))
    with pytest.raises(TvfSqlError, match=r"start-mode is RESUME, but .*/checkpoint/1 is not the checkpoint"):
        run(spark, tmp_path, BEFORE, start="RESUME")
    metrics = run(spark, tmp_path, BEFORE, start="FROM_BEGINNING").metrics()["1"]
    assert (metrics["rows_in"], metrics["rows_out"], metrics["state_rows"]) == (2, 0, 2)
    write(tmp_path / "in" / "2.json", ("a", "x", 10, "2024-01-01 00:00:03"))
    with pytest.raises(TvfSqlError, match=r"TUMBLE\(size=\[2 min\]\)"):
        run(spark, tmp_path, AFTER.replace("'1' MINUTE", "'2' MINUTE"))
    with pytest.raises(TvfSqlError, match="checkpoint/1 has the state of a stream"):
        run(spark, tmp_path, AFTER, start="FROM_BEGINNING")
    with pytest.raises(TvfSqlError, match="WHERE below GROUP BY window"):
        run(spark, tmp_path, AFTER.replace("GROUP BY", "WHERE price > 0 GROUP BY"))
    assert not read(tmp_path / "out")
    session = run(spark, tmp_path, AFTER, out="changed", delay=2, final=True, start="RESUME")
    metrics, streams = session.metrics()["1"], session.streams
    assert {*streams.programs["1"].observed} == {*streams.metrics["1"].operators.operators} == {"tvfsql"}
    counted = streams.metrics["1"].operators.operators["tvfsql"]
    assert (counted["rows_in"], counted["rows_out"], counted["state_rows"], counted["ended"]) == (1, 2, 0, True)
    (channel,) = counted["channels"]
    assert channel | {"watermark": 0} == {
        "input": 1,
        "partition": None,
        "watermark": 0,
        "status": "active",
        "ended": False,
    }
    assert channel["watermark"] == datetime(2024, 1, 1, 0, 0, 1, tzinfo=UTC).timestamp()
    assert (streams.metrics["1"].operators.tables, streams.metrics["1"].rows_out) == ([1], 1)
    assert (metrics["rows_in"], metrics["rows_out"], metrics["state_rows"]) == (3, 1, 0)
    assert metrics["micro_batches_unreported"] == 0
    assert read(tmp_path / "out") == Counter()
    assert read(tmp_path / "changed") == Counter([("2024-01-01T00:01:00.000", "a", "x", 2, -11)])


@pytest.mark.spark
def test_swapped_keys_of_a_deduplication_find_the_rows_that_were_emitted(spark: SparkSession, tmp_path: Path) -> None:
    """20 keys, which are in several key groups, come in both runs, and a new one only in the second."""
    first = """INSERT INTO totals SELECT ts, item, shop, price, 0 FROM (
      SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY ts) AS n FROM bid
    ) WHERE n = 1"""
    keys = [(f"i{number}", f"s{number % 3}", number) for number in range(20)]
    early, late = ([(*key, f"2024-01-0{day} 00:00:01") for key in keys] for day in (1, 3))
    write(tmp_path / "in" / "1.json", *early, ("z", "z", 21, "2024-01-02 00:00:00"))
    run(spark, tmp_path, first.format("item, shop"))
    write(tmp_path / "in" / "2.json", *late, ("new", "s", 22, "2024-01-03 00:00:00"))
    run(spark, tmp_path, first.format("shop, item"), final=True)
    found = read(tmp_path / "out").elements()
    assert sorted(row[1:4] for row in found) == sorted([*keys, ("z", "z", 21), ("new", "s", 22)])
