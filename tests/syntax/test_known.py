"""No clause gets lost: whatever sqlglot can read is known, with its meaning, or refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlglot import exp

from tvfsql import Session, compile
from tvfsql.errors import Span, SqlSyntaxError, TvfSqlError, UnsupportedError
from tvfsql.syntax.dialect import FlinkSql
from tvfsql.syntax.known import KNOWN, functions, refuse_unknown
from tvfsql.syntax.known.clauses import REFUSED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = """
CREATE TABLE t (a BIGINT, b STRING, c DOUBLE, d DECIMAL(10, 4), arr ARRAY<INT>, m MAP<STRING, INT>,
  r ROW<x INT, y ROW<z INT>>,
  ts TIMESTAMP(3), proc AS PROCTIME(), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 't');
CREATE TABLE s (a BIGINT, k STRING) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 's');
"""
# Together they set every argument that is known.
SAMPLES = """
SELECT a AS x, t.b, `c`, t.d, t.r.x, t.r.y.z, -a, NOT a = 1, ~a, (a + 1) * 2 - 3 FROM t
SELECT DISTINCT a / 2, c / 2, a % 2, a <> 2, a < 1, a <= 1, a > 1, a >= 1, a = 1 AND b = 'x' OR c = 1.5 FROM t
SELECT a & 1, a | 1, a ^ 1, b || 'x', a IS DISTINCT FROM 1, a IS NOT DISTINCT FROM 1, a IS NULL, a IS NOT NULL FROM t
SELECT a BETWEEN 1 AND 2, a BETWEEN SYMMETRIC 2 AND 1, a IN (1, 2), (a = 1) IS TRUE, (a = 1) IS NOT UNKNOWN FROM t
SELECT b LIKE 'x', b NOT LIKE 'x!%' ESCAPE '!', b ILIKE 'x', b NOT ILIKE 'x', b RLIKE 'x', NULL, TRUE FROM t
SELECT CASE a WHEN 1 THEN 2 ELSE 3 END, CASE WHEN a = 1 THEN 2 END, IF(a = 1, 2, 3), arr[1], m['x'], r.x FROM t
SELECT ARRAY[1, 2], STRUCT(a AS x, b), TRANSFORM(arr, x -> x + 1), TRY_CAST(b AS INT), CAST(b AS VARCHAR(3)) FROM t
SELECT CAST(a AS DECIMAL(10, 2)), CAST(arr AS ARRAY<BIGINT>), CAST(r AS ROW<x BIGINT, y ROW<z INT>>) FROM t
SELECT ts - INTERVAL '1' DAY, STRUCT(a AS x).x, MAP['x', a], (ts - ts) DAY TO SECOND FROM t
SELECT X'1F', N'a', U&'#00e4' UESCAPE '#' FROM t
SELECT b SIMILAR TO 'x%' ESCAPE '!', b IS JSON OBJECT, (ts, ts) OVERLAPS (ts, INTERVAL '1' DAY) FROM t
SELECT JSON_VALUE(b, '$.a' RETURNING DOUBLE DEFAULT 1 ON EMPTY), JSON_OBJECT(KEY 'a' VALUE b NULL ON NULL) FROM t
SELECT ts + INTERVAL '1 02:03:04' DAY TO SECOND, DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00' FROM t
SELECT COUNT(*), COUNT(a), COUNT(DISTINCT a), SUM(a) FILTER (WHERE a > 1), AVG(a), MIN(a), MAX(a) FROM t
SELECT APPROX_COUNT_DISTINCT(a, 0.01) FROM t
SELECT APPROX_COUNT_DISTINCT(a), ARRAY_AGG(a), COLLECT_LIST(a), LISTAGG(b), LISTAGG(b, ';'), BOOL_AND(a = 1) FROM t
SELECT BOOL_OR(a = 1), EVERY(a = 1), STDDEV(a), STDDEV_POP(a), STDDEV_SAMP(a), VARIANCE(a), VAR_POP(a) FROM t
SELECT FIRST_VALUE(a), LAST_VALUE(a), FIRST(a), LAST(a) IGNORE NULLS, FIRST(a) RESPECT NULLS FROM t
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) FROM t
SELECT LISTAGG(b, ',') WITHIN GROUP (ORDER BY a), ARRAY_AGG(a ORDER BY b), COUNT(DISTINCT a, b) FROM t
SELECT a, b, GROUPING(a), GROUPING_ID(a, b) FROM t GROUP BY GROUPING SETS ((a), (b)) HAVING COUNT(*) > 1
SELECT a, b FROM t GROUP BY CUBE (a, b)
SELECT a, b FROM t WHERE a > 1 GROUP BY ROLLUP (a, b) ORDER BY a DESC NULLS FIRST LIMIT 5 OFFSET 2
SELECT ROW_NUMBER() OVER w, RANK() OVER (w), DENSE_RANK() OVER w FROM t WINDOW w AS (PARTITION BY b ORDER BY ts)
SELECT SUM(a) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t
SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY ts) AS n FROM t QUALIFY n = 1
SELECT EXPLODE(arr) AS x FROM t
SELECT EXPLODE_OUTER(arr) AS x FROM t
SELECT POSEXPLODE(arr) AS (i, x) FROM t
SELECT POSEXPLODE_OUTER(arr) AS (i, x) FROM t
SELECT INLINE(ARRAY(r)) AS (x, y) FROM t
SELECT STACK(2, 0, 1, 2, 3) AS (x, y) FROM t
SELECT x FROM STACK(2, 1, 2) AS u (x)
SELECT x FROM EXPLODE(ARRAY(1, 2)) AS u (x)
SELECT x FROM t CROSS JOIN UNNEST(arr) AS u (x)
SELECT x FROM t CROSS JOIN UNNEST(arr) WITH ORDINALITY AS u (x, o)
SELECT x FROM t LATERAL VIEW OUTER EXPLODE(arr) u AS x
SELECT a, x FROM t CROSS JOIN LATERAL (SELECT t.a + 1 AS x) AS u
SELECT a FROM t TABLESAMPLE (10 PERCENT)
SELECT a FROM t TABLESAMPLE (10 ROWS)
SELECT CEIL(c), CEIL(d, 2), CEIL(ts TO DAY), FLOOR(c), FLOOR(d, 2), FLOOR(ts TO DAY), EXTRACT(DAY FROM ts) FROM t
SELECT OVERLAY(b PLACING 'x' FROM 2 FOR 1), POSITION('x' IN b), POSITION('x', b, 2), SUBSTRING(b FROM 2 FOR 3) FROM t
SELECT TRIM(LEADING 'x' FROM b), TIMESTAMPADD(DAY, 1, ts), TIMESTAMPDIFF(DAY, ts, ts), CURRENT_DATE FROM t
SELECT CURRENT_TIMESTAMP, CURRENT_USER, SESSION_USER, ABS(a), COALESCE(a, 1), CONCAT(b, b), NULLIF(a, 1) FROM t
SELECT ROUND(c, 2), SHIFTLEFT(a, 1), SHIFTRIGHT(a, 1), MOD(a, 2), UPPER(b), a DIV 2 FROM t
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM s WHERE s.a = t.a) AND a IN (SELECT a FROM s)
SELECT a FROM t WHERE a <> ALL (SELECT a FROM s) OR a = ANY (SELECT a FROM s) OR a = SOME (SELECT a FROM s)
SELECT t.a FROM t JOIN s ON t.a = s.a CROSS JOIN s AS v
SELECT t.a FROM t JOIN s FOR SYSTEM_TIME AS OF t.proc ON t.a = s.a
SELECT a FROM t LEFT OUTER JOIN s USING (a)
SELECT a FROM default_catalog.default_database.t LEFT SEMI JOIN s USING (a)
SELECT a FROM t NATURAL JOIN s
SELECT SUM(a) OVER () FROM (t JOIN s USING (a))
WITH v (x) AS (SELECT a FROM t) SELECT x FROM v
(SELECT a FROM t ORDER BY a LIMIT 1 OFFSET 1) UNION ALL (WITH v AS (SELECT a FROM s) SELECT a FROM v)
WITH v AS (SELECT 1) (SELECT a FROM t) ORDER BY a LIMIT 1 OFFSET 1
SELECT x FROM (SELECT a AS x FROM t) AS q
SELECT a FROM t UNION SELECT a FROM s ORDER BY 1 LIMIT 1 OFFSET 1
SELECT a FROM t INTERSECT SELECT a FROM s ORDER BY 1 LIMIT 1 OFFSET 1
SELECT a FROM t EXCEPT SELECT a FROM s ORDER BY 1 LIMIT 1 OFFSET 1
WITH v AS (SELECT 1) SELECT 1 UNION SELECT 2
WITH v AS (SELECT 1) SELECT 1 INTERSECT SELECT 2
WITH v AS (SELECT 1) SELECT 1 EXCEPT SELECT 2
SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS v (i, j)
""".strip().splitlines()
# They are known only so that syntax.sql, or the binder, can refuse them in its own words.
REFUSED_LATER = """
WITH RECURSIVE v AS (SELECT 1) SELECT 1
SELECT COUNT(a, b) FROM t
SELECT * EXCEPT (a) FROM t
""".strip().splitlines()


def kinds() -> Iterator[type[exp.Expr]]:
    """Every class of nodes that sqlglot has."""
    found: list[type[exp.Expr]] = [exp.Expression]
    while found:
        kind = found.pop()
        found += kind.__subclasses__()
        yield kind


def arguments(tree: exp.Expr) -> Iterator[tuple[type[exp.Expr], str]]:
    for node in tree.walk():
        yield type(node), ""
        for argument, value in node.args.items():
            if value:
                yield type(node), argument


def test_every_argument_of_every_node_that_sqlglot_has_is_known_or_refused() -> None:
    for kind in set(kinds()):
        for argument in kind.arg_types or {"this": True}:
            node = kind(**{argument: exp.Literal.string("x")})
            known = kind in KNOWN and argument in KNOWN[kind].arguments
            limited = known and KNOWN[kind].arguments[argument] is not None
            try:
                refuse_unknown(node, Span(0, 1))
            except UnsupportedError as error:
                assert not known or limited, f"{kind.__name__}.{argument} is on a list, and refused: {error.message}"
                assert error.message.endswith("is not supported")
            else:
                assert known, f"{kind.__name__}.{argument} is on no list, and goes through"


def test_what_sqlglot_will_learn_is_refused() -> None:
    class Novelty(exp.Expression):
        arg_types = {"this": True}

    with pytest.raises(UnsupportedError, match="NOVELTY is not supported"):
        refuse_unknown(exp.select(Novelty(this="x")), Span(0, 1))
    select = exp.select("a")
    select.args["as_of_next_week"] = True
    with pytest.raises(UnsupportedError, match="AS OF NEXT WEEK of SELECT is not supported"):
        refuse_unknown(select, Span(0, 1))


def test_the_lists_name_nothing_that_sqlglot_does_not_have() -> None:
    for kind, known in KNOWN.items():
        assert set(known.arguments) <= {*kind.arg_types}, kind.__name__
    for kind, argument in REFUSED:
        assert not argument or argument in kind.arg_types, (kind.__name__, argument)
        limited = kind in KNOWN and KNOWN[kind].arguments.get(argument) is not None
        assert kind not in KNOWN or argument not in KNOWN[kind].arguments or limited, (kind.__name__, argument)


BINARY = ("POSITION", "NULLIF", "STACK", "SHIFTLEFT", "SHIFTRIGHT")


def test_each_name_of_a_function_is_read_into_its_class() -> None:
    for kind, function in functions.FUNCTIONS.items():
        for name in function.names:
            text = {
                "CURRENT_DATE": name, "CURRENT_TIMESTAMP": name, "CURRENT_USER": name, "SESSION_USER": name,
                "EXTRACT": "EXTRACT(DAY FROM x)", "OVERLAY": "OVERLAY(x PLACING y FROM 1)",
                "TIMESTAMPADD": "TIMESTAMPADD(DAY, 1, x)", "TIMESTAMPDIFF": "TIMESTAMPDIFF(DAY, x, y)",
                "ROW_NUMBER": "ROW_NUMBER()", "RANK": "RANK()", "DENSE_RANK": "DENSE_RANK()",
            }.get(name, f"{name}(x)" if name not in BINARY else f"{name}(x, y)")  # fmt: skip
            if name == "SOME":  # SOME(x) is a comparison with a query to sqlglot; aggregates of it go by BOOL_OR
                continue
            tree = FlinkSql().parse_into(exp.Condition, text)[0]
            assert type(tree) is kind, text


def test_samples_set_everything_that_is_known() -> None:
    said = {
        pair for sql in (*SAMPLES, *REFUSED_LATER) for tree in FlinkSql().parse(sql) if tree for pair in arguments(tree)
    }
    missing = [
        (kind.__name__, argument)
        for kind, known in KNOWN.items()
        for argument in ("", *known.arguments)
        if (kind, argument) not in said
    ]
    assert not missing, missing


@pytest.mark.parametrize("sql", SAMPLES)
def test_what_is_known_compiles(sql: str) -> None:
    assert compile(TABLES + sql).code


@pytest.mark.spark
def test_spark_has_all_that_is_known(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "s").mkdir()
    session = Session(spark)
    session.execute(TABLES.replace("'path' = '", f"'path' = '{tmp_path}/"))
    failed = {}
    for sql in SAMPLES:
        try:
            session.sql(sql).dataframe().schema  # noqa: B018  (Spark looks at the plan for it)
        except TvfSqlError as error:
            failed[sql] = error.message
    assert failed == {}


@pytest.mark.parametrize("sql", REFUSED_LATER)
def test_what_is_known_to_be_refused_is_refused(sql: str) -> None:
    with pytest.raises(TvfSqlError):
        compile(TABLES + sql)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT a FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2020-01-01 00:00:00'", "FOR SYSTEM_TIME AS OF"),
        ("SELECT t.a FROM t JOIN s FOR SYSTEM_TIME AS OF t.ts ON t.a = s.a", "a temporal join"),
        ("SELECT t.a FROM t JOIN s FOR SYSTEM_TIME AS OF t.proc ON t.a > s.a", "a condition that equates"),
        ("SELECT t.a FROM t RIGHT JOIN s FOR SYSTEM_TIME AS OF t.proc ON t.a = s.a", "RIGHT JOIN"),
        ("SELECT t.a FROM t, s FOR SYSTEM_TIME AS OF t.proc WHERE t.a = s.a", "CROSS JOIN"),
        ("SELECT t.a FROM t JOIN (t FOR SYSTEM_TIME AS OF t.proc) ON t.a = t.a", "FOR SYSTEM_TIME AS OF"),
        ("SELECT SUM(t.a) OVER () FROM t JOIN s FOR SYSTEM_TIME AS OF t.proc ON t.a = s.a", "FOR SYSTEM_TIME AS OF"),
        ("SELECT a FROM t FOR SYSTEM_TIME BETWEEN ts AND ts", "several versions"),
        ("SELECT a FROM t VERSION AS OF 3", "a VERSION"),
        ("SELECT SUM(a) OVER () FROM t FOR SYSTEM_TIME AS OF ts", "FOR SYSTEM_TIME AS OF"),
        ("SELECT a FROM t FOR UPDATE", "FOR UPDATE"),
        ("SELECT a FROM t SORT BY a", "SORT BY"),
        ("SELECT x FROM UNNEST(ARRAY[1, 2]) WITH ORDINALITY AS u (x, o)", "WITH ORDINALITY"),
        ("SELECT a FROM t PIVOT (SUM(c) FOR b IN ('x'))", "PIVOT"),
        ("SELECT a FROM t ASOF JOIN s ON t.a = s.a", "this kind of join"),
        ("SELECT a FROM t GROUP BY a WITH ROLLUP", "WITH ROLLUP"),
        ("SELECT MIN(a, 1) FROM t", "MIN of several values"),
        ("SELECT ts AT TIME ZONE 'UTC' FROM t", "AT TIME ZONE"),
        ("SELECT a FROM t WHERE a = ALL (SELECT a FROM s)", "ALL, except in <> ALL"),
        ("SELECT a FROM t WHERE a <> ANY (SELECT a FROM s)", "ANY, except in = ANY"),
        ("SELECT a FROM t UNION BY NAME SELECT a FROM s", "UNION BY NAME"),
        ("SELECT DISTINCT ON (a) b FROM t", "DISTINCT ON"),
        ("WITH v AS MATERIALIZED (SELECT 1) SELECT * FROM v", "MATERIALIZED"),
        ("SELECT SUM(a ORDER BY b) FROM t", "ORDER BY in this function"),
        ("SELECT * FROM ((a[1])) AS b", "this expression in place of a table"),
        ("(SELECT 1)[1] UNION SELECT 2", "this expression in place of a query"),
    ],
)
def test_a_clause_that_would_be_lost_is_refused_by_its_name(sql: str, message: str) -> None:
    for mode in ("batch", "streaming"):
        with pytest.raises(UnsupportedError, match=message) as caught:
            compile(TABLES + sql, mode=mode)
        assert caught.value.span is not None and caught.value.span.start >= len(TABLES)


@pytest.mark.parametrize("sql", ["SELECT a FROM t GROUP", "SELECT a FROM t AS where", "SELECT a order FROM t"])
def test_a_word_that_begins_a_clause_is_no_name(sql: str) -> None:
    with pytest.raises(SqlSyntaxError, match=r"unexpected|BY is missing"):
        compile(TABLES + sql)


def test_functions_of_other_databases_are_none_here() -> None:
    for call in ("SAFE_DIVIDE(a, 2)", "IIF(a = 1, 2, 3)", "CHARINDEX('x', b)", "DATE_TO_DI(ts)", "UNNEST_IT(a)"):
        with pytest.raises(TvfSqlError, match="there is no function"):
            compile(f"{TABLES}SELECT {call} FROM t")


def test_arguments_of_functions_reach_spark_as_they_are_written() -> None:
    code = compile(
        f"{TABLES}SELECT DATE_FORMAT(ts, 'YYYY-MM'), MAX_BY(b, a, 2), LEVENSHTEIN(b, b, 3) FROM t GROUP BY b, ts"
    )
    assert "DATE_FORMAT(ts, 'YYYY-MM')" in str(code)
    assert "MAX_BY(b, a, 2)" in str(code)
    assert "LEVENSHTEIN(b, b, 3)" in str(code)


@pytest.mark.parametrize("call", ["POSEXPLODE(arr)", "POSEXPLODE(arr) AS x", "INLINE(ARRAY(r))", "STACK(2, 1, 2, 3)"])
def test_a_function_that_gives_several_columns_needs_their_names(call: str) -> None:
    with pytest.raises(TvfSqlError, match="gives several columns") as caught:
        compile(f"{TABLES}SELECT {call} FROM t")
    assert caught.value.hint is not None and caught.value.hint.endswith("(...) AS (a, b)")
    fields = compile(f"{TABLES}SELECT a, POSEXPLODE(arr) AS (i, x) FROM t").logical.columns
    assert fields == ("a", "i", "x")


@pytest.mark.parametrize("value", ["'1'", "CAST(a AS STRING)"])
def test_truncate_of_a_text_is_refused(value: str) -> None:
    with pytest.raises(UnsupportedError, match="TRUNCATE takes a number"):
        compile(f"{TABLES}SELECT TRUNCATE({value}, 2) FROM t")


def test_integers_are_divided_as_integers_where_spark_plans_the_query_too() -> None:
    code = str(compile(f"{TABLES}SELECT a / 2, SUM(a) OVER () / COUNT(*) OVER (), c / 2 FROM t"))
    assert "a DIV 2" in code
    assert "SUM(a) OVER () DIV COUNT(*) OVER ()" in code
    assert "c / 2" in code


def test_what_flink_takes_and_this_does_not_is_refused_by_name() -> None:
    for sql, what in (
        ("VALUES (2) ORDER BY 1", "ORDER BY of VALUES"),
        ("SELECT * FROM (VALUES (2), (1) LIMIT 1) AS t", "LIMIT of VALUES"),
        ("SELECT CAST(NULL AS ROW<a INT NOT NULL>)", "NOT NULL of a field of ROW in CAST"),
    ):
        with pytest.raises(UnsupportedError, match=f"{what} is not supported"):
            compile(sql)
    compile("SELECT a FROM (VALUES (2), (1) AS t (a))")
