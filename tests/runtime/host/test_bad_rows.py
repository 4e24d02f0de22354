"""A row that cannot be read is told with its file, and with its place in it where that is certain."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tvfsql.runtime.host.bad_rows import know_header
from tvfsql.runtime.host.failures import failure

# what Spark says of such a row, in the middle of stack traces
SAYS = """[STREAM_FAILED] Query [id = 0bea] terminated with exception: Job aborted SQLSTATE: XXKST
Caused by: org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file {file}.  \
SQLSTATE: KD001
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.cannotReadFilesError(QueryExecutionErrors.scala)
Caused by: org.apache.spark.SparkException: [MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION] Malformed records are \
detected in record parsing: [a,null].
Parse Mode: FAILFAST. SQLSTATE: 22023
{cause}
\t... 36 more"""
TIME = "Caused by: java.time.format.DateTimeParseException: Text '08:61' could not be parsed at index 3"
NUMBER = 'Caused by: java.lang.NumberFormatException: For input string: "x"'


@pytest.mark.parametrize(
    ("text", "cause", "says"),
    [
        ("a,1\na,x\nax,3\n", NUMBER, "line 2, column 3: a,x"),
        ('{"a":1}\n{"a": "x"}\n', NUMBER, 'line 2, column 8: {"a": "x"}'),
        ("b,x\na,x\n", NUMBER, "line 2, column 3: a,x"),
        ("a,x\na,x\nb,x\na,x\n", NUMBER, "line 1, column 3: a,x (and 2 more lines like it)"),
        ("ax,1\n", NUMBER, "[a,null], because of 'x'"),
        ("a,1\na,x\n", "", "line 2, column 3: a,x"),
        ("a,\nb,x\n", "", "[a,null]"),
        ('{"a":"a","b":1}\n{"a":"a","b":\n', "", 'line 2, column 14: {"a":"a","b":'),
        ('{"a":"a","b":{"c":1}}\n', "", 'line 1: {"a":"a","b":{"c":1}}'),
        ("a,1\na,x,7\n", "", "line 2, column 3: a,x,7"),
        ("a;;\na;1\n", "", "line 1: a;;"),
        ("a,1\na,08:61\n", TIME, "line 2, column 3: a,08:61"),
        ("a,1\na\n", "", "line 2: a"),
    ],
    ids=["csv", "json", "other", "many", "none", "unknown", "empty", "cut", "kind", "long", "short", "time", "few"],
)
def test_a_row_is_told_with_its_place(text: str, cause: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "1 a.csv"
    file.write_text(text)
    error = failure(SAYS.format(file=file.as_uri(), cause=cause))
    assert error.message.startswith(f"a row cannot be read: {file}")
    assert error.message.endswith(says)
    assert "tvfsql.dead-letter" in (error.hint or "")
    form = "json" if '{"' in says else "csv"
    assert f"'{form}.ignore-parse-errors'" in (error.hint or "") or "line" not in says


def test_no_line_is_told_if_it_can_be_any(tmp_path: Path) -> None:
    """COUNT(*) reads no value, so that the row which Spark shows is like all lines."""
    file = tmp_path / "1.csv"
    file.write_text("a,1\nb\nc,3\n")
    error = failure(SAYS.format(file=file.as_uri(), cause="").replace("[a,null]", "[null]"))
    assert error.message == f"a row cannot be read: {file}"
    assert (error.hint or "").startswith("SELECT * FROM the table tells its line")


def test_a_time_that_spark_cannot_hold_is_told() -> None:
    said = (
        "[DATETIME_OVERFLOW] Datetime operation overflow: add 300000L YEAR to TIMESTAMP '2024-01-01'. SQLSTATE: 22008"
    )
    error = failure(said)
    assert error.message == "a time is too far away: add 300000L YEAR to TIMESTAMP '2024-01-01'"
    assert "1 to 9999" in (error.hint or "")


@pytest.mark.parametrize(
    ("first", "told"), [("a,price", True), ('"a";"b 1"', True), ("a,1", False), ("b,price", False)]
)
def test_a_first_line_that_looks_like_a_header_is_told(first: str, told: bool, tmp_path: Path) -> None:
    file = tmp_path / "bids.csv"
    file.write_text(f"{first}\na,1\n")
    hint = failure(SAYS.format(file=file.as_uri(), cause="")).hint or ""
    assert hint.startswith("its first line looks like a header") == told


def test_the_line_that_is_left_out_as_a_header_is_not_the_row(tmp_path: Path) -> None:
    file = tmp_path / "bids.csv"
    file.write_text("a,price\na,x\n")
    know_header(str(tmp_path), True)
    error = failure(SAYS.format(file=file.as_uri(), cause=""))
    know_header(str(tmp_path), False)
    assert error.message.endswith("line 2, column 3: a,x")
    assert not (error.hint or "").startswith("its first line")


def test_the_row_is_found_among_many_with_its_value(tmp_path: Path) -> None:
    """Spark shows a time as a number, and names no value."""
    file = tmp_path / "bids.csv.gz"
    lines = [f"{i},c{i % 3},{'N/A' if i % 4 == 3 else i + 0.5},2024-01-01 00:00:{i:02},N/A\n" for i in range(20)]
    with gzip.open(file, "wt") as out:
        out.writelines(lines)
    said = SAYS.format(file=file.as_uri(), cause="").replace("[a,null]", "[7,c1,null,1704067207000000,N/A]")
    assert failure(said).message.endswith("line 8, column 6: 7,c1,N/A,2024-01-01 00:00:07,N/A")


def test_a_column_of_parquet_with_another_type_is_told_with_both() -> None:
    said = (
        "[FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH] Encountered error while reading file "
        "file:///data/my%20trips.parquet. Data type mismatches when reading Parquet column [fare]. "
        "Expected Spark type decimal(10,2), actual Parquet type INT64. SQLSTATE: KD001"
    )
    error = failure(said)
    assert error.message == (
        "column fare is BIGINT in the file /data/my trips.parquet, and DECIMAL(10, 2) in the table"
    )
    assert error.hint == "fare BIGINT in CREATE TABLE, and CAST(fare AS DECIMAL(10, 2)) in the query"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (pa.scalar(0, pa.timestamp("us")), "TIMESTAMP(6)"),
        (pa.scalar(0, pa.timestamp("ms", "UTC")), "TIMESTAMP_LTZ(3)"),
        (pa.scalar("1.5", pa.string()).cast(pa.decimal128(10, 3)), "DECIMAL(10, 3)"),
        (pa.scalar(4_000_000_000, pa.uint32()), "BIGINT"),
    ],
)
def test_a_column_of_a_local_parquet_file_is_told_with_its_own_type(
    value: pa.Scalar, kind: str, tmp_path: Path
) -> None:
    """Spark names the bytes alone: times are INT64, decimals are bytes."""
    file = tmp_path / "1.parquet"
    pq.write_table(pa.table({"c": pa.array([value.as_py()], value.type)}), file)
    said = (
        f"[FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH] Encountered error while reading file {file.as_uri()}. "
        "Data type mismatches when reading Parquet column [c]. Expected Spark type string, actual Parquet type INT64. "
        "SQLSTATE: KD001"
    )
    assert failure(said).message == f"column c is {kind} in the file {file}, and STRING in the table"


def test_a_file_that_is_gone_is_told_without_a_place(tmp_path: Path) -> None:
    error = failure(SAYS.format(file=(tmp_path / "gone.csv").as_uri(), cause=NUMBER))
    assert error.message.endswith("gone.csv: [a,null], because of 'x'")


def test_the_message_of_a_failed_stream_lacks_its_causes(tmp_path: Path) -> None:
    """Spark's text ends with the file; what is wrong with its row is in Java's stack trace alone."""
    file = tmp_path / "1.csv"
    file.write_text("a,1\na,x\n")
    said = SAYS.format(file=file.as_uri(), cause=NUMBER)
    message = f"[STREAM_FAILED] Query [id = 0bea] terminated with exception: {said.splitlines()[1]} SQLSTATE: XXKST"
    assert failure(message).message == f"the file {file} cannot be read"
    assert failure(message, said).message.endswith("1.csv, line 2, column 3: a,x")
