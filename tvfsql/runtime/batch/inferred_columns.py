"""The columns that local files have, for a CREATE TABLE without any: from the schema of Parquet, or from the first rows
of CSV and JSON. Spark is not needed."""

from __future__ import annotations

import io
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tvfsql.errors import DataError
from tvfsql.runtime.batch.declared_columns import local_files
from tvfsql.runtime.cluster.files import URL

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = {"parquet": "parquet", "csv": "csv", "tsv": "csv", "json": "json", "jsonl": "json", "ndjson": "json"}
HEADER, DELIMITER = "csv.header", "csv.field-delimiter"
FIRST = 1 << 20  # bytes of a file whose rows are looked at
WRITE = "write the columns: CREATE TABLE t (ts TIMESTAMP(3), ...) WITH (...)"
ROWS = 1000  # of a Parquet file that are looked at
MILLISECONDS = 10**12, 10**13  # of the years 2001 to 2286
TIME_NAME = re.compile(r"time|date|epoch|^ts$|_ts$|_at$", re.IGNORECASE)
NAME = re.compile(r"[A-Za-z_][\w .-]*")


@dataclass(frozen=True)
class Inferred:
    """Names of columns with their types in Flink's words, and the options without which the files cannot be read so.
    `epochs` are the columns whose numbers are times since 1970, with the digits of the fraction of a second: 3 or 0.
    """

    columns: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, str], ...] = ()
    epochs: tuple[tuple[str, int], ...] = ()


def format_of(path: str) -> str | None:
    """The format that the end of a path tells, or that of its first file; None: neither does."""
    return next(filter(None, map(format_of_name, (path, *local_files(path)[:1]))), None)


def format_of_name(path: str) -> str | None:
    """The format that the end of a path tells; None: it does not."""
    return FORMATS.get(os.path.basename(path.rstrip("/")).lower().removesuffix(".gz").rpartition(".")[2])


