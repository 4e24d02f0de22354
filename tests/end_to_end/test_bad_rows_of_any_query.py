"""A row with too few or too many values, or a line that is no JSON object, is bad whatever a query reads and excludes.

Source: docs/reliability.md#data-that-is-not-what-its-table-says.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import DataFrameReader

from tvfsql import Session
from tvfsql.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
QUERIES = {
    "all": "SELECT * FROM t",
    "a column": "SELECT d FROM t",
    "no column": "SELECT COUNT(*) FROM t",
    "a key": "SELECT d, COUNT(*) FROM t GROUP BY d",
    "a condition that excludes it": "SELECT d, n, x FROM t WHERE d = 'a'",
    "a condition on what it lacks": "SELECT d FROM t WHERE x > 0",
    "the first": "SELECT d FROM t WHERE n <> 2",
}
ON_STREAMS = ("no column", "a condition that excludes it", "a condition on what it lacks")
BAD = {
    "csv": {"few": "b,2", "one": "b", "many": "b,2,3.5,9", "quote": '"b,2,3.5', "split": "b,2,3,5"},
    "json": {"cut": '{"d": "b", "n": 2, "x":', "number": "17", "text": "b", "half": '{"d": "b", "n": 2'},
}
GOOD = {"csv": ("a,1,2.5", "c,3,1.5"), "json": ('{"d": "a", "n": 1, "x": 2.5}', '{"d": "c", "n": 3, "x": 1.5}')}
TABLE = (
    "CREATE TABLE t (d STRING, n INT, x DOUBLE{more}) WITH ('connector' = 'filesystem', 'path' = '{path}', {options})"
)


def session(spark: SparkSession, mode: str, path: Path, form: str, more: str = "", options: str = "") -> Session:
    made = Session(spark, mode=mode)
    made.execute(TABLE.format(path=path, more=more, options=f"'format' = '{form}'{options}"))
    return made


def written(folder: Path, form: str, line: str) -> Path:
    """A folder with a bad line between good ones."""
    folder.mkdir()
    first, last = GOOD[form]
    (folder / f"1.{form}").write_text(f"{first}\n{line}\n{last}\n")
    return folder


@pytest.mark.parametrize("form", BAD)
def test_what_a_query_reads_does_not_decide_whether_a_row_is_bad(
    spark: SparkSession, tmp_path: Path, form: str
) -> None:
    for name, line in BAD[form].items():
        made = session(spark, "batch", written(tmp_path / name, form, line), form)
        for what, sql in QUERIES.items():
            with pytest.raises(DataError, match="a row cannot be read"):
                assert not made.sql(sql).collect(), f"{what} of {name}"


@pytest.mark.parametrize("form", BAD)
def test_nor_on_streams(spark: SparkSession, tmp_path: Path, form: str) -> None:
    name, line = next(iter(BAD[form].items()))
    made = session(spark, "streaming", written(tmp_path / name, form, line), form)
    for what in ON_STREAMS:
        with pytest.raises(DataError, match="a row cannot be read"):
            assert not made.sql(QUERIES[what]).collect(), what


def test_good_rows_and_values_that_no_query_reads_are_no_error(spark: SparkSession, tmp_path: Path) -> None:
    """A value that is not read is not parsed; if it is read, no condition hides that it is bad."""
    for form, line in (("csv", "b,2,no"), ("json", '{"d": "b", "n": 2, "x": "no"}')):
        made = session(spark, "batch", written(tmp_path / form, form, line), form)
        assert [row[0] for row in made.sql("SELECT COUNT(*) FROM t").collect()] == [3]
        assert [row[0] for row in made.sql("SELECT d FROM t WHERE n < 3 ORDER BY d").collect()] == ["a", "b"]
        for sql in (QUERIES["a condition that excludes it"], "SELECT d FROM t WHERE n <> 2 AND x > 0"):
            with pytest.raises(DataError, match="a row cannot be read"):
                made.sql(sql).collect()


def test_the_whole_header_is_compared(spark: SparkSession, tmp_path: Path) -> None:
    for name, header in (("other", "d,x,n"), ("fewer", "d,n"), ("more", "d,n,x,y")):
        path = tmp_path / name
        path.mkdir()
        (path / "1.csv").write_text(f"{header}\na,1,2.5\n")
        made = session(spark, "batch", path, "csv", options=", 'csv.header' = 'true'")
        for what in ("a column", "no column", "a key"):
            with pytest.raises(DataError, match="header"):
                assert not made.sql(QUERIES[what]).collect(), f"{what} of {name}"


def test_rows_over_several_lines_and_columns_of_folders(spark: SparkSession, tmp_path: Path) -> None:
    several = tmp_path / "several"
    several.mkdir()
    (several / "1.csv").write_text('"a\nb",1,2.5\nb,2\n')
    made = session(spark, "batch", several, "csv", options=", 'csv.multiLine' = 'true'")
    parts = tmp_path / "parts" / "day=1"
    parts.mkdir(parents=True)
    (parts / "1.csv").write_text("a,1,2.5\nb,2\n")
    of_folders = Session(spark)
    table = TABLE.format(path=parts.parent, more=", `day` INT", options="'format' = 'csv'")
    of_folders.execute(table.replace(") WITH", ") PARTITIONED BY (`day`) WITH"))
    for each in (made, of_folders):
        with pytest.raises(DataError, match="a row cannot be read"):
            each.sql("SELECT COUNT(*) FROM t").collect()
    with pytest.raises(DataError, match="a row cannot be read"):
        of_folders.sql("SELECT `day`, COUNT(*) FROM t GROUP BY `day`").collect()


def test_files_without_a_table_have_the_same_bad_rows(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("d,n,x\n" + "a,1,2.5\n" * 200_000 + "b,2\n")  # beyond the bytes that are looked at
    made = Session(spark)
    for sql in (f"SELECT d, COUNT(*) FROM '{tmp_path}/t.csv' GROUP BY d", f"SUMMARIZE '{tmp_path}/t.csv'"):
        with pytest.raises(DataError, match="a row cannot be read"):
            made.sql(sql).collect()


TOPIC = """CREATE TABLE t (k STRING, n INT, x DOUBLE, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp') WITH (
  'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 's:1', 'scan.bounded.mode' = 'latest-offset',
  'key.format' = 'raw', 'key.fields' = 'k', 'value.format' = '{form}', 'value.fields-include' = 'EXCEPT_KEY'{more})"""
OF_MESSAGES = ("SELECT * FROM t", "SELECT COUNT(*) FROM t", "SELECT k FROM t", "SELECT `at` FROM t", "SELECT n FROM t")


@pytest.mark.parametrize(
    ("form", "good", "bad"), [("json", '{"n": 1, "x": 2.5}', '{"n": 1, "x":'), ("csv", "1,2.5", "1")]
)
def test_a_message_is_bad_whatever_a_query_reads_of_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, good: str, bad: str
) -> None:
    """The messages come from a file with Kafka's columns."""
    rows = [(b"a", good.encode()), (b"b", bad.encode()), (b"a", good.encode())]
    given = [(key, value, "t", 0, i, datetime(2024, 1, 1)) for i, (key, value) in enumerate(rows)]
    columns = "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP"
    spark.createDataFrame(given, columns).coalesce(1).write.parquet(str(tmp_path / "t"))
    kept = spark.read.parquet(str(tmp_path / "t"))
    monkeypatch.setattr(DataFrameReader, "load", lambda self, *given, **more: kept)
    made = Session(spark)
    made.execute(TOPIC.format(form=form, more=""))
    for sql in OF_MESSAGES:
        with pytest.raises(DataError, match=r"a message cannot be read: t-0@1"):
            assert not made.sql(sql).collect(), sql
    if form == "json":
        skipping = Session(spark)
        skipping.execute(TOPIC.format(form=form, more=", 'value.json.ignore-parse-errors' = 'true'"))
        for sql in OF_MESSAGES[2:]:
            assert len(skipping.sql(sql).collect()) == 2, sql
        assert [row[0] for row in skipping.sql("SELECT COUNT(*) FROM t").collect()] == [2]
