"""Names and literals that are not what one expects: they come out as they went in, or are refused."""

from __future__ import annotations

import builtins

import pytest

from tvfsql import TvfSqlError, compile
from tvfsql.api import Compiled
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


OF_TWO = (
    "CREATE TABLE l (ts TIMESTAMP(3), k STRING, n INT, m MAP<STRING, INT>, r ROW<a INT>, WATERMARK FOR ts AS ts) "
    "WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 'l');"
    "CREATE TABLE r LIKE l;"
)


@pytest.mark.parametrize(
    ("query", "column"),
    [
        ("SELECT default_catalog.default_database.l.n FROM l", "n"),
        ("SELECT default_database.l.n FROM default_catalog.default_database.l", "n"),
        ("SELECT DEFAULT_DATABASE.L.N FROM l", "N"),
        ("SELECT default_catalog.default_database.l.r.a FROM l", "a"),
        ("SELECT l.n FROM l WHERE EXISTS (SELECT * FROM r WHERE r.n = default_database.l.n)", "n"),
        ("SELECT default_database.l.n, COUNT(*) OVER () AS c FROM l", "n"),
    ],
)
def test_a_column_can_be_named_with_its_catalog_and_database(query: str, column: str) -> None:
    compiled = compile(OF_TWO + query)
    assert isinstance(compiled, Compiled)
    assert compiled.logical.columns[0] == column


@pytest.mark.parametrize("query", ["SELECT other.l.n FROM l", "SELECT default_database.l.n FROM l AS x"])
def test_a_column_of_another_database_or_of_a_renamed_table_is_unknown(query: str) -> None:
    with pytest.raises(BindError, match="there is no table"):
        compile(OF_TWO + query)


def test_names_that_an_asterisk_repeats_have_numbers() -> None:
    star = "(SELECT * FROM l JOIN r ON l.k = r.k) AS q"
    compiled = compile(f"{OF_TWO}SELECT n, n0, k0 FROM {star}")
    assert isinstance(compiled, Compiled)
    assert compiled.logical.columns == ("n", "n0", "k0")
    with pytest.raises(BindError, match="ambiguous"):
        compile(f"{OF_TWO}SELECT n FROM (SELECT l.n, r.n FROM l JOIN r ON l.k = r.k) AS q")


def test_a_hint_names_the_sides_of_a_join() -> None:
    between = "l.ts BETWEEN r.ts - INTERVAL '1' MINUTE AND r.ts"
    with pytest.raises(UnsupportedError) as raised:
        compile(f"{OF_TWO}SELECT l.k FROM l LEFT JOIN r ON l.k = r.k AND l.n > r.n AND {between}", mode="streaming")
    assert "leave out l.n > r.n" in str(raised.value.hint)


def test_maps_are_distinct_by_their_entries_or_refused_by_name() -> None:
    for query in ("SELECT DISTINCT m FROM l", "SELECT m FROM l UNION SELECT m FROM r", "SELECT m FROM l GROUP BY m"):
        assert ".distinct()" not in str(compile(OF_TWO + query))
    for query in ("SELECT m FROM l EXCEPT SELECT m FROM r", "SELECT DISTINCT m, COUNT(*) OVER () AS c FROM l"):
        with pytest.raises(UnsupportedError, match="MAP"):
            compile(OF_TWO + query)


def test_times_inside_values_are_not_compared_across_types() -> None:
    times = "SELECT ARRAY[CAST(ts AS TIMESTAMP_LTZ(3))] = ARRAY[{}] AS x FROM l"
    compile(OF_TWO + times.format("CAST(ts AS TIMESTAMP_LTZ(3))"))
    with pytest.raises(UnsupportedError, match="inside a value"):
        compile(OF_TWO + times.format("ts"))
