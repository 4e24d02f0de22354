"""Conditions on windows select rows before windows are made: the rows of the result stay the same."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from random_windows import RULES_OFF

from examples import SOAK
from tvfsql import Session
from tvfsql.plan.values.zone_names import largest_change

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RULE = "push_window_bounds_below_window"
# a zone, and a moment near which its clock changes, or (without a zone) from which times are counted
PLACES = {
    "": datetime(1970, 1, 1, 6),  # some times are negative
    "UTC": datetime(2024, 2, 29, 6),
    "GMT+08:00": datetime(2024, 12, 31, 16),
    "Europe/Berlin": datetime(2024, 10, 27, 1),
    "America/St_Johns": datetime(2024, 3, 10, 5, 30),
    "Pacific/Apia": datetime(2011, 12, 30, 10),  # without 30 December
    "America/Sao_Paulo": datetime(2018, 11, 4, 3),  # without midnight
}
WINDOWS = (
    "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)",
    "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '5' HOUR)",
    "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '7' MINUTE, INTERVAL '70' MINUTE)",
    "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '150' MINUTE)",
    "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '2' HOUR, INTERVAL '1' DAY)",
)
SIGNS = ("<", "<=", ">", ">=", "=")
QUERIES = 120 if SOAK else 12


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.parametrize("zone", PLACES)
def test_the_rows_are_the_same(spark: SparkSession, zone: str) -> None:
    seed = random.Random(zone)
    rows = _times(spark, seed, zone)
    found = []
    sql = " UNION ALL ".join(f"SELECT {i} AS number, * FROM ({_query(seed, zone)})" for i in range(QUERIES))
    for options in ({}, RULES_OFF):
        session = Session(spark, options={**options, **({"table.local-time-zone": zone} if zone else {})})
        session.register("t", rows)
        result = session.sql(sql)
        assert (RULE in {step.rule for step in result.query.steps}) == (not options)
        found.append(Counter(map(tuple, result.collect())))
    assert found[0] == found[1] != Counter()


def _times(spark: SparkSession, seed: random.Random, zone: str) -> DataFrame:
    """Rows within two days of a moment, some of them with microseconds."""
    kind, place = ("TIMESTAMP" if zone else "TIMESTAMP_NTZ"), PLACES[zone]
    shifts = [timedelta(minutes=seed.randint(-1440, 1440), microseconds=seed.choice([0, 999, 1])) for _ in range(150)]
    times = [place + shift for shift in shifts]
    rows = [(i % 3, time.replace(tzinfo=UTC) if zone else time) for i, time in enumerate(times)]
    return spark.createDataFrame(rows, f"k INT, ts {kind}").localCheckpoint()


def _query(seed: random.Random, zone: str) -> str:
    end = PLACES[zone] + timedelta(minutes=seed.randrange(-1440, 1440, seed.choice([1, 10, 60])))
    time = f"TIMESTAMP '{end}'"
    shown = seed.choice([time, f"'{end}'", f"({time} - INTERVAL '90' MINUTE)", f"CAST('{end}' AS DATE)"])
    name = seed.choice(("window_start", "window_end") if zone else ("window_start", "window_end", "window_time"))
    sign = seed.choice(SIGNS)
    condition = seed.choice(
        [
            f"{name} {sign} {shown}",
            f"{time} {sign} {name}",
            f"{name} BETWEEN {time} AND {time} + INTERVAL '3' HOUR",
            f"window_start >= {time} AND window_end <= {time} + INTERVAL '1' DAY AND k < 2",
        ]
    )
    rows = f"TABLE({seed.choice(WINDOWS)})"
    groups = "SELECT window_start, window_end, k, COUNT(*) AS n FROM {} GROUP BY window_start, window_end, k"
    if name == "window_time":
        return f"SELECT window_start, window_end, k, 1 FROM {rows} WHERE {condition}"
    below = groups.format(f"{rows} WHERE {condition}")
    return seed.choice([below, f"SELECT * FROM ({groups.format(rows)}) WHERE {condition}"])


@pytest.mark.spark
def test_a_scan_reads_only_the_files_that_it_needs(spark: SparkSession, tmp_path: Path) -> None:
    """Also if the time is computed; a row without a time fails the query wherever it is."""
    days = spark.sql(
        "SELECT id AS ms, TIMESTAMP_NTZ '2024-01-01' + make_dt_interval(id) AS ts FROM range(31)"
    ).repartitionByRange(31, "ms")
    days.write.parquet(str(tmp_path / "days"))
    session = Session(spark)
    session.execute(
        f"CREATE TABLE days (ms BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', "
        f"'path' = '{tmp_path}/days', 'format' = 'parquet')"
    )
    result = session.sql(
        "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE days, DESCRIPTOR(ts), INTERVAL '1' DAY)) "
        "WHERE window_start >= TIMESTAMP '2024-01-30 00:00:00' GROUP BY window_start, window_end"
    )
    plan = result.dataframe()._jdf.queryExecution().executedPlan().toString()
    pushed = plan.partition("PushedFilters: [")[2].partition("]")[0]
    assert "GreaterThanOrEqual(ts,2024-01-30T00:00" in pushed
    assert len(result.collect()) == 2


@pytest.mark.parametrize(
    ("zone", "hours"), [("UTC", 0), ("+08:00", 0), ("Europe/Berlin", 1), ("Pacific/Apia", 24), ("Asia/Tokyo", 1)]
)
def test_the_largest_change_of_a_clock(zone: str, hours: int) -> None:
    assert largest_change(zone) == timedelta(hours=hours)
