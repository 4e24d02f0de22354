"""SUMMARIZE, and DESCRIBE of a query. Source: docs/sql/statements.md."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tvfsql import Compiled, Session, TvfSqlError
from tvfsql.api.listings import Listing
from tvfsql.api.script import Script

TABLE = "CREATE TABLE bid (ts TIMESTAMP(3), n INT, `a ``b` STRING) WITH ('connector' = 'datagen'); "
ROWS = """(VALUES (1, 'x', CAST(1.5 AS DECIMAL(5, 2)), TRUE, TIMESTAMP '2020-01-01 00:00:00.25', ARRAY[1]),
(NULL, 'y', -2, NULL, NULL, NULL), (7, 'it''s', NULL, TRUE, NULL, NULL)) AS t (n, s, `d d`, b, ts, l)"""


def test_describe_of_a_query_lists_its_columns() -> None:
    *_, found = Script().outcomes(f"{TABLE}DESCRIBE SELECT ts, n * 2 AS twice, ARRAY[n][1] AS one FROM bid")
    assert found == Listing(("name", "type"), (("ts", "TIMESTAMP(3)"), ("twice", "INT"), ("one", "INT")))


@pytest.mark.parametrize(
    ("statement", "message", "marked"),
    [
        ("SUMMARIZE bids", "there is no table bids", "bids"),
        ("SUMMARIZE SELECT m FROM bid", "table bid has no column m", "m"),
        ("SUMMARIZE 'gone.csv'", "there is no table or file gone.csv", "'gone.csv'"),
        ("SUMMARIZE bid", "SUMMARIZE needs all rows, but this is a stream", "SUMMARIZE bid"),
        ("DESCRIBE SELECT m FROM bid", "table bid has no column m", "m"),
    ],
)
def test_errors_have_their_place(statement: str, message: str, marked: str) -> None:
    sql = f"{TABLE}{statement}"
    with pytest.raises(TvfSqlError, match=message) as caught:
        [*Script(mode="streaming").outcomes(sql)]
    span = caught.value.span
    assert caught.value.source == sql and span is not None and sql[span.start : span.end] == marked


def test_the_rows_are_read_once() -> None:
    table = "CREATE TABLE t (n INT, `a ``b` STRING) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json')"
    *_, compiled = Script(mode="batch").outcomes(f"{table}; SUMMARIZE t")
    assert isinstance(compiled, Compiled) and compiled.code.count("spark.read") == 1


@pytest.mark.spark
def test_the_figures_of_each_type(spark: SparkSession) -> None:
    session = Session(spark)
    (result,) = session.execute(f"SUMMARIZE SELECT * FROM {ROWS}")
    assert [tuple(row) for row in result.collect()] == [
        ("n", "INT", "1", "7", 2, "4.0", 1, 3),
        ("s", "VARCHAR(4)", "it's", "y", 3, None, 0, 3),
        ("d d", "DECIMAL(12, 2)", "-2.00", "1.50", 2, "-0.25", 1, 3),
        ("b", "BOOLEAN", None, None, 1, None, 1, 3),
        ("ts", "TIMESTAMP(2)", "2020-01-01 00:00:00.25", "2020-01-01 00:00:00.25", 1, None, 2, 3),
        ("l", "ARRAY<INT NOT NULL>", None, None, None, None, 2, 3),
    ]
    large = "(VALUES (1764319133744, 1E30, 1E-5), (1764319133747, 1E30, 1E-5)) AS t (ms, d, e)"
    (means,) = session.execute(f"SUMMARIZE SELECT * FROM {large}")
    assert [row["mean"] for row in means.collect()] == ["1764319133745.500", "1.0E30", "1.0E-5"]
    (empty,) = session.execute(f"SUMMARIZE SELECT n FROM {ROWS} WHERE n > 9")
    assert [tuple(row) for row in empty.collect()] == [("n", "INT", None, None, 0, None, 0, 0)]
