"""Flink's SQL as a dialect of sqlglot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError
from sqlglot.parser import Parser
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from tvfsql.syntax.calls import WithWords
from tvfsql.syntax.checks.literals import TIMES, WRITTEN
from tvfsql.syntax.interval import is_range
from tvfsql.syntax.known import functions

CHARSETS = ("_UTF8", "_UTF16")  # before a text, whose characters they all have


def time_literal(parser: Parser, value: exp.Expr, kind: exp.DataType) -> exp.Cast:
    """Make DATE '2020-04-15' a CAST, as sqlglot does, that can be told from one."""
    made = parser.expression(exp.Cast(this=value, to=kind))
    made.meta[WRITTEN] = ()
    return made


OTHER_NAMES = {"FIRST": "FIRST_VALUE", "LAST": "LAST_VALUE"}  # of aggregates


def whole(name: str, build: Callable[..., exp.Expr]) -> Callable[..., exp.Expr]:
    """The builder of a call, which is one by name where sqlglot would drop arguments, as the third of MOD(a, b, c)."""

    def built(arguments: list[exp.Expr], **options: Any) -> exp.Expr:
        made = build(arguments, **options)
        kept = {id(part) for part in made.walk()}
        words = {part.name.upper() for part in made.find_all(exp.Var)}  # units
        lost = [each for each in arguments if id(each) not in kept and each.name.upper() not in words]
        if not lost or (isinstance(made, exp.IgnoreNulls) and lost == [exp.true()]):
            return made
        return exp.Anonymous(this=OTHER_NAMES.get(name, name), expressions=arguments)

    return built


class FlinkSql(Spark):
    """Spark's SQL with Flink's differences: '' escapes a quote, casts are strict, and types are Flink's."""

    STRICT_JSON_PATH_SYNTAX = False  # sqlglot would print a warning about a path that it cannot read

    class Tokenizer(Spark.Tokenizer):
        VAR_SINGLE_TOKENS: ClassVar = {"$"}  # within a name, as in EXPR$0
        QUOTES = ["'"]
        UNICODE_STRINGS = [("U&'", "'"), ("u&'", "'")]
        STRING_ESCAPES = ["'"]
        IDENTIFIERS = ["`"]
        KEYWORDS = {
            **Spark.Tokenizer.KEYWORDS,
            "BYTES": TokenType.VARBINARY,
            "ROW": TokenType.STRUCT,
            "TIMESTAMP": TokenType.TIMESTAMP,
        }

    class Parser(WithWords, SparkParser):
        STRICT_CAST = True
        SUPPORTS_TABLE_QUERY = True
        ADD_JOIN_ON_TRUE = False  # a JOIN without its condition is an error
        FUNCTIONS = {
            name: whole(name, build) for name, build in SparkParser.FUNCTIONS.items() if name in functions.NAMES
        }
        FUNCTION_PARSERS = {
            name: parse
            for name, parse in SparkParser.FUNCTION_PARSERS.items()
            if name in functions.NAMES | functions.WORDS
        } | {
            "CEIL": lambda self: self.rounded("CEIL", exp.Ceil),
            "CEILING": lambda self: self.rounded("CEILING", exp.Ceil),
            "FLOOR": lambda self: self.rounded("FLOOR", exp.Floor),
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

        def _parse_derived_table_values(self, allow_value_synonym: bool = False) -> exp.Values | None:
            """Parse the ORDER BY and LIMIT of VALUES in parentheses too, which known/clauses.py refuses by name."""
            if not self._match_pair(TokenType.L_PAREN, TokenType.VALUES):
                return super()._parse_derived_table_values(allow_value_synonym)
            made = self.expression(exp.Values(expressions=self._parse_csv(self._parse_value)))
            alias = self._parse_table_alias()
            made.set("order", self._parse_order())
            made.set("limit", self._parse_limit())
            self._match_r_paren()
            made.set("alias", alias or self._parse_table_alias())
            return made

        def _parse_function(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
            """Parse a call and set its span, from its name to its last parenthesis; sqlglot keeps at most the span of
            the name.
            """
            first = self._curr
            made: exp.Expr | None = super()._parse_function(*args, **kwargs)
            if made is not None and first is not None:
                made.meta.update(start=first.start, end=self._prev.end)
            return made

        def _is_table_query(self) -> bool:
            """Whether `TABLE t` follows, which is short for SELECT * FROM t. sqlglot knows no quoted names there."""
            if not self._match(TokenType.TABLE, advance=False):
                return False
            return self._next is not None and self._next.token_type in {*self.ID_VAR_TOKENS, TokenType.IDENTIFIER}

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
    trees = parser.parse_into(into, tokens, whole) if into else parser.parse(tokens, whole)
    for tree in filter(None, trees):
        for name in tree.find_all(exp.Identifier):
            if "$" in name.name:  # Spark reads EXPR$0 in backticks only
                name.set("quoted", True)
    return trees


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
