"""Calls of Flink's functions and aggregates with an argument of each type: which of them Flink takes.

.venv/bin/python -m tests.support.argument_types asks Flink and writes tests/data/flink_argument_types.json: for each
function, and each of its arguments, the columns of COLUMNS that Flink takes there.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support.functions_page import TOPICS

HERE = Path(__file__).parents[1]
ANSWERS = HERE / "data" / "flink_argument_types.json"
PYTHON = HERE.parent / ".venv-flink" / "bin" / "python"
COLUMNS = {
    "s": "STRING", "i": "INT", "l": "BIGINT", "d": "DOUBLE", "p": "DECIMAL(10, 2)", "b": "BOOLEAN", "dt": "DATE",
    "tm": "TIME", "ts": "TIMESTAMP(3)", "tz": "TIMESTAMP_LTZ(3)", "bi": "BYTES", "a": "ARRAY<INT>",
    "m": "MAP<STRING, INT>", "r": "ROW<x INT>", "iv": "INTERVAL DAY",
}  # fmt: skip
INTERVAL = "INTERVAL '1' DAY"  # no table of files has such a column: it is computed
STORED = [f"{name} {kind}" for name, kind in COLUMNS.items() if name != "iv"]
TABLE = f"CREATE TABLE t ({', '.join(STORED)}, iv AS {INTERVAL})"
# sample values for the other arguments, by parameter name
USUAL = {
    **dict.fromkeys("string substring search replacement separator start end part key address json".split(), "s"),
    **dict.fromkeys("characters from to otherwise between within null".split(), "s"),
    **dict.fromkeys("numeric base exponent x y".split(), "d"),
    **dict.fromkeys("number integer seconds times length index position bits precision group seed bound".split(), "i"),
    "regex": "'a'", "format": "'yyyy'", "charset": "'UTF-8'", "url": "s", "pad": "s", "zone": "'UTC'", "binary": "bi",
    "time": "ts", "date": "dt", "array": "a", "other": "a", "element": "i", "keys": "a", "values": "a", "map": "m",
    "collection": "a", "value": "i", "ascending": "TRUE", "nulls_first": "TRUE", "rowtime": "tz", "strings": "s",
}  # fmt: skip
OTHERS = {"MAP_UNION": {"other": "m"}, "ARRAY_SLICE": {"start": "i", "end": "i"}, "PRINTF": {"format": "'%s'"}}
AGGREGATES = (
    "COUNT SUM AVG MIN MAX STDDEV_POP STDDEV_SAMP VAR_POP VAR_SAMP FIRST_VALUE LAST_VALUE LISTAGG COLLECT ARRAY_AGG"
).split()
# operators and keywords, with the argument in the place of {}
FORMS = (
    "{} + 1", "- {}", "{} || 'a'", "{} LIKE 'a'", "{} = 1", "{} = 'a'", "{} AND TRUE", "NOT {}", "{} IS TRUE",
    "{} SIMILAR TO 'a'", "{} BETWEEN 1 AND 2", "{} IN (1, 2)", "{} IN ('a', 'b')", "CASE WHEN {} THEN 1 END",
    "CASE {} WHEN 1 THEN 2 END", "EXTRACT(YEAR FROM {})", "EXTRACT(HOUR FROM {})", "FLOOR({} TO DAY)",
    "CEIL({} TO HOUR)", "TIMESTAMPADD(DAY, 1, {})", "TIMESTAMPADD(DAY, {}, ts)", "TIMESTAMPDIFF(DAY, {}, ts)",
    "{} + INTERVAL '1' DAY", "SUBSTRING({} FROM 1)", "SUBSTRING(s FROM {})", "POSITION({} IN s)", "POSITION(s IN {})",
    "TRIM({})", "OVERLAY({} PLACING 'a' FROM 1)", "COALESCE({}, i)", "COALESCE({}, s)", "NULLIF({}, i)",
    "NULLIF({}, s)", "IF({}, 1, 2)", "IF(b, {}, i)", "ABS({})", "MOD({}, 2)", "ROUND({}, 1)",
    "JSON_VALUE({}, '$.a')",
    "JSON_EXISTS({}, '$.a')", "JSON_OBJECT(KEY 'a' VALUE {})", "a[{}]", "m[{}]", "{} > ts", "{} > tz", "{} > dt",
)  # fmt: skip


class Asked(NamedTuple):
    """A call with its argument number `at` of the type of a column."""

    function: str
    at: int
    column: str
    sql: str


def calls() -> Iterator[Asked]:
    for topic in TOPICS.values():
        for function in topic:
            names = [name for name in function.arguments if name != "..."]
            usual = USUAL | OTHERS.get(function.name, {})
            if any(name not in usual for name in names):
                continue
            for at in range(len(names)):
                for column in COLUMNS:
                    given = [column if i == at else usual[name] for i, name in enumerate(names)]
                    yield Asked(function.call, at, column, f"{function.name}({', '.join(given)})")
    for name in AGGREGATES:
        for column in COLUMNS:
            yield Asked(f"{name}(x)", 0, column, f"{name}({column})")
    for form in FORMS:
        for column in COLUMNS:
            yield Asked(form, 0, column, form.replace("{}", column))


def answers() -> dict[str, list[str]]:
    """By function, for each argument the columns that Flink takes, in the order of COLUMNS."""
    found: dict[str, list[str]] = json.loads(ANSWERS.read_text(encoding="utf-8"))
    return found


FLINK = """
import json, sys
from pyflink.table import EnvironmentSettings, TableEnvironment
flink = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
asked = json.load(sys.stdin)
flink.execute_sql(asked["table"] + " WITH ('connector' = 'filesystem', 'path' = '/t', 'format' = 'json')")
out = []
for sql in asked["calls"]:
    try:
        flink.explain_sql(f"SELECT {sql} FROM t")
        out.append(True)
    except Exception:
        out.append(False)
print("ANSWERS " + json.dumps(out))
"""


def main() -> None:
    every = [*calls()]
    asked = json.dumps({"table": TABLE, "calls": [each.sql for each in every]})
    done = subprocess.run([PYTHON, "-c", FLINK], input=asked, capture_output=True, encoding="utf-8", check=True)
    taken = json.loads(done.stdout.partition("ANSWERS ")[2])
    found: dict[str, list[list[str]]] = {}
    for each, yes in zip(every, taken, strict=True):
        of = found.setdefault(each.function, [])
        while len(of) <= each.at:
            of.append([])
        if yes:
            of[each.at].append(each.column)
    lines = (f"{json.dumps(name)}: {json.dumps([' '.join(of) for of in kinds])}" for name, kinds in found.items())
    ANSWERS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(every)} calls, Flink takes {sum(taken)}", file=sys.stderr)


if __name__ == "__main__":
    main()
