"""SQL that is nested deeply, or long: it compiles, or is refused; no stack is ever too small."""

from __future__ import annotations

import pytest

from tvfsql import TvfSqlError, compile
from tvfsql.errors import UnsupportedError
from tvfsql.room import with_room
from tvfsql.syntax.parser import parse

TABLE = "CREATE TABLE t (a BIGINT, b STRING) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 't');"
LEVELS, TERMS = 500, 5000
DEEP = {
    "parentheses": f"SELECT {'(' * LEVELS}a{')' * LEVELS} FROM t",
    "COALESCE": f"SELECT {'COALESCE(' * LEVELS}a{', 1)' * LEVELS} FROM t",
    "NOT": f"SELECT a FROM t WHERE {'NOT ' * LEVELS}a = 1",
    "minus": f"SELECT {'- ' * LEVELS}a FROM t",
}
LONG = {
    "plus": f"SELECT {' + '.join(['1'] * TERMS)} FROM t",
    "AND": f"SELECT a FROM t WHERE {' AND '.join(f'a <> {i}' for i in range(TERMS // 5))}",
    "IN": f"SELECT a FROM t WHERE a IN ({', '.join(map(str, range(TERMS)))})",
}


@pytest.mark.parametrize("sql", [*DEEP.values(), *LONG.values()], ids=[*DEEP, *LONG])
def test_deep_and_long_queries_compile(sql: str) -> None:
    assert compile(TABLE + sql).code


def test_a_union_of_a_hundred_arms_compiles() -> None:
    sql = " UNION ALL ".join(["SELECT a FROM t"] * 100)
    assert compile(TABLE + sql).code.count("load") >= 100


def test_what_is_deeper_still_is_refused() -> None:
    def forever() -> int:
        return 1 + forever()

    with pytest.raises(UnsupportedError, match="nested too deeply"):
        with_room(forever)


def test_other_errors_come_out_of_deep_work_as_they_are() -> None:
    with pytest.raises(TvfSqlError, match="no column x"):
        compile(f"{TABLE}SELECT {'(' * LEVELS}x{')' * LEVELS} FROM t")


def test_a_statement_is_parsed_where_it_stands() -> None:
    statements = parse("SET 'a' = 'b';\n" * 2000)
    assert [statement.span.start for statement in statements] == [15 * i for i in range(2000)]
