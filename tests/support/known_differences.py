"""The differences from Flink that the documentation names, by what a script and its answers look like."""

from __future__ import annotations

import json
import re
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from tests.support.conformance import Situation

Rows = Counter[str]
Alike = Callable[[Situation, Rows, Rows], bool]
FAR_DOUBLE = re.compile(r'(?<=[ \["])-?\d+\.\d{6,}(?:e[-+]?\d+)?(?=[,\]"])')
OF_VERSIONS = re.compile(
    r"SELECT (r\d+)\.id AS id\b.* FROM (\w+) AS \1 (?:LEFT )?JOIN p FOR SYSTEM_TIME AS OF \1\.ts AS \w+ ON"
)
OF_TIMES = re.compile(r"SELECT (r\d+)\.ts AS lt, (r\d+)\.ts AS rt\b.* AS \1 (LEFT |RIGHT |FULL )?JOIN ")


@dataclass(frozen=True)
class Known:
    """A difference. `named` are words of a page in docs that name it; each pattern is one of regular expressions.
    `alike` says whether rows that only tvfsql has, and rows that only Flink has, differ in this way alone."""

    named: str
    sql: str = ""  # matches the script
    details: str = ""  # matches the details of the verdict
    kind: str = "rows"
    page: str = "compatibility.md"
    alike: Alike | None = None


def same_but(change: Callable[[str], str]) -> Alike:
    """Whether the rows are the same once each was changed."""

    def alike(script: Situation, here: Rows, there: Rows) -> bool:
        return Counter(map(change, here.elements())) == Counter(map(change, there.elements()))

    return alike


def as_float(row: str) -> str:
    """A row whose DOUBLEs have the digits of a FLOAT."""
    return FAR_DOUBLE.sub(lambda found: f"{struct.unpack('f', struct.pack('f', float(found[0])))[0]:.6g}", row)


def null_for_default(script: Situation, here: Rows, there: Rows) -> bool:
    """Whether each row of Flink is one of tvfsql's with -1, a sum of two, or a blank in place of some NULLs."""
    left = [json.loads(row) for row in here.elements()]
    for row in map(json.loads, there.elements()):
        pairs = (
            each
            for each in left
            if all(
                one == other or (one is None and str(other) in ("-1", "-2", " "))
                for one, other in zip(each, row, strict=True)
            )
        )
        found = next(pairs, None)
        if found is None:
            return False
        left.remove(found)
    return not left


def rows_of(script: Situation, table: str) -> list[dict[str, Any]]:
    return next((each.objects() for each in script.tables if each.name == table), [])


def of_tied_versions(script: Situation, here: Rows, there: Rows) -> bool:
    """Whether each row that differs joins a version beside which another has its key and time."""
    time = "ts" if any("ts" in row for row in rows_of(script, "p")) else "t0"
    versions = Counter((row["k"], row[time]) for row in rows_of(script, "p"))
    if here.total() != there.total() or max(versions.values(), default=0) < 2:
        return False
    found = OF_VERSIONS.match(script.sql)
    if found is None:
        return True
    ids = [Counter(json.loads(row)[0] for row in rows.elements()) for rows in (here, there)]
    if ids[0] != ids[1]:
        return False
    for row in rows_of(script, found[2]):
        if row["id"] in ids[0]:
            at = row.get("ts") or row.get("t0")
            last = max((of for k, of in versions if k == row["k"] and of <= at), default="")
            if versions[row["k"], last] < 2:
                return False
    return True


def of_times_before_1970(script: Situation, here: Rows, there: Rows) -> bool:
    """Whether the rows are pairs of times before 1970 here, and in Flink at most the sides of an outer join alone.
    Where the times are not selected, some row has such a time. 1970 begins later on the clocks of an instant's zone.
    """
    found = OF_TIMES.match(script.sql)
    instants = all("ts AS CAST(t0 AS TIMESTAMP_LTZ(3))" in table.ddl for table in script.tables)
    begin = datetime.fromtimestamp(0, ZoneInfo(script.zone) if instants else UTC).strftime("%Y-%m-%d %H:%M:%S")
    if found is None:
        rows = (row for table in script.tables for row in table.objects())
        return any(str(row.get("ts") or row.get("t0")) < begin for row in rows)
    pairs, single = ([json.loads(row)[:2] for row in rows.elements()] for rows in (here, there))
    times = [time for pair in (*pairs, *single) for time in pair if time is not None]
    lonely = {(at, pair[at]) for pair in pairs for at in (0, 1)}
    return (
        all(time < begin for time in times)
        and all(None not in pair for pair in pairs)
        and all(None in pair and any((at, pair[at]) in lonely for at in (0, 1) if pair[at]) for pair in single)
        and (found[3] is not None or not single)
    )


def around_1970(script: Situation, here: Rows, there: Rows) -> bool:
    """Whether Flink has windows only where the time was misread: around 1970-01-01, or 2^32 milliseconds later."""
    windows = re.compile(r'"19(69-12-31 2|70-01-01 0|70-02-19 1)')
    return script.modes == ("batch",) and all(windows.search(row) for row in there)


def of_constants(script: Situation, here: Rows, there: Rows) -> bool:
    """Whether one row of each INSERT, or of the query, which is there more or less often, is all that differs."""
    return len(here | there) <= max(1, "\n".join(script.inserts).count("INSERT INTO"))


