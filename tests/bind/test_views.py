"""Views: each statement that reads one binds it, for its own mode and time zone, and to the tables of then."""

from __future__ import annotations

import pytest

from tests.support.golden import after_prelude
from tvfsql.api import Compiled, compile
from tvfsql.api.script import Script
from tvfsql.bind.query import QueryBinder
from tvfsql.bind.scope import Bound
from tvfsql.errors import BindError, TvfSqlError
from tvfsql.plan.plan_text import tree
from tvfsql.syntax import ast

STOCK = """CREATE TABLE stock (item STRING, price DECIMAL(10, 2), changed TIMESTAMP(3),
    WATERMARK FOR changed AS changed)
WITH ('connector' = 'spark-catalog', 'table-name' = 'stock', 'format' = 'delta', 'changelog.feed' = 'true');"""
CLICKS = """CREATE TABLE clicks (item STRING, at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'kafka', 'topic' = 'clicks', 'properties.bootstrap.servers' = 'b:9092',
    'scan.startup.mode' = 'earliest-offset', 'format' = 'json');"""
COUNTS = """SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR({}), INTERVAL '1' HOUR))
GROUP BY window_start, window_end"""
COUNT = "SELECT COUNT(*) AS n FROM"
OF_PERSONS = "FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(joined), INTERVAL '1' DAY))"


def last(script: Script, sql: str) -> Compiled:
    """The query at the end of a script."""
    outcome = list(script.outcomes(sql))[-1]
    assert isinstance(outcome, Compiled)
    return outcome


def same(script: Script, view: str, direct: str) -> None:
    """Both queries read the same rows in the same way."""
    assert tree(last(script, view).physical) == tree(last(script, direct).physical)


@pytest.mark.parametrize("setting", ["", "SET 'execution.runtime-mode' = 'streaming';"])
def test_a_view_of_a_changelog_has_its_changes(setting: str) -> None:
    script = after_prelude(mode=None if setting else "streaming")
    list(script.outcomes(f"{STOCK} CREATE VIEW s AS SELECT * FROM stock; {setting}"))
    same(script, COUNTS.format("s", "changed"), COUNTS.format("stock", "changed"))
    assert "feed_sign" in last(script, COUNTS.format("s", "changed")).code


def test_an_unbounded_table_makes_a_stream_of_the_changelog_beside_it() -> None:
    both = f"{COUNTS.format('stock', 'changed')} UNION ALL {COUNTS.format('clicks', 'at')}"
    query = last(after_prelude(), f"{STOCK} {CLICKS} {both}")
    assert query.mode == "streaming"
    assert "feed_sign" in query.code and "readChangeFeed" in query.code


def test_a_view_reads_the_views_and_tables_of_now() -> None:
    script = after_prelude()
    list(script.outcomes("CREATE VIEW a AS SELECT item FROM bid; CREATE VIEW b AS SELECT * FROM a; SELECT * FROM b"))
    list(script.outcomes("CREATE OR REPLACE VIEW a AS SELECT item FROM auction"))
    same(script, "SELECT * FROM b", "SELECT item FROM auction")
    print_to = "WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 't')"
    list(script.outcomes(f"CREATE TABLE t (n INT, m AS n + 1) {print_to}; CREATE VIEW w AS SELECT m FROM t"))
    list(script.outcomes(f"DROP TABLE t; CREATE TABLE t (n INT, m AS n + 2) {print_to}"))
    same(script, "SELECT m FROM w", "SELECT n + 2 AS m FROM t")
    list(script.outcomes("ALTER TABLE t RENAME TO u; CREATE VIEW t AS SELECT n * 2 AS m FROM u"))
    same(script, "SELECT m FROM w", "SELECT n * 2 AS m FROM u")


def test_a_view_and_computed_columns_have_the_time_zone_of_the_query() -> None:
    script = after_prelude()
    table = """CREATE TABLE t (at TIMESTAMP_LTZ(3), clock AS CAST(at AS TIMESTAMP(3)), WATERMARK FOR at AS at)
    WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 't');"""
    view = f"CREATE VIEW v AS SELECT window_start, CAST(joined AS TIMESTAMP(3)) AS clock {OF_PERSONS};"
    berlin = "SET 'table.local-time-zone' = 'Europe/Berlin';"
    query = last(script, f"{table} {view} {berlin} SELECT * FROM v UNION ALL SELECT clock, clock FROM t")
    assert query.code.count("Europe/Berlin") == last(
        after_prelude(), f"{berlin} {table} {view} SELECT * FROM v UNION ALL SELECT clock, clock FROM t"
    ).code.count("Europe/Berlin")
    assert "'UTC'" not in query.code
    assert "Europe/Berlin" not in compile("SELECT clock FROM t", script.catalog).code  # whose zone is UTC


