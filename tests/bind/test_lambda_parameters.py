"""Parameters of lambda functions in Spark SQL: none hides a column that is put into the body, whatever its name."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tvfsql
from tvfsql import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGE = Path(tvfsql.__file__).parent
LAMBDA = re.compile(r"(`?[$\w]+`?|\([`$\w, ]+\)) -> ")
HOLE = re.compile(r"\{(?!result\})\w+\}")  # {result} becomes text over the parameter


def texts() -> Iterator[str]:
    """The strings of the compiler. In f-strings only the constants of the module are filled in."""
    for folder in ("bind", "emit", "physical", "plan", "rules"):
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            dotted = ".".join(("tvfsql", *path.relative_to(PACKAGE).with_suffix("").parts))
            known = vars(importlib.import_module(dotted.removesuffix(".__init__")))
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value
                elif isinstance(node, ast.JoinedStr):
                    yield "".join([filled(part, known) for part in node.values])


def filled(part: ast.expr, known: dict[str, object]) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    assert isinstance(part, ast.FormattedValue)
    value = known.get(part.value.id) if isinstance(part.value, ast.Name) else None
    return value if isinstance(value, str) else "?"


def lambdas(text: str) -> Iterator[tuple[list[str], str]]:
    """The parameters of each lambda function in a text, and its body."""
    for found in LAMBDA.finditer(text):
        depth, end = 0, found.end()
        while end < len(text) and depth >= 0 and not (depth == 0 and text[end] == ","):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield re.findall(r"[`$\w]+", found[1]), text[found.end() : end]


def test_a_parameter_around_a_placeholder_has_a_name_that_no_column_has() -> None:
    around = [(names, body) for text in texts() for names, body in lambdas(text) if HOLE.search(body)]
    assert len(around) >= 3
    assert [one for one in around if not all(name.startswith("`$") for name in one[0])] == []


def test_the_users_own_parameters_get_such_names() -> None:
    sql = """CREATE TABLE t (a ARRAY<ROW<x INT>>, x INT) WITH ('connector' = 'filesystem', 'path' = 't',
        'format' = 'json'); SELECT FILTER(a, x -> x.x > c) AS f FROM (SELECT a, x AS c FROM t)"""
    assert "FILTER(a, `$$x` -> `$$x`.x > `x`)" in tvfsql.compile(sql).code


@pytest.mark.spark
def test_columns_may_be_named_like_parameters(spark: SparkSession) -> None:
    columns = "item STRING, key MAP<INT, INT>, value MAP<INT, INT>, e STRING, x STRING, tags ARRAY<STRING>"
    session = Session(spark)
    session.register("t", spark.createDataFrame([("a", {1: 2, 3: 4}, {1: 5}, "b", "c", ["b", "c"])], columns))
    sql = """SELECT ARRAY_CONTAINS(tags, item), ARRAY_CONTAINS(tags, x), ARRAY_REMOVE(tags, item),
            ARRAY_REMOVE(tags, e), MAP_UNION(`key`, `value`), ARRAY_CONTAINS(tags, other), FILTER(tags, x -> x <> mine)
        FROM (SELECT *, item AS other, x AS mine FROM t)"""
    (row,) = session.sql(sql).collect()
    assert tuple(row) == (False, True, ["b", "c"], ["c"], {1: 5, 3: 4}, False, ["b"])


@pytest.mark.spark
def test_an_element_may_be_a_subquery(spark: SparkSession) -> None:
    """Spark takes none in a lambda. NULL is an element, as in Flink."""
    session = Session(spark)
    session.register("t", spark.createDataFrame([([1, 2],), ([1, None],), (None,)], "a ARRAY<INT>"))
    session.register("u", spark.createDataFrame([(2, None)], "n INT, nothing INT"))
    sql = """SELECT ARRAY_CONTAINS(a, (SELECT MAX({0}) FROM u)) AS c, ARRAY_REMOVE(a, (SELECT MAX({0}) FROM u)) AS r
        FROM t"""
    assert [tuple(row) for row in session.sql(sql.format("n")).collect()] == [
        (True, [1]),
        (False, [1, None]),
        (None, None),
    ]
    assert [tuple(row) for row in session.sql(sql.format("nothing")).collect()] == [
        (False, [1, 2]),
        (True, [1]),
        (None, None),
    ]
    (row,) = session.sql("SELECT COUNT(*) FROM t WHERE ARRAY_CONTAINS(a, (SELECT MAX(n) FROM u))").collect()
    assert row[0] == 1
