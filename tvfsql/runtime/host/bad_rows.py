"""Rows of files that cannot be read: finds the file and, if possible, the line and column."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from tvfsql.errors import DataError

FAILED = re.compile(
    r"FAILED_READ_FILE\S*\] Encountered error while reading file file:/*(/\S+?)\.?\s.*?"
    r"MALFORMED_RECORD_IN_PARSING\S*\] Malformed records are detected in record parsing: (.*?)\.\s",
    re.DOTALL,
)
VALUE = re.compile(
    r'Caused by: java\.lang\.NumberFormatException: For input string: "(?P<number>.+?)"'
    r"|Caused by: java\.time\.format\.DateTimeParseException: Text '(?P<time>.+?)' could not be parsed"
)
LOOKED_AT = 50_000_000  # the size of the largest file that is searched, in bytes
SHOWN = 200  # how many characters of a row are shown
HINT = (
    "'csv.ignore-parse-errors' = 'true' (or json.) reads bad values as NULL; "
    "on streams SET 'tvfsql.dead-letter' = 'TABLE' writes such rows to a table"
)
HEADER = "its first line looks like a header, which 'csv.header' = 'true' leaves out"
NAME = re.compile(r"[^\W\d][\w .-]*")


def bad_row(message: str) -> DataError | None:
    """The error for an unreadable row in Spark's message; None if the message names no file."""
    found = FAILED.search(message)
    if found is None:
        return None
    file, row = unquote(found.group(1)), found.group(2)
    of_value = VALUE.search(message)
    value = of_value and (of_value["number"] or of_value["time"])
    place = _place(Path(file), value) if value else None
    hint = f"{HEADER}; {HINT}" if _is_header(Path(file), row) and (place is None or place[0] == 1) else HINT
    if place is not None:
        line, column, text = place
        return DataError(f"a row cannot be read: {file}, line {line}, column {column}: {text[:SHOWN]}", hint=hint)
    because = f", because of {value!r}" if value else ""
    return DataError(f"a row cannot be read: {file}: {row[:SHOWN]}{because}", hint=hint)


def _is_header(file: Path, row: str) -> bool:
    """Whether the first line of a file has names only, and a row, as Spark shows it (`[item,null]`), some of them."""
    try:
        with file.open(encoding="utf-8") as lines:
            first = lines.readline(LOOKED_AT)
    except (OSError, UnicodeDecodeError):
        return False
    names = [name.strip().strip("\"'") for name in re.split(r"[,;\t|]", first.strip())]
    values = [value for value in row.strip("[]").split(",") if value != "null"]
    return all(map(NAME.fullmatch, names)) and {*values} <= {*names}


def _place(file: Path, value: str) -> tuple[int, int, str] | None:
    """Line, column and text of a value that stands between commas, colons, quotes or blanks. None unless exactly one
    line of the file contains it."""
    pattern = re.compile(rf"(?<![^\s,;|:\"'\t]){re.escape(value)}(?![^\s,;|\"'\t}}\]])")
    try:
        if file.stat().st_size > LOOKED_AT:
            return None
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    found = [(i, match.start() + 1, line) for i, line in enumerate(lines, 1) if (match := pattern.search(line))]
    return found[0] if len(found) == 1 else None
