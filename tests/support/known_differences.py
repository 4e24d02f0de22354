"""The differences from Flink that the documentation names, by what a script and its answers look like."""

from __future__ import annotations

import re
from dataclasses import dataclass

from conformance import Situation


@dataclass(frozen=True)
class Known:
    """A difference. `named` are words of a page in docs that name it; each pattern is one of regular expressions."""

    named: str
    sql: str = ""  # matches the script
    details: str = ""  # matches the details of the verdict
    kind: str = "rows"
    page: str = "compatibility.md"


KNOWN = (
    Known("Overflow fails", details="too large|overflow", kind="refused", page="functions.md"),
    Known(
        "outer joins with equal columns and conditions of one side",
        details="an outer join (may compare|compares columns)",
        kind="refused",
    ),
)


def known(script: Situation, kind: str, details: str) -> str:
    """The words that name this difference, if any do."""
    text = "\n".join([*script.views, *script.inserts, script.sql])
    for each in KNOWN:
        if kind == each.kind and re.search(each.sql, text, re.DOTALL) and re.search(each.details, details, re.DOTALL):
            return each.named
    return ""
