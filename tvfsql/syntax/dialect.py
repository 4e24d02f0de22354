"""Flink's SQL as a dialect of sqlglot, and types in Spark's DDL spelling."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Any

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.parser import Parser
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from tvfsql.errors import Span, SqlSyntaxError, UnsupportedError, nearest
from tvfsql.plan.scalar import quoted
from tvfsql.syntax.calls import WithWords
from tvfsql.syntax.checks.literals import TIMES, WRITTEN
from tvfsql.syntax.interval import is_range
from tvfsql.syntax.known import functions
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
CHARSETS = ("_UTF8", "_UTF16")  # before a text, whose characters they all have
TYPE_WORDS = ("PRECISION", "VARYING", "WITH", "WITHOUT", "LOCAL", "TIME", "ZONE")  # after a type's first word


def time_literal(parser: Parser, value: exp.Expr, kind: exp.DataType) -> exp.Cast:
    """Make DATE '2020-04-15' a CAST, as sqlglot does, that can be told from one."""
    made = parser.expression(exp.Cast(this=value, to=kind))
    made.meta[WRITTEN] = ()
    return made


class FlinkSql(Spark):
    """Spark's SQL with Flink's differences: '' escapes a quote, casts are strict, and types are Flink's."""

    STRICT_JSON_PATH_SYNTAX = False  # sqlglot would print a warning about a path that it cannot read

    class Tokenizer(Spark.Tokenizer):
        QUOTES = ["'"]
        UNICODE_STRINGS = [("U&'", "'"), ("u&'", "'")]
        STRING_ESCAPES = ["'"]
        IDENTIFIERS = ["`"]
        KEYWORDS = {
            **Spark.Tokenizer.KEYWORDS,
            "BYTES": TokenType.BINARY,
            "ROW": TokenType.STRUCT,
            "TIMESTAMP": TokenType.TIMESTAMP,
        }

    class Parser(WithWords, SparkParser):
        STRICT_CAST = True
        ADD_JOIN_ON_TRUE = False  # a JOIN without its condition is an error
        FUNCTIONS = {name: build for name, build in SparkParser.FUNCTIONS.items() if name in functions.NAMES}
        FUNCTION_PARSERS = {
            name: parse
            for name, parse in SparkParser.FUNCTION_PARSERS.items()
            if name in functions.NAMES | functions.WORDS
        } | {
            "CEILING": lambda self: self._parse_ceil_floor(exp.Ceil),
            "POSITION": lambda self: self.position(),
            "JSON_VALUE": lambda self: self.json_value(),
            "JSON_QUERY": lambda self: self.json_query(),
            "JSON_EXISTS": lambda self: self.json_exists(),
            "JSON_OBJECT": lambda self: self.json_object(),
            "JSON_OBJECTAGG": lambda self: self.json_object("JSON_OBJECTAGG"),
            "JSON_ARRAY": lambda self: self.json_array(),
            "JSON_ARRAYAGG": lambda self: self.json_array("JSON_ARRAYAGG"),
        }
        NO_PAREN_FUNCTION_PARSERS = {
            name: parse
            for name, parse in SparkParser.NO_PAREN_FUNCTION_PARSERS.items()
            if name in ("ANY", "CASE", "IF")
        }

        TYPE_LITERAL_PARSERS = {**SparkParser.TYPE_LITERAL_PARSERS, **dict.fromkeys(TIMES, time_literal)}

        def _parse_function(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
            """Parse a call and set its span, from its name to its last parenthesis; sqlglot keeps at most the span of
            the name.
            """
            first = self._curr
            made: exp.Expr | None = super()._parse_function(*args, **kwargs)
            if made is not None and first is not None:
                made.meta.update(start=first.start, end=self._prev.end)
            return made

        def _parse_interval_span(self, this: exp.Expr, parse_function_unit: bool = True) -> exp.Interval:
            """Parse an interval, and keep its words: sqlglot reads M as MINUTE. TO after its unit may belong to a FLOOR
            around it: FLOOR(d + INTERVAL '1' MONTH TO YEAR).
            """
            start = self._index - 1
            made: exp.Interval = super()._parse_interval_span(this, parse_function_unit)
            unit = made.args.get("unit")
            if isinstance(unit, exp.IntervalSpan) and not is_range(unit.this.name, unit.expression.name):
                made.set("unit", unit.this)
                self._retreat(start + 2)
            words = self._tokens[start : self._index]
            made.meta[WRITTEN] = tuple((word.text, word.start, word.end + 1) for word in words)
            return made

        def _parse_primary(self) -> exp.Expr | None:
            """Parse a primary expression. The literal .5 is a DECIMAL(1, 1), not 0.5."""
            dot = self._curr
            made: exp.Expr | None = super()._parse_primary()
            if isinstance(made, exp.Literal) and dot and dot.token_type == TokenType.DOT:
                made.set("this", made.name.removeprefix("0"))
            return made

        def _parse_paren(self) -> exp.Expr | None:
            """Parse a parenthesis, or the difference of two times in a unit: (a - b) DAY TO SECOND."""
            made: exp.Expr | None = super()._parse_paren()
            if isinstance(made, exp.Paren) and isinstance(made.this, exp.Sub):
                return self.difference(made.this) or made
            return made

        def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
            """Parse an element access, or the contents of MAP[...] and MULTISET[...]. sqlglot would skip a * here."""
            if isinstance(this, exp.Table) and self._match(TokenType.STAR, advance=False):
                self.raise_error("Invalid expression / Unexpected token")
            unnamed = isinstance(this, exp.Dot) and this.args.get("expression") is None
            if unnamed and self._match(TokenType.L_BRACKET, advance=False):
                raise ParseError.new("Expected a name after .")  # raise_error ignores errors in types
            named = isinstance(this, exp.Column) and not this.table and not this.this.quoted
            if (
                named
                and this
                and this.name.upper() in ("MAP", "MULTISET")
                and self._match(TokenType.L_BRACKET, advance=False)
            ):
                return super()._parse_bracket(self.bracketed(this.name.upper()))
            return super()._parse_bracket(this)

        def _parse_between(self, this: exp.Expr | None) -> exp.Between:
            """Parse BETWEEN a AND b. sqlglot would do without AND."""
            first = self._index
            made: exp.Between = super()._parse_between(this)
            if all(token.token_type != TokenType.AND for token in self._tokens[first : self._index]):
                self.raise_error("Expected AND after BETWEEN")
            return made

        def _parse_case(self) -> exp.Expr | None:
            """Parse CASE. A branch can have several values: CASE x WHEN 1, 2 THEN ..."""
            operand = self._parse_disjunction()
            branches, otherwise = [], None
            while self._match(TokenType.WHEN):
                values = self._parse_csv(self._parse_disjunction) if operand else [self._parse_disjunction()]
                if not self._match(TokenType.THEN):
                    self.raise_error("Expected THEN after WHEN")
                then = self._parse_disjunction()
                branches += [self.expression(exp.If(this=value, true=then)) for value in values]
            if self._match(TokenType.ELSE):
                otherwise = self._parse_disjunction()
            if not self._match(TokenType.END):
                self.raise_error("Expected END after CASE", self._prev)
            return self.expression(exp.Case(this=operand, ifs=branches, default=otherwise))

        def _parse_types(
            self,
            check_func: bool = False,
            schema: bool = False,
            allow_identifiers: bool = True,
            with_collation: bool = False,
        ) -> exp.Expr | None:
            """Parse types as written: Spark's parser would read CHAR(3) in a CAST as STRING."""
            return Parser._parse_types(self, check_func, schema, allow_identifiers, with_collation)


def parse_at(text: str, start: int, into: type[exp.Expr] | None = None) -> list[exp.Expr | None]:
    """Parse a text that starts at `start` of a longer text; the trees' positions are those in the longer one.

    Raises ParseError, with lines and columns of the text, and TokenError.
    """
    sql = FlinkSql()
    tokens = sql.tokenize(text)
    for token in tokens:
        token.start += start
        token.end += start
    parser, whole = sql.parser(), " " * start + text
    tokens = _without_precision(_without_charsets(tokens))
    return parser.parse_into(into, tokens, whole) if into else parser.parse(tokens, whole)


def _without_charsets(tokens: Sequence[Token]) -> list[Token]:
    """The tokens without the charset of a text: the _UTF8 of `_UTF8'...'`."""
    return [
        token
        for token, following in zip(tokens, [*tokens[1:], None], strict=False)
        if token.text.upper() not in CHARSETS
        or following is None
        or following.token_type != TokenType.STRING
        or following.start != token.end + 1
    ]


def _without_precision(tokens: Sequence[Token]) -> list[Token]:
    """The tokens without the digits of an interval's unit: the (3) of `INTERVAL '100' DAY(3)`."""
    kept: list[Token] = []
    past = 0
    for i, token in enumerate(tokens):
        if token.token_type == TokenType.L_PAREN and _ends_with_unit(kept):
            inside = takewhile(lambda each: each.token_type in (TokenType.NUMBER, TokenType.COMMA), tokens[i + 1 :])
            end = i + 1 + sum(1 for _ in inside)
            past = end + 1 if end > i + 1 and tokens[end].token_type == TokenType.R_PAREN else past
        if i >= past:
            kept.append(token)
    return kept


def _ends_with_unit(tokens: Sequence[Token]) -> bool:
    """Whether the tokens end with `INTERVAL '...' UNIT` or `INTERVAL '...' UNIT TO UNIT`."""
    start = tokens[-5:] if len(tokens) > 4 and tokens[-2].text.upper() == "TO" else tokens[-3:]
    return [token.token_type for token in start[:2]] == [TokenType.INTERVAL, TokenType.STRING]


def parse_type(text: str, span: Span) -> str:
    """A type in Spark's DDL spelling: `TIMESTAMP(3)` is timestamp_ntz, `ROW<a INT>` is struct<a:int>. Spark has no
    multisets: they become maps of counts.
    """
    text, lists = _type_alone(text)
    if lists:
        return f"array<{parse_type(text, span)}>"
    if odd := [word for word in _outer_words(text)[1:] if word not in TYPE_WORDS]:
        raise SqlSyntaxError(f"unexpected {odd[0]} after the type", span=span)
    try:
        tree = exp.DataType.build(" ".join(text.split()), dialect=FlinkSql)
    except (ParseError, TokenError, ValueError) as error:
        raise SqlSyntaxError(f"unknown type {text.strip()}", span=span, hint=nearest_type(text.strip())) from error
    return spark_type(tree, span)


def _type_alone(text: str) -> tuple[str, bool]:
    """A type without its fields' comments and NOT NULL, and whether ARRAY follows it, as in `INT ARRAY`."""
    words = _without_multisets([str(token) for token in tokens_of(text)])
    upper = [word.upper() for word in words]
    pairs = [*pairwise(upper), ("", "")]
    plain = [
        words[i]
        for i, (pair, before) in enumerate(zip(pairs, [("", ""), *pairs], strict=False))
        if not any(each == ("NOT", "NULL") or (each[0] == "COMMENT" and each[1][:1] == "'") for each in (pair, before))
    ]
    follows = len(plain) > 1 and plain[-1].upper() == "ARRAY"
    return " ".join(plain[:-1] if follows else plain), follows


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
        case T.TIME:
            digits = tree.expressions[0].name if tree.expressions else "0"
            if digits not in tuple("0123456"):
                raise UnsupportedError("TIME has at most 6 fractional digits", span=span, hint="TIME(3)")
            return f"time({digits})"
        case T.INTERVAL:
            raise UnsupportedError(f"type {tree.sql()} is not supported", span=span, hint="STRING, or TIMESTAMP(3)")
    return tree.sql(dialect="spark").lower()


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
