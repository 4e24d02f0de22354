"""Names and literals that are not what one expects: they come out as they went in, or are refused."""

from __future__ import annotations

import builtins

import pytest

from tvfsql import TvfSqlError, compile
from tvfsql.errors import BindError, UnsupportedError
from tvfsql.plan.values.types import BIGINT

TABLE = "CREATE TABLE t (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 't');"


@pytest.mark.parametrize("literal", ["${x}", "${env:HOME}", "${system:user.home}", "${spark.app.name}", "$${x}"])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT '{}' FROM t",
        "SELECT n FROM t WHERE k = '{}'",
        "SELECT COUNT(*) FILTER (WHERE k <> '{}') FROM t",
        "SELECT LISTAGG(k, '{}') FROM t",
        "SELECT '{}', SUM(n) OVER () FROM t",
        "SELECT n FROM t WHERE n <> ALL (SELECT n FROM t WHERE k LIKE '{}')",
        "SELECT n FROM t JOIN (VALUES ('{}')) AS v (w) ON k = w",
    ],
)
def test_nothing_that_spark_would_replace_reaches_it(query: str, literal: str) -> None:
    code = str(compile(TABLE + query.format(literal)))
    assert "${" not in code.partition("def query")[2].partition("__main__")[0]
    assert "u0024{" in code


@pytest.mark.parametrize("name", ["${x}", "a${x}", "$control", "$watermark", "$channel"])
def test_a_name_that_spark_or_tvfsql_has_for_itself_is_refused(name: str) -> None:
    for sql in (
        f"CREATE TABLE `{name}` (k STRING) WITH ('connector' = 'print')",
        f"CREATE TABLE u (`{name}` STRING) WITH ('connector' = 'print')",
        f"CREATE TABLE u (r ROW<`{name}` STRING>) WITH ('connector' = 'print')",
        f"SELECT n AS `{name}` FROM t",
        f"WITH c (`{name}`) AS (SELECT 1) SELECT * FROM c",
        f"SELECT `{name}`.n FROM t AS `{name}`",
    ):
        with pytest.raises(UnsupportedError, match=r"is reserved|Spark would replace"):
            compile(TABLE + sql)


NAMES = ["class", "import", "from", "def", "None", "True", "self", "sqlQuery", "args", "kwargs", "spark", "F", "rows"]


@pytest.mark.parametrize("name", NAMES)
def test_tables_may_be_called_like_words_of_python(name: str) -> None:
    for sql in (
        TABLE.replace("TABLE t", f"TABLE `{name}`") + f"SELECT n, SUM(n) OVER () AS s FROM `{name}`",
        f"{TABLE}WITH `{name}` AS (SELECT * FROM t) SELECT n, SUM(n) OVER () AS s FROM `{name}`",
        f"{TABLE}SELECT n, SUM(n) OVER () AS s FROM t AS `{name}`",
    ):
        code = str(compile(sql))
        builtins.compile(code, name, "exec")
        given = code.partition("spark.sql(")[2]
        assert not any(f" {taken}=" in given for taken in ("self", "sqlQuery", "args"))


@pytest.mark.parametrize(
    "function", ["TUMBEL(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)", "SUM(t)", "TUMBLE_END(n)"]
)
def test_a_misspelt_inner_window_function_is_refused(function: str) -> None:
    outer = f"SELECT * FROM TABLE(TUMBLE(TABLE {function}, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    with pytest.raises(BindError, match="there is no window function"):
        compile(TABLE + outer)


def test_more_than_a_thousand_variables_may_have_one_name() -> None:
    arms = " UNION ALL ".join(["SELECT n FROM t"] * 120)
    ctes = ", ".join(f"c{i} AS ({arms})" for i in range(9))
    query = " UNION ALL ".join(f"SELECT n FROM c{i}" for i in range(9))
    assert "t_1001" in str(compile(f"{TABLE}WITH {ctes} {query}"))


def test_a_dataframes_columns_have_names_that_can_be_read() -> None:
    from tvfsql.catalog import Catalog, Table
    from tvfsql.catalog.table import TableColumn

    with pytest.raises(TvfSqlError, match=r"the column \$control of t"):
        Catalog().add(Table("t", (TableColumn("$control", BIGINT),)))
