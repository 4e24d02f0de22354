"""Flink's functions in Spark's words, and expressions as text in Spark's dialect."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from sqlglot import exp
from sqlglot.generators.spark import SparkGenerator

from tvfsql.bind.infer import infer
from tvfsql.bind.users import USERS, check_arguments, user_of
from tvfsql.errors import BindError, Span, nearest
from tvfsql.plan.aggregates import AGGREGATES, ALIASES
from tvfsql.plan.function import UserFunction
from tvfsql.plan.scalar import PROCTIME
from tvfsql.plan.types import SqlType, is_integer
from tvfsql.syntax.sql import parse_scalar, span_of

T = exp.DataType.Type
PROCTIME_HOLE = "\x04"
# Flink's functions in Spark's words; {0} is the first argument.
FLINK_FUNCTIONS = {
    ("TO_TIMESTAMP", 1): "CAST({0} AS TIMESTAMP_NTZ)",
    ("TO_TIMESTAMP", 2): "TO_TIMESTAMP_NTZ({0}, {1})",
    ("LOCALTIMESTAMP", 0): "LOCALTIMESTAMP()",
    ("SPLIT_INDEX", 3): "ELEMENT_AT(SPLIT({0}, CONCAT('\\\\Q', {1}, '\\\\E')), {2} + 1)",
    ("JSON_VALUE", 2): "GET_JSON_OBJECT({0}, {1})",
    ("TRUNCATE", 2): "ROUND({0}, {1})",
}
# Flink's aggregates that Spark lacks, in words that both modes have.
IN_OTHER_WORDS = {
    "json_arrayagg": "TO_JSON(COLLECT(x)), which leaves NULLs out; ARRAY_AGG keeps them",
    "json_objectagg": "TO_JSON(MAP_FROM_ENTRIES(COLLECT(STRUCT(key, value))))",
    "single_value": "ANY_VALUE(x), which takes one of several",
}
# They rank rows, or look at those beside a row.
OF_ROWS = "lead lag ntile cume_dist percent_rank rank dense_rank row_number nth_value".split()


class SparkText(SparkGenerator):
    """Text in Spark's dialect, with Flink's TIMESTAMP as Spark's TIMESTAMP_NTZ."""

    TYPE_MAPPING = {
        **SparkGenerator.TYPE_MAPPING,
        T.TIMESTAMP: "TIMESTAMP_NTZ",
        T.TIMESTAMPLTZ: "TIMESTAMP",
        T.TIMESTAMPTZ: "TIMESTAMP",
    }

    def not_sql(self, expression: exp.Not) -> str:
        inner = expression.this
        if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
            return f"{self.sql(inner, 'this')} IS NOT NULL"
        return super().not_sql(expression)

    def anonymous_sql(self, expression: exp.Anonymous) -> str:
        function = user_of(expression)
        if is_proctime(expression):
            return self.proctime()
        if function is None:
            return super().anonymous_sql(expression)
        return f"{self.name_of(function)}({self.format_args(*expression.expressions)})"

    def name_of(self, function: UserFunction) -> str:
        return function.name

    def proctime(self) -> str:
        return PROCTIME.sql


class SparkTextWithHoles(SparkText):
    """The same with each column between two marks that no SQL text can hold; so the user's functions and PROCTIME()."""

    def column_sql(self, expression: exp.Column) -> str:
        return f"\x01{expression.name}\x02"

    def name_of(self, function: UserFunction) -> str:
        return f"\x01\x03{function.name}\x02"

    def proctime(self) -> str:
        return f"\x01{PROCTIME_HOLE}\x02"


def in_spark_words(tree: exp.Expr, types: dict[str, SqlType], span: Span) -> exp.Expr:
    """The tree with Flink's functions replaced by Spark's. Raises BindError for a function that neither has."""
    check_functions(tree, span)
    return tree.transform(lambda node: _in_spark_words(node, types))


def is_proctime(node: exp.Expr) -> bool:
    """Whether a node is Flink's PROCTIME()."""
    return isinstance(node, exp.Anonymous) and not user_of(node) and function_name(node) == "proctime"


