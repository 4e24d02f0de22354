"""Flink's calls and operators with keywords that sqlglot has no node for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import TokenType

UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
ON_NULL = ("NULL ON NULL", "ABSENT ON NULL")
WRAPPERS = (
    "WITHOUT ARRAY WRAPPER",
    "WITHOUT WRAPPER",
    "WITH CONDITIONAL ARRAY WRAPPER",
    "WITH CONDITIONAL WRAPPER",
    "WITH UNCONDITIONAL ARRAY WRAPPER",
    "WITH UNCONDITIONAL WRAPPER",
    "WITH ARRAY WRAPPER",
    "WITH WRAPPER",
)


class Words(exp.Expression, exp.Func):
    """A call with keywords: `this` is its name, `expressions` its arguments. `options` are its keywords, each after the
    clause that it belongs to ("ON EMPTY=NULL"). `written` is the call as written, with {0}, {1}, ... for the arguments.
    """

    arg_types = {"this": True, "expressions": False, "options": False, "written": True}
    is_var_len_args = True

    def option(self, key: str) -> str | None:
        """The value of an option; None if it is absent."""
        pairs = dict(option.partition("=")[::2] for option in self.args.get("options") or ())
        return pairs.get(key)


if TYPE_CHECKING:
    _Parser = SparkParser
else:
    _Parser = object


class WithWords(_Parser):
    """The part of the parser that reads such calls."""

    def words(self, *choices: str) -> str | None:
        """Consume and return the first of these phrases that comes next; None if none does."""
        return next((choice for choice in choices if self._match_text_seq(*choice.split())), None)

    def call(self, name: str, arguments: list[exp.Expr], options: list[str], written: str) -> exp.Expr:
        return self.expression(Words(this=name, expressions=arguments, options=options, written=written))

    def _expression(self) -> exp.Expr:
        return self._parse_disjunction() or self._missing()

    def _operand(self) -> exp.Expr:
        return self._parse_bitwise() or self._missing()

    def _missing(self) -> exp.Expr:
        self.raise_error("an argument is missing")
        return exp.Null()

    def _type(self) -> str:
        kind = self._parse_types()
        if kind is None:
            self.raise_error("Expected TYPE after CAST")
        return kind.sql() if kind else ""

    def _text_and_path(self) -> list[exp.Expr]:
        text = self._expression()
        self._match(TokenType.COMMA)
        return [text, self._expression()]

    def json_value(self) -> exp.Expr:
        """JSON_VALUE(json, path [RETURNING type] [NULL | ERROR | DEFAULT x ON EMPTY] [... ON ERROR])."""
        arguments, options = self._text_and_path(), list[str]()
        shown = "{0}, {1}"
        if self._match_text_seq("RETURNING"):
            options.append(f"RETURNING={self._type()}")
            shown += f" RETURNING {options[-1].partition('=')[2]}"
        while True:
            if found := self.words("NULL ON EMPTY", "ERROR ON EMPTY", "NULL ON ERROR", "ERROR ON ERROR"):
                what, _, when = found.partition(" ")
                options.append(f"{when}={what}")
                shown += f" {found}"
                continue
            if not self._match(TokenType.DEFAULT) and not self._match_text_seq("DEFAULT"):
                break
            arguments.append(self._operand())
            when = self.words("ON EMPTY", "ON ERROR") or ""
            if not when:
                self.raise_error("expected ON EMPTY or ON ERROR")
            options.append(f"{when}={len(arguments) - 1}")
            shown += f" DEFAULT {{{len(arguments) - 1}}} {when}"
        return self.call("JSON_VALUE", arguments, options, f"JSON_VALUE({shown})")

    def json_query(self) -> exp.Expr:
        """JSON_QUERY(json, path [RETURNING type] [wrapper] [NULL | EMPTY ARRAY | EMPTY OBJECT | ERROR ON EMPTY])."""
        arguments, options = self._text_and_path(), list[str]()
        shown = "{0}, {1}"
        if self._match_text_seq("RETURNING"):
            options.append(f"RETURNING={self._type()}")
            shown += f" RETURNING {options[-1].partition('=')[2]}"
        if wrapper := self.words(*WRAPPERS):
            options.append(f"WRAPPER={wrapper}")
            shown += f" {wrapper}"
        made = ("NULL", "ERROR", "EMPTY ARRAY", "EMPTY OBJECT")
        while found := self.words(*(f"{what} ON {when}" for what in made for when in ("EMPTY", "ERROR"))):
            what, _, when = found.rpartition(" ON ")
            options.append(f"ON {when}={what}")
            shown += f" {found}"
        return self.call("JSON_QUERY", arguments, options, f"JSON_QUERY({shown})")

    def json_exists(self) -> exp.Expr:
        """JSON_EXISTS(json, path [TRUE | FALSE | UNKNOWN | ERROR ON ERROR])."""
        arguments, options = self._text_and_path(), list[str]()
        found = self.words("TRUE ON ERROR", "FALSE ON ERROR", "UNKNOWN ON ERROR", "ERROR ON ERROR")
        if found:
            options.append(f"ON ERROR={found.partition(' ')[0]}")
        return self.call("JSON_EXISTS", arguments, options, f"JSON_EXISTS({{0}}, {{1}}{f' {found}' if found else ''})")

    def json_object(self, name: str = "JSON_OBJECT") -> exp.Expr:
        """JSON_OBJECT([KEY] key VALUE value, ... [NULL | ABSENT ON NULL]), and JSON_OBJECTAGG."""
        arguments: list[exp.Expr] = []
        while not self._match(TokenType.R_PAREN, advance=False):
            if arguments and not self._match(TokenType.COMMA):
                break
            self._match_text_seq("KEY")
            arguments.append(self._operand())
            if not self._match_text_seq("VALUE") and not self._match(TokenType.COLON):
                self._match(TokenType.COMMA)
            arguments.append(self._expression())
        pairs = ", ".join(f"KEY {{{i}}} VALUE {{{i + 1}}}" for i in range(0, len(arguments), 2))
        return self._with_nulls(name, arguments, pairs)

    def json_array(self, name: str = "JSON_ARRAY") -> exp.Expr:
        """JSON_ARRAY(value, ... [NULL | ABSENT ON NULL]), and JSON_ARRAYAGG."""
        arguments: list[exp.Expr] = []
        while not self._match(TokenType.R_PAREN, advance=False) and not self._is_on_null():
            if arguments and not self._match(TokenType.COMMA):
                break
            arguments.append(self._expression())
        return self._with_nulls(name, arguments, ", ".join(f"{{{i}}}" for i in range(len(arguments))))

    def _is_on_null(self) -> bool:
        index = self._index
        found = self.words(*ON_NULL)
        self._retreat(index)
        return found is not None

    def _with_nulls(self, name: str, arguments: list[exp.Expr], shown: str) -> exp.Expr:
        found = self.words(*ON_NULL)
        options = [f"ON NULL={found.partition(' ')[0]}"] if found else []
        if name.endswith("AGG"):
            return self._of_all(name, arguments, options)
        return self.call(name, arguments, options, f"{name}({shown}{f' {found}' if found else ''})".replace("( ", "("))

    def _of_all(self, name: str, arguments: list[exp.Expr], options: list[str]) -> exp.Expr:
        """An aggregate, as a function of the array of its rows."""
        wanted, said = (2, "KEY k VALUE v") if name == "JSON_OBJECTAGG" else (1, "one value")
        if len(arguments) != wanted:
            self.raise_error(f"{name} takes {said}")
        options += ["RAW=j"] if is_json(arguments[-1]) else []
        names = ("k", "x") if len(arguments) > 1 else ("x",)
        fields = [exp.alias_(part, name) for part, name in zip(arguments, names, strict=True)]
        rows = exp.ArrayAgg(this=exp.Struct(expressions=fields))
        return self.call(name, [rows], options, "{0}")

    def rounded(self, name: str, node: type[exp.Ceil | exp.Floor]) -> exp.Expr:
        """CEIL(x), CEIL(x, digits) and CEIL(x TO unit), or FLOOR. sqlglot would skip further arguments."""
        arguments = self._parse_csv(self._parse_lambda)
        if len(arguments) not in (1, 2):
            return self.expression(exp.Anonymous(this=name, expressions=arguments))
        unit = self._parse_var() if self._match_text_seq("TO") else None
        return self.expression(node(this=arguments[0], decimals=[*arguments, None][1], to=unit))

    def position(self) -> exp.Expr:
        """POSITION(substring IN text [FROM start])."""
        parts = [self._parse_bitwise()]
        if not self._match(TokenType.IN):
            self._match(TokenType.COMMA)
        parts.append(self._parse_bitwise())
        start = self._parse_bitwise() if self._match(TokenType.FROM) or self._match(TokenType.COMMA) else None
        return self.expression(exp.StrPosition(this=parts[1], substr=parts[0], position=start))

    def bracketed(self, name: str) -> exp.Expr:
        """MAP[key, value, ...] and MULTISET[value, ...], after the name."""
        self._match(TokenType.L_BRACKET)
        arguments = self._parse_csv(self._parse_disjunction)
        if not self._match(TokenType.R_BRACKET):
            self.raise_error("Expected ]")
        return self.call(name, arguments, [], f"{name}[{', '.join(f'{{{i}}}' for i in range(len(arguments)))}]")

    def difference(self, sub: exp.Sub) -> exp.Expr | None:
        """(a - b) DAY TO SECOND, after the parenthesis; None if no unit follows."""
        first = self._unit()
        if first is None:
            return None
        last = self._unit() if self._match_text_seq("TO") else first
        unit = first if last == first else f"{first} TO {last}"
        return self.call("INTERVAL", [sub.left, sub.right], [f"UNIT={first}"], f"({{0}} - {{1}}) {unit}")

    def _unit(self) -> str | None:
        found = self.words(*UNITS)
        if found and self._match(TokenType.L_PAREN):  # digits: DAY(3)
            self._parse_csv(self._parse_number)
            self._match_r_paren()
        return found


def decoded(text: str, escape: str = "\\") -> str:
    r"""The text of U&'\00e4'. Raises ValueError for an invalid escape."""
    pattern = re.escape(escape) + r"(?:([0-9a-fA-F]{4})|\+([0-9a-fA-F]{6})|(" + re.escape(escape) + "))"

    def letter(found: re.Match[str]) -> str:
        return escape if found[3] else chr(int(found[1] or found[2], 16))

    return re.sub(pattern, letter, text).encode("utf-16", "surrogatepass").decode("utf-16")  # halves are joined


def is_json(tree: exp.Expr) -> bool:
    """Whether an expression makes JSON that is embedded in other JSON unchanged."""
    name = tree.name.upper() if isinstance(tree, Words | exp.Anonymous) else ""
    return name in ("JSON", "JSON_OBJECT", "JSON_ARRAY")
