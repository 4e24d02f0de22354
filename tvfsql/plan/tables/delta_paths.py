"""Tables of Delta that are named by their folder, as delta.`/data/totals`. No catalog lists them."""

from __future__ import annotations

import re

_OF_FOLDER = re.compile(r"(?i)delta\.`((?:[^`]|``)*/(?:[^`]|``)*)`")


def folder_of(table: str) -> str | None:
    """The folder that a table's name in SQL contains; None for a table of a catalog."""
    found = _OF_FOLDER.fullmatch(table)
    return found[1].replace("``", "`") if found else None
