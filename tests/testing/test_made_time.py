"""Tests with simulated time: the examples pass, errors are reported, and rows equal those of a stream on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tvfsql import Session
from tvfsql.testing.read import read_suite
from tvfsql.testing.run import CaseResult, run_case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.tvfsql.yaml"))
TABLE = """CREATE TABLE bid (item STRING, price DOUBLE, bidtime TIMESTAMP(3),
    WATERMARK FOR bidtime AS bidtime - INTERVAL '1' MINUTE)
    WITH ('connector' = 'filesystem', 'path' = 'bids', 'format' = 'json');
"""
TOTALS = """SELECT window_start, item, SUM(price) AS total
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE)) GROUP BY window_start, window_end, item;
"""


def run(folder: Path, spark: SparkSession, sql: str, steps: str) -> CaseResult:
    (folder / "s.sql").write_text(sql, encoding="utf-8")
    file = folder / "s.tvfsql.yaml"
    file.write_text(f"script: s.sql\ntests:\n  - name: one\n    steps:\n{steps}", encoding="utf-8")
    suite = read_suite(file)
    return run_case(suite, suite.cases[0], spark)


def test_the_examples_pass(spark: SparkSession) -> None:
    assert len(EXAMPLES) >= 10
    for file in EXAMPLES:
        suite = read_suite(file)
        for case in suite.cases:
            result = run_case(suite, case, spark)
            assert result.passed, "\n".join(result.lines())


def test_rows_are_those_of_a_stream_of_spark(tmp_path: Path, spark: SparkSession) -> None:
    rows = [
        f'{{"item": "{item}", "price": {i}, "bidtime": "2020-04-15 08:{i:02}:00"}}' for i, item in enumerate("ABCA" * 6)
    ]
    (tmp_path / "bids").mkdir()
    (tmp_path / "bids" / "1.json").write_text("\n".join(rows), encoding="utf-8")
    with_spark = Session(spark, mode="streaming")
    wanted = with_spark.execute(TABLE + TOTALS, file=str(tmp_path / "s.sql"))[-1].collect()
    steps = "".join(f"      - rows: {{bid: [{', '.join(rows[i : i + 8])}]}}\n" for i in range(0, len(rows), 8))
    result = run(tmp_path, spark, TABLE + TOTALS, steps + "      - end: true\n")
    assert result.error is None, result.error
    found = [tuple(row) for step in result.steps for row in step.given["query"].rows]
    assert sorted(found) == sorted(map(tuple, wanted)) and len(found) == 9


def test_a_table_of_kafka_is_one_channel(tmp_path: Path, spark: SparkSession) -> None:
    """Its partitions are channels of a stream; a step has no partitions."""
    kafka = "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', 'format' = 'json'"
    table = TABLE.replace("'connector' = 'filesystem', 'path' = 'bids', 'format' = 'json'", kafka)
    steps = """      - rows: {bid: [{item: A, price: 1, bidtime: 2020-04-15 08:00}]}
      - rows: {bid: [{item: A, price: 1, bidtime: 2020-04-15 08:11}]}
        expect: [{item: A, total: 1}]
"""
    result = run(tmp_path, spark, table + TOTALS, steps)
    assert result.passed, "\n".join(result.lines())


def test_groups_of_sparks_own_aggregate_have_new_results_of_all_rows(tmp_path: Path, spark: SparkSession) -> None:
    nowhere = "CREATE TABLE nowhere (item STRING, n BIGINT) WITH ('connector' = 'blackhole');\n"
    insert = "INSERT INTO nowhere SELECT item, COUNT(*) FROM bid GROUP BY item;"
    steps = """      - rows: {bid: [{item: A, price: 1}, {item: null, price: 1}, {item: B, price: 1}]}
        expect: [{item: A, n: 1}, {item: null, n: 1}, {item: B, n: 1}]
      - rows: {bid: [{item: A, price: 1}, {item: null, price: 1}]}
        expect: [{item: A, n: 2}, {item: null, n: 2}]
      - restart: true
      - rows: {bid: [{item: B, price: 1}, {item: C, price: 1}]}
        expect: [{item: B, n: 2}, {item: C, n: 1}]
"""
    result = run(tmp_path, spark, TABLE + nowhere + insert, steps)
    assert result.passed, "\n".join(result.lines())


def test_what_differs_is_told_with_its_line(tmp_path: Path, spark: SparkSession) -> None:
    steps = """      - rows: {bid: [{item: A, price: 1, bidtime: 2020-04-15 08:00}]}
      - watermark: 2020-04-15 08:10
        expect: [{item: A, total: 2}]
      - rows: {bid: [{item: A, price: 1, bidtime: 2020-04-15 08:00}]}
