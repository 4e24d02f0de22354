"""Operators that keep rows by key, through SQL on Spark: streams give what batch gives, and count what is late."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.examples import SOAK
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

EVENTS = "k STRING, `the.``value` INT, ts TIMESTAMP(3)"
START = datetime(2024, 2, 29)
FILES = 3
FIRST = "SELECT k, `the.``value`, ts FROM events QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts{}) = 1"
WINDOWS = (
    "SELECT window_start, COUNT(*) AS n, MAX(k) AS k FROM TABLE(TUMBLE("
    "(SELECT k, ts FROM events WHERE `the.``value` > 10 QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) = 1),"
    " DESCRIPTOR(ts), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end"
)


def events(seed: int, keys: int = 40) -> Iterator[list[tuple[str, int, datetime]]]:
    """Files of rows that move on in time, up to 2 minutes out of order."""
    rng = random.Random(seed)
    for file in range(FILES):
        rows = []
        for i in range(200):
            at = START + timedelta(seconds=(file * 200 + i) * 5 - rng.randrange(120), milliseconds=rng.randrange(1000))
            rows.append((f"k{rng.randrange(keys)}", rng.randrange(100), at))
        yield rows


def write(folder: Path, seed: int, keys: int = 40) -> Path:
    folder.mkdir()
    for number, rows in enumerate(events(seed, keys)):
        lines = (f"{k},{value},{ts.isoformat(' ', 'milliseconds')}\n" for k, value, ts in rows)
        file = folder / f"{number}.csv"
        file.write_text("".join(lines), encoding="utf-8")
        os.utime(file, (number, number))  # file streams go by the time of a file
    return folder


def session(spark: SparkSession, mode: str, folder: Path, delay: str = "INTERVAL '2' MINUTE") -> Session:
    made = Session(spark, mode=mode)
    made.execute(
        f"CREATE TABLE events ({EVENTS}, WATERMARK FOR ts AS ts - {delay}) "
        f"WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'csv', 'maxFilesPerTrigger' = '1')"
    )
    return made


def rows(made: Session, sql: str) -> Counter[Any]:
    return Counter(map(tuple, made.sql(sql).collect()))


@pytest.mark.usefixtures("several_partitions")
def test_deduplication_of_a_stream_gives_the_rows_of_batch(spark: SparkSession, tmp_path: Path) -> None:
    folder = write(tmp_path / "events", 5)
    sql = (
        f"SELECT 'first' AS what, k, `the.``value` AS n, ts FROM ({FIRST.format('')}) UNION ALL "
        f"SELECT 'last', k, `the.``value`, ts FROM ({FIRST.format(' DESC')}) UNION ALL "
        f"SELECT 'windows', k, CAST(n AS INT), window_start FROM ({WINDOWS})"
    )
    changes = rows(session(spark, "streaming", folder), sql)
    found = Counter[Any]()
    for (op, *row), times in changes.items():
        found[tuple(row)] += times if op.startswith("+") else -times
    assert +found == rows(session(spark, "batch", folder), sql)
    assert {(op, what) for op, what, *_ in changes} == {
        ("+I", "first"),
        ("+I", "windows"),
        *((op, "last") for op in ("+I", "-U", "+U")),
    }
    final = rows(session(spark, "streaming", folder), f"{FIRST.format(' DESC')} EMIT ON WINDOW CLOSE")
    assert sum(final.values()) == sum(what == "last" for what, *_ in found.elements())


def test_late_rows_are_counted_and_quiet_keys_forgotten(spark: SparkSession, tmp_path: Path) -> None:
    folder = write(tmp_path / "events", 6, keys=4)
    made = session(spark, "streaming", folder, "INTERVAL '10' SECOND")
    made.execute("SET 'table.exec.state.ttl' = '1 min'")
    found = rows(made, FIRST.format(""))
    assert sum(found.values()) > 4
    assert made.counts["numLateRecordsDropped"] > 0
    assert made.counts["stateRows"] == 0


def two(spark: SparkSession, mode: str, folder: Path) -> Session:
    """Two tables, of 3 and of 2 files."""
    made = Session(spark, mode=mode)
    for name, at in (("l", "lt"), ("r", "rt")):
        columns = f"k STRING, {name}v INT, {at} TIMESTAMP(3), WATERMARK FOR {at} AS {at} - INTERVAL '2' MINUTE"
        options = f"'path' = '{folder / name}', 'format' = 'csv', 'maxFilesPerTrigger' = '1'"
        made.execute(f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', {options})")
    return made


JOIN = "FROM l {} JOIN r ON l.k = r.k AND lt BETWEEN rt - INTERVAL '1' MINUTE AND rt + INTERVAL '20' SECOND"
INNER = f"SELECT 'inner' AS what, l.k, lv, lt, r.k AS rk, rv, rt {JOIN.format('INNER')} AND lv > rv"
OUTER = (
    f"SELECT 'full' AS what, l.k, lv, lt, r.k AS rk, rv, rt {JOIN.format('FULL')} AND lv > 50 AND rv < 80 UNION ALL "
    "SELECT 'left', NULL, CAST(COUNT(*) AS INT), window_start, NULL, CAST(COUNT(rv) AS INT), window_end "
    f"FROM TABLE(TUMBLE((SELECT lt, rv {JOIN.format('LEFT')}), DESCRIPTOR(lt), INTERVAL '5' MINUTE)) "
    "GROUP BY window_start, window_end"
)
NEAR = "(SELECT * FROM r WHERE r.k = l.k AND lt BETWEEN rt - INTERVAL '1' MINUTE AND rt + INTERVAL '20' SECOND)"
PARTNERED = (
    f"SELECT 'anti' AS what, k, lv, lt, NULL AS rk, NULL AS rv, NULL AS rt FROM l WHERE NOT EXISTS {NEAR} UNION ALL "
    f"SELECT 'semi', k, lv, lt, NULL, NULL, NULL FROM l WHERE EXISTS {NEAR.replace(')', ' AND rv < 80)')} UNION ALL "
    "SELECT 'windows', NULL, CAST(COUNT(*) AS INT), window_start, NULL, NULL, window_end "
    f"FROM TABLE(TUMBLE((SELECT * FROM l WHERE NOT EXISTS {NEAR}), DESCRIPTOR(lt), INTERVAL '5' MINUTE)) "
    "GROUP BY window_start, window_end"
)


@pytest.mark.soak
@pytest.mark.usefixtures("several_partitions")
@pytest.mark.parametrize("what", ["full left", "anti semi windows"])
def test_interval_joins_of_streams_give_the_rows_of_batch(spark: SparkSession, tmp_path: Path, what: str) -> None:
    """Outer joins, semi- and anti-joins; in `make soak` also an inner one."""
    inner = "inner" if SOAK and "full" in what else ""
    joins = PARTNERED if "anti" in what else f"{INNER} UNION ALL {OUTER}" if inner else OUTER
    write(tmp_path / "l", 7)
    (write(tmp_path / "r", 8) / "2.csv").unlink()
    streamed = two(spark, "streaming", tmp_path)
    found = rows(streamed, joins)
    assert found == rows(two(spark, "batch", tmp_path), joins)
    assert {of for of, *_ in found} == {*what.split(), *inner.split()}
    assert (streamed.counts["numLateRecordsDropped"], streamed.counts["stateRows"]) == (0, 0)


FOLLOWING = """
    SELECT k, v, ts, RANK() OVER w AS place,
        LEAD(v, 2, -1) OVER w AS lead, LEAD(s) OVER w AS name, LAG(v) OVER w AS lag,
        COUNT(*) OVER (w ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING) AS n3,
        AVG(v) OVER (w ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING) AS mean,
        SUM(v) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING) AS so_far,
        COUNT(v) OVER (w ROWS BETWEEN 4 PRECEDING AND 2 PRECEDING) AS n_before,
        MAX(v) OVER (w RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND INTERVAL '2' MINUTE FOLLOWING) AS most,
        STDDEV_POP(d) OVER (w RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND INTERVAL '10' MINUTE FOLLOWING) AS dev,
        COUNT(*) OVER (w RANGE BETWEEN INTERVAL '1' SECOND FOLLOWING AND INTERVAL '9' MINUTE FOLLOWING) AS n_later,
        MIN(s) OVER (w RANGE BETWEEN INTERVAL '9' MINUTE PRECEDING AND INTERVAL '1' MINUTE PRECEDING) AS least,
        SUM(v) OVER (ORDER BY ts RANGE BETWEEN CURRENT ROW AND INTERVAL '30' SECOND FOLLOWING) AS of_all
    FROM (
        SELECT k, `the.``value` AS v, CONCAT(k, '/', CAST(`the.``value` AS STRING)) AS s,
            CAST(`the.``value` AS DOUBLE) AS d, ts
        FROM events
    )
    WINDOW w AS (PARTITION BY k ORDER BY ts)
"""
OF_FOLLOWING = """
    SELECT window_start, COUNT(*) AS n, SUM(later) AS s
    FROM TABLE(TUMBLE((
        SELECT ts, SUM(`the.``value`) OVER (
            PARTITION BY k ORDER BY ts RANGE BETWEEN CURRENT ROW AND INTERVAL '7' MINUTE FOLLOWING) AS later
        FROM events
    ), DESCRIPTOR(ts), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end
"""


@pytest.mark.usefixtures("several_partitions")
@pytest.mark.parametrize("sql", [FOLLOWING, OF_FOLLOWING])
def test_rows_that_follow_are_awaited(spark: SparkSession, tmp_path: Path, sql: str) -> None:
    """With a delay of the watermark that makes some rows wait over micro-batches."""
    folder = write(tmp_path / "events", 7, keys=6)
    found = rows(session(spark, "streaming", folder), sql)
    expected = rows(session(spark, "batch", folder), sql)
    assert rounded(found) == rounded(expected)
    assert sum(expected.values()) == (600 if sql is FOLLOWING else len(expected))


def rounded(found: Counter[Any]) -> Counter[Any]:
    return Counter({tuple(round(x, 9) if isinstance(x, float) else x for x in row): n for row, n in found.items()})
