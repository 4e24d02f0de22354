"""Parameters of scripts. Source: docs/sql/parameters.md."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

import pytest

import tvfsql
from tvfsql import TvfSqlError
from tvfsql.api.script import Script
from tvfsql.cli import main
from tvfsql.lint import lint_script
from tvfsql.syntax.layout import format_script
from tvfsql.syntax.parameters import Parameters
from tvfsql.syntax.rewrite import rewrite

TABLE = "CREATE TABLE bid (ts TIMESTAMP(3), price INT, WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen');\n"


@contextmanager
def refused(message: str, marked: str, hint: str | None) -> Iterator[None]:
    with pytest.raises(TvfSqlError) as caught:
        yield
    error = caught.value
    assert error.source is not None and error.span is not None
    found = error.message, error.source[error.span.start : error.span.end], error.hint
    assert found == (message, marked, hint)


@pytest.mark.parametrize(
    ("kind", "value", "literal"),
    [
        ("BOOLEAN", "True", "TRUE"),
        ("INT", "-3", "(-3)"),
        ("INT", "7", "7"),
        ("BIGINT", "5", "CAST(5 AS BIGINT)"),
        ("DECIMAL(5, 2)", "-1.5", "CAST(-1.5 AS DECIMAL(5, 2))"),
        ("DECIMAL(5, 2)", "1.500", "CAST(1.500 AS DECIMAL(5, 2))"),
        ("DOUBLE", "1e3", "CAST('1000.0' AS DOUBLE)"),
        ("STRING", "it's :x", "'it''s :x'"),
        ("VARCHAR(3)", "abc", "CAST('abc' AS VARCHAR(3))"),
        ("DATE", "2020-02-29", "DATE '2020-02-29'"),
        ("TIME(3)", "08:05", "TIME '08:05:00'"),
        ("TIMESTAMP(3)", "2020-04-15T08:05:00.120", "TIMESTAMP '2020-04-15 08:05:00.12'"),
        ("TIMESTAMP(3)", "2020-04-15", "TIMESTAMP '2020-04-15 00:00:00'"),
        ("TIMESTAMP_LTZ(3)", "2020-04-15 08:05:00", "TIMESTAMP_LTZ '2020-04-15 08:05:00'"),
        ("TIMESTAMP_LTZ(3)", "1970-01-01T01:00:01.5+01:00", "TO_TIMESTAMP_LTZ(1500, 3)"),
        ("INTERVAL MINUTE", "10", "INTERVAL '10' MINUTE"),
        ("INTERVAL MINUTE", "2 hours", "INTERVAL '2' HOUR"),
    ],
)
def test_a_value_is_a_literal_of_its_type(kind: str, value: str, literal: str) -> None:
    filled = Parameters({"X": value}).filled(f"DECLARE x {kind}; SELECT :x, :X FROM t")
    assert filled.text.endswith(f"; SELECT {literal}, {literal} FROM t")
    assert [filled.source[place.start : place.end] for _, place in filled.places] == [":x", ":X"]
    Script(parameters=Parameters({"x": value})).parsed(f"DECLARE x {kind}; SELECT :x")  # the literal is SQL


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        ("BOOLEAN", "1", "'1' is not a BOOLEAN"),
        ("INT", "1_0", "'1_0' is not a INT"),
        ("INT", "2147483648", "2147483648 is beyond the range of INT"),
        ("DECIMAL(3, 1)", "100", "100 does not fit into DECIMAL(3, 1)"),
        ("DECIMAL(3, 1)", "1.25", "1.25 does not fit into DECIMAL(3, 1)"),
        ("DOUBLE", "nan", "'nan' is not a DOUBLE"),
        ("VARCHAR(3)", "secret", "the text is longer than VARCHAR(3)"),
        ("DATE", "2021-02-29", "'2021-02-29' is not a DATE"),
        ("TIME", "08:05:00.5", "08:05:00.500000 has more than 0 fractional digits"),
        ("TIMESTAMP(3)", "2020-04-15T08:05:00Z", "a TIMESTAMP(3) has no zone"),
        ("INTERVAL MINUTE", "1.5 MONTHS", "MONTH takes a whole number, not '1.5'"),
        ("INTERVAL MINUTE", "10 apples", "'10 apples' is not a number of units, such as 10 MINUTE"),
    ],
)
def test_a_value_of_another_type_is_refused(kind: str, value: str, problem: str) -> None:
    sql = f"DECLARE x {kind}; SELECT :x"
    with pytest.raises(TvfSqlError, match="x") as caught:
        Script(parameters=Parameters({"x": value})).parsed(sql)
    error = caught.value
    assert error.span is not None and sql[error.span.start : error.span.end] == "x"
    assert error.message == f"the parameter x: {problem}" and (error.hint or "").startswith("--param x=")


def test_statements_that_are_refused() -> None:
    def parsed(sql: str) -> None:
        Script().parsed(sql)

    with refused("the parameter n has no value", "n", "--param n=1, or DEFAULT 1 after the type"):
        parsed("DECLARE n INT; SELECT :n")
    with refused("the default must be a literal of type DATE", "'2020-01-01'", "DEFAULT DATE '2026-01-31'"):
        parsed("DECLARE d DATE DEFAULT '2020-01-01'")
    with refused("the default must be a literal of type DATE", "CURRENT_DATE", "DEFAULT DATE '2026-01-31'"):
        parsed("DECLARE d DATE DEFAULT CURRENT_DATE")
    with refused("a parameter cannot be ARRAY<INT>", "ARRAY<INT>", "DECLARE day DATE DEFAULT DATE '2026-01-01'"):
        parsed("DECLARE d ARRAY<INT>")
    with refused("the parameter :dya is not declared", ":dya", "did you mean day?"):
        parsed("DECLARE day DATE DEFAULT DATE '2020-01-01'; SELECT :dya")
    with refused("the parameter :day is not declared", ":day", "DECLARE day DATE;"):
        parsed("SELECT :day; DECLARE day DATE DEFAULT DATE '2020-01-01'")
    with refused("unknown type DTAE", "DTAE", "did you mean DATE?"):
        parsed("DECLARE day DTAE")


def test_colons_that_begin_no_parameter() -> None:
    for sql in ("CREATE TABLE t (a ROW<b:INT>)", "SELECT ':x', `a:x` -- :x", "SELECT a::x", "SELECT a[1]:x"):
        assert Parameters().filled(f"{sql}; DECLARE x INT DEFAULT 1").places == ()


def test_errors_have_their_place_in_the_script() -> None:
    script = "DECLARE n INT DEFAULT 1000000; SELECT :n, prise, :n FROM bid"
    with refused("table bid has no column prise", "prise", "did you mean price?"):
        [*Script().outcomes(TABLE + script)]
    with refused("the size of TUMBLE must be an interval literal", ":n", "INTERVAL '10' MINUTE"):
        [*Script().outcomes(f"{TABLE}DECLARE n INT DEFAULT 1; SELECT * FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), :n)")]


def test_parameters_in_windows_options_and_limits() -> None:
    sql = f"""DECLARE size INTERVAL MINUTE; DECLARE most INT; DECLARE rows STRING;
    {TABLE.replace("'datagen'", "'datagen', 'number-of-rows' = :rows")}
    SELECT window_start, COUNT(*) AS n FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), :size)
    GROUP BY window_start, window_end LIMIT :most"""
    plain = sql.partition(";\n")[2]
    for name, literal in (("size", "INTERVAL '1' HOUR"), ("most", "3"), ("rows", "'9'")):
        plain = plain.replace(f":{name}", literal)
    query = tvfsql.compile(sql, params={"size": "1 hour", "most": 3, "ROWS": "9"})
    assert query.physical == tvfsql.compile(plain).physical


def test_values_of_python() -> None:
    given = {
        "d": date(2020, 1, 2),
        "t": time(8, 5),
        "i": datetime(2020, 1, 1, tzinfo=UTC),
        "b": True,
        "n": Decimal("1.5"),
    }
    sql = (
        "DECLARE d DATE; DECLARE t TIME; DECLARE i TIMESTAMP_LTZ(3); DECLARE b BOOLEAN; DECLARE n DECIMAL(2, 1);"
        "SELECT :d AS d, :t AS t, :i AS i, :b AS b, :n AS n"
    )
    code = tvfsql.compile(sql, params=given).code
    for text in ("DATE '2020-01-02'", "08:05:00", "1577836800000", "TRUE", "1.5"):
        assert text in code
    with pytest.raises(TvfSqlError, match="no script declares a parameter dd"):
        tvfsql.compile(sql, params={"dd": 1})
    with pytest.raises(TvfSqlError, match="the parameter d cannot be a list"):
        tvfsql.compile(sql, params={"d": [1]})


def test_the_formatter_and_the_rewriter_need_no_values() -> None:
    assert format_script("declare d date ; select :d;") == "DECLARE d date;\n\nSELECT :d;\n"
    grouped = "SELECT COUNT(*) FROM bid WHERE a = :a GROUP BY TUMBLE(ts, :size)"
    assert rewrite(f"DECLARE size INTERVAL DAY; {grouped}").endswith(
        "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), :size)) WHERE a = :a"
        " GROUP BY window_start, window_end"
    )


def test_lint_marks_the_parameter() -> None:
    sql = f"{TABLE}DECLARE longer STRING DEFAULT 'a long text'; SELECT :longer, price = NULL FROM bid"
    (found,) = (each for each in lint_script(sql, Script()) if each.rule == "null-comparison")
    assert sql[found.span.start : found.span.end] == "price"


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, before = tmp_path / "daily.sql", tmp_path / "before.sql"
    file.write_text("DECLARE day DATE; SELECT :day, :n")
    before.write_text("DECLARE n INT DEFAULT 1")
    asked = ["compile", str(file), "-i", str(before), "--param", "day=2020-04-15"]
    assert main([*asked, "--param", "n=42"]) == 0
    printed = capsys.readouterr().out
    assert "2020-04-15" in printed and "42" in printed
    assert main([*asked, "--param", "m=42"]) == 1
    assert capsys.readouterr().err == "error: no script declares a parameter m\nhint: declared: day, n\n"
