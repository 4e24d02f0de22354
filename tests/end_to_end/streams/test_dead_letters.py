"""Rows and messages that a stream cannot read go into a table, and the stream goes on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tvfsql import Session, TvfSqlError, compile
from tvfsql.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.broker import Broker

LETTERS = "table_name STRING, place STRING, text STRING, error STRING, read_at TIMESTAMP_LTZ(3)"
COLUMNS = "item STRING, price BIGINT, extra INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
TABLES = """
SET 'tvfsql.dead-letter' = 'bad';
CREATE TABLE lines ({columns}) WITH ('connector' = 'filesystem', 'path' = '{folder}/lines', 'format' = 'csv');
CREATE TABLE docs ({columns}) WITH ('connector' = 'filesystem', 'path' = '{folder}/docs', 'format' = 'json');
CREATE TABLE pages ({columns}) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}', 'format' = '{format}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE bad ({letters}) WITH ('connector' = 'filesystem', 'path' = '{folder}/bad', 'format' = 'json');
CREATE TABLE totals (item STRING, total BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{folder}/totals', 'format' = 'json');
"""
TOTALS = """INSERT INTO totals SELECT item, SUM(price)
FROM TABLE(TUMBLE({table}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, item"""
BOTH = TOTALS.format(table="(SELECT item, price, ts FROM lines UNION ALL SELECT item, price, ts FROM docs)")


def tables(folder: Path | str, topic: str = "t", servers: str = "s:1", format: str = "json") -> str:
    return TABLES.format(columns=COLUMNS, letters=LETTERS, folder=folder, topic=topic, servers=servers, format=format)


def read(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in sorted(folder.glob("*.json")) for line in file.read_text().splitlines()]


def run(spark: SparkSession, script: str, folder: Path) -> dict[str, int]:
    """The counters of a run of a script with a checkpoint."""
    session = Session(spark, mode="streaming", checkpoint=folder / "checkpoint", final=False)
    session.execute(script)
    return session.counts


@pytest.mark.spark
def test_files_with_bad_rows_are_read_and_each_bad_row_is_told_once(spark: SparkSession, tmp_path: Path) -> None:
    """What is wrong with a column that the query does not read is no fault; a second run tells only what is new."""
    for folder in ("lines", "docs"):
        (tmp_path / folder).mkdir()
    (tmp_path / "lines" / "1.csv").write_text(
        "a,1,1,2024-01-01 00:00:01\na,x,1,2024-01-01 00:00:02\nshort\na,5,oops,2024-01-01 00:00:03\n"
    )
    (tmp_path / "docs" / "1.json").write_text('{"item":"a","price":10,"ts":"2024-01-01 00:00:04"}\n{"item":"a",\n')
    found = run(spark, tables(tmp_path) + BOTH, tmp_path)
    assert (found["rowsIn"], found["numDeadLetters"]) == (6, 3)
    (tmp_path / "lines" / "2.csv").write_text("a,y,1,2024-01-01 00:00:02\na,100,1,2024-01-01 00:01:30\n")
    (tmp_path / "docs" / "2.json").write_text('{"item":"b","price":10,"ts":"2024-01-01 00:01:40"}\n')
    assert run(spark, tables(tmp_path) + BOTH, tmp_path)["numDeadLetters"] == 1
    assert read(tmp_path / "totals") == [{"item": "a", "total": 16}]
    told = [(row["table_name"], Path(row["place"]).name, row["text"]) for row in read(tmp_path / "bad")]
    assert Counter(told) == Counter(
        [
            ("lines", "1.csv", "a,x,1,2024-01-01 00:00:02"),
            ("lines", "1.csv", "short"),
            ("docs", "1.json", '{"item":"a",'),
            ("lines", "2.csv", "a,y,1,2024-01-01 00:00:02"),
        ]
    )
    assert all("price BIGINT" in row["error"] and row["read_at"] for row in read(tmp_path / "bad"))


@pytest.mark.spark
def test_a_time_outside_the_years_of_flink_is_a_dead_letter_or_an_error(spark: SparkSession, tmp_path: Path) -> None:
    """Spark reads such a time. One in a window stopped the stream for good, with an assertion of a kernel."""
    (tmp_path / "docs").mkdir()
    times = ("2024-01-01 00:00:01", "+294247-01-10 04:00:54", "-0044-03-15 00:00:00", "9999-12-31 23:59:59")
    lines = (json.dumps({"item": "a", "price": 10**i, "ts": at}) for i, at in enumerate(times))
    (tmp_path / "docs" / "1.json").write_text("\n".join(lines))
    script = tables(tmp_path) + TOTALS.format(table="TABLE docs")
    with pytest.raises(DataError, match=r"column ts has \+294247-01-10 .*, which is outside the years 1 to 9999"):
        Session(spark, mode="streaming").execute(script.replace("'bad'", "''", 1))
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=True)
    session.execute(script)
    assert session.counts["numDeadLetters"] == 2
    assert sorted(row["total"] for row in read(tmp_path / "totals")) == [1, 1000]
    assert sorted(json.loads(row["text"])["price"] for row in read(tmp_path / "bad")) == [10, 100]
    dropping = script.replace("'bad'", "''", 1).replace("/totals'", "/others'")
    session = Session(spark, mode="streaming", options={"table.exec.source.rowtime-null-handling": "DROP"})
    session.execute(dropping)
    assert session.counts["numNullRowTimeRecordsDropped"] == 2
    assert sorted(row["total"] for row in read(tmp_path / "others")) == [1, 1000]
    batch = Session(spark, options={"table.exec.source.rowtime-null-handling": "DROP"})
    batch.execute(dropping.replace("/others'", "/in_batch'"))
    assert sorted(row["total"] for row in read(tmp_path / "in_batch")) == [1, 1000]


@pytest.mark.spark
def test_a_time_outside_the_years_is_bad_in_parquet_and_dropped_in_batch(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    seconds = [1704067201, 253402300799, 253402300800, -62135596801]  # in 2024, the last, the first beyond, in year 0
    ts = pa.array([1_000_000 * each for each in seconds], pa.int64()).cast(pa.timestamp("us"))
    rows = {"item": ["a"] * 4, "price": [1, 10, 100, 1000], "extra": pa.array([1] * 4, pa.int32()), "ts": ts}
    pq.write_table(pa.table(rows), tmp_path / "docs" / "1.parquet")
    script = tables(tmp_path).replace("docs', 'format' = 'json'", "docs', 'format' = 'parquet'")
    script += TOTALS.format(table="TABLE docs")
    stops = script.replace("'bad'", "''", 1).replace("/totals'", "/none'")
    for mode in ("batch", "streaming"):
        with pytest.raises(DataError, match=r"column ts has .* in \S+/docs, which is outside the years 1 to"):
            Session(spark, mode=mode).execute(stops)
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=True)
    session.execute(script)
    assert session.counts["numDeadLetters"] == 2
    assert sorted(row["total"] for row in read(tmp_path / "totals")) == [1, 10]
    assert sorted(json.loads(row["text"])["price"] for row in read(tmp_path / "bad")) == [100, 1000]
    dropping = Session(spark, options={"table.exec.source.rowtime-null-handling": "DROP"})
    dropping.execute(stops.replace("/none'", "/others'"))
    assert sorted(row["total"] for row in read(tmp_path / "others")) == [1, 10]


OF_NESTED = """
CREATE TABLE given (id INT, r ROW<d DATE, at ARRAY<TIMESTAMP_LTZ(3)>>, m MAP<STRING, TIMESTAMP(3)>)
WITH ('connector' = 'filesystem', 'path' = '{folder}/given', 'format' = 'json'{more});
CREATE TABLE made (id INT) WITH ('connector' = 'filesystem', 'path' = '{folder}/{made}', 'format' = 'json');
INSERT INTO made SELECT id FROM given {condition};
"""


@pytest.mark.spark
def test_a_time_outside_the_years_is_found_in_any_value_and_in_both_modes(spark: SparkSession, tmp_path: Path) -> None:
    """Spark reads such a time. In rows, arrays and maps it was no dead letter, and in batch no error. An instant counts
    by its year in UTC or in the local time zone."""
    (tmp_path / "given").mkdir()
    good = {"id": 0, "r": {"d": "9999-12-31", "at": ["0001-01-01 00:00:00Z", None]}, "m": {"a": "9999-12-31 23:59:59"}}
    bad = [
        {"r": {"d": "+10000-01-01", "at": []}}, {"r": {"d": None, "at": [None, "0000-12-31 00:00:00Z"]}},
        {"r": {"at": ["+10000-01-01 00:00:00Z"]}}, {"m": {"a": "-0044-03-15 00:00:00"}}, {"r": None, "m": None},
    ]  # fmt: skip
    lines = [good, *({"id": i, **row} for i, row in enumerate(bad, 1))]
    (tmp_path / "given" / "1.json").write_text("\n".join(map(json.dumps, lines)))
    used = "WHERE r IS NULL OR m IS NULL OR r.d IS NOT NULL OR CARDINALITY(m) > 0"
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint")
    letters = (
        f"CREATE TABLE bad ({LETTERS}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/bad', 'format' = 'json');"
    )
    letters += "SET 'tvfsql.dead-letter' = 'bad';"
    session.execute(letters + OF_NESTED.format(folder=tmp_path, more="", made="left", condition=used))
    assert sorted(row["id"] for row in read(tmp_path / "left")) == [0, 5]
    assert sorted(json.loads(row["text"])["id"] for row in read(tmp_path / "bad")) == [1, 2, 3, 4]
    for mode in ("batch", "streaming"):
        stops = OF_NESTED.format(folder=tmp_path, more="", made="none", condition=used)
        with pytest.raises(
            DataError, match=r"column [rm] has .* in file:\S+/1.json, which is outside the years 1 to 9999"
        ):
            Session(spark, mode=mode).execute(stops)
    more = ", 'json.ignore-parse-errors' = 'true'"
    condition = "WHERE r.at[1] IS NULL AND r.at[2] IS NULL AND (m IS NULL OR m['a'] IS NULL)"
    Session(spark).execute(OF_NESTED.format(folder=tmp_path, more=more, made="nulls", condition=condition))
    assert sorted(row["id"] for row in read(tmp_path / "nulls")) == [1, 2, 3, 4, 5]
    (tmp_path / "given" / "1.json").write_text(json.dumps({"id": 7, "r": {"at": ["+10000-01-01 04:59:59Z"]}}))
    in_new_york = "SET 'table.local-time-zone' = 'America/New_York';"
    Session(spark).execute(in_new_york + OF_NESTED.format(folder=tmp_path, more="", made="local", condition=used))
    assert [row["id"] for row in read(tmp_path / "local")] == [7]


@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.parametrize("format", ["json", "csv"])
def test_messages_that_cannot_be_read_are_told_by_their_offset(
    spark: SparkSession, broker: Broker, tmp_path: Path, format: str
) -> None:
    good = {"json": '{"item": "a", "price": 3, "ts": "2024-01-01 00:00:01"}', "csv": "a,3,,2024-01-01 00:00:01"}
    topic = f"letters-{format}"
    broker.make_topic(spark, topic, 1)
    messages = spark.createDataFrame(
        [(0, good[format]), (0, "hello"), (0, good[format])], "partition INT, value STRING"
    )
    options = {"kafka.bootstrap.servers": broker.servers, "topic": topic}
    messages.coalesce(1).write.format("kafka").options(**options).save()
    insert = TOTALS.format(table="TABLE pages")
    for mode in ("streaming", "batch"):
        stops = Session(spark, mode=mode)
        script = tables(tmp_path / mode, topic, broker.servers, format) + insert
        with pytest.raises(DataError, match=rf"a message cannot be read: {topic}-0@1: hello\nhint"):
            stops.execute(script.replace("'bad'", "''", 1))
    session = Session(spark, mode="streaming", checkpoint=tmp_path / "checkpoint", final=True)
    session.execute(tables(tmp_path, topic, broker.servers, format) + insert)
    assert read(tmp_path / "totals") == [{"item": "a", "total": 6}]
    assert [(row["place"], row["text"]) for row in read(tmp_path / "bad")] == [(f"{topic}-0@1", "hello")]
    assert session.counts["numDeadLetters"] == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("'bad'", "'nowhere'"), "does not exist"),
        (("text STRING", "words STRING"), "cannot have a column words"),
        (("text STRING", "text INT"), "column text of bad has the wrong type"),
        (("/bad'", "/lines'"), "cannot be written by this stream"),
    ],
)
def test_a_table_that_cannot_take_dead_letters_is_refused(change: tuple[str, str], says: str) -> None:
    with pytest.raises(TvfSqlError, match=says) as raised:
        compile(tables("x").replace(*change) + BOTH, mode="streaming")
    assert raised.value.hint


def test_only_streams_of_rows_that_can_be_bad_have_dead_letters() -> None:
    assert "dead_letters(spark" in compile(tables("x") + BOTH, mode="streaming").code
    assert "dead_letters(spark" not in compile(tables("x") + BOTH, mode="batch").code
    asked_for_nulls = "'format' = 'csv', 'csv.ignore-parse-errors' = 'true'"
    for new, told in (("'format' = 'parquet'", True), (asked_for_nulls, False)):
        script = tables("x").replace("'format' = 'csv'", new) + TOTALS.format(table="TABLE lines")
        assert ("dead_letters(spark" in compile(script, mode="streaming").code) is told
