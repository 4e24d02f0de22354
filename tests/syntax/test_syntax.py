"""The front end by itself: places of names, intervals, statements, and text that is no SQL at all."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark import Lark

import tvfsql
from tests.support.golden import CASES, Case, after_prelude, cases
from tvfsql.errors import SqlSyntaxError, TvfSqlError
from tvfsql.syntax import ast
from tvfsql.syntax.interval import ORDER, UNIT_MS, parse_interval
from tvfsql.syntax.parser import parse
from tvfsql.syntax.tokens import tokens_of

MUTATIONS = 400  # of one run; set higher to look for more
FOLDERS = sorted(path.name for path in CASES.iterdir() if path.is_dir())
WORDS = [
    *(
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP",
        "BY",
        "TABLE",
        "(",
        ")",
        ",",
        "*",
        "=",
        "=>",
        "DESCRIPTOR",
        "INTERVAL",
        "'1'",
    ),
    *(
        "MINUTE",
        "TUMBLE",
        "HOP",
        "CUMULATE",
        "AS",
        "UNION",
        "JOIN",
        "ON",
        "NULL",
        "1",
        "''",
        "`x`",
        ".",
        ";",
        "-",
        "OVER",
    ),
    *(
        "DISTINCT",
        "CASE",
        "END",
        "CAST",
        "ROW",
        "COUNT",
        "window_start",
        "bid",
        "item",
        "{",
        "\\",
        "--",
        "<",
        "::",
        "?",
    ),
]


def nodes(value: Any) -> Iterator[Any]:
    """Every node of a syntax tree."""
    if isinstance(value, tuple):
        for item in value:
            yield from nodes(item)
    elif is_dataclass(value):
        yield value
        for field in fields(value):
            yield from nodes(getattr(value, field.name))


# ---- places --------------------------------------------------------------------------------------

SPREAD = """-- one statement, over many lines; 'a quote in a comment
SELECT   /* before ( */ w.item, price  *
         2 AS doubled, `bid time` -- behind
FROM TABLE(
    HOP(TABLE bid, -- the table, with a ) in its comment
        DESCRIPTOR(bidtime),
        INTERVAL '1' MINUTE,   /* ' */ INTERVAL '日' MINUTE)
) AS w
WHERE '日本' = item AND
      price >
      3
