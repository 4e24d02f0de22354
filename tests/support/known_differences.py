"""The differences from Flink that the documentation names, by what a script and its answers look like."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from conformance import Situation

Rows = Counter[str]
FAR_DOUBLE = re.compile(r"(?<=[ \[])-?\d+\.\d{6,}(?:e[-+]?\d+)?(?=[,\]])")


@dataclass(frozen=True)
class Known:
    """A difference. `named` are words of a page in docs that name it; each pattern is one of regular expressions.
    `alike` says whether rows that only tvfsql has, and rows that only Flink has, differ in this way alone."""

    named: str
    sql: str = ""  # matches the script
    details: str = ""  # matches the details of the verdict
    kind: str = "rows"
    page: str = "compatibility.md"
    alike: Callable[[Rows, Rows], bool] | None = None


def same_but(change: Callable[[str], str]) -> Callable[[Rows, Rows], bool]:
    """Whether the rows are the same once each was changed."""

    def alike(here: Rows, there: Rows) -> bool:
        return Counter(map(change, here.elements())) == Counter(map(change, there.elements()))

    return alike


def as_float(row: str) -> str:
    """A row whose DOUBLEs have the digits of a FLOAT."""
    return FAR_DOUBLE.sub(lambda found: f"{struct.unpack('f', struct.pack('f', float(found[0])))[0]:.6g}", row)


KNOWN = (
    Known("Overflow fails", details="too large|overflow", kind="refused", page="functions.md"),
    Known(
        "outer joins with equal columns and conditions of one side",
        details="an outer join (may compare|compares columns)",
        kind="refused",
    ),
    Known(
        "FLOOR and CEIL of a FLOAT or DOUBLE that are zero",
        sql=r"\b(FLOOR|CEIL)\(",
        alike=same_but(lambda row: re.sub(r"-0\.0(?!\d)", "0.0", row)),
    ),
    Known("a constant FLOAT, such as", sql=r"INSERT INTO .*AS FLOAT\)", alike=same_but(as_float)),
    Known(
        "an interval join on streams of rows before 1970",
        sql=r"\bJOIN\b.* ON .*\bINTERVAL '\d+' MINUTE",
        alike=lambda here, there: all(re.search(r'"(19[0-6]\d|1[0-8]\d\d|0\d{3})-', row) for row in (here | there)),
    ),
    Known(
        "in batch, a HOP of GROUP BY with some aggregates",
        sql=r"GROUP BY HOP\(",
        alike=lambda here, there: all(re.search(r'"19(69-12-31 2|70-01-01 0)', row) for row in there),
    ),
    Known(
        "versions of a key in a temporal join",
        sql=r"FOR SYSTEM_TIME AS OF",
        alike=lambda here, there: here.total() == there.total(),
    ),
)


def known(script: Situation, kind: str, details: str, here: Rows | None = None, there: Rows | None = None) -> str:
    """The words that name this difference, if any do. The rows of both, if both have answered."""
    text = "\n".join([*script.views, *script.inserts, script.sql])
    here, there = here or Rows(), there or Rows()
    for each in KNOWN:
        if kind != each.kind or not re.search(each.sql, text, re.DOTALL) or not re.search(each.details, details, re.S):
            continue
        if each.alike is None or each.alike(here - there, there - here):
            return each.named
    return ""
