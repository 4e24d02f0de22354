"""The hint that names the script with the CREATE TABLE of a table that a command does not find."""

from __future__ import annotations

import argparse
import os
import re

from tvfsql.errors import TvfSqlError
from tvfsql.named_files import files_in

LARGEST = 1_000_000  # bytes of a script that is looked into


def name_script(error: TvfSqlError, given: argparse.Namespace) -> None:
    """Let the hint name the option -i with a script beside those of the command that creates the missing table."""
    from tvfsql.catalog.catalog import NoTableError

    if not isinstance(error, NoTableError) or error.similar or not hasattr(given, "init"):
        return
    read = [*(given.init or ()), *(getattr(given, "files", None) or ())]
    folders = dict.fromkeys(os.path.dirname(file) for file in read) or {"": None}
    name = re.escape(error.name)
    what = r"CREATE\s+(?:OR\s+REPLACE\s+|TEMPORARY\s+)*(?:TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?"
    creates = re.compile(rf"\b{what}`?{name}\b(?!\.)", re.IGNORECASE)
    for folder in folders:
        for file in (os.path.join(folder, name) for name in files_in(folder, [".sql"])):
            if file not in read and creates.search(_text(file)):
                error.advice = f"-i {file}, which creates {error.name}"
                return


def _text(file: str) -> str:
    try:
        if os.path.getsize(file) > LARGEST:
            return ""
        with open(file, encoding="utf-8") as opened:
            return opened.read()
    except (OSError, UnicodeDecodeError):
        return ""