def test_a_view_calls_the_functions_of_now() -> None:
    script = after_prelude()
    make = "CREATE FUNCTION f AS 'user_functions.{}' LANGUAGE PYTHON;"
    list(script.outcomes(f"{make.format('initials')} CREATE VIEW v AS SELECT f(item) AS x FROM bid; DROP FUNCTION f"))
    with pytest.raises(BindError, match="f"):
        last(script, "SELECT x FROM v")
    list(script.outcomes(make.format("initials")))
    same(script, "SELECT x FROM v", "SELECT f(item) AS x FROM bid")


@pytest.mark.parametrize(
    ("query", "spelled"),
    [
        ("SELECT * FROM t", "SELECT a, b FROM t"),
        (f"{COUNT} (SELECT DISTINCT x.* FROM t AS x)", f"{COUNT} (SELECT DISTINCT a, b FROM t)"),
        ("SELECT *, COUNT(*) OVER () AS n FROM t", "SELECT *, COUNT(*) OVER () AS n FROM (SELECT a, b FROM t) AS t"),
        ("WITH t AS (SELECT a FROM t) SELECT * FROM t", "SELECT a FROM t"),
    ],
)
def test_an_asterisk_stands_for_the_columns_of_then(query: str, spelled: str) -> None:
    script = after_prelude()
    table = "CREATE TABLE t ({}) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 't');"
    list(script.outcomes(f"{table.format('a INT, b STRING')} CREATE VIEW v AS {query}; ALTER TABLE t ADD c INT"))
    same(script, "SELECT * FROM v", spelled)
    list(script.outcomes(f"DROP TABLE t; {table.format('c INT, b STRING, a INT')}"))
    same(script, "SELECT * FROM v", spelled)
    list(script.outcomes(f"DROP TABLE t; {table.format('c INT, b STRING')}"))
    with pytest.raises(BindError, match="table t has no column a, which it had at CREATE VIEW"):
        last(script, "SELECT * FROM v")


A = "CREATE VIEW a AS SELECT item FROM bid;"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("CREATE OR REPLACE VIEW bid AS SELECT * FROM bid WHERE price > 1", "bid is a table, which no view replaces"),
        (f"{A} CREATE OR REPLACE TABLE a (n INT)", "a is a view, which no table replaces"),
        ("CREATE VIEW a AS SELECT * FROM a", "view a cannot read itself"),
        (f"{A} CREATE OR REPLACE VIEW A AS SELECT * FROM a", "view A cannot read itself"),
        (f"{A} CREATE VIEW b AS SELECT * FROM a; CREATE OR REPLACE VIEW a AS SELECT * FROM b", "view a cannot read"),
        (f"{A} DROP TABLE bid; SELECT * FROM a", "there is no table bid"),
        (f"{A} ALTER TABLE bid DROP item; SELECT * FROM a", "table bid has no column item"),
        (f"{A} ALTER TABLE bid MODIFY item INT; SELECT * FROM a", "it had item STRING, and now has item INT"),
        ("CREATE VIEW a (x) AS SELECT item, price FROM bid", "view a lists 1 columns, but its query has 2"),
    ],
)
def test_what_a_view_cannot_do_is_refused(sql: str, message: str) -> None:
    with pytest.raises(TvfSqlError, match=message) as caught:
        list(after_prelude().outcomes(sql))
    assert caught.value.span is not None and caught.value.source is not None


def test_an_error_in_a_view_shows_its_text() -> None:
    script = after_prelude()
    list(script.outcomes("SELECT 1; CREATE VIEW a AS\nSELECT price, item FROM bid; ALTER TABLE bid DROP item"))
    with pytest.raises(BindError) as caught:
        list(script.outcomes("CREATE VIEW b AS SELECT * FROM a", "later.sql"))
    assert str(caught.value).splitlines()[:4] == [
        "error: table bid has no column item",
        " --> view a:1:15",
        "  1 | SELECT price, item FROM bid",
        "    |               ^^^^",
    ]


def test_each_view_of_a_long_chain_is_bound_once_for_each_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[int] = []
    ours = QueryBinder.bind

    def counted(self: QueryBinder, query: ast.Query) -> Bound:
        bound.append(1)
        return ours(self, query)

    monkeypatch.setattr(QueryBinder, "bind", counted)
    script = after_prelude()
    views = [f"CREATE VIEW v{i} AS SELECT price + 1 AS price FROM {f'v{i - 1}' if i else 'bid'};" for i in range(120)]
    query = last(script, f"{''.join(views)} SELECT * FROM v119")
    assert len(bound) <= 3 * len(views)
    assert query.code.count("bid") < 10
    span = query.logical.children[0].span
    assert span is not None and {node.span for node in query.logical.children[0].walk()} == {span}, "the name in FROM"
