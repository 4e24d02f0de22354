"""Statements about tables and views that Flink has: what they leave in the catalog. No Spark."""

from __future__ import annotations

import pytest

import tvfsql
from tvfsql import Session
from tvfsql.errors import BindError, SqlSyntaxError, TvfSqlError, UnsupportedError

WITH = "WITH ('connector' = 'filesystem', 'path' = 'a.csv', 'format' = 'csv')"
S = f"CREATE TABLE s (a INT, b STRING) {WITH};"
T = f"CREATE TABLE t (a INT, b STRING, p STRING, q INT) PARTITIONED BY (p, q) {WITH};"


def columns(session: Session, name: str = "t") -> list[str]:
    found = session.catalog.get(name)
    return [field.name for field in getattr(found, "columns", None) or found.fields]


@pytest.mark.parametrize(
    ("insert", "same"),
    [
        ("INSERT INTO t PARTITION (p = 'k', q = 7) SELECT a, b FROM s", "INSERT INTO t SELECT a, b, 'k', 7 FROM s"),
        ("INSERT INTO t PARTITION (q = 7) SELECT a, b, b FROM s", "INSERT INTO t SELECT a, b, b, 7 FROM s"),
        ("INSERT INTO t PARTITION (q = 7) (p, a) SELECT b, a FROM s", "INSERT INTO t (p, a, q) SELECT b, a, 7 FROM s"),
        (
            "INSERT INTO t PARTITION (p = 'k', q = 7) SELECT a AS p, b AS q FROM s",
            "INSERT INTO t SELECT a, b, 'k', 7 FROM s",
        ),
    ],
)
def test_partition_gives_columns_a_value(insert: str, same: str) -> None:
    plans = [str(tvfsql.compile(f"{S} {T} {query}").explain("physical")) for query in (insert, same)]
    assert plans[0] == plans[1]


@pytest.mark.parametrize(
    ("insert", "says"),
    [
        ("INSERT INTO t PARTITION (a = 1) SELECT b, b, 1 FROM s", "t is not partitioned by a"),
        ("INSERT INTO t PARTITION (z = 1) SELECT b, b, 1 FROM s", "no column z"),
        ("INSERT INTO t PARTITION (q = a) SELECT a, b, b FROM s", "the value of a partition is a constant, not a"),
        ("INSERT INTO t PARTITION (q = 1, q = 2) SELECT a, b, b FROM s", "q"),
        ("INSERT INTO t PARTITION (q = 1) SELECT a, b FROM s", "t has 4 columns, but the query has 3"),
        ("INSERT INTO t PARTITION (q = 'x') SELECT a, b, b FROM s", "column q of t is INT"),
        ("INSERT OVERWRITE t PARTITION (q = 1) SELECT a, b, b FROM s", "PARTITION does not work with INSERT OVERWRITE"),
    ],
)
def test_a_partition_that_is_wrong_is_refused(insert: str, says: str) -> None:
    with pytest.raises(TvfSqlError, match=says):
        tvfsql.compile(f"{S} {T} {insert}")


def test_a_temporary_table_hides_one_of_its_name_until_it_is_dropped() -> None:
    session = Session()
    session.execute(f"{T} CREATE TEMPORARY TABLE t (x INT) {WITH}")
    assert columns(session) == ["x"]
    with pytest.raises(BindError, match="table t already exists"):
        session.execute(f"CREATE TEMPORARY TABLE t (y INT) {WITH}")
    with pytest.raises(BindError, match="a temporary table hides t"):
        session.execute("DROP TABLE t")
    session.execute("DROP TEMPORARY TABLE t")
    assert columns(session) == ["a", "b", "p", "q"]
    session.execute(f"CREATE TEMPORARY TABLE t (x INT) {WITH}; DROP TEMPORARY TABLE t; DROP TABLE t")
    assert session.catalog.find("t") is None


def test_a_temporary_view_hides_a_table() -> None:
    session = Session()
    session.execute(f"{S} {T} CREATE TEMPORARY VIEW t AS SELECT b AS only FROM s")
    assert columns(session) == ["only"]
    session.execute("DROP TEMPORARY VIEW t; CREATE TEMPORARY VIEW other AS SELECT a FROM t; DROP VIEW other")
    assert columns(session) == ["a", "b", "p", "q"]


def test_alter_view_gives_a_view_a_new_query_or_name() -> None:
    session = Session()
    session.execute(f"{S} CREATE VIEW v AS SELECT a FROM s; ALTER VIEW v AS SELECT b, a AS n FROM s")
    assert columns(session, "v") == ["b", "n"]
    session.execute("ALTER VIEW v RENAME TO w")
    assert columns(session, "w") == ["b", "n"]
    assert session.catalog.find("v") is None
    for statement, says in (
        ("ALTER VIEW s RENAME TO x", "s is a table"),
        ("ALTER VIEW w RENAME TO s", "s already exists"),
        ("ALTER VIEW nowhere AS SELECT 1", "there is no table nowhere"),
        ("ALTER VIEW w AS SELECT z FROM s", "s has no column z"),
    ):
        with pytest.raises(BindError, match=says):
            session.execute(statement)
    assert columns(session, "w") == ["b", "n"]


@pytest.mark.parametrize(
    ("change", "order"),
    [
        ("ADD c INT FIRST", "c a b p q"),
        ("ADD c INT NOT NULL COMMENT 'c' AFTER a", "a c b p q"),
        ("ADD (c INT AFTER b, d STRING FIRST, e INT)", "d a b c p q e"),
        ("ADD (c INT FIRST, d INT AFTER c)", "c d a b p q"),
        ("ADD `first` INT", "a b p q first"),
        ("ADD z AS a + 1 FIRST", "z a b p q"),
        ("ADD (c INT FIRST, z AS UPPER(b) AFTER c, y AS a AFTER `a`)", "c z a y b p q"),
        ("ADD (`first` INT, z AS a * first)", "a b p q first z"),
        ("MODIFY b STRING FIRST", "b a p q"),
        ("MODIFY (a BIGINT AFTER q)", "b p q a"),
    ],
)
def test_alter_table_puts_columns_at_a_place(change: str, order: str) -> None:
    session = Session()
    session.execute(f"{T} ALTER TABLE t {change}")
    assert columns(session) == order.split()


def test_a_place_that_is_none_is_refused() -> None:
    with pytest.raises(BindError, match="the table has no column z"):
        Session().execute(f"{T} ALTER TABLE t ADD c INT AFTER z")
    with pytest.raises(SqlSyntaxError, match="FIRST and AFTER are of ALTER TABLE"):
        Session().execute(f"CREATE TABLE u (a INT FIRST) {WITH}")
    Session().execute(f"CREATE TABLE u (`first` INT, after INT, modules INT, x AS after + 1) {WITH}")


def test_there_is_only_the_module_of_flink() -> None:
    Session().execute("USE MODULES core")
    with pytest.raises(BindError, match="there is no module hive"):
        Session().execute("USE MODULES hive, core")
    with pytest.raises(UnsupportedError):
        Session().execute("LOAD MODULE hive")
