"""Lowers expressions to Spark's functions, and writes them as text in Spark's dialect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from sqlglot import ErrorLevel, exp
from sqlglot.errors import UnsupportedError as SqlglotUnsupported
from sqlglot.generators.spark import SparkGenerator

from tvfsql.bind.flink.lower import lowered
from tvfsql.bind.flink.lowered_call import KIND, Made, filled, made
from tvfsql.bind.flink.zone import local_zone
from tvfsql.bind.infer import infer
from tvfsql.bind.spark_text.functions import check_functions, is_proctime, refuse_unmade
from tvfsql.bind.user_function_calls import user_of
from tvfsql.errors import Span, TvfSqlError, UnsupportedError
from tvfsql.plan.values.scalar import PROCTIME, Part, Proctime, Ref
from tvfsql.plan.values.types import UNKNOWN, SqlType
from tvfsql.plan.values.user_function import UserFunction
from tvfsql.syntax.calls import Words
from tvfsql.syntax.places import span_of

T = exp.DataType.Type
# Where an identifier is the name of a field, not a value.
NAMED = {(exp.Dot, "expression"), (exp.PropertyEQ, "this"), (exp.Alias, "alias")}


class SparkText(SparkGenerator):
    """Generates text in Spark's dialect, with Flink's TIMESTAMP as Spark's TIMESTAMP_NTZ."""

    TYPE_MAPPING = {
        **SparkGenerator.TYPE_MAPPING,
        T.TIMESTAMP: "TIMESTAMP_NTZ",
        T.TIMESTAMPLTZ: "TIMESTAMP",
        T.TIMESTAMPTZ: "TIMESTAMP",
    }
    TRANSFORMS = {**SparkGenerator.TRANSFORMS, Made: lambda self, made: filled(made, self)}

    def __init__(self) -> None:
        super().__init__(dialect="spark", unsupported_level=ErrorLevel.RAISE, max_unsupported=1)

    def literal_sql(self, expression: exp.Literal) -> str:
        """Keep `${` in a literal: Spark would substitute it in the text before parsing."""
        return super().literal_sql(expression).replace("${", "\\u0024{")

    def values_sql(self, expression: exp.Values, values_as_table: bool = True) -> str:
        """VALUES as a UNION ALL of SELECTs if it calls functions: Spark evaluates only some of them in an inline
        table."""
        calls = (call for call in expression.find_all(exp.Func) if not isinstance(call, exp.Cast))
        if not any(calls):
            return super().values_sql(expression, values_as_table)
        rows = (row.expressions if isinstance(row, exp.Tuple) else [row] for row in expression.expressions)
        selects = " UNION ALL ".join(f"SELECT {self.expressions(sqls=row, flat=True)}" for row in rows)
        return f"({selects}) AS {self.sql(expression, 'alias')}"

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
    """The same, with placeholders for columns, users' functions and PROCTIME()."""

    def __init__(self) -> None:
        super().__init__()
        self.holes: Holes[Ref | UserFunction | Proctime] = Holes()

    def column_sql(self, expression: exp.Column) -> str:
        return self.holes.leave(Ref(expression.name))

    def name_of(self, function: UserFunction) -> str:
        return self.holes.leave(function)

    def proctime(self) -> str:
        return self.holes.leave(Proctime())

    def lambda_sql(self, expression: exp.Lambda, arrow_sep: str = "->", wrap: bool = True) -> str:
        """Name its parameters as no column is named: rules can put other columns into its body."""
        made = expression.copy()
        names = {parameter.name for parameter in made.expressions}
        for part in [*made.find_all(exp.Identifier)]:
            named = isinstance(part.parent, exp.Column) or (type(part.parent), part.arg_key) in NAMED
            if part.name in names and not named:
                part.replace(exp.to_identifier(f"$${part.name}", quoted=True))
        return super().lambda_sql(made, arrow_sep, wrap)


