"""Times as text: parsed as Flink does, and formatted with Java's patterns."""

from __future__ import annotations

import re
from itertools import groupby

from tvfsql.bind.flink.time.wall_clock import on_clock, to_millis
from tvfsql.errors import UnsupportedError
from tvfsql.plan.values.types import SqlType

DEFAULT = "'yyyy-MM-dd HH:mm:ss'"
ZONES = re.compile("[zZxXOV]")
LETTERS = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+")
# the US week of a day: it begins on Sunday and belongs to the year of its Saturday
SATURDAY = "DATE_ADD(CAST({0} AS DATE), 7 - DAYOFWEEK({0}))"
OF_WEEKS = {
    "c": "DAYOFWEEK({0})",
    "W": "((DAYOFMONTH({0}) + DAYOFWEEK(TRUNC({0}, 'MM')) - 2) DIV 7 + 1)",
    "n": "CAST(EXTRACT(SECOND FROM {0}) * 1000000000 % 1000000000 AS INT)",
    "N": "(TIMESTAMPDIFF(MICROSECOND, CAST(CAST({0} AS DATE) AS TIMESTAMP_NTZ), {0}) * 1000)",
    "A": "TIMESTAMPDIFF(MILLISECOND, CAST(CAST({0} AS DATE) AS TIMESTAMP_NTZ), {0})",
    "Y": f"YEAR({SATURDAY})",
    "w": f"(DAYOFYEAR({SATURDAY}) + 6) DIV 7",
    "e": "DAYOFWEEK({0})",
    "u": "YEAR({0})",
}
NARROW = ("EEEEE", "MMMMM", "LLLLL")


def read(text: str, *, millis: bool = True) -> str:
    """TO_TIMESTAMP: parse a text as a wall-clock time; a day beyond the end of its month becomes its last day. With
    `millis` further digits are dropped.
    """
    shape = "'^\\\\d\\\\d\\\\d\\\\d-\\\\d{1,2}-\\\\d{1,2}( \\\\d{1,2}:\\\\d{1,2}:\\\\d{1,2}(\\\\.\\\\d{1,9})?)?$'"
    late = "'^(\\\\d\\\\d\\\\d\\\\d-\\\\d{1,2})-(29|30|31)( .*)?$'"
    month_end = f"LAST_DAY(TRY_CAST(REGEXP_EXTRACT({text}, {late}, 1) AS DATE))"
    clamped = f"TRY_CAST(CONCAT({month_end}, REGEXP_EXTRACT({text}, {late}, 3)) AS TIMESTAMP_NTZ)"
    next_day = f"TRY_CAST(LEFT({text}, INSTR({text}, ' ')) AS TIMESTAMP_NTZ) + INTERVAL '1' DAY"
    midnight = f"IF({text} RLIKE ' 24:00?:00?(\\\\.0+)?$', {next_day}, NULL)"
    found = f"COALESCE(TRY_CAST({text} AS TIMESTAMP_NTZ), {clamped}, {midnight})"
    return f"IF({text} RLIKE {shape}, {to_millis(found) if millis else found}, NULL)"


def read_date(word: str) -> str:
    """Parse the text {0} as a DATE with CAST or TRY_CAST. The year 12 is '12'."""
    padded = "CONCAT(REPEAT('0', 5 - INSTR(CONCAT(TRIM({0}), '-'), '-')), TRIM({0}))"
    return f"{word}(IF({{0}} RLIKE '^\\\\s*[0-9]{{1,3}}(-[0-9]{{1,2}}){{0,2}}\\\\s*$', {padded}, {{0}}) AS DATE)"


def formatted(kind: SqlType, pattern: SqlType) -> str | None:
    return shown_as(str(on_clock("{0}")(kind)), pattern)


def shown_as(clock: str, pattern: SqlType) -> str:
    """Format a wall-clock time with a Java pattern; weeks are those of the US."""
    literal = pattern.literal
    parts = [found[0] for found in LETTERS.finditer(literal or "")]
    if any(ZONES.match(part) for part in parts):
        raise UnsupportedError("a TIMESTAMP has no zone to format", hint="DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss')")
    if not any(_is_ours(part) for part in parts):
        return f"DATE_FORMAT({clock}, {{1}})"
    texts = []
    for is_week, group in groupby(parts, key=_is_ours):
        if not is_week:
            text = "".join(group).replace("'", "''")
            texts.append(f"DATE_FORMAT({clock}, '{text}')")
            continue
        for part in group:
            if part in NARROW:
                texts.append(f"LEFT(DATE_FORMAT({clock}, '{part[:3]}'), 1)")
                continue
            if part in ("eee", "eeee", "ccc", "cccc"):
                texts.append(f"DATE_FORMAT({clock}, '{'E' * len(part)}')")
                continue
            number = f"CAST({OF_WEEKS[part[0]].replace('{0}', clock)} AS STRING)"
            if part in ("YY", "uu"):
                number = f"RIGHT({number}, 2)"
            texts.append(
                f"LPAD({number}, GREATEST({len(part)}, CHAR_LENGTH({number})), '0')" if len(part) > 1 else number
            )
    return texts[0] if len(texts) == 1 else f"CONCAT({', '.join(texts)})"


def _is_ours(part: str) -> bool:
    """Whether Spark's formats lack this part of a pattern, or mean something else by it."""
    return part[0] in OF_WEEKS or part in NARROW
