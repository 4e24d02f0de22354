"""Flink's SQL as a dialect of sqlglot, and types as Spark's DDL spells them."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import TokenType

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError, nearest
from tvfsql.plan.scalar import quoted

T = exp.DataType.Type

SPARK_TYPES = {
    T.TIMESTAMP: "timestamp_ntz",
    T.TIMESTAMPNTZ: "timestamp_ntz",
    T.TIMESTAMPLTZ: "timestamp",
    T.TIMESTAMPTZ: "timestamp",
    T.CHAR: "string",
    T.VARCHAR: "string",
    T.NVARCHAR: "string",
    T.TEXT: "string",
    T.BINARY: "binary",
    T.VARBINARY: "binary",
}
FLINK_TYPES = (
    "ARRAY", "BIGINT", "BINARY", "BOOLEAN", "BYTES", "CHAR", "DATE", "DECIMAL", "DOUBLE", "FLOAT", "INT", "INTEGER",
    "MAP", "NUMERIC", "ROW", "SMALLINT", "STRING", "TIMESTAMP", "TIMESTAMP_LTZ", "TINYINT", "VARBINARY", "VARCHAR",
)  # fmt: skip
TYPE_WORDS = ("PRECISION", "VARYING", "WITH", "WITHOUT", "LOCAL", "TIME", "ZONE")  # after a type's first word


class FlinkSql(Spark):
    """Spark's SQL read as Flink users write it: '' is the quote's escape, casts are strict, Flink's types."""

    class Tokenizer(Spark.Tokenizer):
        QUOTES = ["'"]
        STRING_ESCAPES = ["'"]
        IDENTIFIERS = ["`"]
        KEYWORDS = {
            **Spark.Tokenizer.KEYWORDS,
            "BYTES": TokenType.BINARY,
            "ROW": TokenType.STRUCT,
            "TIMESTAMP": TokenType.TIMESTAMP,
        }

    class Parser(SparkParser):
        STRICT_CAST = True
        ADD_JOIN_ON_TRUE = False  # a JOIN that lacks its condition is a mistake
        FUNCTIONS = {
            name: build
            for name, build in SparkParser.FUNCTIONS.items()
            if name not in ("TO_TIMESTAMP", "TO_TIMESTAMP_NTZ", "TO_TIMESTAMP_LTZ", "FROM_UNIXTIME")
        }


def parse_type(text: str, span: Span) -> str:
    """A type as Spark's DDL spells it: `TIMESTAMP(3)` is timestamp_ntz, `ROW<a INT>` is struct<a:int>."""
    if odd := [word for word in _outer_words(text)[1:] if word not in TYPE_WORDS]:
        raise SqlSyntaxError(f"unexpected {odd[0]} after the type", span=span)
    try:
        tree = exp.DataType.build(" ".join(text.split()), dialect=FlinkSql)
    except (ParseError, TokenError, ValueError) as error:
        raise SqlSyntaxError(f"unknown type {text.strip()}", span=span, hint=nearest_type(text.strip())) from error
    return spark_type(tree, span)


def spark_type(tree: exp.DataType, span: Span | None = None) -> str:
    """A sqlglot type as Spark's DDL spells it, in lower case."""
    inner = [part for part in tree.expressions if isinstance(part, exp.DataType | exp.ColumnDef)]
    match tree.this:
        case kind if kind in SPARK_TYPES:
            return SPARK_TYPES[kind]
        case T.STRUCT:
            fields = [
                f"{quoted(part.name)}:{spark_type(part.args['kind'], span)}"
                for part in inner
                if isinstance(part, exp.ColumnDef)
            ]
            return f"struct<{','.join(fields)}>"
        case T.ARRAY | T.MAP:
            args = ",".join(spark_type(part, span) for part in inner if isinstance(part, exp.DataType))
            return f"{tree.this.value.lower()}<{args}>"
        case T.DECIMAL:
            return f"decimal({','.join(_digits(tree, span))})"
        case T.INTERVAL | T.TIME:
            raise UnsupportedError(f"{tree.sql()} columns have no counterpart in Spark", span=span)
    return tree.sql(dialect="spark").lower()


def _digits(tree: exp.DataType, span: Span | None) -> list[str]:
    """Precision and scale of a DECIMAL."""
    numbers = [*(part.name for part in tree.expressions), *["10", "0"][len(tree.expressions) :]]
    right = len(numbers) == 2 and all(map(str.isdecimal, numbers)) and int(numbers[0]) > 0
    if not right or not int(numbers[1]) <= int(numbers[0]) <= 38:
        raise SqlSyntaxError(
            "DECIMAL takes the number of its digits, 1 to 38, and how many of them are behind the point",
            span=span,
            hint="DECIMAL(10, 2)",
        )
    return numbers


def nearest_type(text: str) -> str | None:
    """A hint: the type whose name is closest."""
    close = nearest(text.partition("(")[0], FLINK_TYPES)
    return f"did you mean {close}?" if close else None


def _outer_words(text: str) -> list[str]:
    """The words of a type outside its parentheses and angle brackets."""
    depth, outside = 0, ""
    for char in text.upper():
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(char, 0)
        outside += char if depth == 0 and char not in ")>" else " "
    return outside.split()