class Written(SparkTextWithHoles):
    """The same, with Flink's words as they were written."""

    TYPE_MAPPING = {
        **SparkGenerator.TYPE_MAPPING,
        T.TIMESTAMP: "TIMESTAMP",
        T.TIMESTAMPLTZ: "TIMESTAMP_LTZ",
        T.TIMESTAMPTZ: "TIMESTAMP_LTZ",
    }
    TRANSFORMS = {
        **SparkTextWithHoles.TRANSFORMS,
        Words: lambda self, call: filled(made(call.args["written"], call.expressions, UNKNOWN), self),
        exp.Cast: lambda self, cast: self.cast_sql(cast),
        exp.TryCast: lambda self, cast: self.trycast_sql(cast),
        exp.TimestampAdd: lambda self, call: self.func("TIMESTAMPADD", call.unit, call.expression, call.this),
        exp.TimestampDiff: lambda self, call: self.func("TIMESTAMPDIFF", call.unit, call.expression, call.this),
        exp.Floor: lambda self, call: self.rounded("FLOOR", call),
        exp.Ceil: lambda self, call: self.rounded("CEIL", call),
        exp.StrPosition: lambda self, call: self.func(
            "LOCATE", call.args.get("substr"), call.this, call.args.get("position")
        ),
        exp.SimilarTo: lambda self, call: self.binary(call, "SIMILAR TO"),
        exp.Overlaps: lambda self, call: self.binary(call, "OVERLAPS"),
        exp.JSON: lambda self, kind: f"JSON {kind.name}".strip(),
        exp.UnicodeString: lambda self, text: f"U&'{text.name}'",
    }
    lambda_sql = SparkText.lambda_sql

    def rounded(self, name: str, call: exp.Expr) -> str:
        unit = call.args.get("to")
        return f"{name}({self.sql(call, 'this')} TO {unit.name.upper()})" if unit else self.func(name, call.this)


def written(tree: exp.Expr) -> tuple[Part, ...]:
    """The expression as the user wrote it, for EXPLAIN; empty if it cannot be written."""
    writer = Written()
    try:
        return writer.holes.taken_apart(writer.generate(tree))
    except SqlglotUnsupported:
        return ()


def in_spark_words(tree: exp.Expr, types: dict[str, SqlType], span: Span) -> exp.Expr:
    """Lower the tree to Spark's functions. Raises BindError for a function that neither Flink nor Spark has."""
    check_functions(tree, span)
    tree = tree.copy()
    for node in reversed(list(tree.walk(bfs=True))):
        new = None if user_of(node) else _lowered(node, types, span)
        if new is None and isinstance(node, exp.Anonymous) and not user_of(node):
            refuse_unmade(node, span)
        if new is not None and node is tree:
            tree = new
        elif new is not None:
            node.replace(new)
        else:
            node.meta[KIND] = infer(node, types)
    return tree


def _lowered(node: exp.Expr, types: dict[str, SqlType], span: Span) -> exp.Expr | None:
    """The node as Spark must compute it, or None. An error has the place of the node."""
    try:
        return lowered(node, lambda part: infer(part, types), local_zone())
    except TvfSqlError as error:
        error.span = error.span or span_of(node, span)
        raise


def spark_text(tree: exp.Expr, writer: SparkText, span: Span) -> str:
    """Return the tree as Spark SQL. Raises UnsupportedError if Spark's SQL cannot express it."""
    try:
        return writer.generate(tree)
    except SqlglotUnsupported as error:
        raise UnsupportedError(f"Spark SQL cannot express this: {error}", span=span) from error


def with_holes(tree: exp.Expr, span: Span) -> tuple[Part, ...]:
    """The same, split into texts and the contents of placeholders. Raises the same errors as `spark_text`."""
    writer = SparkTextWithHoles()
    return writer.holes.taken_apart(spark_text(tree, writer, span))


# Placeholders in text that sqlglot generates: its generators can only write text.


H = TypeVar("H")
MARK = "\x00"  # never in SQL text: syntax.tokens refuses it


@dataclass
class Holes(Generic[H]):
    """Collects the parts that are not text. In the text each is its number between two MARKs."""

    parts: list[H] = field(default_factory=list)

    def leave(self, part: H) -> str:
        """Keep a part and return the text that the generator writes in its place."""
        self.parts.append(part)
        return f"{MARK}{len(self.parts) - 1}{MARK}"

    def taken_apart(self, text: str) -> tuple[str | H, ...]:
        """Split the generated text into texts and parts."""
        pieces = text.split(MARK)
        return tuple(self.parts[int(piece)] if i % 2 else piece for i, piece in enumerate(pieces) if i % 2 or piece)
