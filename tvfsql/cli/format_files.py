"""`tvfsql fmt`: scripts in the standard layout, in place."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from tvfsql.errors import DataError, TvfSqlError
from tvfsql.named_files import read_text
from tvfsql.syntax.layout import format_script


def format_files(files: Sequence[str], check: bool, out: TextIO) -> bool:
    """Format scripts in place, and `-` from stdin to `out`. Returns whether all were formatted before.

    `check`: only name the scripts that are not. A script with an error is left alone; after the last one the first
    error is raised.
    """
    errors: list[TvfSqlError] = []
    changed = 0
    for file in files:
        try:
            changed += _format(file, check, out)
        except TvfSqlError as error:
            errors.append(error)
    for each in errors[1:]:
        print(each, file=sys.stderr)
    if errors:
        raise errors[0]
    return not changed


def _format(file: str, check: bool, out: TextIO) -> bool:
    """Format one script. Returns whether it changed."""
    before = sys.stdin.read() if file == "-" else read_text(file)
    after = format_script(before, None if file == "-" else file)
    if file == "-" and not check:
        out.write(after)
        return False
    if before != after:
        if not check:
            _replace(Path(file).resolve(), after)
        print(f"{'not formatted' if check else 'formatted'}: {file}", file=sys.stderr)
    return before != after


def _replace(path: Path, text: str) -> None:
    """Write a file as a whole or not at all, with the permissions that it has."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
                os.fchmod(file.fileno(), path.stat().st_mode & 0o7777)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}") from error
