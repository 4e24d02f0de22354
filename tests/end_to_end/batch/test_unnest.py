"""UNNEST beside a table: what Flink makes of arrays, arrays of rows and maps, with and without numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import tvfsql
from tests.support.bids import write_files

ROWS = """\
{"id": 1, "tags": ["a", null], "m": {"k": 5}, "items": [{"sku": "x", "n": 1}, {"sku": "y", "n": 2}]}
{"id": 2, "tags": [], "m": {}, "items": []}
{"id": 3, "items": [null]}
"""
TABLE = """
    CREATE TABLE e (
      id INT, tags ARRAY<STRING>, m MAP<STRING, INT>, items ARRAY<ROW<sku STRING, n INT>>
    ) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json')
"""
TAGS = [(1, "a", 1), (1, None, 2)]
ITEMS = [(1, "x", 1, 1), (1, "y", 2, 2)]
QUERIES = {
    "SELECT id, tag, at FROM e CROSS JOIN UNNEST(tags) WITH ORDINALITY AS t (tag, at)": TAGS,
    "SELECT id, sku, n, at FROM e, UNNEST(items) WITH ORDINALITY AS t (sku, n, at)": ITEMS,
    "SELECT id, k, v, at FROM e CROSS JOIN UNNEST(m) WITH ORDINALITY AS t (k, v, at)": [(1, "k", 5, 1)],
    "SELECT id, tag FROM e CROSS JOIN UNNEST(tags) AS t (tag)": [row[:2] for row in TAGS],
    "SELECT * FROM (SELECT id, tags FROM e WHERE id = 1) CROSS JOIN UNNEST(tags) AS tag": [
        (1, ["a", None], "a"),
        (1, ["a", None], None),
    ],
    "SELECT id, sku, u.ORDINALITY FROM e CROSS JOIN UNNEST(items) WITH ORDINALITY AS u": [(1, "x", 1), (1, "y", 2)],
    "SELECT id, u.KEY, u.`VALUE` FROM e, UNNEST(m) AS u": [(1, "k", 5)],
    "SELECT id, x, y FROM e CROSS JOIN UNNEST(tags) AS t (x) CROSS JOIN UNNEST(ARRAY[x, 'z']) AS u (y)": [
        (1, "a", "a"),
        (1, "a", "z"),
        (1, None, None),
        (1, None, "z"),
    ],
    "SELECT id, n FROM e JOIN UNNEST(items) AS t (sku, n) ON n > id": [(1, 2)],
    "SELECT id, x FROM e CROSS JOIN UNNEST(SHUFFLE(SLICE(tags, 1, 1))) AS t (x)": [(1, "a")],  # a type of Spark's
    "SELECT id, t.sku, amount FROM e LEFT JOIN UNNEST(items) AS t (sku, amount) ON TRUE": [
        *(row[:3] for row in ITEMS),
        (2, None, None),
        (3, None, None),
    ],
}
TIMED = [
    {"id": 1, "tags": ["a", "b", None], "ts": "2026-01-01 00:00:10"},
    {"id": 2, "tags": [], "ts": "2026-01-01 00:00:20"},
    {"id": 3, "ts": "2026-01-01 00:01:30"},
    {"id": 4, "tags": ["a", "a"], "ts": "2026-01-01 00:01:40"},
    {"id": 5, "tags": ["a"], "ts": "2026-01-01 00:03:40"},
]
TIMED_TABLE = """
    CREATE TABLE timed (id INT, tags ARRAY<STRING>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json', 'maxFilesPerTrigger' = '2')
"""
MINUTES = "TUMBLE(TABLE {table}, DESCRIPTOR({time}), INTERVAL '1' MINUTE)"
OF_TAGS = [(0, None, 1), (0, "a", 1), (0, "b", 1), (1, "a", 2), (3, "a", 1)]
WINDOWS: dict[str, list[tuple[Any, ...]]] = {
    f"""SELECT window_start, tag, COUNT(*) FROM TABLE({MINUTES.format(table="timed", time="ts")})
        CROSS JOIN UNNEST(tags) AS t (tag) GROUP BY window_start, window_end, tag""": OF_TAGS,
    f"""WITH each_tag AS (SELECT ts, tag, at FROM timed LEFT JOIN UNNEST(tags) WITH ORDINALITY AS t (tag, at) ON TRUE)
        SELECT window_start, tag, COUNT(*) FROM TABLE({MINUTES.format(table="each_tag", time="ts")})
        WHERE tag IS NOT NULL OR at IS NULL GROUP BY window_start, window_end, tag""": [
        (0, None, 1),
        (1, None, 1),
        *OF_TAGS[1:],
    ],
    f"""WITH lists AS (SELECT window_time AS rt, COLLECT(id) AS ids, ARRAY_AGG(id) AS list
                       FROM TABLE({MINUTES.format(table="timed", time="ts")})
                       GROUP BY window_start, window_end, window_time),
             ids AS (SELECT rt, id, n FROM lists CROSS JOIN UNNEST(list) AS t (id) CROSS JOIN UNNEST(ids) AS u (k, n)
                     WHERE k = id)
        SELECT window_start, COUNT(*), MAX(id), SUM(n) FROM TABLE({MINUTES.format(table="ids", time="rt")})
        GROUP BY window_start, window_end""": [(0, 2, 2, 2), (1, 2, 4, 2), (3, 1, 5, 1)],
}
TABLE_FUNCTIONS = {
    "SELECT id, word, n FROM t, LATERAL TABLE(words(s)) AS u (word, n)": [(1, "a", 1), (1, "bcd", 3)],
    "SELECT id, u.f0, f1 FROM t CROSS JOIN LATERAL\n TABLE(words(s)) AS u": [(1, "a", 1), (1, "bcd", 3)],
    "SELECT id, part FROM t LEFT JOIN LATERAL TABLE(parts(s, ' ')) AS u (part) ON TRUE": [
        (1, "a"),
        (1, "bcd"),
        (2, None),
    ],
}


@pytest.mark.spark
def test_unnest_makes_the_columns_and_rows_that_flink_makes(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(ROWS)
    session = tvfsql.Session(spark)
    session.execute(TABLE.replace("{path}", str(tmp_path)))
    found = {sql: [tuple(row) for row in session.sql(sql).dataframe().collect()] for sql in QUERIES}
    assert found == QUERIES
    stream = tvfsql.Session(spark, mode="streaming", catalog=session.catalog)
    sql = next(sql for sql in QUERIES if "LEFT JOIN" in sql)  # rows make rows, so a stream needs no state
    assert [tuple(row) for row in stream.sql(sql).collect()] == QUERIES[sql]


@pytest.mark.spark
def test_windows_above_unnest_and_below_it(spark: SparkSession, tmp_path: Path) -> None:
    """In batch, and on a stream that reads two rows in a micro-batch."""
    write_files(tmp_path, [[row] for row in TIMED])
    session = tvfsql.Session(spark)
    session.execute(TIMED_TABLE.replace("{path}", str(tmp_path)))
    stream = tvfsql.Session(spark, mode="streaming", catalog=session.catalog)
    for sql, rows in WINDOWS.items():
        for each in (session, stream):
            found = [(row[0].minute, *row[1:]) for row in each.sql(sql).collect()]
            assert sorted(found, key=repr) == sorted(rows, key=repr), sql


@pytest.mark.spark
def test_table_functions_make_the_rows_that_they_yield(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text('{"id": 1, "s": "a bcd"}\n{"id": 2}\n')
    session = tvfsql.Session(spark)
    session.execute(f"""CREATE TABLE t (id INT, s STRING)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json')""")
    for name, path in (("words", "words"), ("parts", "Parts"), ("wrong", "wrong")):
        session.execute(f"CREATE FUNCTION {name} AS 'table_functions.{path}' LANGUAGE PYTHON")
    stream = tvfsql.Session(spark, mode="streaming", catalog=session.catalog)
    for sql, rows in TABLE_FUNCTIONS.items():
        assert [tuple(row) for row in session.sql(sql).collect()] == rows
        assert [tuple(row) for row in stream.sql(sql).collect()] == rows
    with pytest.raises(tvfsql.TvfSqlError, match=r"wrong returned \[\('a', 'b'\)\]"):
        session.sql("SELECT id FROM t, LATERAL TABLE(wrong(s)) AS u (a, b)").collect()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("LATERAL TABLE(id) AS u (a)", "UNNEST takes an ARRAY, a MAP or a MULTISET, but this is INT"),
        ("UNNEST(tags) AS u (a, b)", "u lists 2 columns, but has 1"),
        ("UNNEST(m) AS u (a)", "u lists 1 columns, but has 2"),
        ("UNNEST(items) WITH ORDINALITY AS u (a, b)", "u lists 1 columns, but has 2"),
        ("LEFT JOIN UNNEST(tags) AS u (a) ON a = 'x'", "no other condition than ON TRUE"),
        ("RIGHT JOIN UNNEST(tags) AS u (a) ON TRUE", "UNNEST is not supported in a RIGHT JOIN"),
        ("JOIN UNNEST(SHUFFLE(tags)) AS u (a) ON a = 'x'", "no other condition than ON TRUE"),
    ],
)
def test_what_makes_no_rows_of_that_width_is_refused(call: str, says: str) -> None:
    with pytest.raises(tvfsql.TvfSqlError, match=says) as refused:
        tvfsql.compile(f"{TABLE}; SELECT id FROM e {call if 'JOIN' in call else f'CROSS JOIN {call}'}")
    assert refused.value.span and refused.value.hint


def test_numbers_need_an_array_whose_type_is_certain() -> None:
    sql = "SELECT id, x, at FROM e CROSS JOIN UNNEST(SHUFFLE(tags)) WITH ORDINALITY AS t (x, at)"
    with pytest.raises(tvfsql.TvfSqlError, match="WITH ORDINALITY"):
        tvfsql.compile(f"{TABLE}; {sql}")
