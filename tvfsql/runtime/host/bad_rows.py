"""Rows of files that cannot be read: finds the file and, if possible, the line and column."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from tvfsql.errors import DataError
from tvfsql.plan.values.spark_types import of_spark

FAILED = re.compile(
    r"FAILED_READ_FILE\S*\] Encountered error while reading file file:/*(/\S+?)\.?\s.*?"
    r"MALFORMED_RECORD_IN_PARSING\S*\] Malformed records are detected in record parsing: (.*?)\.\s",
    re.DOTALL,
)
VALUE = re.compile(
    r'Caused by: java\.lang\.NumberFormatException: For input string: "(?P<number>.+?)"'
    r"|Caused by: java\.time\.format\.DateTimeParseException: Text '(?P<time>.+?)' could not be parsed"
)
PARQUET = re.compile(
    r"PARQUET_COLUMN_DATA_TYPE_MISMATCH\] .*? reading file (?:file:/*(?=/))?(?P<file>\S+?)\. .*?"
    r"column \[(?P<column>.*?)\]\. Expected Spark type (?P<spark>.*?), actual Parquet type (?P<parquet>.*?)\.(?:\s|$)",
    re.DOTALL,
)
OF_PARQUET = {
    "INT32": "INT", "INT64": "BIGINT", "INT96": "TIMESTAMP(3)", "BINARY": "STRING", "FIXED_LEN_BYTE_ARRAY": "BYTES",
}  # fmt: skip
OF_ARROW = {
    "bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INT", "int64": "BIGINT", "float": "FLOAT",
    "double": "DOUBLE", "string": "STRING", "large_string": "STRING", "binary": "BYTES", "date32[day]": "DATE",
    "uint8": "SMALLINT", "uint16": "INT", "uint32": "BIGINT", "uint64": "DECIMAL(20, 0)",
}  # fmt: skip
LOOKED_AT = 1_000_000_000  # how much of a file is searched, in bytes
SHOWN = 200  # how many characters of a row are shown
LETTERS = "on streams SET 'tvfsql.dead-letter' = 'TABLE' writes such rows to a table"
HINT = f"'json.ignore-parse-errors' = 'true' (or csv.) reads bad values as NULL; {LETTERS}"
HEADER = "its first line looks like a header, which 'csv.header' = 'true' leaves out"
NAME = re.compile(r"[^\W\d][\w .-]*")
DELIMITERS = ",;\t|"
TIME = re.compile(r"\d[-:]\d")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:E-?\d+)?")

STARTS = ("{", "[")  # of a line of JSON
SKIPPED = set[str]()  # the paths of tables whose files have a header that is left out


def know_header(path: str, skipped: bool) -> None:
    """Remember whether the first line of a table's files is left out, and so is not the row that cannot be read."""
    (SKIPPED.add if skipped else SKIPPED.discard)(re.split(r"[*?{\[]", path.removeprefix("file:"))[0])


def bad_row(message: str) -> DataError | None:
    """The error for an unreadable row in Spark's message; None if the message names no file."""
    if found := PARQUET.search(message):
        return _other_type(found)
    found = FAILED.search(message)
    if found is None:
        return None
    file, row = unquote(found.group(1)), found.group(2)
    of_value = VALUE.search(message)
    value = of_value and (of_value["number"] or of_value["time"])
    skipped = any(path and file.startswith(path) for path in SKIPPED)
    place = _place(Path(file), row, value, first=2 if skipped else 1)
    unread = {*row[1:-1].split(",")} <= {"", "null"}  # as of COUNT(*)
    if place is not None and place.others and unread:
        return DataError(f"a row cannot be read: {file}", hint=f"SELECT * FROM the table tells its line; {HINT}")
    if place is None:
        because = f", because of {value!r}" if value else ""
        return DataError(f"a row cannot be read: {file}: {row[:SHOWN]}{because}", hint=HINT)
    form = "json" if place.text.lstrip().startswith(STARTS) else "csv"
    ignore = f"'{form}.ignore-parse-errors' = 'true' reads bad values as NULL; {LETTERS}"
    more = f" (and {place.others} more lines like it)" if place.others else ""
    column = place.fault.column
    where = f"line {place.line}, column {column}" if column else f"line {place.line}"
    names = [name.strip().strip("\"'") for name in re.split(f"[{DELIMITERS}]", place.text)]
    hint = f"{HEADER}; {ignore}" if place.line == 1 and all(map(NAME.fullmatch, names)) else ignore
    return DataError(f"a row cannot be read: {file}, {where}: {place.text[:SHOWN]}{more}", hint=hint)


def _other_type(found: re.Match[str]) -> DataError:
    """The error for a column of a Parquet file with another type than its table declares."""
    column, file = found["column"], unquote(found["file"])
    kind = _kind_in(file, column) or OF_PARQUET.get(found["parquet"], found["parquet"])
    kind_of_table = of_spark(found["spark"]).flink
    return DataError(
        f"column {column} is {kind} in the file {file}, and {kind_of_table} in the table",
        hint=f"{column} {kind} in CREATE TABLE, and CAST({column} AS {kind_of_table}) in the query",
    )