def of_broken_keys(script: Situation, here: Rows, there: Rows) -> bool:
    """Whether rows of a table break its primary key."""
    return any(
        "PRIMARY KEY (k)" in table.more and max(Counter(row["k"] for row in table.objects()).values(), default=0) > 1
        for table in script.tables
    )


def of_no_rows(script: Situation, here: Rows, there: Rows) -> bool:
    """Whether Flink has one row, and tvfsql none."""
    return not here and there.total() == 1


def of_nulls_in_arrays(script: Situation, here: Rows, there: Rows) -> bool:
    """Whether an array of a table has a NULL among its elements."""
    values = (value for table in script.tables for row in table.rows for value in row)
    return any(isinstance(value, list) and None in value for value in values)


def on_streams(script: Situation, here: Rows, there: Rows) -> bool:
    return script.modes == ("streaming",)


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
        alike=same_but(lambda row: re.sub(r"(?<![\d.])-0(?!\.?\d*[1-9])", "0", row)),
    ),
    Known("a constant FLOAT, such as", sql=r"INSERT INTO .*AS FLOAT\)", alike=same_but(as_float)),
    Known("a computed constant FLOAT", sql=r"CAST\([\d.]+ AS FLOAT\)\)* [-+*/%]", alike=same_but(as_float)),
    Known(
        "an interval join on streams of rows before 1970",
        sql=r"\bJOIN\b.* ON .*\bINTERVAL '\d+' MINUTE",
        alike=of_times_before_1970,
    ),
    Known(
        "in batch, a HOP of GROUP BY with some aggregates",
        sql=r"GROUP BY HOP\(",
        alike=around_1970,
    ),
    Known(
        "constants alone, selected from an EXCEPT ALL or INTERSECT ALL",
        sql=r" (EXCEPT|INTERSECT) ALL ",
        alike=of_constants,
    ),
    Known("WHERE over a SESSION table function", sql=r"TABLE\(SESSION\(.*\) WHERE ", alike=on_streams),
    Known(
        "GROUPING SETS, CUBE and ROLLUP over a SESSION with PARTITION BY",
        sql=r"TABLE\(SESSION\(TABLE \w+ PARTITION BY .*(GROUPING SETS|ROLLUP|CUBE) \(",
        alike=on_streams,
    ),
    Known(
        "EXISTS whose subquery compares its GROUPING or GROUPING_ID",
        sql=r"EXISTS \(SELECT .*GROUPING(_ID)?\([^()]*\) AS (\w+) .* = (r\d+)\.\2\b",
    ),
    Known(
        "EXISTS and IN whose subquery has GROUPING SETS, CUBE or ROLLUP",
        sql=r"(EXISTS|IN) \(SELECT .*(GROUPING SETS|CUBE|ROLLUP) \(.* HAVING .*COUNT\(",
        alike=lambda script, here, there: script.modes == ("streaming",) and not there,
    ),
    Known("a subquery beside one row that HAVING may drop", sql=r"\(SELECT .* HAVING ", alike=of_no_rows),
    Known(
        "where v groups by TUMBLE in GROUP BY and has HAVING",
        sql=r"GROUP BY TUMBLE\(.* HAVING .*\(SELECT ",
        alike=lambda script, here, there: script.modes == ("batch",) and not there,
    ),
    Known(
        "two arrays with NULL at the same place",
        sql=r"\bARRAY(_\w+)?[(\[][^=]*[)\]] (=|<>) |(=|<>) ARRAY[_\[]",
        alike=of_nulls_in_arrays,
    ),
    Known("GROUP BY of constants alone, over no rows", sql=r"GROUP BY ('[^']*'|[-\d.]+)$", alike=of_no_rows),
    Known(
        "a PRIMARY KEY NOT ENFORCED that rows break",
        sql=r"FROM p\b.* GROUP BY .*\bk\b|(LEFT|FULL) JOIN p AS (r\d+) ON r\d+\.k = \2\.k\b",
        alike=of_broken_keys,
    ),
    Known("UNNEST of an ARRAY_APPEND or ARRAY_PREPEND", sql=r"UNNEST\(ARRAY_(APPEND|PREPEND)\("),
    Known("an empty literal or constant, such as", sql=r"''\)* (NOT )?IN \("),
    Known("ORDER BY CAST(a AS STRING) of an ARRAY, with a LIMIT", sql=r"ORDER BY CAST\(\w+ AS STRING\).* LIMIT"),
    Known(
        "of values that are NOT NULL",
        sql=r"\bARRAY(_\w+)?[(\[].*[)\]]\[\d\]|MAP\[.*\]\['",
        alike=null_for_default,
    ),
    Known("versions of a key in a temporal join", sql=r"FOR SYSTEM_TIME AS OF", alike=of_tied_versions),
    Known("STDDEV_SAMP and VAR_SAMP of a single value", sql=r"(STDDEV|VAR)_SAMP\(", alike=null_for_default),
)


def known(script: Situation, kind: str, details: str, here: Rows | None = None, there: Rows | None = None) -> str:
    """The words that name this difference, if any do. The rows of both, if both have answered."""
    text = "\n".join([*script.views, *script.inserts, script.sql])
    here, there = here or Rows(), there or Rows()
    for each in KNOWN:
        if kind != each.kind or not re.search(each.sql, text, re.DOTALL) or not re.search(each.details, details, re.S):
            continue
        if each.alike is None or each.alike(script, here - there, there - here):
            return each.named
    return ""