def inferred_columns(path: str, form: str, options: dict[str, str]) -> Inferred:
    """The columns of the first file of a path. `options` are those of the table, such as csv.header.

    Raises DataError if there is no file, if it cannot be read, or if it has a type that the format cannot be read as.
    """
    files = local_files(path)
    if URL.match(path) and not path.startswith("file:"):
        raise DataError(f"the columns of {path} are not known: only local files are looked into", hint=WRITE)
    if not files:
        raise DataError(f"there is no file {path}", hint=f"check the path, or {WRITE}")
    try:
        match form:
            case "parquet":
                return _inferred(_parquet(files[0]), files[0], form)
            case "json":
                return _inferred(_json(files[0]), files[0], form)
        return _csv(files[0], options)
    except (OSError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise DataError(f"the columns of {files[0]} cannot be found: {first}", hint=WRITE) from error


def _parquet(file: str) -> pa.Table:
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    opened = pq.ParquetFile(file)
    rows: pa.Table = next(opened.iter_batches(batch_size=ROWS), None) or opened.schema_arrow.empty_table()
    return rows


def _json(file: str) -> pa.Table:
    from pyarrow import json  # type: ignore[attr-defined]

    rows: pa.Table = json.read_json(io.BytesIO(_first_lines(file)))
    return rows


def _csv(file: str, options: dict[str, str]) -> Inferred:
    """Without the option csv.header, a first line is a header if its names do not have the types of the other lines."""
    import pyarrow as pa
    from pyarrow import csv  # type: ignore[attr-defined]

    delimiter = options.get(DELIMITER) or ("\t" if file.lower().removesuffix(".gz").endswith(".tsv") else ",")
    content = _first_lines(file)
    lines = content.count(b"\n")

    def read(*, header: bool) -> pa.Table:
        names = csv.ReadOptions(autogenerate_column_names=not header)
        parse = csv.ParseOptions(delimiter=delimiter.replace("\\t", "\t"))
        texts = csv.ConvertOptions(timestamp_parsers=[csv.ISO8601], strings_can_be_null=True)
        rows: pa.Table = csv.read_csv(
            io.BytesIO(content), read_options=names, parse_options=parse, convert_options=texts
        )
        return rows

    given = options.get(HEADER)
    found = {} if DELIMITER in options or delimiter == "," else {DELIMITER: "\\t"}
    if given is None:
        with_header, types = read(header=True), pa.types
        names = with_header.column_names
        named = all(NAME.fullmatch(name) for name in names) and len({*names}) == len(names)
        if named and (lines < 2 or all(map(types.is_string, with_header.schema.types))):
            raise DataError(
                f"it is not clear whether the first line of {file} has the names of its columns",
                hint=f"CREATE TABLE t WITH ('path' = '{file}', '{HEADER}' = 'true')",
            )
        given = "true" if named else "false"
        found |= {HEADER: given} if named else {}
    return _inferred(read(header=given == "true"), file, "csv", tuple(found.items()))


def _first_lines(file: str) -> bytes:
    """The whole lines at the start of a file."""
    import gzip

    with gzip.open(file) if file.lower().endswith(".gz") else open(file, "rb") as source:
        content = source.read(FIRST)
        rest = source.read(1)
    return content if not rest else content[: content.rfind(b"\n") + 1]


def _inferred(rows: pa.Table, file: str, form: str, options: tuple[tuple[str, str], ...] = ()) -> Inferred:
    nanos = form != "parquet"
    columns = tuple(
        (field.name, _type(field.type, f"column {field.name} of {file}", nanos=nanos)) for field in rows.schema
    )
    found = ((name, _digits(name, rows.column(name))) for name, kind in columns if kind == "BIGINT")
    return Inferred(columns, options, tuple((name, digits) for name, digits in found if digits is not None))


def _digits(name: str, numbers: pa.ChunkedArray) -> int | None:
    """3 for milliseconds since 1970, 0 for seconds of a column that is called like a time, None for other numbers."""
    known = [number for number in numbers.to_pylist() if number is not None]
    if not known:
        return None
    low, high = min(known), max(known)
    if MILLISECONDS[0] <= low and high < MILLISECONDS[1]:
        return 3
    within = MILLISECONDS[0] // 1000 <= low and high < MILLISECONDS[1] // 1000
    return 0 if within and TIME_NAME.search(name) else None


def _type(kind: Any, where: str, *, nanos: bool) -> str:
    """Flink's word for the type of a column. With `nanos` times may have nanoseconds: Spark reads those of text files,
    cut to microseconds, and not those of Parquet. Raises DataError if there is no type that reads all values."""
    from pyarrow import types

    names = {
        "int8": "TINYINT", "int16": "SMALLINT", "int32": "INT", "int64": "BIGINT", "uint8": "SMALLINT", "uint16": "INT",
        "uint32": "BIGINT", "uint64": "DECIMAL(20, 0)", "float": "FLOAT", "double": "DOUBLE", "bool": "BOOLEAN",
        "string": "STRING", "large_string": "STRING", "binary": "BYTES", "large_binary": "BYTES", "date32[day]": "DATE",
        "null": "STRING",
    }  # fmt: skip
    if str(kind) in names:
        return names[str(kind)]
    if types.is_dictionary(kind):
        return _type(kind.value_type, where, nanos=nanos)
    if types.is_decimal(kind) and kind.precision <= 38 and kind.scale >= 0:
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if types.is_timestamp(kind) and (nanos or kind.unit != "ns"):
        return f"TIMESTAMP{'' if kind.tz is None else '_LTZ'}({6 if kind.unit in ('us', 'ns') else 3})"
    if types.is_list(kind) or types.is_large_list(kind):
        return f"ARRAY<{_type(kind.value_type, where, nanos=nanos)}>"
    if types.is_map(kind):
        return f"MAP<{_type(kind.key_type, where, nanos=nanos)}, {_type(kind.item_type, where, nanos=nanos)}>"
    if types.is_struct(kind):
        fields = (f"`{field.name}` {_type(field.type, where, nanos=nanos)}" for field in kind)
        return f"ROW<{', '.join(fields)}>"
    raise DataError(f"{where} is {kind}, which no type reads", hint="write the columns without it")
