"""Types as Flink spells them, and what is none."""

from __future__ import annotations

import pytest

from tvfsql import TvfSqlError
from tvfsql.plan.values.spark_types import of_spark
from tvfsql.syntax.types.words import parse_type


@pytest.mark.parametrize(
    ("text", "spark", "flink"),
    [
        ("INT NULL", "int", "INT"),
        ("double precision", "double", "DOUBLE"),
        ("CHARACTER VARYING(3)", "string", "VARCHAR(3)"),
        ("CHAR", "string", "CHAR(1)"),
        ("VARBINARY", "binary", "BYTES"),
        ("BINARY(4) NOT NULL", "binary", "BINARY(4) NOT NULL"),
        ("DEC(3)", "decimal(3,0)", "DECIMAL(3, 0)"),
        ("NUMERIC", "decimal(10,0)", "DECIMAL(10, 0)"),
        ("TIME(3) WITHOUT TIME ZONE", "time(3)", "TIME(3)"),
        ("TIMESTAMP", "timestamp_ntz", "TIMESTAMP(6)"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "timestamp", "TIMESTAMP_LTZ(3)"),
        ("TIMESTAMP(0) WITHOUT TIME ZONE", "timestamp_ntz", "TIMESTAMP(0)"),
        ("INT ARRAY ARRAY", "array<array<int>>", "ARRAY<ARRAY<INT>>"),
        ("STRING MULTISET", "map<string,int>", "MULTISET<STRING>"),
        ("MAP<STRING, ARRAY<DECIMAL(3, 1)>>", "map<string,array<decimal(3,1)>>", "MAP<STRING, ARRAY<DECIMAL(3, 1)>>"),
        ("ROW(a INT, b STRING)", "struct<a:int,b:string>", "ROW<`a` INT, `b` STRING>"),
        (
            "ROW<`a b` INT NOT NULL COMMENT 'x, y>', date DATE>",
            "struct<`a b`:int,`date`:date>",
            "ROW<`a b` INT NOT NULL, `date` DATE>",
        ),
        ("struct<a: int, b: array<long>>", "struct<a:int,b:array<bigint>>", "ROW<`a` INT, `b` ARRAY<BIGINT>>"),
        (
            "ROW<at TIMESTAMP(3) NOT NULL, tags ARRAY<STRING NOT NULL>> NOT NULL",
            "struct<at:timestamp_ntz,tags:array<string>>",
            "ROW<`at` TIMESTAMP(3) NOT NULL, `tags` ARRAY<STRING NOT NULL>> NOT NULL",
        ),
    ],
)
def test_a_type_is_read_once_and_prints_as_sparks_and_flinks(text: str, spark: str, flink: str) -> None:
    kind = parse_type(text)
    assert (kind.spark, kind.declared) == (spark, flink)
    assert parse_type(kind.declared).declared == flink
    assert of_spark(kind.spark) == kind == of_spark(kind.ddl)


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
