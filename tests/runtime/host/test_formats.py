"""Rows as text, one value and one format at a time."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tvfsql.errors import OptionError
from tvfsql.runtime.host.row_formats import FORMATS, write_rows


def written(format: str, columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    out = io.StringIO()
    assert write_rows(columns, types, iter(rows), format, out) == len(rows)
    return out.getvalue()


def one(format: str, type: str, value: Any) -> str:
    return written(format, ["v"], [type], [[value]])


class Struct(tuple[Any, ...]):
    """As pyspark's Row: a tuple with names."""

    __fields__ = ("a", "b")


WINDOWS: Any = (
    ["window_start", "item", "total"],
    ["timestamp_ntz", "string", "decimal(10,2)"],
    [
        [datetime(2020, 4, 15, 8), "C", Decimal("11.00")],
        [datetime(2020, 4, 15, 8, 10, 0, 5999), None, None],
    ],
)


def test_a_table_aligns_numbers_to_the_right() -> None:
    assert written("table", *WINDOWS) == (
        "+-------------------------+------+-------+\n"
        "| window_start            | item | total |\n"
        "+-------------------------+------+-------+\n"
        "| 2020-04-15 08:00:00.000 | C    | 11.00 |\n"
        "| 2020-04-15 08:10:00.005 | NULL |  NULL |\n"
        "+-------------------------+------+-------+\n"
    )


def test_a_table_without_rows_is_its_head() -> None:
    assert written("table", ["a", "n"], ["string", "bigint"], []) == "+---+---+\n| a | n |\n+---+---+\n"


def test_markdown_marks_the_columns_of_numbers_and_escapes_bars() -> None:
    assert written("markdown", ["a|b", "n"], ["string", "bigint"], [["x|y\\", 1]]) == (
        "| a\\|b   |    n |\n| ------ | ---: |\n| x\\|y\\\\ |    1 |\n"
    )


def test_vertical_gives_each_row_a_block() -> None:
    assert written("vertical", ["item", "price"], ["string", "int"], [["C", 4], [None, 2]]) == (
        "-[ row 1 ]\nitem  | C\nprice | 4\n-[ row 2 ]\nitem  | NULL\nprice | 2\n"
    )


def test_csv_comes_back_as_it_went_in() -> None:
    texts = ["plain", "a,b", 'say "so"', "two\nlines", "a\rb", " blanks ", ""]
    text = written("csv", ["n", "t,t"], ["int", "string"], list(enumerate(texts)))
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["n", "t,t"],
        *([str(number), each] for number, each in enumerate(texts)),
    ]


def test_csv_for_spreadsheets_has_no_formulas_and_numbers_stay() -> None:
    texts = ["=1+1", "+1", "-1", "@x", "\t=1", "＝1", "a=1", "", "'=1", '=HYPERLINK("x,y")']
    text = written("csv-safe", ["=n", "t"], ["bigint", "string"], [[-i, text] for i, text in enumerate(texts)])
    rows = list(csv.reader(io.StringIO(text, newline="")))
    safe = [f"'{text}" for text in texts[:6]]
    assert rows == [["'=n", "t"], *([str(-i), t] for i, t in enumerate([*safe, "a=1", "", "'=1", f"'{texts[-1]}"]))]
    assert one("csv-safe", "double", -1.5) == "v\n-1.5\n"
    assert one("csv-safe", "double", float("-inf")) == "v\n'-Infinity\n"
    assert one("csv-safe", "string", None) == "v\n\n"


def test_csv_tells_an_empty_text_from_a_null() -> None:
    assert written("csv", ["a", "b"], ["string", "string"], [["", None]]) == 'a,b\n"",\n'


def test_tsv_keeps_a_row_on_a_line() -> None:
    assert written("tsv", ["a", "b"], ["string", "string"], [["x\ty\n\\", None]]) == "a\tb\nx\\ty\\n\\\\\t\n"