"""


@pytest.mark.parametrize("case", cases("window", "compose", "names", "ordinary"), ids=str)
def test_names_stand_where_their_spans_say(case: Case) -> None:
    sql = case.sql
    for node in nodes(parse(sql)):
        if isinstance(node, ast.Name) and node.span.end:
            written = sql[node.span.start : node.span.end]
            quoted = "`" + node.text.replace("`", "``") + "`"
            in_database = written.rpartition(".")[2] == node.text.rpartition(".")[2]
            assert written == "*" or in_database or written.endswith((node.text, quoted))


def test_expressions_stand_where_their_spans_say_behind_comments_and_window_calls() -> None:
    sql = SPREAD.replace("'日'", "'10'")
    (query,) = parse(sql)
    assert isinstance(query, ast.Query) and isinstance(query.body, ast.Select)
    body = query.body
    assert [sql[item.span.start : item.span.end] for item in body.items] == [
        "w.item",
        "price  *\n         2 AS doubled",
        "`bid time`",
    ]
    assert body.where is not None
    assert sql[body.where.span.start : body.where.span.end] == "'日本' = item AND\n      price >\n      3"
    (call,) = [node for node in nodes(query) if isinstance(node, ast.WindowCall)]
    assert [sql[each.span.start : each.span.end] for each in call.arguments] == [
        "TABLE bid",
        "DESCRIPTOR(bidtime)",
        "INTERVAL '1' MINUTE",
        "INTERVAL '10' MINUTE",
    ]


def test_a_mistake_in_a_window_call_is_placed_there() -> None:
    with pytest.raises(SqlSyntaxError) as caught:
        parse(SPREAD)
    assert caught.value.span is not None
    assert SPREAD[caught.value.span.start : caught.value.span.end] == "'日'"


# ---- intervals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "units", "ms"),
    [
        ("10", ("minute",), 600_000),
        ("-10", ("minute",), -600_000),
        ("+ 1", ("day",), 86_400_000),
        ("0.005", ("second",), 5),
        ("1.5", ("hour",), 5_400_000),
        ("1", ("week",), 604_800_000),
        ("1:30", ("minute", "second"), 90_000),
        ("1 02:03:04.005", ("day", "second"), 93_784_005),
        ("-0:10", ("hour", "minute"), -600_000),
    ],
)
def test_intervals_are_read_as_milliseconds(text: str, units: tuple[str, ...], ms: int) -> None:
    assert parse_interval(text, *units) == (ms, 0)


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("", ("day",)),
        ("ten", ("minute",)),
        ("1 1", ("minute",)),
        ("1e3", ("second",)),
        ("0.0001", ("second",)),
        ("1:30", ("minute",)),
        ("1", ("minute", "second")),
        ("1:30", ("second", "minute")),
        ("1.5", ("month",)),
        ("--1", ("day",)),
        ("²", ("day",)),
        ("1 24", ("day", "hour")),
        ("1:2", ("day", "hour")),
        ("2:60", ("hour", "minute")),
    ],
)
def test_what_is_no_interval_is_refused(text: str, units: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_interval(text, *units)


@given(st.integers(0, 10**8), st.sampled_from(ORDER))
def test_whole_numbers_of_a_unit_are_exact(count: int, unit: str) -> None:
    assert parse_interval(str(count), unit) == (count * UNIT_MS[unit], 0)


# What Flink 2.3 reads as a literal, and what it refuses.
READ = """
DATE '2020-2-3' | DATE ' 2020-02-03' | DATE '0001-01-01' | DATE '2020-02-29' | TIME '1:2:3' | TIME '10:00:00.5'
TIME '10:00:00.' | TIMESTAMP '2020-01-01' | TIMESTAMP '2020-1-1 1:2:3' | TIMESTAMP '2020-01-01 10:00:00.1234567891'
INTERVAL '1' DAYS | INTERVAL '1' week | INTERVAL -'1' QUARTER | INTERVAL '1.5' SECOND | INTERVAL ' 1 ' DAY
INTERVAL '+1' DAY | INTERVAL '1 2' DAY TO HOUR | INTERVAL '-1-2' YEAR TO MONTH | INTERVAL '2:3' HOUR TO MINUTE
INTERVAL '1 02:03:04.5' DAY TO SECOND | INTERVAL 1 DAY | INTERVAL '100' DAY(3)
"""
NOT_READ = """
DATE '2020-13-01' | DATE '2021-02-29' | DATE '2020-02' | DATE '2020-02-03 10:00:00' | DATE '0000-01-01' | DATE 'today'
DATE '-0001-01-01' | DATE '12020-01-01' | TIME '24:00:00' | TIME '10:00:60' | TIME '10' | TIMESTAMP '10:00:00'
TIMESTAMP '2020-02-30 10:00:00' | TIMESTAMP '2020-01-01 25:00:00' | TIMESTAMP '2020-01-01 10:00:00Z' | TIMESTAMP 'now'
INTERVAL '1' FORTNIGHT | INTERVAL '1' M | INTERVAL 'x' DAY | INTERVAL '1.5' DAY | INTERVAL '1.' SECOND | INTERVAL '5'
INTERVAL '1 25' DAY TO HOUR | INTERVAL '1' DAY TO HOUR | INTERVAL '1 2' HOUR TO DAY | INTERVAL '1-12' YEAR TO MONTH
INTERVAL '1 2' YEAR TO MONTH | INTERVAL '2:61' HOUR TO MINUTE | INTERVAL '1' DAY TO MONTH | INTERVAL '1' NANOSECOND
INTERVAL '99999999999' DAY | INTERVAL '9999999999' YEAR | INTERVAL '99999999999 1' DAY TO HOUR
INTERVAL '1 day' '2' HOUR | INTERVAL '1' '2' DAY | INTERVAL '99999999999 days' | INTERVAL '5 minutes' | INTERVAL '1h'
INTERVAL '1 day 2 hours' | INTERVAL '-3 months'
"""


@pytest.mark.parametrize(("literals", "read"), [(READ, True), (NOT_READ, False)])
def test_literals_of_times_are_those_of_flink(literals: str, read: bool) -> None:
    for literal in literals.strip().replace("\n", " | ").split(" | "):
        sql = f"SELECT {literal}"
        if read:
            assert tvfsql.compile(sql).code, literal
            continue
        with pytest.raises(SqlSyntaxError) as caught:
            tvfsql.compile(sql)
        assert caught.value.span is not None and caught.value.span.start > sql.index(" "), literal


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("'5 minutes'", "INTERVAL '5' MINUTE"),
        ("'1 day 2 hours'", "INTERVAL '26' HOUR"),
        ("'-3 months'", "INTERVAL '-3' MONTH"),
        ("'90 minuts'", "INTERVAL '90' MINUTE"),
        ("'0 days'", "INTERVAL '0' DAY"),
        ("'99999999 days'", "INTERVAL '99999999' DAY"),
        ("'5'", "INTERVAL '5' DAY"),
        ("'x'", "INTERVAL '1' DAY"),
    ],
)
def test_a_unit_stands_behind_the_quotes_of_an_interval(written: str, hint: str) -> None:
    for sql in ("SELECT t + INTERVAL {}", "SELECT time_bucket(INTERVAL {}, t)", "SELECT 1 WHERE t > t - INTERVAL {}"):
        with pytest.raises(SqlSyntaxError) as caught:
            tvfsql.compile(sql.format(written))
        assert caught.value.hint == hint
        assert tvfsql.compile(f"SELECT TIMESTAMP '2026-11-28 17:00:00' + {hint} AS t").code


def test_a_cast_of_a_text_is_no_literal() -> None:
    assert "2020-13-01" in tvfsql.compile("SELECT CAST('2020-13-01' AS DATE), '2020-13-01'::DATE").code
    with pytest.raises(SqlSyntaxError, match="there is no day 30 in TIMESTAMP"):
        tvfsql.compile("SELECT CAST(TIMESTAMP '2020-02-30 10:00:00' AS DATE)")


# ---- statements ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("", 0),
        (" ; ;; -- nothing; at all\n /* ; */ ", 0),
        ("SELECT 1", 1),
        ("SELECT ';' AS a; -- one; more\nSELECT `;` FROM t /* ; */ ;", 2),
        ("SELECT 'it''s; fine' AS a;SELECT 2", 2),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END; SELECT 3", 2),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT CASE WHEN b THEN 1 END; END; SELECT 3", 2),
        ("EXPLAIN BEGIN STATEMENT SET; INSERT INTO a SELECT CASE b WHEN 1 THEN 2 END; END; SELECT 3", 2),
        ("SET 'a' = 'b;c'; RESET; SHOW TABLES; DESC t;", 4),
    ],
)
def test_statements_end_at_semicolons_that_stand_in_nothing(sql: str, count: int) -> None:
    assert len(parse(sql)) == count


# ---- grammars ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tokens", "window_call", "statement"])
def test_the_grammar_has_no_conflicts(name: str) -> None:
    Lark.open_from_package("tvfsql", f"{name}.lark", ("grammar",), parser="lalr", strict=True)


# ---- nonsense ------------------------------------------------------------------------------------


def carried_out(sql: str) -> None:
    """Parse, bind, plan and emit. Anything but a TvfSqlError is our mistake."""
    try:
        for outcome in after_prelude().outcomes(sql):
            if hasattr(outcome, "code"):
                compile(outcome.code, "<fuzz>", "exec")
    except TvfSqlError as error:
        assert str(error)
        assert "<class" not in str(error)


def mutated(sql: str, rng: random.Random) -> str:
    """The text with some of its words left out, doubled, swapped or replaced."""
    try:
        tokens = tokens_of(sql)
    except TvfSqlError:
        return sql
    places = [(token.start_pos or 0, token.end_pos or 0) for token in tokens]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        start, end = rng.choice(places)
        other = sql[slice(*rng.choice(places))]
        word = rng.choice(
            ("", f"{sql[start:end]} {sql[start:end]}", other, other, rng.choice(WORDS), rng.choice(WORDS))
        )
        sql = f"{sql[:start]} {word} {sql[end:]}"
        places = [(s, e) for s, e in places if e <= start] or places[:1]
    return sql


def test_no_text_raises_anything_but_an_error_for_the_user() -> None:
    rng = random.Random(MUTATIONS)
    texts = [case.sql for case in cases(*FOLDERS)]
    for _ in range(MUTATIONS):
        sql = mutated(rng.choice(texts), rng)
        try:
            carried_out(sql)
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n{sql}") from error


@given(st.text(alphabet=st.sampled_from("SELECT FROM()'`\"-/*;,.{}\\\n\t\r\x00\x0b\u2028é日🎉1=<>")))
def test_no_characters_raise_anything_but_an_error_for_the_user(sql: str) -> None:
    carried_out(sql)


def test_a_constant_beside_group_by_session_partitions_nothing() -> None:
    ddl = "CREATE TABLE t (ts TIMESTAMP(3), k STRING, WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');"
    session = "SELECT k, 0.5 AS x, COUNT(*) AS n FROM t GROUP BY SESSION(ts, INTERVAL '1' MINUTE), k, 0.5"
    assert 'keys=["k"]' in str(tvfsql.compile(ddl + session, mode="streaming"))