def function_name(node: exp.Expr) -> str:
    """A function's SQL name, in lower case."""
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    if isinstance(node, exp.ApproxDistinct):
        return "approx_count_distinct"
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""


def check_functions(tree: exp.Expr, span: Span) -> None:
    """Raise BindError for a function that neither Flink nor Spark has, or that lacks its OVER."""
    for call in tree.find_all(exp.Func):
        if function_name(call) in OF_ROWS and call.find_ancestor(exp.Window) is None:
            name = function_name(call).upper()
            hint = f"{name}(...) OVER (PARTITION BY window_start, window_end ORDER BY ...), not beside GROUP BY"
            raise BindError(f"{name} looks at the rows around a row", span=span_of(call, span), hint=hint)
    for node in tree.find_all(exp.Anonymous):
        name = function_name(node)
        if user := user_of(node):
            if not user.aggregate:
                check_arguments(user, node.expressions, span_of(node, span))
            continue
        if is_proctime(node):
            if node.expressions:
                raise BindError("PROCTIME takes no arguments", span=span_of(node, span), hint="PROCTIME()")
            continue
        flink = [arity for (flink_name, arity) in FLINK_FUNCTIONS if flink_name.lower() == name]
        if name in functions() or len(node.expressions) in flink or name == "to_timestamp_ltz":
            continue
        raise no_function(node.name, span_of(node, span), node.meta.get(USERS, ()))


def no_function(name: str, span: Span, users: Iterable[str] = ()) -> BindError:
    """The error that there is no such function, with one that it may be, or how else to say it."""
    ours = {*(flink_name.lower() for flink_name, _ in FLINK_FUNCTIONS), *(n.lower() for n in AGGREGATES)}
    close = nearest(name.lower(), functions() | ours | {*users})
    known = f"did you mean {close}?" if close else "SHOW FUNCTIONS lists them"
    return BindError(f"there is no function {name}", span=span, hint=IN_OTHER_WORDS.get(name.lower(), known))


def is_known(name: str) -> bool:
    """Whether SQL has a function of that name by itself."""
    flink = {of_flink for of_flink, _ in FLINK_FUNCTIONS} | {"PROCTIME"}
    named = name.lower() in functions() or name.upper() in {*AGGREGATES, *ALIASES, *flink}
    return named or not isinstance(parse_scalar(f"{name}(x)", Span(0, 0)).tree, exp.Anonymous)


@cache
def functions() -> frozenset[str]:
    """The names of Spark's built-in functions."""
    return frozenset(files("tvfsql.bind").joinpath("spark_functions.txt").read_text().split())


def _in_spark_words(node: exp.Expr, types: dict[str, SqlType]) -> exp.Expr:
    """One node of Flink's SQL as Spark has it: its functions, and division, which of integers gives an integer."""
    if isinstance(node, exp.Div) and all(is_integer(infer(side, types)) for side in (node.left, node.right)):
        return exp.IntDiv(this=node.this, expression=node.expression)
    if not isinstance(node, exp.Anonymous):
        return node
    arguments = node.expressions
    name = node.name.upper()
    if name == "TO_TIMESTAMP_LTZ":
        seconds = len(arguments) == 2 and arguments[1].name == "0"
        return exp.Anonymous(this="TIMESTAMP_SECONDS" if seconds else "TIMESTAMP_MILLIS", expressions=arguments[:1])
    pattern = FLINK_FUNCTIONS.get((name, len(arguments)))
    if pattern is None:
        return node
    made: exp.Expr = exp.maybe_parse(re.sub(r"\{(\d)\}", r"arg_\1", pattern), dialect="spark", into=exp.Condition)
    names = {f"arg_{i}": argument for i, argument in enumerate(arguments)}

    def fill(part: exp.Expr) -> exp.Expr:
        return names[part.name].copy() if isinstance(part, exp.Column) and part.name in names else part

    filled: exp.Expr = made.transform(fill)
    return filled
