"""Columns that a table declares and no file has: Spark reads NULL without a word."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tvfsql
from tvfsql.runtime.batch.declared_columns import columns_not_in_files

OPTIONS = "'connector' = 'filesystem', 'path' = '{path}', 'format' = '{form}'"


def warnings(path: Path, form: str, columns: str) -> tuple[str, ...]:
    options = OPTIONS.format(path=path, form=form)
    return tvfsql.compile(f"CREATE TABLE t ({columns}) WITH ({options}); SELECT * FROM t").warnings


def test_a_column_that_no_file_of_parquet_has_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("a", "b"):
        pq.write_table(pa.table({"trip_id": [1], "Zone": ["x"], name: [1]}), tmp_path / f"{name}.parquet")
    (tmp_path / "_SUCCESS").touch()
    found = warnings(tmp_path, "parquet", "tripid BIGINT, zone STRING, a INT, b INT, fare DOUBLE")
    assert found == (
        f"no file of {tmp_path} has a column tripid, which is NULL; there is trip_id",
        f"no file of {tmp_path} has a column fare, which is NULL",
    )
    with caplog.at_level("WARNING", "tvfsql"):
        options = OPTIONS.format(path=tmp_path, form="parquet")
        tvfsql.Session().execute(f"CREATE TABLE t (fare INT) WITH ({options}); SELECT fare FROM t")
    assert caplog.messages == [f"no file of {tmp_path} has a column fare, which is NULL"]


def test_values_of_parquet_that_a_type_has_no_room_for_are_told(tmp_path: Path) -> None:
    """Spark reads 4,000,000,000 as -294,967,296."""
    kinds = {"a": pa.uint32(), "b": pa.uint64(), "c": pa.uint32(), "d": pa.uint16(), "at": pa.timestamp("us")}
    pq.write_table(pa.table({name: pa.array([1], pa.int64()).cast(kind) for name, kind in kinds.items()}),
                   tmp_path / "1.parquet")  # fmt: skip
    assert warnings(tmp_path, "parquet", "a INT, b BIGINT, c BIGINT, d INT, `at` BIGINT") == (
        f"column a of {tmp_path} has no sign: values from 2^31 on are read as negative, but not as BIGINT",
        f"column b of {tmp_path} has no sign: values from 2^63 on are read as negative, but not as DECIMAL(20, 0)",
        f"column at of {tmp_path} is a time, which BIGINT reads as a number of microseconds",
    )
    assert warnings(tmp_path, "parquet", "a BIGINT, b DECIMAL(20, 0), `at` TIMESTAMP(3)") == ()


def test_a_field_of_json_is_told_only_if_there_is_one_with_a_similar_name(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(["not JSON", "[1]", json.dumps({"user_id": 1, "s": "x"})]))
    assert warnings(file, "json", "userid INT, s STRING, rare INT") == (
        f"no file of {file} has a column userid, which is NULL; there is user_id",
    )


@pytest.mark.parametrize("form", ["parquet", "json"])
def test_what_cannot_be_looked_at_is_no_reason_to_stop(form: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\xfe")
    for path in (tmp_path, tmp_path / "nowhere", "s3://bucket/a", "hdfs://h/a"):
        assert [*columns_not_in_files(str(path), form, ["a"])] == []


def test_columns_of_folders_are_not_looked_for(tmp_path: Path) -> None:
    (tmp_path / "day=1").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "day=1" / "a.parquet")
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'parquet'"
    query = f"CREATE TABLE t (a INT, day INT) PARTITIONED BY (day) WITH ({options}); SELECT * FROM t"
    assert tvfsql.compile(query).warnings == ()
