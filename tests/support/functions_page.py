"""docs/functions.md, made of the table of Flink's functions: `make golden` writes it, test_docs.py compares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tvfsql.bind.flink import collections, conditions, json, numbers, texts, times
from tvfsql.bind.flink.function import Function

PAGE = Path(__file__).parents[2] / "docs" / "functions.md"
HEAD = """\
# Flink's functions

This page is made of the table in `tvfsql/bind/flink/`: `make golden` writes it. A function without a note is meant to
return what Flink returns. `tests/end_to_end/batch/test_flink_functions.py` compares more than 1,700 expressions, which
call all of these functions, with the answers of Flink 2.3.

A function that is not listed here goes to Spark under its own name, if Spark has it (`NVL`, `LENGTH`, `DATEDIFF`), and
follows Spark's rules. A function that neither has is refused.

## What differs everywhere

- **Overflow fails.** Where an integer does not fit its type, Flink wraps or clamps it; here the query fails, in `CAST`
  and `TRY_CAST` too. A `CAST` to DECIMAL that does not fit is NULL, as in Flink; arithmetic of DECIMALs that does not
  fit is NULL in Flink, and fails here. So does a division of integers or DECIMALs by zero, which also fails in Flink.
- **Times before 1970** have Flink's fields, which count back from 1970: its `HOUR(TIMESTAMP '1969-12-31 23:30:00')` is
  0, and its `MINUTE` is -30.
- **Texts as times** are read as Flink reads them, also where days and hours carry over, in all functions but
  `TO_TIMESTAMP` of a format with letters that are no numbers (`MMM`, `a`); that one follows Spark.
- **Wall clocks** of `TIMESTAMP_LTZ` are in the zone of `table.local-time-zone`, as in Flink, whatever zone Spark's
  session has. `DATE_FORMAT` is the exception: where the zone of Spark's session skips an hour, it shifts wall clocks
  that lie in it. Set `spark.sql.session.timeZone` to `UTC` to rule this out; tvfsql's own Spark does.
- **Casts** to `CHAR(n)`, `VARCHAR(n)`, `BINARY(n)`, `VARBINARY(n)` and `TIMESTAMP(p)` cut and pad as in Flink, with at
  most 6 digits of a second. A time as text has the digits of its type; those of a column are milliseconds.
- `array[i]` counts from 1, and is NULL beyond the end, as is `map[key]` without the key.
- `TIME` is Spark's type of that name, which must be switched on in a session of your own:
  `spark.sql.timeType.enabled`. A `TIME` does not carry over midnight, and a `TIMESTAMP` before 1970 has none: that
  fails. Python cannot take it yet, so it cannot be a key of sliding windows, nor of windows on streams.
- Of two equal keys of a map the last one counts, as in Flink. In a session of your own Spark fails, unless
  `spark.sql.mapKeyDedupPolicy` is `LAST_WIN`.
- `STDDEV` and `VAR` of DECIMALs with more than 18 digits, of DISTINCT ones, and of those in windows that are merged
  from slices have about 15 digits.
- `COLLECT` returns a multiset, which is a map from each value to how often it is there. `COLLECT_LIST` is the list.
- `LISTAGG` and `ARRAY_AGG` without a window have no order, in Flink neither.

## With words

| expression | note |
|---|---|
| `JSON_VALUE(json, path [RETURNING type] [... ON EMPTY] [... ON ERROR])` | types: STRING, DOUBLE, INTEGER, BOOLEAN |
| `JSON_QUERY(json, path [RETURNING ARRAY<STRING>] [wrapper] [... ON EMPTY] [... ON ERROR])` | |
| `JSON_EXISTS(json, path [TRUE, FALSE, UNKNOWN or ERROR ON ERROR])` | |
| `JSON_OBJECT(KEY k VALUE v, ... [NULL or ABSENT ON NULL])`, `JSON_ARRAY(v, ...)` | |
| `JSON_OBJECTAGG(KEY k VALUE v)`, `JSON_ARRAYAGG(v)` | of a window in the order of event time |
| `x IS [NOT] JSON [VALUE, OBJECT, ARRAY or SCALAR]` | |
| `x [NOT] SIMILAR TO 'pattern' [ESCAPE 'c']` | the pattern is a literal |
| `(a, b) OVERLAPS (c, d)` | |
| `(a - b) DAY TO SECOND`, `(a - b) MONTH` | |
| `MAP[key, value, ...]`, `ARRAY[...]`, `ROW(...)` | |
| `CASE x WHEN a, b THEN ...` | |

A path into JSON is strict unless it begins with `lax`. It has names, indexes (from the end, too), slices, `*` and
`..name`; filters (`[?(...)]`) and functions are refused.

Refused: `MULTISET[...]` (Flink has no plan for it either), `CURRENT_WATERMARK`, formats of wall clocks with a zone,
and an element that a literal array or map does not have.
"""
TOPICS: dict[str, tuple[Function, ...]] = {
    "Text": texts.TEXTS,
    "Numbers": numbers.NUMBERS,
    "Times and dates": times.TIMES,
    "Collections": collections.COLLECTIONS,
    "Conditions and types": conditions.CONDITIONS,
    "JSON": json.JSON,
}


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *_topics()])


def _topics() -> Iterator[str]:
    for topic, functions in TOPICS.items():
        yield f"## {topic}\n"
        yield "| function | result | note |"
        yield "|---|---|---|"
        for function in functions:
            result = function.result if isinstance(function.result, str) else "by its arguments"
            yield f"| `{function.call}` | {result.replace('|', ' ')} | {function.note} |"
        yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
