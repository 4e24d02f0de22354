"""The columns that local files have, for a CREATE TABLE without any: from the schema of Parquet, or from the first rows
of CSV and JSON. Spark is not needed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tvfsql.errors import DataError
from tvfsql.named_files import nearest_file
from tvfsql.runtime.batch.declared_columns import local_files
from tvfsql.runtime.batch.first_rows import BadLine, first_lines, rows_of_csv, rows_of_json, rows_of_parquet
from tvfsql.runtime.cluster.files import URL

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = {"parquet": "parquet", "csv": "csv", "tsv": "csv", "json": "json", "jsonl": "json", "ndjson": "json"}
HEADER, DELIMITER = "csv.header", "csv.field-delimiter"
WRITE = "write the columns: CREATE TABLE t (ts TIMESTAMP(3), ...) WITH (...)"
MILLISECONDS = 10**12, 10**13  # of the years 2001 to 2286
TIME_NAME = re.compile(r"time|date|epoch|^ts$|_ts$|_at$", re.IGNORECASE)
NAME = re.compile(r"[A-Za-z_][\w .-]*")


@dataclass(frozen=True)
class Inferred:
    """Names of columns with their types in Flink's words, and the options without which the files cannot be read so.
    `epochs` are the columns whose numbers are times since 1970, with the digits of the fraction of a second: 3 or 0.
    `bad` are the lines of the `file` that are not rows.
    """

    columns: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, str], ...] = ()
    epochs: tuple[tuple[str, int], ...] = ()
    file: str = ""
    bad: tuple[BadLine, ...] = ()

    @property
    def problem(self) -> str:
        """Describe the first bad line; "" if every line is a row."""
        if not self.bad:
            return ""
        more = f" (and {len(self.bad) - 1} more bad lines)" if len(self.bad) > 1 else ""
        return f"{self.file}, {self.bad[0]}{more}"


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
        close = nearest_file(path, [f".{end}" for end in FORMATS])
        raise DataError(
            f"there is no file {path}", hint=f"did you mean {close}?" if close else f"check the path, or {WRITE}"
        )
    try:
        match form:
            case "parquet":
                return _inferred(rows_of_parquet(files[0]), files[0], form)
            case "json":
                rows, bad = rows_of_json(first_lines(files[0]), files[0])
                return replace(_inferred(rows, files[0], form), file=files[0], bad=tuple(bad))
        return _csv(files[0], options)
    except (OSError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise DataError(f"the columns of {files[0]} cannot be found: {first}", hint=WRITE) from error


def _csv(file: str, options: dict[str, str]) -> Inferred:
    """Without the option csv.header, a first line is a header if its names do not have the types of the other lines."""
    import pyarrow as pa

    delimiter = options.get(DELIMITER) or ("\t" if file.lower().removesuffix(".gz").endswith(".tsv") else ",")
    content = first_lines(file)
    given = options.get(HEADER)
    found = {} if DELIMITER in options or delimiter == "," else {DELIMITER: "\\t"}
    if given is None:
        (with_header, _), types = rows_of_csv(content, delimiter, header=True), pa.types
        names = with_header.column_names
        named = all(NAME.fullmatch(name) for name in names) and len({*names}) == len(names)
        if named and (content.count(b"\n") < 2 or all(map(types.is_string, with_header.schema.types))):
            raise DataError(
                f"it is not clear whether the first line of {file} has the names of its columns",
                hint=f"CREATE TABLE t WITH ('path' = '{file}', '{HEADER}' = 'true')",
            )
        given = "true" if named else "false"
        found |= {HEADER: given} if named else {}
    rows, bad = rows_of_csv(content, delimiter, header=given == "true")
    return replace(_inferred(rows, file, "csv", tuple(found.items())), file=file, bad=tuple(bad))


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
