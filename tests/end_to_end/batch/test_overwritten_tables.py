"""INSERT OVERWRITE replaces rows as in Flink, and none is lost: not those that the query reads, not if it fails, not
those of other partitions. A folder is filled by batch or by a stream."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tvfsql import Session
from tvfsql.errors import DataError, UnsupportedError

pytestmark = pytest.mark.spark


def rows(session: Session, table: str) -> list[tuple[int, str]]:
    return sorted((row.id, row.day) for row in session.sql(f"SELECT id, day FROM {table}").collect())


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Session:
    (tmp_path / "bad.csv").write_text("4,c\nnot a number,d\n")
    made = Session(spark, mode="batch")
    for name, path, form, by in (
        ("clicks", "clicks", "json", ""),
        ("days", "days", "parquet", "PARTITIONED BY (day)"),
        ("bad", "bad.csv", "csv", ""),
    ):
        files = f"'connector' = 'filesystem', 'path' = '{tmp_path / path}', 'format' = '{form}'"
        made.execute(f"CREATE TABLE {name} (id INT, day STRING) {by} WITH ({files})")
    return made


def test_rows_are_replaced_when_the_new_ones_are_there(session: Session, tmp_path: Path) -> None:
    session.execute("CREATE TABLE held (id INT, day STRING)")
    for table in ("clicks", "days", "held"):
        session.execute(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'a'), (3, 'b')")
        session.execute(f"INSERT OVERWRITE {table} SELECT id + 10, day FROM {table} WHERE id > 1")
        assert rows(session, table) == [(12, "a"), (13, "b")]
        with pytest.raises(DataError):
            session.execute(f"INSERT OVERWRITE {table} SELECT id, day FROM bad")
        assert rows(session, table) == [(12, "a"), (13, "b")]
        session.execute(f"INSERT OVERWRITE {table} SELECT 5, 'b'")
        assert rows(session, table) == [(5, "b"), *([(12, "a")] if table == "days" else [])], "other partitions stay"
    session.execute("INSERT OVERWRITE clicks SELECT id, day FROM clicks WHERE FALSE")
    assert rows(session, "clicks") == []
    with pytest.raises(UnsupportedError, match="reads the table that it would replace"):
        session.execute("CREATE OR REPLACE TABLE held AS SELECT id, day FROM held WHERE id > 1")
    assert rows(session, "held") == [(5, "b")]
    session.execute("CREATE OR REPLACE TABLE held AS SELECT id * 2 AS id, day FROM days")
    assert rows(session, "held") == [(10, "b"), (24, "a")]


def test_a_folder_is_filled_by_batch_or_by_a_stream(session: Session, spark: SparkSession) -> None:
    session.execute("INSERT INTO days VALUES (1, 'a')")
    stream = Session(spark, mode="streaming", catalog=session.catalog)
    stream.execute("INSERT INTO clicks SELECT id, day FROM days")
    for insert in ("INSERT INTO", "INSERT OVERWRITE"):
        with pytest.raises(DataError, match="/clicks is filled by a stream"):
            session.execute(f"{insert} clicks VALUES (2, 'b')")
    assert rows(session, "clicks") == [(1, "a")]
    with pytest.raises(DataError, match="/days has other files, such as part-"):
        stream.execute("INSERT INTO days SELECT id, day FROM clicks")
    assert rows(session, "days") == [(1, "a")]
