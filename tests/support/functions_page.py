"""Generates docs/functions.md from the table of Flink's functions: `make golden` writes it, test_docs.py compares
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tvfsql.bind.flink import TOPICS
from tvfsql.plan.values.types import SqlType

PAGE = Path(__file__).parents[2] / "docs" / "functions.md"
HEAD = """\
# Flink's functions

This page is generated from the table in `tvfsql/bind/flink/functions/` by `make golden`. A function without a note is
meant to return the same as in Flink. `tests/end_to_end/batch/test_flink_functions.py` compares more than 2,900
expressions, which call all of these functions, with the results of Flink 2.3.

A function that is not listed here is passed to Spark under its own name, if Spark has it (`NVL`, `LENGTH`, `DATEDIFF`),
and follows Spark's rules. The type of some of them is only known to Spark: dividing one by an integer, and AVG, STDDEV
and VARIANCE of one, are rejected, because Flink's result depends on the type. `CAST(x AS DOUBLE)` says it. A function
that neither has is rejected, and so are Spark's `WINDOW`, `SESSION_WINDOW` and `WINDOW_TIME`.

An argument of a type that Flink does not take is rejected. A text, a number, bytes or a time in the place of another
of these is converted, and `tvfsql lint` says that Flink does not take it. `tests/bind/test_argument_types.py` has what
Flink answers to an argument of each type. Rejected although Flink takes them: `HASH_CODE` of a DOUBLE, DECIMAL, TIME or
TIMESTAMP, `JSON_VALUE` of what is not a STRING, a number as the separator of `SPLIT_INDEX`, a column as the
precision of `TO_TIMESTAMP_LTZ`, `OVERLAY` of BYTES, a BOOLEAN compared with a STRING, days of a TIME, a column as the
seed of `RAND` and `RAND_INTEGER`, an INTERVAL in place of a number, `COLLECT` of a MAP, and arrays that are compared
with arrays of elements of another class.

## What differs everywhere

- **Overflow fails.** Where an integer does not fit its type, Flink wraps or clamps it; here the query fails, in `CAST`
  and `TRY_CAST` too. A `CAST` to DECIMAL that does not fit is NULL, as in Flink; arithmetic of DECIMALs that does not
  fit is NULL in Flink, and fails here. So does a division of integers or DECIMALs by zero, which also fails in Flink.
- **Times before 1970** have the same fields as in Flink, which counts them back from 1970: `HOUR(TIMESTAMP '1969-12-31
  23:30:00')` is 0, and `MINUTE` is -30.
- **Literals** `DATE '...'`, `TIME '...'`, `TIMESTAMP '...'` and `INTERVAL '...'` are checked as in Flink. Beyond Flink,
  a time may follow a `T` and lack its seconds, `TIMESTAMP_LTZ '...'` is a literal, and intervals have milliseconds and
  microseconds. Spark's `DATE 'today'`, `DATE '2020'`, zones in literals, and `INTERVAL '5 minutes'`, whose unit is
  within the quotes, are rejected.
- **Strings** are parsed as times as in Flink, including days and hours that carry over. The exception is `TO_TIMESTAMP`
  with a format that has more than numbers (`MMM`, `a`), which follows Spark.
- **`TIMESTAMP_LTZ`** is shown in the zone `table.local-time-zone`, as in Flink, whatever zone Spark's session has.
  There are exceptions if the zone of Spark's session changes its clocks: around such an hour `DATE_FORMAT`,
  `TIMESTAMPDIFF`, comparisons with a TIMESTAMP, and adding an interval of a day or more follow that zone. To avoid
  this, set `spark.sql.session.timeZone` to `UTC`; tvfsql's own Spark does so.
- **Casts** to `CHAR(n)`, `VARCHAR(n)`, `BINARY(n)`, `VARBINARY(n)` and `TIMESTAMP(p)` cut and pad as in Flink, with at
  most 6 fractional digits of a second, inside arrays, maps and rows too. A time as text has the digits of its type;
  times in columns count as milliseconds, so a CAST of one to TIMESTAMP(3) keeps the microseconds that it has.
  `TRY_CAST` of an array, map or row is NULL if a text inside cannot be read.
- **Strings cast to DECIMAL** of up to 18 digits may lack digits, and may have one other character behind them, as in
  Flink: `CAST('5%' AS DECIMAL)` is 5, and `CAST('T' AS DECIMAL)` is 0.
- `array[i]` counts from 1. It is NULL beyond the end, and so is `map[key]` if the key is missing.
- `TIME` is Spark's type of that name. In a Spark session of your own it must be enabled with
  `spark.sql.timeType.enabled`. Casting a `TIMESTAMP` before 1970 to `TIME` fails. Spark cannot pass a `TIME` to Python
  yet, so it cannot be a key of sliding windows, or of windows on streams.
- `ROUND` and `TRUNCATE` of a DECIMAL to a number of digits in a column fail if that number is negative; Flink's result
  is wrong there. `COALESCE`, `IFNULL`, `GREATEST` and `LEAST` of a `DATE` and a `TIMESTAMP`, and `BOOLEAN = STRING`,
  are rejected.
- If a map has the same key twice, the last value counts, as in Flink. In a Spark session of your own the query fails
  instead, unless `spark.sql.mapKeyDedupPolicy` is `LAST_WIN`.
- `STDDEV` and `VAR` of a DECIMAL are exact up to the last digit of the result, which is rounded.
- `TIMESTAMPDIFF` of times more than 68 years apart is exact; Flink's wraps around in `WEEK`.
- `.5` is read as `0.5`, so DECIMALs computed with it can have a digit more. A literal below 1 that stands alone has one
  digit less in its type.
- `COLLECT` returns a multiset: a map from each value to the number of its occurrences. `COLLECT_LIST` returns a list.
- `LISTAGG` and `ARRAY_AGG` without a window have no defined order, as in Flink.

## With keywords

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
| `x [NOT] IN (a, b, ...)` | Flink converts the list to the type of `x`, so `0 IN (0.5)` is TRUE there |

A JSON path is strict unless it begins with `lax`. It can contain names, indexes (also from the end), slices, `*` and
`..name`. Filters (`[?(...)]`) and functions are rejected.

Also rejected: `(a, b) IN (SELECT ...)` in a SELECT list and `MULTISET[...]` (Flink cannot plan them either),
formats with a zone for `TIMESTAMP`, an element that a literal array or map does not have, and
`NULLIF` and `CASE x WHEN` of a literal cast to FLOAT and a number of another type.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *_topics()])


def _topics() -> Iterator[str]:
    for topic, functions in TOPICS.items():
        yield f"## {topic}\n"
        yield "| function | result | note |"
        yield "|---|---|---|"
        for function in functions:
            result = function.result.spark if isinstance(function.result, SqlType) else "by its arguments"
            yield f"| `{function.call}` | {result.replace('|', ' ')} | {function.note} |"
        yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
