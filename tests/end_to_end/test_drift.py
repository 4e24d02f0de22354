"""Files that are not what their table says: an error, or what docs/reliability.md says; never other rows in silence."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tvfsql import Session, TvfSqlError, compile
from tvfsql.errors import BindError, DataError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def table(folder: Path, columns: str, form: str, **options: str) -> str:
    given = "".join(f", '{key.replace('_', '.')}' = '{value}'" for key, value in options.items())
    return (
        f"CREATE TABLE t ({columns}) WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = '{form}'{given})"
    )


def rows(spark: SparkSession, mode: str, *given: Any, **options: Any) -> list[tuple[Any, ...]]:
    session = Session(spark, mode=mode)
    session.execute(table(*given, **options))
    return [tuple(row) for row in session.sql("SELECT * FROM t").collect()]


@pytest.mark.spark
def test_parquet_of_other_types_fails_and_what_it_lacks_is_null(spark: SparkSession, tmp_path: Path) -> None:
    """Spark alone cuts 70000 to the SMALLINT 4464."""
    pq.write_table(pa.table({"a": pa.array([7, 70_000], pa.int32())}), tmp_path / "0.parquet")
    for mode in ("batch", "streaming"):
        with pytest.raises(DataError, match=r"too large for its type: The value 70000"):
            rows(spark, mode, tmp_path, "a SMALLINT", "parquet")
    assert rows(spark, "batch", tmp_path, "a BIGINT, b STRING", "parquet") == [(7, None), (70_000, None)]
    for column in ("a STRING", "a TIMESTAMP(3)"):
        with pytest.raises(DataError, match=r"column a is INT in the file .*0\.parquet"):
            rows(spark, "batch", tmp_path, column, "parquet")
    small = {"a": pa.array([7], pa.int16()), "c": pa.array([[1, None]], pa.list_(pa.int8()))}
    pq.write_table(pa.table(small), tmp_path / "0.parquet")
    assert rows(spark, "batch", tmp_path, "a SMALLINT, c ARRAY<TINYINT>", "parquet") == [(7, [1, None])]
    whole = (tmp_path / "0.parquet").read_bytes()
    (tmp_path / "0.parquet").write_bytes(whole[:-20])
    with pytest.raises(DataError, match=r"0\.parquet cannot be read"):
        rows(spark, "batch", tmp_path, "a SMALLINT", "parquet")


@pytest.mark.spark
def test_the_header_of_a_csv_file_names_its_columns(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "0.csv").write_text("b,a\nx,2020-01-01 00:00:00\n")
    found = [("x", datetime(2020, 1, 1))]
    assert rows(spark, "batch", tmp_path, "B STRING, a TIMESTAMP(3)", "csv", csv_header="true") == found
    for mode in ("batch", "streaming"):
        with pytest.raises(DataError, match=r"the names in the header of /.*0\.csv differ") as error:
            rows(spark, mode, tmp_path, "a STRING, b STRING", "csv", csv_header="true")
        assert "enforceSchema" in (error.value.hint or "")
    with pytest.raises(DataError, match=r"the header of /.*0\.csv has more columns"):
        rows(spark, "batch", tmp_path, "b STRING", "csv", csv_header="true")
    by_position = {"csv_header": "true", "csv_enforceSchema": "true"}
    assert rows(spark, "batch", tmp_path, "c STRING, d TIMESTAMP(3)", "csv", **by_position) == found


@pytest.mark.spark
def test_values_that_do_not_parse_fail_and_are_not_null(spark: SparkSession, tmp_path: Path) -> None:
    """A row each, in one file: the first that cannot be read is told."""
    bad = {
        "csv": {"INT": ["1.5", "3000000000", " 1"], "TINYINT": ["300"], "DECIMAL(5, 2)": ["123456.7"]},
        "json": {"INT": ['"1"', "1.5", "3000000000", "[1]"], "BOOLEAN": ['"true"'], "DATE": ['"2020-02-30"']},
    }
    for form, of_types in bad.items():
        for kind, values in of_types.items():
            for value in values[:1]:
                folder = tmp_path / form / kind.partition("(")[0]
                folder.mkdir(parents=True)
                line = value if form == "csv" else f'{{"a": {value}}}'
                (folder / "0").write_text(f"{line}\n")
                with pytest.raises(DataError, match="a row cannot be read"):
                    rows(spark, "batch", folder, f"a {kind}", form)


def test_columns_that_sparks_parsers_take_for_their_own_are_refused() -> None:
    for form in ("csv", "json"):
        with pytest.raises(BindError, match="does not read a column _Corrupt_Record"):
            compile(table(Path("x"), "a INT, _Corrupt_Record STRING", form) + "; SELECT a FROM t")
    assert compile(table(Path("x"), "a INT, _corrupt_record STRING", "parquet") + "; SELECT * FROM t").code


HALVES = ["SELECT '\ud800'", "SELECT 1 AS `\udcff`", "SELECT U&'\\d800'", "SELECT U&'\\+110000'"]


@pytest.mark.parametrize("sql", HALVES, ids=map(ascii, HALVES))
def test_halves_of_characters_are_refused(sql: str) -> None:
    """Python reads bytes of a command line that are no UTF-8 as such."""
    with pytest.raises(TvfSqlError) as error:
        compile(sql)
    assert str(error.value).encode()
    assert "😀" in compile("SELECT U&'\\d83d\\de00'").code
