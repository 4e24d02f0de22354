"""Types in plans are values: equal where Spark stores them alike, and never taken apart as text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tvfsql
from tvfsql.plan.values.spark_types import of_spark
from tvfsql.plan.values.types import SqlType, has_map, of_column, widest
from tvfsql.syntax.types.words import parse_type

PACKAGE = Path(tvfsql.__file__).parent
READERS = ("plan/values/types.py", "syntax/types/words.py", "syntax/types/trees.py")  # of the text of types
NAMES = r"(?:array|map|struct|decimal|timestamp|time|interval|row|char)"
TAKEN_APART = re.compile(
    rf"""\.(?:startswith|partition|removeprefix|removesuffix|split)\(\(?["']{NAMES}[<( "']"""  # kind.startswith("map<")
    rf"""|["']{NAMES}[<(]["'] in """  # "map<" in kind
    r"""|(?:kind|\.type)\[\d*:|(?:kind|\.type)\.partition\("""  # kind[6:-1]
    r"""|f["'](?:array|map|struct|decimal)[<(]\{\w*(?:kind|type)""",  # f"array<{kind}>"
)


def test_no_code_takes_the_text_of_a_type_apart() -> None:
    files = [file for file in PACKAGE.rglob("*.py") if file.relative_to(PACKAGE).as_posix() not in READERS]
    lines = ((file, line) for file in files for line in file.read_text("utf-8").splitlines())
    found = [f"{file.name}: {line.strip()}" for file, line in lines if TAKEN_APART.search(line)]
    assert len(files) > 400 and found == []


@pytest.mark.parametrize(
    "line",
    [
        'if kind.startswith(("array<", "map<")):',
        "inner = kind[6:-1]",
        'if "map<" in kind:',
        'return f"array<{kind}>"',
        'return field.type.partition("(")[0]',
    ],
)
def test_code_that_does_is_found(line: str) -> None:
    assert TAKEN_APART.search(line)


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("CHAR(3)", "CHAR(3)", "CHAR(3)"),
        ("CHAR(3)", "CHAR(4) NOT NULL", "VARCHAR(4)"),
        ("VARCHAR(3) NOT NULL", "STRING NOT NULL", "STRING NOT NULL"),
        ("BINARY(3)", "VARBINARY(2)", "VARBINARY(3)"),
        ("TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(3)"),
        ("ARRAY<CHAR(1) NOT NULL>", "ARRAY<CHAR(2)>", "ARRAY<VARCHAR(2)>"),
        ("ROW<a TIMESTAMP_LTZ(3)>", "ROW<a TIMESTAMP_LTZ(6)>", "ROW<`a` TIMESTAMP_LTZ(6)>"),
    ],
)
def test_equal_types_have_one_that_holds_the_values_of_both(one: str, other: str, both: str) -> None:
    left, right = parse_type(one), parse_type(other)
    assert left == right and hash(left) == hash(right)
    assert widest(left, right).declared == widest(right, left).declared == both


def test_types_whose_values_are_stored_differently_are_not_equal() -> None:
    kinds = ["INT", "BIGINT", "DECIMAL(3, 1)", "DECIMAL(3, 2)", "STRING", "BYTES", "TIMESTAMP", "TIMESTAMP_LTZ", "DATE",
             "TIME(0)", "TIME(3)", "ARRAY<INT>", "MAP<INT, STRING>", "ROW<a INT>", "ROW<b INT>"]  # fmt: skip
    assert len({parse_type(kind) for kind in kinds}) == len(kinds)
    assert parse_type("MULTISET<STRING>") == parse_type("MAP<STRING, INT>")


def test_a_column_of_a_new_table_cuts_no_values() -> None:
    made = of_column(parse_type("ROW<a CHAR(3) NOT NULL, b ARRAY<TIMESTAMP(0)>, c BINARY(2)> NOT NULL"))
    assert made.declared == "ROW<`a` STRING, `b` ARRAY<TIMESTAMP(3)>, `c` BYTES>"


def test_types_are_found_and_replaced_inside_others() -> None:
    kind = parse_type("ROW<`a b` ARRAY<SMALLINT>, m MAP<STRING, SMALLINT>>")

    def wide(part: SqlType) -> SqlType:
        return of_spark("int") if part == of_spark("smallint") else part

    assert has_map(kind) and not has_map(of_spark("array<struct<`map<`:int>>"))
    assert kind.transform(wide).spark == "struct<`a b`:array<int>,m:map<string,int>>"
