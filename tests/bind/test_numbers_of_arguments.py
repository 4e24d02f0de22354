"""A call with another number of arguments than Flink's or Spark's function takes is refused by name, and none is lost:
sqlglot drops those that it does not expect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import sqlglot
from sqlglot import exp

from tests.support.examples import SOAK
from tests.support.spark_functions import line
from tvfsql import compile
from tvfsql.bind.flink import by_name
from tvfsql.bind.spark_text.functions import functions
from tvfsql.errors import BindError
from tvfsql.syntax.dialect import FlinkSql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = """CREATE TABLE t (s STRING, n INT, d DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
    WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');"""
NAMES = sorted(name for name in {*map(str.upper, functions()), *by_name()} if name.isidentifier() and name != "EXTRACT")


@pytest.mark.parametrize("number", range(8))
def test_no_argument_is_lost(number: int) -> None:
    arguments = [f"c{i}" for i in range(number)]
    for name in NAMES:
        try:
            tree = sqlglot.parse_one(f"SELECT {name}({', '.join(arguments)}) AS x FROM t", dialect=FlinkSql)
        except sqlglot.ParseError:
            continue
        assert {*arguments} <= {part.name for part in tree.find_all(exp.Identifier, exp.Var)}, name


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("UPPER(s, s)", "UPPER takes 1 argument, not 2"),
        ("MOD(n, 2, 3)", "MOD takes 2 arguments, not 3"),
        ("CEIL(d, 1, 2)", "CEIL takes 1 or 2 arguments, not 3"),
        ("SPLIT(s)", "SPLIT takes 2 or 3 arguments, not 1"),
        ("MAKE_INTERVAL(1, 1, 1, 1, 1, 1, 1, 1)", "MAKE_INTERVAL takes 0 to 7 arguments, not 8"),
        ("CONCAT_WS()", "CONCAT_WS takes 1 or more arguments, not 0"),
        ("PI(n)", "PI takes 0 arguments, not 1"),
        ("MAP('a', 1, 'b')", "MAP takes an even number of arguments, not 3"),
        ("CORR(d) OVER (PARTITION BY n)", "CORR takes 2 arguments, not 1"),
        ("CORR(DISTINCT d) OVER (PARTITION BY n)", "CORR takes 2 arguments, not 1"),
        ("COLLECT_LIST()", "COLLECT_LIST takes 1 argument, not 0"),
        ("SUM(d, d)", "SUM takes 1 argument, not 2"),
        ("FIRST(d, FALSE)", "FIRST_VALUE takes 1 argument, not 2"),
        ("LAG() OVER (ORDER BY ts)", "LAG takes 1 to 3 arguments, not 0"),
    ],
)
def test_another_number_of_arguments_is_refused_by_name(call: str, problem: str) -> None:
    with pytest.raises(BindError) as raised:
        compile(f"{TABLE} SELECT {call} AS x FROM t", mode="batch")
    assert raised.value.message == problem and raised.value.hint


@pytest.mark.parametrize(
    "call",
    [
        "SPLIT(s, ',', 2)",
        "MAP('a', 1, 'b', 2, 'c', 3, 'd', 4, 'e', 5, 'f', 6)",
        "GREATEST(n, 1, 2, 3)",
        "TO_TIMESTAMP_LTZ(n, 3)",
        "FLOOR(d)",
    ],
)
def test_numbers_that_flink_or_spark_takes_are_taken(call: str) -> None:
    compile(f"{TABLE} SELECT {call} AS x FROM t", mode="batch")


def test_first_ignores_nulls_only_where_it_is_told() -> None:
    code = compile(f"{TABLE} SELECT FIRST(s, FALSE) OVER (ORDER BY ts) AS x FROM t", mode="batch").code
    assert "FIRST_VALUE(s, FALSE)" in code


@pytest.mark.spark
def test_spark_takes_these_numbers(spark: SparkSession) -> None:
    for name in [*functions()][:: 1 if SOAK else 40]:
        counts = functions()[name]
        assert line(name, spark) == " ".join(filter(None, [name, counts]))