def _kind_in(file: str, column: str) -> str:
    """The SQL type of a column in a local Parquet file, which Spark names by its bytes only (a time is an INT64); "" if
    it is unknown."""
    import pyarrow as pa
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    try:
        kind = pq.read_schema(file).field(column).type
    except (OSError, ValueError, KeyError):  # the errors of pyarrow are among these
        return ""
    if pa.types.is_timestamp(kind):
        return f"TIMESTAMP{'_LTZ' if kind.tz else ''}({ {'s': 0, 'ms': 3}.get(kind.unit, 6) })"
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    return OF_ARROW.get(str(kind), "")


@dataclass(frozen=True)
class Fault:
    """Where a line has what Spark cannot read (from 1; 0: unknown), and how likely that is: a line that is not a row of
    its format, or has the value that Spark names, is bad for certain; a number is the least likely to be a bad value.
    """

    column: int
    likely: int = 2


@dataclass(frozen=True)
class Place:
    """A line (from 1), what is wrong with it, and how many others could be meant as well."""

    line: int
    text: str
    fault: Fault
    others: int = 0


def _place(file: Path, row: str, value: str | None, first: int) -> Place | None:
    """The likeliest line of a file, from the line `first` on, to be the row which Spark shows (`[a,null]`), with the
    value that it names.
    """
    values = row[1:-1].split(",")
    found: list[Place] = []  # by how likely they are
    for number, line in _lines(file):
        fault = _fault(line, values, value) if number >= first else None
        if fault is None:
            continue
        same = next((place for place in found if place.fault.likely == fault.likely), None)
        if same is None:
            found.append(Place(number, line, fault))
        else:
            found[found.index(same)] = replace(same, others=same.others + 1)
    return max(found, key=lambda place: place.fault.likely, default=None)


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file, also of a compressed one. Bytes that are not UTF-8 are replaced."""
    opened = gzip.open if file.suffix == ".gz" else open
    try:
        with opened(file, "rb") as lines:
            read = 0
            for number, line in enumerate(lines, 1):
                read += len(line)
                if read > LOOKED_AT:
                    return
                yield number, line.decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r\n")
    except OSError:
        return


def _fault(line: str, values: list[str], value: str | None) -> Fault | None:
    """What Spark cannot read in a line; None if the line is not the row."""
    if line.lstrip().startswith(STARTS):
        return _fault_of_json(line, values, value)
    if value is not None:
        pattern = rf"(?<![^\s,;|:\"'\t]){re.escape(value)}(?![^\s,;|\"'\t}}\]])"
        found = re.search(pattern, line)
        return Fault(found.start() + 1) if found and _has(line, values) else None
    for delimiter in DELIMITERS:
        fields = next(csv.reader([line], delimiter=delimiter), [])
        if len(fields) > 1 and (found_field := _wrong_field(line, fields, values)) is not None:
            return found_field
    alone = next(csv.reader([line]), [])
    return _wrong_field(line, alone, values) if len(alone) == 1 < len(values) and alone[0] else None


def _wrong_field(line: str, fields: list[str], values: list[str]) -> Fault | None:
    """The first field that Spark reads as NULL though it is not empty, or that there are too many or too few. None if
    the others are not the values that Spark has read.
    """
    pairs = [*zip(fields, values, strict=False)]
    if not all(read == "null" or _same(field, read) for field, read in pairs):
        return None
    lost = [field for field, read in pairs if read == "null" and field.strip() not in ("", "null")]
    if lost:
        likely = 2 if len(fields) != len(values) else 0 if NUMBER.fullmatch(lost[0].strip()) else 1
        return Fault(line.find(lost[0]) + 1, likely)
    return Fault(0) if len(fields) != len(values) else None


def _same(field: str, read: str) -> bool:
    """Whether Spark shows a field so. It shows times and dates as numbers."""
    field, read = field.strip(), read.strip()
    if NUMBER.fullmatch(field) and NUMBER.fullmatch(read):
        return float(field) == float(read)
    return field.lower() == read.lower() or (NUMBER.fullmatch(read) is not None and TIME.search(field) is not None)


def _has(line: str, values: list[str]) -> bool:
    """Whether a line has the texts among the values. Numbers may stand for times, or be written otherwise."""
    return all(value in line for value in values if value != "null" and not NUMBER.fullmatch(value))


def _fault_of_json(line: str, values: list[str], value: str | None) -> Fault | None:
    texts = [read for read in values if read != "null"]
    try:
        json.loads(line)
    except ValueError as error:
        return Fault(int(getattr(error, "pos", -1)) + 1) if not texts or _has(line, values) else None
    if value is not None:
        found = re.search(rf"(?<![^\s,:\"\[]){re.escape(value)}(?![^\s,\"}}\]])", line)
        return Fault(found.start() + 1) if found and _has(line, values) else None
    if "\ufffd" in line:
        return Fault(line.index("\ufffd") + 1)
    return Fault(0, 1) if texts and "null" in values and all(read in line for read in texts) else None
