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
VALUE = re.compile(r'Caused by: java\.lang\.NumberFormatException: For input string: "(.+?)"')
LOOKED_AT = 50_000_000  # the size of the largest file that is searched, in bytes
SHOWN = 200  # how many characters of a row are shown
HINT = (
    "'csv.ignore-parse-errors' = 'true' (or json.) reads bad values as NULL; check the header, too; "
    "on streams SET 'tvfsql.dead-letter' = 'TABLE' writes such rows to a table"
)


def bad_row(message: str) -> DataError | None:
    """The error for an unreadable row in Spark's message; None if the message names no file."""
    found = FAILED.search(message)
    if found is None:
        return None
    file, row = unquote(found.group(1)), found.group(2)
    value = VALUE.search(message)
    place = _place(Path(file), value.group(1)) if value else None
    if place is not None:
        line, column, text = place
        return DataError(f"a row cannot be read: {file}, line {line}, column {column}: {text[:SHOWN]}", hint=HINT)
    because = f", because of {value.group(1)!r}" if value else ""
    return DataError(f"a row cannot be read: {file}: {row[:SHOWN]}{because}", hint=HINT)


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
