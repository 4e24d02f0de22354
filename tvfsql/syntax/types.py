"""Types as Flink spells them, from text or from sqlglot's trees."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError, nearest
from tvfsql.plan.declared_types import DeclaredType
from tvfsql.plan.scalar import quoted
from tvfsql.plan.types import SqlType
from tvfsql.syntax.dialect import FlinkSql
from tvfsql.syntax.tokens import tokens_of

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
    "MAP", "NUMERIC", "ROW", "SMALLINT", "STRING", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "TINYINT", "VARBINARY",
    "VARCHAR",
)  # fmt: skip
TYPE_WORDS = ("PRECISION", "VARYING", "WITH", "WITHOUT", "LOCAL", "TIME", "ZONE")  # after a type's first word
NOT_NULL = "not null"


class FlinkTypes(FlinkSql):
    """Flink's types with NOT NULL, also inside of others."""

    class Parser(FlinkSql.Parser):
        def _parse_types(
            self,
            check_func: bool = False,
            schema: bool = False,
            allow_identifiers: bool = True,
            with_collation: bool = False,
        ) -> exp.Expr | None:
            made = super()._parse_types(check_func, schema, allow_identifiers, with_collation)
            if made is not None and self._match_text_seq("NOT", "NULL"):
                made.meta[NOT_NULL] = True
            return made


def parse_type(text: str, span: Span) -> SqlType:
    """A type in Spark's DDL spelling: `TIMESTAMP(3)` is timestamp_ntz, `ROW<a INT>` is struct<a:int>. Spark has no
    multisets: they become maps of counts.
    """
    return declared_type(text, span).kind


def declared_type(text: str, span: Span) -> DeclaredType:
    """The same, with what Spark's spelling leaves out."""
    words = _without_multisets(_without_comments([str(token) for token in tokens_of(text)]))
    return _declared(words, span)


def _declared(words: list[str], span: Span) -> DeclaredType:
    upper = [word.upper() for word in words]
    if upper[-2:] == ["NOT", "NULL"]:
        return replace(_declared(words[:-2], span), nullable=False)
    if upper[-1:] == ["ARRAY"] and len(words) > 1:  # INT ARRAY
        element = _declared(words[:-1], span)
        return DeclaredType(f"array<{element.kind}>", parts=(("", element),))
    text = " ".join(words)
    if odd := [word for word in _outer_words(text)[1:] if word not in TYPE_WORDS]:
        raise SqlSyntaxError(f"unexpected {odd[0]} after the type", span=span)
    try:
        tree = exp.DataType.build(text, dialect=FlinkTypes)
    except (ParseError, TokenError, ValueError) as error:
        raise SqlSyntaxError(f"unknown type {text}", span=span, hint=nearest_type(text)) from error
    return _of_tree(tree, span)


def _of_tree(tree: exp.DataType, span: Span) -> DeclaredType:
    parts: tuple[tuple[str, DeclaredType], ...] = ()
    digits = None
    match tree.this:
        case T.STRUCT | T.ARRAY | T.MAP:
            inner = [
                (part.name, part.args["kind"]) if isinstance(part, exp.ColumnDef) else ("", part)
                for part in _inner(tree)
            ]
            parts = tuple((name, _of_tree(part, span)) for name, part in inner)
        case T.TIMESTAMP | T.TIMESTAMPNTZ | T.TIMESTAMPLTZ | T.TIMESTAMPTZ:
            digits = _fractional(tree, span)
    return DeclaredType(spark_type(tree, span), NOT_NULL not in tree.meta, digits, parts)


def _fractional(tree: exp.DataType, span: Span) -> int:
    """The fractional digits of a TIMESTAMP."""
    given = tree.expressions[0].name if tree.expressions else "6"
    if given not in tuple("0123456789"):
        raise SqlSyntaxError("TIMESTAMP has 0 to 9 fractional digits", span=span, hint="TIMESTAMP(3)")
    return int(given)


def _without_comments(words: list[str]) -> list[str]:
    """The words of a type without the comments of its fields."""
    pairs = [*pairwise(words), ("", "")]
    comments = [i for i, (word, text) in enumerate(pairs) if word.upper() == "COMMENT" and text[:1] == "'"]
    return [word for i, word in enumerate(words) if i not in comments and i - 1 not in comments]


def _without_multisets(words: list[str]) -> list[str]:
    """The words of a type with MAP<T, INT> instead of MULTISET<T> and T MULTISET."""
    while True:
        at = next((i for i, word in enumerate(words) if word.upper() == "MULTISET"), None)
        if at is None:
            return words
        if words[at + 1 : at + 2] != ["<"]:
            words = ["MAP", "<", *words[:at], ",", "INT", ">", *words[at + 1 :]]
            continue
        depth = 0
        for end in range(at + 1, len(words)):
            depth += (words[end] == "<") - (words[end] == ">")
            if depth == 0:
                break
        words = [*words[:at], "MAP", *words[at + 1 : end], ",", "INT", *words[end:]]


def spark_type(tree: exp.DataType, span: Span | None = None) -> str:
    """A sqlglot type in Spark's DDL spelling, in lower case."""
    inner = _inner(tree)
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
        case T.TIME:
            digits = tree.expressions[0].name if tree.expressions else "0"
            if digits not in tuple("0123456"):
                raise UnsupportedError("TIME has at most 6 fractional digits", span=span, hint="TIME(3)")
            return f"time({digits})"
        case T.INTERVAL:
            raise UnsupportedError(f"type {tree.sql()} is not supported", span=span, hint="STRING, or TIMESTAMP(3)")
    return tree.sql(dialect="spark").lower()


def _inner(tree: exp.DataType) -> list[exp.DataType | exp.ColumnDef]:
    return [part for part in tree.expressions if isinstance(part, exp.DataType | exp.ColumnDef)]


def _digits(tree: exp.DataType, span: Span | None) -> list[str]:
    """Precision and scale of a DECIMAL."""
    given = [part.this if isinstance(part, exp.DataTypeParam) else part for part in tree.expressions]
    texts = [part.name if isinstance(part, exp.Literal) else "" for part in given]
    numbers = [*texts, *["10", "0"][len(tree.expressions) :]]
    right = len(numbers) == 2 and all(map(str.isdecimal, numbers)) and int(numbers[0]) > 0
    if not right or not int(numbers[1]) <= int(numbers[0]) <= 38:
        raise SqlSyntaxError(
            "DECIMAL takes a precision from 1 to 38 and a scale up to the precision",
            span=span,
            hint="DECIMAL(10, 2)",
        )
    return numbers


def nearest_type(text: str) -> str | None:
    """A hint with the type whose name is closest; None if none is close."""
    close = nearest(text.partition("(")[0], FLINK_TYPES)
    return f"did you mean {close}?" if close else None


def _outer_words(text: str) -> list[str]:
    """The words of a type outside its parentheses and angle brackets."""
    depth, outside = 0, ""
    for char in text.upper():
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(char, 0)
        outside += char if depth == 0 and char not in ")>" else " "
    return outside.split()
