"""Types as Flink spells them, and what is none."""

from __future__ import annotations

import pytest

from tvfsql import TvfSqlError
from tvfsql.errors import Span
from tvfsql.syntax.tokens import tokens_of
from tvfsql.syntax.type_words import declared_type, parse_type


@pytest.mark.parametrize(
    ("text", "spark"),
    [
        ("INT NULL", "int"),
        ("double precision", "double"),
        ("CHARACTER VARYING(3)", "string"),
        ("DEC(3)", "decimal(3,0)"),
        ("NUMERIC", "decimal(10,0)"),
        ("TIME(3) WITHOUT TIME ZONE", "time(3)"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "timestamp"),
        ("TIMESTAMP(3) WITHOUT TIME ZONE", "timestamp_ntz"),
        ("INT ARRAY ARRAY", "array<array<int>>"),
        ("STRING MULTISET", "map<string,int>"),
        ("MAP<STRING, ARRAY<DECIMAL(3, 1)>>", "map<string,array<decimal(3,1)>>"),
        ("ROW(a INT, b STRING)", "struct<a:int,b:string>"),
        ("ROW<`a b` INT NOT NULL COMMENT 'x, y>', date DATE>", "struct<`a b`:int,`date`:date>"),
        ("struct<a: int, b: array<long>>", "struct<a:int,b:array<bigint>>"),
    ],
)
def test_a_type_in_sparks_spelling(text: str, spark: str) -> None:
    assert parse_type(text) == spark


def test_nulls_digits_and_parts_are_kept() -> None:
    text = "ROW<at TIMESTAMP(3) NOT NULL, tags ARRAY<STRING NOT NULL>> NOT NULL"
    row = declared_type(tokens_of(text), Span(0, len(text)))
    (_, at), (_, tags) = row.parts
    assert not row.nullable
    assert (at.nullable, at.digits) == (False, 3)
    assert (tags.nullable, tags.parts[0][1].nullable) == (True, False)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("ARRAY<does<INT, STRING>>", "does<INT, STRING>"),
        ("ARRAY<>", "ARRAY<>"),
        ("ARRAY<INT, STRING>", "ARRAY<INT, STRING>"),
        ("MAP<INT>", "MAP<INT>"),
        ("MAP<INT, does>", "does"),
        ("ROW<>", "ROW<>"),
        ("ROW<a INT, b>", "b"),
        ("ROW<INT, STRING>", "INT"),
        ("ROW<a INT, b does>", "does"),
        ("ROW<a INT,, b INT>", "ROW<a INT,, b INT>"),
        ("INT<STRING>", "INT<STRING>"),
        ("STRING(3)", "STRING(3)"),
        ("TIMESTAMP(3, 4)", "TIMESTAMP(3, 4)"),
        ("TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITH TIME ZONE"),
        ("VARCHAR(MAX)", "VARCHAR(MAX)"),
        ("UUID", "UUID"),
        ("INT INT", "INT INT"),
        ("NOT NULL", "NOT NULL"),
        ("ARRAY<INT", "ARRAY<INT"),
    ],
)
def test_what_is_no_type_is_refused_at_its_place(text: str, wrong: str) -> None:
    with pytest.raises(TvfSqlError) as caught:
        parse_type(text)
    span = caught.value.span
    assert span is not None
    assert text[span.start : span.end] == wrong
