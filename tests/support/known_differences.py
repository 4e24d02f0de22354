"""The differences from Flink that the documentation names, by what a script and its answers look like."""

from __future__ import annotations

import re
from dataclasses import dataclass

from conformance import Situation


@dataclass(frozen=True)
class Known:
    """A difference. `named` are words of docs/compatibility.md or of a page beside it, which says more."""

    named: str
    page: str = "compatibility.md"
    sql: str = ""  # a regular expression that the script matches
    details: str = ""  # and one that the details of the verdict match
    kinds: tuple[str, ...] = ("rows",)


KNOWN: tuple[Known, ...] = ()


def known(script: Situation, kind: str, details: str) -> str:
    """The words that name this difference, if any do."""
    text = "\n".join([*script.views, *script.inserts, script.sql])
    for each in KNOWN:
        if kind in each.kinds and re.search(each.sql, text, re.DOTALL) and re.search(each.details, details, re.DOTALL):
            return each.named
    return ""