def test_ndjson_is_one_object_a_row() -> None:
    assert written("ndjson", *WINDOWS).splitlines() == [
        '{"window_start": "2020-04-15 08:00:00.000", "item": "C", "total": "11.00"}',
        '{"window_start": "2020-04-15 08:10:00.005", "item": null, "total": null}',
    ]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_json_is_one_array(count: int) -> None:
    rows = [[number, True] for number in range(count)]
    assert json.loads(written("json", ["n", "b"], ["int", "boolean"], rows)) == [
        {"n": number, "b": True} for number in range(count)
    ]


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        ("boolean", True, "true"),
        ("bigint", -(2**63), "-9223372036854775808"),
        ("double", 0.1, "0.1"),
        ("double", float("nan"), "NaN"),
        ("double", float("-inf"), "-Infinity"),
        ("float", 0.10000000149011612, "0.1"),
        ("float", 3.4028234663852886e38, "3.4028234663852886e+38"),
        ("float", 16777216.0, "16777216.0"),
        ("array<float>", [0.10000000149011612, None], "[0.1, null]"),
        ("map<string,array<float>>", {"a": [0.10000000149011612]}, '{"a": [0.1]}'),
        (
            "struct<a:float,b:decimal(20,10)>",
            Struct((0.10000000149011612, Decimal("0.00E-9"))),
            '{"a": 0.1, "b": "0.0000000000"}',
        ),
        ("array<struct<a:float,b:int>>", [Struct((0.10000000149011612, 1)), None], '[{"a": 0.1, "b": 1}, null]'),
        ("decimal(38,18)", Decimal("0E-18"), "0.000000000000000000"),
        ("decimal(38,10)", Decimal("-2.00E-10"), "-0.0000000002"),  # as Spark sends -2E-10
        ("decimal(38,0)", Decimal("1E+20"), "100000000000000000000"),
        ("date", date(33, 4, 3), "0033-04-03"),
        ("timestamp_ntz", datetime(1, 1, 1), "0001-01-01 00:00:00.000"),
        ("timestamp", datetime(2020, 1, 2, 3, 4, 5, 678999, UTC), "2020-01-02 03:04:05.678"),
        ("interval day to second", timedelta(days=-1, hours=-2, milliseconds=-500), "-1 02:00:00.500"),
        ("binary", b"\x00\xff", "AP8="),
        ("array<string>", ["a", None, 'q"'], '["a", null, "q\\""]'),
        ("map<int,decimal(3,1)>", {1: Decimal("2.0")}, '{"1": "2.0"}'),
        ("struct<a:date,b:array<double>>", Struct((None, [float("inf")])), '{"a": null, "b": ["Infinity"]}'),
    ],
)
def test_a_value_reads_the_same_in_every_text_format(type: str, value: Any, text: str) -> None:
    assert one("tsv", type, value) == "v\n" + text.replace("\\", "\\\\") + "\n"
    assert one("vertical", type, value).endswith(f"v | {text}\n")


def test_json_numbers_are_numbers_unless_json_has_no_such_number() -> None:
    row = [1, 0.5, float("nan"), Decimal("1.50"), False]
    types = ["bigint", "double", "double", "decimal(3,2)", "boolean"]
    assert written("ndjson", list("abcde"), types, [row]) == (
        '{"a": 1, "b": 0.5, "c": "NaN", "d": "1.50", "e": false}\n'
    )


def test_two_columns_of_one_name_stay_two() -> None:
    assert written("ndjson", ["a", "a"], ["int", "int"], [[1, 2]]) == '{"a": 1, "a": 2}\n'


def test_wide_characters_and_combining_marks_keep_the_columns_straight() -> None:
    lines = written("table", ["t", "n"], ["string", "int"], [["日本", 1], ["e\u0301", 2], ["abcd", 3]]).splitlines()
    assert lines[3:6] == ["| 日本 | 1 |", "| e\u0301    | 2 |", "| abcd | 3 |"]


@pytest.mark.parametrize("format", ["table", "vertical", "markdown"])
def test_text_has_no_say_over_the_terminal(format: str) -> None:
    text = one(format, "string", "a\x1b[2Jb\nc\u202ed")
    assert "\x1b" not in text and "\u202e" not in text
    assert "x1b[2Jb" in text and "nc" in text


def test_rows_are_written_as_they_come() -> None:
    out = io.StringIO()
    seen: list[str] = []

    def rows() -> Iterator[list[int]]:
        for number in range(3):
            seen.append(out.getvalue())
            yield [number]

    for format in ("csv", "tsv", "ndjson", "json", "vertical"):
        out.truncate(out.seek(0))
        seen.clear()
        write_rows(["n"], ["int"], rows(), format, out)
        assert len(set(seen)) == 3, format


def test_an_unknown_format_names_the_nearest() -> None:
    with pytest.raises(OptionError) as raised:
        write_rows([], [], [], "jsonl", io.StringIO())
    assert raised.value.hint == "did you mean json?"
    assert set(FORMATS) == {"table", "csv", "csv-safe", "tsv", "json", "ndjson", "markdown", "vertical"}
