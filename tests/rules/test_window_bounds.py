"""Conditions on windows select rows before windows are made: the rows of the result stay the same."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from tests.models.composed_queries import for_duckdb, for_tvfsql
from tests.models.random_windows import RULES_OFF
from tests.support.examples import SOAK
from tvfsql import Session
from tvfsql.plan.values.zone_names import largest_change
from tvfsql.runtime.frames.folder_values import FEW, chosen_folders

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
    "TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' HOUR)",
    "TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' DAY, INTERVAL '5' HOUR)",
    "HOP(TABLE {}, DESCRIPTOR(ts), INTERVAL '7' MINUTE, INTERVAL '70' MINUTE)",
    "HOP(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '150' MINUTE)",
    "HOP(TABLE {}, DESCRIPTOR(ts), INTERVAL '20' MINUTE, INTERVAL '50' MINUTE, INTERVAL '-7' MINUTE)",
    "CUMULATE(TABLE {}, DESCRIPTOR(ts), INTERVAL '2' HOUR, INTERVAL '1' DAY)",
    "CUMULATE(TABLE {}, DESCRIPTOR(ts), INTERVAL '3' HOUR, INTERVAL '12' HOUR, INTERVAL '1' HOUR)",
    "TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MONTH)",
    "TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' YEAR, INTERVAL '3' MONTH)",
)
# times that rise with the column that they are computed from
COMPUTED = (
    "CAST(ts AS TIMESTAMP(3))",
    "CAST(ts AS TIMESTAMP_LTZ(0))",
    "ts - INTERVAL '90' MINUTE",
    "ts + INTERVAL '1' DAY",
    "TO_TIMESTAMP_LTZ(ms, 3)",
    "TO_TIMESTAMP_LTZ(sec, 0)",
    "CAST(TO_TIMESTAMP_LTZ(ms, 3) AS TIMESTAMP(3)) + INTERVAL '30' SECOND",
    "CAST(CAST(ts AS DATE) AS TIMESTAMP(3))",
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
        for i, time in enumerate(COMPUTED):
            session.execute(f"CREATE VIEW c{i} AS SELECT k, {time} AS ts FROM t")
        result = session.sql(sql)
        assert (RULE in {step.rule for step in result.query.steps}) == (not options)
        found.append(Counter(map(tuple, result.collect())))
    assert found[0] == found[1] != Counter()


def _times(spark: SparkSession, seed: random.Random, zone: str) -> DataFrame:
    """Rows within two days of a moment, some of them with microseconds."""
    kind, place = ("TIMESTAMP" if zone else "TIMESTAMP_NTZ"), PLACES[zone]
    shifts = [timedelta(minutes=seed.randint(-1440, 1440), microseconds=seed.choice([0, 999, 1])) for _ in range(150)]
    times = [place + shift for shift in shifts]
    ms = [int((time - datetime(1970, 1, 1)) / timedelta(milliseconds=1)) for time in times]
    rows = [(i % 3, time.replace(tzinfo=UTC) if zone else time, ms[i], ms[i] // 1000) for i, time in enumerate(times)]
    return spark.createDataFrame(rows, f"k INT, ts {kind}, ms BIGINT, sec BIGINT").localCheckpoint()


def _query(seed: random.Random, zone: str) -> str:
    end = PLACES[zone] + timedelta(minutes=seed.randrange(-1440, 1440, seed.choice([1, 10, 60])))
    time = f"TIMESTAMP '{end}'"
    shown = seed.choice([time, f"'{end}'", f"({time} - INTERVAL '90' MINUTE)", f"CAST('{end}' AS DATE)"])
    table = seed.choice(["t", *(f"c{i}" for i in range(len(COMPUTED)))])
    of_instants = zone or table != "t"
    name = seed.choice(("window_start", "window_end") if of_instants else ("window_start", "window_end", "window_time"))
    sign = seed.choice(SIGNS)
    condition = seed.choice(
        [
            f"{name} {sign} {shown}",
            f"{time} {sign} {name}",
            f"{name} BETWEEN {time} AND {time} + INTERVAL '3' HOUR",
            f"{name} BETWEEN SYMMETRIC {time} + INTERVAL '3' HOUR AND {time}",
            f"window_start >= {time} AND window_end <= {time} + INTERVAL '1' DAY AND k < 2",
        ]
    )
    rows = f"TABLE({seed.choice(WINDOWS).format(table)})"
    groups = "SELECT window_start, window_end, k, COUNT(*) AS n FROM {} GROUP BY window_start, window_end, k"
    if name == "window_time":
        return f"SELECT window_start, window_end, k, 1 FROM {rows} WHERE {condition}"
    below, every = groups.format(f"{rows} WHERE {condition}"), groups.format(rows)
    order = "PARTITION BY window_start, window_end ORDER BY n DESC, k"
    best = f"SELECT window_start, window_end, k, n, ROW_NUMBER() OVER ({order}) AS rn FROM ({every})"
    same = "r.window_start = l.window_start AND r.window_end = l.window_end"
    others = f"SELECT * FROM ({every}) AS r WHERE {same} AND r.k > l.k"
    return seed.choice(
        [
            below,
            f"SELECT * FROM ({every}) WHERE {condition}",
            f"SELECT window_start, window_end, k, n FROM ({best}) WHERE rn <= 2 AND {condition}",
            f"SELECT * FROM ({every}) AS l WHERE {condition} AND {seed.choice(['', 'NOT '])}EXISTS ({others})",
        ]
    )


@pytest.mark.soak
@pytest.mark.spark
def test_duckdb_agrees(spark: SparkSession) -> None:
    """Windows of random sizes, steps and offsets, around 1970; DuckDB copies each row into its windows."""
    seed, session = random.Random(40), Session(spark)
    rows = _times(spark, seed, "")
    session.register("t", rows)
    t = rows.select("k", "ts").toArrow()
    wanted = []
    for i in range(QUERIES):
        name, step = seed.choice(("TUMBLE", "HOP", "CUMULATE")), seed.randrange(1, 200) * 60_000
        size = step if name == "TUMBLE" else step * seed.randrange(1, 9)
        size += seed.randrange(step) if name == "HOP" else 0
        window = f"{{{name} t {step} {size} {seed.randrange(-step, step)}}}"
        column = seed.choice(("window_start", "window_end", "window_time"))
        end = f"TIMESTAMP '{PLACES[''] + timedelta(minutes=seed.randrange(-1440, 1440))}'"
        condition = f"{column} {seed.choice(SIGNS)} {end}"
        if seed.random() < 0.5:
            condition = f"{column} BETWEEN {end} AND {end} + INTERVAL '3' HOUR"
        wanted.append(f"SELECT {i} AS i, window_start, window_end, window_time, k, ts FROM {window} WHERE {condition}")
    sql = " UNION ALL ".join(wanted)
    result = session.sql(for_tvfsql(sql))
    assert RULE in {step.rule for step in result.query.steps}
    with duckdb.connect() as duck:
        oracle = duck.register("t", t).execute(for_duckdb(sql)).fetchall()
    assert Counter(map(tuple, result.collect())) == Counter(oracle) != Counter()


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


@pytest.mark.spark
def test_folders_are_chosen_by_the_time(spark: SparkSession, tmp_path: Path) -> None:
    """Also those of days before 1970, and of rows without a time; DuckDB reads the same files."""
    session = Session(spark)
    create = (
        f"CREATE TABLE sale (k INT, ts TIMESTAMP(3), day AS DATE_FORMAT(ts, 'yyyy-MM-dd')) PARTITIONED BY (day) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/sale', 'format' = 'parquet')"
    )
    session.execute(create)
    rows = "SELECT INT(id % 3) AS k, TIMESTAMP_NTZ '1969-12-20' + make_dt_interval(0, id * 13) AS ts FROM range(90)"
    session.register("rows_of_days", spark.sql(f"{rows} UNION ALL SELECT 1, NULL"))
    session.execute("INSERT INTO sale SELECT k, ts FROM rows_of_days")
    assert {path.name for path in (tmp_path / "sale").glob("day=*")} > {"day=1969-12-20", "day=1970-01-01"}
    seed, wanted, counts = random.Random(40), [], []
    for i in range(12):
        lower = datetime(1969, 12, 18) + timedelta(hours=6 * seed.randrange(200))
        upper = lower + timedelta(hours=6 * seed.randrange(40))
        signs = seed.choice([">=", ">"]), seed.choice(["<=", "<"])
        condition = f"ts {signs[0]} TIMESTAMP '{lower}' AND ts {signs[1]} TIMESTAMP '{upper}'"
        wanted.append(f"SELECT {i} AS i, COUNT(*) AS n, SUM(k) AS s, MIN(day) AS day FROM sale WHERE {condition}")
    sql = " UNION ALL ".join(wanted)
    plan = session.sql(wanted[-1]).dataframe()._jdf.queryExecution().executedPlan().toString()
    assert int(plan.partition("InMemoryFileIndex(")[2].split()[0]) < 20  # folders that Spark looks into, of 49 and NULL
    assert "PartitionFilters: [" in plan and "(day" in plan.partition("PartitionFilters: [")[2].partition("]")[0]
    for options in ({}, RULES_OFF):
        same = Session(spark, options=options)
        same.execute(create)
        counts.append(sorted(map(tuple, same.sql(sql).collect())))
    of_files = f"read_parquet('{tmp_path}/sale/**/*.parquet', hive_partitioning = true, hive_types_autocast = false)"
    oracle = duckdb.sql(sql.replace("FROM sale", f"FROM {of_files}")).fetchall()
    assert counts[0] == counts[1] == sorted(oracle)


@pytest.mark.spark
def test_folders_that_spark_looks_into(spark: SparkSession, tmp_path: Path) -> None:
    days = [str(date(2024, 1, 1) + timedelta(days=i)) for i in range(FEW)]
    for day in days:
        (tmp_path / f"day={day}").mkdir()
    january = {"least": ["DATE '2024-01-05'", "DATE '2024-01-30'"], "most": ["'2024-01-31'"]}
    assert chosen_folders(spark, str(tmp_path), "day", **january) == [str(tmp_path)]  # they are few

    def chosen(**bounds: list[str]) -> list[str]:
        found = chosen_folders(spark, f"{tmp_path}/", "day", **bounds)
        return [path.removeprefix(f"{tmp_path}/day=") for path in found]

    others = ["%2B10000-01-01", "2024-01", "__HIVE_DEFAULT_PARTITION__"]  # Spark knows which days they are
    (tmp_path / "_draft").mkdir()
    for value in others:
        (tmp_path / f"day={value}").mkdir()
    assert sorted(chosen(**january)) == sorted(["2024-01-30", "2024-01-31", *others])
    assert sorted(chosen(least=["DATE '2025-01-01'"])) == others
    assert len(chosen(most=["DATE '2024-01-03'"])) == 3 + len(others)
    assert chosen(least=["NULL"]) == chosen(most=["DATE '10000-01-01'"]) == [f"{tmp_path}/"]
    (tmp_path / "beside").mkdir()
    assert chosen(**january) == [f"{tmp_path}/"]
    (tmp_path / "beside").rename(tmp_path / "_spark_metadata")
    assert chosen(**january) == [f"{tmp_path}/"]


@pytest.mark.parametrize(
    ("zone", "hours"), [("UTC", 0), ("+08:00", 0), ("Europe/Berlin", 1), ("Pacific/Apia", 24), ("Asia/Tokyo", 1)]
)
def test_the_largest_change_of_a_clock(zone: str, hours: int) -> None:
    assert largest_change(zone) == timedelta(hours=hours)
