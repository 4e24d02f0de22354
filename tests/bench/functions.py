"""Flink's functions beside plain Spark's over the same rows, and those that run in Python."""

from __future__ import annotations

import time
from statistics import median

import tvfsql
from tests.bench import report
from tvfsql.runtime.local_spark.start import start_spark

# Flink's call, and what is written in Spark's SQL for about the same
COMMON = {
    "UPPER(s)": "upper(s)",
    "SUBSTRING(s, 2, 5)": "substring(s, 2, 5)",
    "SPLIT_INDEX(s, '-', 1)": "split(s, '-')[1]",
    "REGEXP_EXTRACT(s, '(\\d+)', 1)": "regexp_extract(s, '([0-9]+)', 1)",
    "LPAD(s, 20, '0')": "lpad(s, 20, '0')",
    "CAST(s AS VARCHAR(5))": "left(s, 5)",
    "CAST(n AS STRING)": "cast(n AS string)",
    "HOUR(ts)": "hour(ts)",
    "DATE_FORMAT(ts, 'yyyy-MM-dd')": "date_format(ts, 'yyyy-MM-dd')",
    "TO_TIMESTAMP(t)": "to_timestamp(t)",
    "TIMESTAMPDIFF(MINUTE, ts, TIMESTAMP '2030-01-01 00:00:00')": "timestampdiff(MINUTE, ts, timestamp '2030-01-01')",
    "p * 2 / 3": "p * 2 / 3",
}
IN_PYTHON = {
    "JSON_VALUE(j, '$.a')": "get_json_object(j, '$.a')",
    "JSON_QUERY(j, '$.b')": "get_json_object(j, '$.b')",
    "JSON_EXISTS(j, '$.a')": "get_json_object(j, '$.a') IS NOT NULL",
    "JSON_STRING(s)": "to_json(struct(s))",
    "JSON_OBJECT(KEY 'a' VALUE n)": "to_json(struct(n AS a))",
    "JSON_ARRAY(n, s)": "to_json(array(cast(n AS string), s))",
    "j IS JSON": "try_parse_json(j) IS NOT NULL",
    "JSON_QUOTE(s)": "to_json(struct(s))",
    "JSON_UNQUOTE(s)": "s",
    "INET_ATON(a)": "a",
    "INET_NTOA(n)": "cast(n AS string)",
}
COLUMNS = (
    "id AS n",
    "concat('item-', id, '-', id % 7) AS s",
    "cast(id % 1000 AS decimal(10, 2)) AS p",
    "timestamp_micros(1700000000000000 + id * 1000000)::timestamp_ntz AS ts",
    "cast(timestamp_micros(1700000000000000 + id * 1000000)::timestamp_ntz AS string) AS t",
    "concat('{\"a\":', id, ',\"b\":[', id, ',2]}') AS j",
    "concat('10.0.', id % 256, '.1') AS a",
)


def run(rows: int, repeats: int) -> None:
    """Seconds of each over `rows` rows, after one warm-up: Spark's, ours, and how much longer ours takes."""
    spark = start_spark()
    table = spark.range(rows).selectExpr(*COLUMNS).cache()
    table.count()
    session = tvfsql.Session(spark)
    session.register("t", table)
    report.say(f"\nfunctions over {rows:,} rows, median of {repeats}: Spark, tvfsql, ratio")
    for title, calls in (("common functions", COMMON), ("in Python", IN_PYTHON)):
        report.say(title)
        for ours, plain in calls.items():
            theirs = _seconds(lambda plain=plain: table.selectExpr(f"{plain} AS x"), repeats)
            mine = _seconds(lambda ours=ours: session.sql(f"SELECT {ours} AS x FROM t").dataframe(), repeats)
            report.say(f"  {ours:62} {theirs:6.2f} {mine:6.2f} {mine / theirs:5.1f}")


def _seconds(frame, repeats: int) -> float:
    """The time that writing the rows to nowhere takes."""
    taken = []
    for _ in range(repeats + 1):
        made = frame()
        start = time.perf_counter()
        made.write.format("noop").mode("overwrite").save()
        taken.append(time.perf_counter() - start)
    return median(taken[1:])
