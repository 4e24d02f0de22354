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
- **Texts that cannot be read** fail in `UNIX_TIMESTAMP`, and in `DATE_FORMAT` of a text. Flink returns the least BIGINT
  and NULL.
- **Wall clocks** of `TIMESTAMP_LTZ` are in the zone of `table.local-time-zone`, as in Flink, whatever zone Spark's
  session has. `DATE_FORMAT` is the exception: where the zone of Spark's session skips an hour, it shifts wall clocks
  that lie in it. Set `spark.sql.session.timeZone` to `UTC` to rule this out; tvfsql's own Spark does.
- **Casts** to `CHAR(n)`, `VARCHAR(n)`, `BINARY(n)`, `VARBINARY(n)` and `TIMESTAMP(p)` cut and pad as in Flink, with at
  most 6 digits of a second. A time as text has the digits of its type; those of a column are milliseconds.
- `array[i]` counts from 1, and is NULL beyond the end, as is `map[key]` without the key.
- `STDDEV` and `VAR` of DECIMALs have about 15 digits; Flink computes them exactly.

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

Refused: `MULTISET[...]`, `CURRENT_WATERMARK`, `TIME` columns and `CURRENT_TIME`, `HASH_CODE`, formats of wall clocks
with a zone, `TRUNCATE` of DOUBLE.
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
