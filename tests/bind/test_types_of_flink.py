"""The types that the binder gives to expressions are those of Flink 2.3. An operator over an expression whose type is
not known is computed as in Spark: `x / 2` would be a DOUBLE where Flink divides integers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tvfsql
from tests.support.examples import SOAK
from tvfsql.api import Compiled

DATA = Path(__file__).parents[1] / "data"
AT_ONCE = 60
STEP = 1 if SOAK else 5
ZONE = "SET 'table.local-time-zone' = 'Europe/Berlin'"
# expressions inside which the binder does not know that an element is NOT NULL, because it computes it from literals
NULLS = (
    "ARRAY[0.5, 1.25]",
    "ARRAY_APPEND(ARRAY[CAST(1.5 AS DECIMAL(3, 1))], 2.25)",
    "MAP['a', 0.5]",
    "MAP[COALESCE(CAST(tm AS STRING), 'n'), MOD(0, 7)]",
)


def read(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


FUNCTIONS, OF_TYPES = read("flink_functions.json"), read("flink_types.json")
CASES = {
    "functions": (FUNCTIONS["ddl"], "t", [*FUNCTIONS["cases"], *read("flink_functions_more.json")["cases"]]),
    "types": (OF_TYPES["ddl"], "w", OF_TYPES["cases"]),
}
# those that are refused; those whose type only Spark knows; and those whose type is another one on purpose
DIFFERENT = read("flink_functions_different.json")
LEFT_OUT = {expression for kind in DIFFERENT.values() for each in kind.values() for expression in each} | {"(i, s)"}


def types(ddl: str, table: str, expressions: list[str]) -> list[str]:
    items = ", ".join(f"{expression} AS x{i}" for i, expression in enumerate(expressions))
    query = tvfsql.compile(f"{ZONE}; {ddl}; SELECT {items} FROM {table}")
    assert isinstance(query, Compiled)
    return [field.type.flink for field in query.logical.schema]


@pytest.mark.soak
@pytest.mark.parametrize("name", CASES)
def test_types_are_those_of_flink(name: str) -> None:
    ddl, table, cases = CASES[name]
    asked = [case for case in cases if case["type"] and case.get("category") != "aggregate"]
    asked = [case for case in asked if case["expr"] not in LEFT_OUT][::STEP]
    wrong = {}
    for at in range(0, len(asked), AT_ONCE):
        part = asked[at : at + AT_ONCE]
        for case, kind in zip(part, types(ddl, table, [case["expr"] for case in part]), strict=True):
            wanted = case["type"].removesuffix(" NOT NULL")
            if kind != (wanted.replace(" NOT NULL>", ">") if case["expr"] in NULLS else wanted):
                wrong[case["expr"]] = (kind, wanted)
    assert len(asked) > 200
    assert wrong == {}
