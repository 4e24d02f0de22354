"""What INSERT stores: times in the local zone, no NULL where the table has none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tvfsql import Session
from tvfsql.errors import DataError

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("generated_code")]


def test_times_are_stored_as_a_cast_converts_them(spark: SparkSession) -> None:
    session = Session(spark, options={"table.local-time-zone": "Asia/Tokyo"})
    session.execute("""
        CREATE TABLE clocks (t TIMESTAMP(3), day TIMESTAMP(3), many ARRAY<TIMESTAMP(3)>);
        CREATE TABLE instants (t TIMESTAMP_LTZ(3), day DATE, many ARRAY<TIMESTAMP_LTZ(3)>);
        CREATE TABLE again (t TIMESTAMP(3), day DATE, many ARRAY<TIMESTAMP(3)>);
        INSERT INTO clocks VALUES (TIMESTAMP '2024-01-01 08:00:00', TIMESTAMP '2024-01-01 23:30:00',
            ARRAY[TIMESTAMP '2024-01-01 07:30:00']);
        INSERT INTO instants SELECT t, day, many FROM clocks;
        INSERT INTO again SELECT t, day, many FROM instants""")
    asked = "SELECT {}, CAST(day AS STRING) AS day, CAST(many AS STRING) AS many FROM {}"
    in_utc = session.sql(asked.format("UNIX_SECONDS(t) AS t", "instants")).collect()
    assert [tuple(row) for row in in_utc] == [(1_704_063_600, "2024-01-01", "[2024-01-01 07:30:00.000]")]
    again = session.sql(asked.format("CAST(t AS STRING) AS t", "again")).collect()
    assert [row.t for row in again] == ["2024-01-01 08:00:00.000"] and again[0][1:] == in_utc[0][1:]


def test_values_are_cut_and_padded_to_the_lengths_of_their_columns(spark: SparkSession, tmp_path: Path) -> None:
    """The rows are those that Flink 2.3 stores."""
    session = Session(spark)
    session.execute(f"""
        CREATE TABLE kept (c CHAR(5), c2 CHAR(2), v VARCHAR(2), ts TIMESTAMP(0), z TIMESTAMP_LTZ(0), t2 TIMESTAMP(2),
          b BINARY(3), vb VARBINARY(2), n CHAR(3),
          a ARRAY<CHAR(3)>, r ROW<x CHAR(2), at TIMESTAMP(0)>, m MAP<STRING, VARCHAR(1)>)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/kept', 'format' = 'parquet');
        INSERT INTO kept SELECT 'abc', 'abc', 'abc', ts, CAST(ts AS TIMESTAMP_LTZ(3)), ts, X'0102', X'010203',
          CAST(NULL AS STRING), ARRAY['abcde', 'x', CAST(NULL AS STRING)], ROW('abc', ts), MAP['k', 'xy']
        FROM (VALUES (TIMESTAMP '2024-01-01 00:00:00.789')) AS t (ts)""")
    texts = "c, c2, v, CAST(ts AS STRING), CAST(z AS STRING), CAST(t2 AS STRING), b, vb, n"
    inside = "a[1], a[2], a[3], r.x, CAST(r.at AS STRING), m['k']"
    ((*found, raw, cut, nothing),) = map(tuple, session.sql(f"SELECT {texts} FROM kept").collect())
    ((*nested,),) = map(tuple, session.sql(f"SELECT {inside} FROM kept").collect())
    second = "2024-01-01 00:00:00"
    assert found == ["abc  ", "ab", "ab", second, second, f"{second}.78"]
    assert (bytes(raw), bytes(cut), nothing) == (b"\x01\x02\x00", b"\x01\x02", None)
    assert nested == ["abc", "x  ", None, "ab", second, "x"]


def test_a_null_stops_an_insert_into_a_column_without_nulls(spark: SparkSession, tmp_path: Path) -> None:
    session = Session(spark)
    session.execute(f"""
        CREATE TABLE bid (item STRING, price INT);
        CREATE TABLE kept (item STRING NOT NULL, `it's` BIGINT NOT NULL)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/kept', 'format' = 'json');
        INSERT INTO bid VALUES ('a', 1), ('b', NULL)""")
    session.execute("INSERT INTO kept SELECT item, price FROM bid WHERE price > 0")
    assert [json.loads(line) for file in (tmp_path / "kept").glob("*.json") for line in file.open()] == [
        {"item": "a", "it's": 1}
    ]
    with pytest.raises(DataError, match="column it's of kept is NOT NULL, and a row has NULL there"):
        session.execute("INSERT INTO kept SELECT item, price FROM bid")