"""
    result = run(tmp_path, spark, TABLE + TOTALS, steps)
    told = "\n".join(result.lines())
    assert not result.passed
    assert "s.tvfsql.yaml:6" in told and "- {item: A, total: 2.0}\n  + {item: A, total: 1.0}" in told
    assert "s.tvfsql.yaml:8" in told and "- late: 0\n  + late: 1" in told


def test_the_tables_of_a_set_get_rows_in_time_and_its_late_rows_come_once(tmp_path: Path, spark: SparkSession) -> None:
    files = "WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = "
    sql = f"""{TABLE}
CREATE TABLE totals (window_start TIMESTAMP(3), item STRING, total DOUBLE) {files} 'totals');
CREATE TABLE high (item STRING, total DOUBLE) {files} 'high');
CREATE TABLE late_bids (item STRING, bidtime TIMESTAMP(3)) {files} 'late');
SET 'tvfsql.late-output' = 'late_bids';
CREATE VIEW sums AS {TOTALS}
EXECUTE STATEMENT SET BEGIN
INSERT INTO totals SELECT * FROM sums;
INSERT INTO high SELECT item, total FROM sums WHERE total > 1;
END;
"""
    steps = """      - rows:
          bid: [{item: A, price: 1, bidtime: 2020-04-15 08:00}, {item: B, price: 2, bidtime: 2020-04-15 08:01}]
      - rows: {bid: [{item: A, price: 1, bidtime: 2020-04-15 08:15}]}
        expect:
          totals: [{item: A, total: 1}, {item: B, total: 2}]
          high: [{item: B, total: 2}]
      - restart: true
        rows: {bid: [{item: B, price: 1, bidtime: 2020-04-15 08:02}]}
        expect: {late_bids: [{item: B, bidtime: 2020-04-15 08:02}]}
        late: 1
"""
    result = run(tmp_path, spark, sql, steps)
    assert result.passed, "\n".join(result.lines())


def test_a_restart_takes_a_changed_script_or_refuses_it(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "doubled.sql").write_text(TABLE + TOTALS.replace("SUM(price)", "2 * SUM(price)"), encoding="utf-8")
    (tmp_path / "other.sql").write_text(TABLE + TOTALS.replace("'10'", "'5'"), encoding="utf-8")
    steps = """      - rows: {bid: [{item: A, price: 1, bidtime: 2020-04-15 08:00}]}
      - restart: doubled.sql
        rows: {bid: [{item: A, price: 1, bidtime: 2020-04-15 08:01}]}
      - end: true
        expect: [{item: A, total: 4}]
"""
    assert run(tmp_path, spark, TABLE + TOTALS, steps).passed
    refused = run(tmp_path, spark, TABLE + TOTALS, steps.replace("doubled", "other"))
    assert refused.error is not None and "window: state holds slices of the old windows" in str(refused.error)


@pytest.mark.parametrize(
    ("sql", "steps", "message"),
    [
        (TOTALS, "      - rows: {bids: []}\n", "the script reads no table bids"),
        (TOTALS, "      - rows: {bid: [{prize: 1}]}\n", "table bid has no column prize to fill"),
        (TOTALS, "      - rows: {bid: [{price: much}]}\n", "this row does not fit table bid"),
        (TOTALS, "      - watermark: soon\n", "'soon' is not a time"),
        (TOTALS, "      - expect: [{sum: 1}]\n", "the rows of query have no column sum"),
        (TOTALS, "      - expect: {totals: []}\n", "the script has no output totals"),
        ("SELECT item, LOCALTIMESTAMP AS t FROM bid;", "      - rows: {}\n", "depend on the clock"),
    ],
)
def test_what_the_script_does_not_have_is_refused(
    tmp_path: Path, spark: SparkSession, sql: str, steps: str, message: str
) -> None:
    result = run(tmp_path, spark, TABLE + sql, steps)
    assert result.error is not None and message in str(result.error) and "s.tvfsql.yaml:5:" in str(result.error)


def test_the_clock_is_that_of_the_step(tmp_path: Path, spark: SparkSession) -> None:
    steps = """      - now: 2020-04-15 08:00:00
        rows: {bid: [{item: now(), bidtime: 2020-04-15 08:00}]}
        expect: [{item: now(), t: 2020-04-15 08:00:00, d: 2020-04-15}]
      - now: 2020-04-16 08:00:00.500
        rows: {bid: [{item: B, bidtime: 2020-04-15 08:00}]}
        expect: [{item: B, t: 2020-04-16 08:00:00.500, d: 2020-04-16}]
"""
    sql = "SELECT item, LOCALTIMESTAMP AS t, CURRENT_DATE AS d FROM bid WHERE item <> 'current_timestamp()';"
    result = run(tmp_path, spark, TABLE + sql, steps)
    assert result.passed, "\n".join(result.lines())
