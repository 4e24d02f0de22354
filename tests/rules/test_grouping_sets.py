"""GROUPING SETS, CUBE and ROLLUP over windows: the rows of Spark's own, over rows copied into their windows."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tvfsql
from tests.models.naive import Cumulating, Hopping, Row, Tumbling, Windows, at
from tests.models.random_windows import COLUMNS, RULES_OFF, one_of_each, random_rows, random_tables, register
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CALLS = (
    "COUNT(*)", "COUNT(k)", "COUNT(DISTINCT k)", "MAX(g)", "SUM(b)", "SUM(p) FILTER (WHERE f)",
    "GROUPING(k)", "GROUPING(f) * 2 + GROUPING(k)",
)  # fmt: skip
WINDOW = "window_start, window_end"
SETS = (  # which of the windows, and the sets
    (0, f"g, {WINDOW}, ROLLUP (k, f)"),
    (1, f"{WINDOW}, GROUPING SETS ((g, k, f), (f, k), (f), (f), (), (k, g))"),
    (1, f"ROLLUP ({WINDOW}, f, k)"),
    (2, f"{WINDOW}, ROLLUP (upper(k)), GROUPING SETS ((f, k), (f))"),
)


@pytest.mark.spark
@random_tables
@one_of_each
def test_the_rows_are_those_of_sparks_own_grouping_sets_over_copies(
    spark: SparkSession, seed: int, tumble: Tumbling, hop: Hopping, cumulate: Cumulating
) -> None:
    windows: list[Windows] = [tumble, hop, replace(cumulate, only_on_update=False)]
    rows = random_rows(random.Random(seed), windows)[:1000]
    ways = ({}, RULES_OFF)
    sessions = [Session(spark, options=options) for options in ways]
    register(sessions, rows)
    for i, sets in SETS:
        copied(spark, rows, windows[i]).createOrReplaceTempView("copies")
        query = f"SELECT {WINDOW}, {', '.join(CALLS)} FROM {{}} GROUP BY {sets}"
        held = Counter(map(tuple, spark.sql(query.format("copies")).collect()))
        for session, options in zip(sessions, ways, strict=True):
            result = session.sql(query.format(f"TABLE({windows[i].call('events')})"))
            in_slices = not options and i > 0 and not sets.startswith("ROLLUP")
            assert ("merge_slices" in result.query.code) == in_slices, sets
            assert Counter(map(tuple, result.collect())) == held, (sets, windows[i], options)


def copied(spark: SparkSession, rows: Sequence[Row], windows: Windows) -> DataFrame:
    """Each row once for every window that holds it."""
    names = [part.split()[0] for part in COLUMNS.split(", ")]
    values = [
        (*(at(row[name]) if name == "ts" else row[name] for name in names), at(start), at(end))
        for row in rows
        for start, end in windows.holding(row["ts"])
    ]
    return spark.createDataFrame(values, f"{COLUMNS}, window_start TIMESTAMP_NTZ, window_end TIMESTAMP_NTZ")


@pytest.mark.parametrize(
    ("keys", "sets"),
    [
        ("ROLLUP (a, a)", 2),  # 85 of the 148 rows of GROUPING SETS ((a), (a), ()) in Flink, seed 71000638
        ("CUBE (a, a)", 2),
        ("ROLLUP (a, b, a)", 3),
        ("GROUPING SETS ((a), (a))", 2),
    ],
)
def test_a_rollup_has_each_set_once(keys: str, sets: int) -> None:
    table = "CREATE TABLE t (a INT, b INT) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');"
    code = tvfsql.compile(f"{table} SELECT COUNT(*) AS n FROM t GROUP BY {keys}").code
    assert code.partition("explode(array(")[2].partition(")")[0].count("L") == sets


@pytest.mark.spark
def test_grouping_numbers_are_exact(spark: SparkSession) -> None:
    session = Session(spark)
    session.register("t", spark.createDataFrame([("x", 1, None), (None, 2, 5)], "a STRING, b INT, c INT"))
    rows = session.sql(
        "SELECT a, b, c, GROUPING(b), GROUPING_ID(a, b, c), GROUPING_ID(c, a), GROUP_ID(), COUNT(a), SUM(b) FROM t "
        "GROUP BY GROUPING SETS ((a, b), (c), (), (c), ROLLUP (a))"
    ).collect()
    both = [
        (None, None, None, 1, 7, 3, 0, 1, 3),
        (None, None, None, 1, 7, 3, 1, 1, 3),
        *((None, None, 5, 1, 6, 1, copy, 0, 2) for copy in (0, 1)),
        *((None, None, None, 1, 6, 1, copy, 1, 1) for copy in (0, 1)),
        ("x", 1, None, 0, 1, 2, 0, 1, 1),
        (None, 2, None, 0, 1, 2, 0, 0, 2),
        ("x", None, None, 1, 3, 2, 0, 1, 1),
        (None, None, None, 1, 3, 2, 0, 0, 2),
    ]
    assert Counter(map(tuple, rows)) == Counter(both)


@pytest.mark.spark
@pytest.mark.parametrize(
    "sets",
    [
        "GROUPING SETS ((UPPER(a), b), (UPPER(a)), (b))",
        "CUBE (UPPER(a), b)",
        "GROUPING SETS (ROLLUP (UPPER(a), b), (b), (UPPER(a)))",
    ],
)
def test_an_expression_in_several_sets_is_one_key(spark: SparkSession, sets: str) -> None:
    rows = spark.createDataFrame([("x", 1), ("X", 2), (None, 2), ("y", None)], "a STRING, b INT")
    rows.createOrReplaceTempView("plain")
    session = Session(spark)
    session.register("t", rows)
    query = f"SELECT UPPER(a), b, COUNT(*), GROUPING(UPPER(a)), GROUPING(b) FROM {{}} GROUP BY {sets}"
    held = Counter(map(tuple, spark.sql(query.format("plain")).collect()))
    assert Counter(map(tuple, session.sql(query.format("t")).collect())) == held


@pytest.mark.spark
def test_on_streams_the_watermark_of_a_row_comes_after_its_copies(spark: SparkSession, tmp_path: Path) -> None:
    """Each row closes its own window, and is in it once for every set. Group windows, one level over the other."""
    rows = [{"ts": f"2020-01-01 00:00:{n:02d}.999", "k": "ab"[n % 2], "n": n} for n in range(20)]
    (tmp_path / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    size, longer = "INTERVAL '1' SECOND", "INTERVAL '2' SECOND, INTERVAL '5' SECOND"
    seconds = (
        f"SELECT TUMBLE_ROWTIME(ts, {size}) AS rowtime, k, n, GROUPING_ID(k, n) AS g, COUNT(k) AS rows FROM t "
        f"GROUP BY TUMBLE(ts, {size}), CUBE (k, n)"
    )
    more = (
        f"SELECT HOP_END(rowtime, {longer}) AS ends, g, k, SUM(rows), COUNT(DISTINCT n) FROM ({seconds}) "
        f"GROUP BY HOP(rowtime, {longer}), GROUPING SETS ((g, k), (g), ())"
    )
    found = {}
    for mode in ("batch", "streaming"):
        session = Session(spark, mode=mode)
        session.execute(
            "CREATE TABLE t (ts TIMESTAMP(3), k STRING, n INT, WATERMARK FOR ts AS ts) WITH ("
            f"'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json', "
            "'scan.watermark.emit.strategy' = 'on-event')"
        )
        found[mode] = [Counter(map(tuple, session.sql(query).collect())) for query in (seconds, more)]
    assert found["streaming"] == found["batch"]
    assert found["streaming"][0].total() == 4 * len(rows)
    assert session.counts["numLateRecordsDropped"] == 0
