"""The rows at the start of a local file of Parquet, CSV or JSON, and the lines that are not rows."""

from __future__ import annotations

import gzip
import io
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvfsql.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

FIRST = 1 << 20  # bytes of a file whose rows are looked at
ROWS = 1000  # of a Parquet file that are looked at
SHOWN = 200  # characters of a line that are shown
IN_ROW = re.compile(r" in row (\d+)$")


@dataclass(frozen=True)
class BadLine:
    """A line (from 1) that is not a row, and the reason: `it has 2 values, not 3`."""

    number: int
    text: str
    reason: str

    def __str__(self) -> str:
        return f"line {self.number}, {self.reason}: {self.text[:SHOWN]}"


def rows_of_parquet(file: str) -> pa.Table:
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    opened = pq.ParquetFile(file)
    rows: pa.Table = next(opened.iter_batches(batch_size=ROWS), None) or opened.schema_arrow.empty_table()
    return rows


def rows_of_csv(content: bytes, delimiter: str, *, header: bool) -> tuple[pa.Table, list[BadLine]]:
    """The rows with as many values as the first line has. Without `header` their columns are f0, f1, ..."""
    from pyarrow import csv  # type: ignore[attr-defined]

    found = list[csv.InvalidRow]()

    def skip(row: csv.InvalidRow) -> str:
        found.append(row)
        return "skip"

    rows: pa.Table = csv.read_csv(
        io.BytesIO(content),
        read_options=csv.ReadOptions(autogenerate_column_names=not header, use_threads=False),
        parse_options=csv.ParseOptions(delimiter=delimiter.replace("\\t", "\t"), invalid_row_handler=skip),
        convert_options=csv.ConvertOptions(timestamp_parsers=[csv.ISO8601], strings_can_be_null=True),
    )
    numbers = [number for number, line in enumerate(content.splitlines(), 1) if line]  # pyarrow counts no empty lines
    bad = (
        BadLine(numbers[row.number - 1], row.text, f"it has {_values(row.actual_columns)}, not {row.expected_columns}")
        for row in found
    )
    return rows, [*bad]


def rows_of_json(content: bytes, file: str) -> tuple[pa.Table, list[BadLine]]:
    """The rows of the lines that are objects. Raises DataError if none is, and ValueError if a column has values of two
    types."""
    import pyarrow as pa
    from pyarrow import json as of_arrow  # type: ignore[attr-defined]

    lines = {number: line for number, line in enumerate(content.splitlines(), 1) if line.strip()}
    bad = [BadLine(number, _text(line), reason) for number, line in lines.items() if (reason := _not_an_object(line))]
    wrong = {each.number for each in bad}
    good = [(number, line) for number, line in lines.items() if number not in wrong]
    if bad and not good:
        hint = "write one object a line, such as with jq -c '.[]'"
        raise DataError(f"no line of {file} is a JSON object: {bad[0]}", hint=hint)
    source = io.BytesIO(b"\n".join(line for _, line in good) + b"\n")
    once = of_arrow.ReadOptions(use_threads=False, block_size=2 * FIRST)
    try:
        rows: pa.Table = of_arrow.read_json(source, read_options=once)
    except pa.ArrowInvalid as error:
        place = IN_ROW.search(str(error))
        if place is None:
            raise
        number, line = good[int(place.group(1))]
        changed = str(error).partition(": ")[2].removesuffix(place.group())
        raise ValueError(str(BadLine(number, _text(line), changed))) from error
    return rows, bad


def first_lines(file: str) -> bytes:
    """The whole lines at the start of a file."""
    with gzip.open(file) if file.lower().endswith(".gz") else open(file, "rb") as source:
        content = source.read(FIRST)
        rest = source.read(1)
    return content if not rest else content[: content.rfind(b"\n") + 1]


def _values(count: int) -> str:
    return f"{count} value{'' if count == 1 else 's'}"


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").strip()


def _not_an_object(line: bytes) -> str:
    """Why a line is not a JSON object; "" if it is one."""
    try:
        found = json.loads(line)
    except ValueError as error:
        at = getattr(error, "pos", None)
        return "it is not JSON" if at is None else f"it is not JSON from column {at + 1} on"
    return "" if isinstance(found, dict) else "it is not a JSON object"
