"""SESSION on Spark: random rows against plain Python, in one phase and in two; streams against batch."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models import naive
from tests.models.random_windows import (
    AGGREGATES,
    FEW,
    RULES_OFF,
    STRATEGY,
    answer,
    assert_same,
    random_rows,
    random_tables,
    register,
)
from tests.models.session_models import Model
from tests.models.streams import Event, ms
from tests.support.bids import TOTALS, bag, sessions, some_batches, write_files
from tests.support.examples import SOAK
from tvfsql import Session
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

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


@random_tables
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


ZONE = "America/Los_Angeles"
MINUTE = 60_000
VISITS = """
CREATE TABLE visit (epoch BIGINT, shop STRING, n INT, at AS TO_TIMESTAMP_LTZ(epoch, 3),
    WATERMARK FOR at AS at - INTERVAL '20' MINUTE
) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/in', 'maxFilesPerTrigger' = '1');
CREATE TABLE late (shop STRING, n INT, window_end TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{folder}/late');
CREATE TABLE totals (shop STRING, starts TIMESTAMP(3), ends TIMESTAMP(3), visits BIGINT, total BIGINT)
WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{folder}/totals');
CREATE TABLE pairs (shop STRING, starts TIMESTAMP(3), ends TIMESTAMP(3), visits BIGINT, total BIGINT)
WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{folder}/pairs');
CREATE VIEW whole AS SELECT window_start, window_end, shop, COUNT(*) AS visits, SUM(n) AS total
FROM TABLE(SESSION(TABLE visit PARTITION BY shop, DESCRIPTOR(at), INTERVAL '4' MINUTE))
GROUP BY window_start, window_end, shop;
CREATE VIEW some AS SELECT window_start, window_end, shop, COUNT(*) AS visits, SUM(n) AS total
FROM TABLE(SESSION((SELECT * FROM visit WHERE n % 9 <> 0) PARTITION BY shop, DESCRIPTOR(at), INTERVAL '4' MINUTE))
GROUP BY window_start, window_end, shop;
SET 'tvfsql.late-output' = 'late';
INSERT INTO totals SELECT shop, window_start, window_end, visits, total FROM whole;
RESET 'tvfsql.late-output';
"""
PAIRS = """
INSERT INTO pairs SELECT a.shop, a.window_start, a.window_end, a.visits, b.total FROM whole AS a JOIN some AS b
ON a.shop = b.shop AND a.window_start = b.window_start AND a.window_end = b.window_end;
"""


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="two minutes, in `make soak`; other tests have its parts")
@pytest.mark.usefixtures("several_partitions")
def test_sessions_on_a_clock_that_is_put_back_with_late_rows_joined_and_run_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Stopped, and a micro-batch whose commit was lost; late rows, and windows that are joined: as the plain model."""
    batches = visits(random.Random(5))
    for upto in (2, len(batches)):
        write_files(tmp_path / "in", batches[:upto])
        options = {"table.local-time-zone": ZONE}
        session = Session(spark, "streaming", options, checkpoint=tmp_path / "ck", final=upto == len(batches))
        session.execute(VISITS.format(folder=tmp_path))
        if upto < len(batches):
            for commit in (f"{upto - 1}", f".{upto - 1}.crc"):
                (tmp_path / "ck" / "1" / "spark" / "commits" / commit).unlink()
    session.execute(PAIRS)

    models = Model(4 * MINUTE), Model(4 * MINUTE)
    fired: tuple[list[Any], list[Any]] = ([], [])
    for batch in (*batches, None):
        events = [Event(None, None, END_OF_INPUT)] if batch is None else [event(row) for row in batch]
        chosen = [one for one in events if one.ts is None or one.value % 9]
        marks = [Event(None, None, one.watermark) for one in events]
        fired[0].extend(models[0].batch(events))
        fired[1].extend(models[1].batch([*chosen, *marks]))  # also the watermarks of rows that are left out
    whole, some = ({out[:3]: (out[3], out[4]) for out in of} for of in fired)
    totals = {(key, start, end): (rows, total) for (key, start, end), (rows, total) in whole.items()}
    assert read(spark, tmp_path / "totals") == totals
    pairs = {at: (rows, some[at][1]) for at, (rows, _) in whole.items() if at in some}
    assert read(spark, tmp_path / "pairs") == pairs
    assert 20 < len(pairs) < len(totals)
    inside = {n for out in fired[0] for n in out[8]}
    late = [row.n for row in spark.read.parquet(str(tmp_path / "late")).collect()]
    assert sorted(late) == sorted({row["n"] for batch in batches for row in batch} - inside)
    assert len(late) == models[0].late > 5


def visits(draw: random.Random) -> list[list[dict[str, Any]]]:
    """Around the hour that a clock shows twice; some rows come hours later."""
    change = datetime(2021, 11, 7, 9, tzinfo=UTC)
    rows: list[dict[str, Any]] = []
    for i in range(-110, 130):
        behind = draw.randrange(90, 240) if draw.randrange(9) == 0 else draw.randrange(20)
        at = round(change.timestamp() * 1000) + (i - behind) * MINUTE
        rows.append({"epoch": at, "shop": draw.choice("abc"), "n": i + 110})
    return [rows[i : i + 40] for i in range(0, len(rows), 80)]


def event(row: dict[str, Any]) -> Event:
    """On the wall clock; the watermark waits before what the clock will show again."""
    mark = row["epoch"] - 20 * MINUTE
    later = [wall(mark + minute * MINUTE) - 1 for minute in range(1, 180)]
    return Event(row["shop"], wall(row["epoch"]), min(wall(mark), *later), row["n"])


def wall(instant: int) -> int:
    local = datetime.fromtimestamp(instant / 1000, ZoneInfo(ZONE)).replace(tzinfo=UTC)
    return round(local.timestamp() * 1000)


def read(spark: SparkSession, folder: Path) -> dict[Any, tuple[int, int]]:
    rows = spark.read.parquet(str(folder)).collect()
    found = {(row.shop, ms(row.starts), ms(row.ends)): (row.visits, row.total) for row in rows}
    assert len(found) == len(rows)
    return found
