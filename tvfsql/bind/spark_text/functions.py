"""Turns Flink's functions into Spark's, and expressions into text in Spark's dialect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Generic, TypeVar

from sqlglot import ErrorLevel, exp
from sqlglot.errors import UnsupportedError as SqlglotUnsupported
from sqlglot.generators.spark import SparkGenerator

from tvfsql.bind.flink import by_name, find
from tvfsql.bind.flink.lower import lowered
from tvfsql.bind.flink.lowered_call import KIND, Made, filled, made
from tvfsql.bind.flink.zone import local_zone
from tvfsql.bind.infer import infer
from tvfsql.bind.user_function_calls import USERS, check_arguments, user_of
from tvfsql.errors import BindError, Span, TvfSqlError, UnsupportedError, nearest
from tvfsql.plan.aggregate.table import AGGREGATES, ALIASES
from tvfsql.plan.values.scalar import PROCTIME, Part, Proctime, Ref
from tvfsql.plan.values.types import UNKNOWN, SqlType
from tvfsql.plan.values.user_function import UserFunction
from tvfsql.syntax.calls import Words
from tvfsql.syntax.places import span_of
from tvfsql.syntax.queries.reader import parse_scalar
from tvfsql.syntax.tokens import GROUP_WINDOWS

T = exp.DataType.Type
# Flink's aggregates that Spark lacks, spelled so that both modes have them.
IN_OTHER_WORDS = {
    "cumulate": "FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), step, size))",
    "unnest": "FROM t CROSS JOIN UNNEST(a) AS u (x)",
    "json_arrayagg": "TO_JSON(COLLECT_LIST(x)), which leaves NULLs out; ARRAY_AGG keeps them",
    "json_objectagg": "TO_JSON(MAP_FROM_ENTRIES(COLLECT_LIST(STRUCT(key, value))))",
    "locf": "LOCF(AVG(x)) in a query with GROUP BY window_start, window_end, and FILL in its window",
    "interpolate": "INTERPOLATE(AVG(x)) in a query with GROUP BY window_start, window_end, and FILL in its window",
    "arg_max": "MAX_BY(x, y)",
    "arg_min": "MIN_BY(x, y)",
    "approx_quantiles": "APPROX_PERCENTILE(x, ARRAY[0.5, 0.95])",
    "quantile": "PERCENTILE(x, 0.95)",
    "quantiles": "PERCENTILE(x, ARRAY[0.5, 0.95])",
    "approx_distinct": "APPROX_COUNT_DISTINCT(x)",
    "uniq": "APPROX_COUNT_DISTINCT(x)",
    "group_concat": "LISTAGG(x, ',')",
    "array_concat_agg": "FLATTEN(ARRAY_AGG(x))",
    "map_agg": "MAP_FROM_ENTRIES(COLLECT_LIST(STRUCT(key, value)))",
    "histogram": "COLLECT(x), which maps each value to its number",
    "bitmap_union": "BITMAP_OR_AGG(bitmap)",
    "approx_top_count": "APPROX_TOP_K(x, 5)",
    "single_value": "ANY_VALUE(x), which takes one of several",
    # of other databases
    "dateadd": "TIMESTAMPADD(DAY, n, ts), or ts + INTERVAL '1' DAY",
    "datetime_add": "ts + INTERVAL '1' DAY",
    "timestamp_add": "ts + INTERVAL '1' DAY",
    "timestamp_sub": "ts - INTERVAL '1' DAY",
    "datediff": "TIMESTAMPDIFF(DAY, start, end)",
    "date_diff": "TIMESTAMPDIFF(DAY, start, end)",
    "timediff": "TIMESTAMPDIFF(SECOND, start, end)",
    "age": "TIMESTAMPDIFF(SECOND, start, end)",
    "datepart": "EXTRACT(YEAR FROM ts)",
    "timestamp_trunc": "FLOOR(ts TO HOUR)",
    "tostartofhour": "FLOOR(ts TO HOUR)",
    "tostartofminute": "FLOOR(ts TO MINUTE)",
    "tostartofday": "FLOOR(ts TO DAY)",
    **dict.fromkeys(
        "date_bin time_slice date_bucket datetime_bucket timestamp_bucket tostartofinterval".split(),
        "TIME_BUCKET(INTERVAL '5' MINUTE, ts), or TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE) in FROM",
    ),
    "window": "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE) in FROM",
    "session_window": "SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE) in FROM",
    "window_time": "the column window_time of TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE) in FROM",
    "getdate": "LOCALTIMESTAMP",
    "sysdate": "LOCALTIMESTAMP",
    "systimestamp": "CURRENT_TIMESTAMP",
    "getutcdate": "CURRENT_TIMESTAMP",
    "current_datetime": "LOCALTIMESTAMP",
    "today": "CURRENT_DATE",
    "epoch_ms": "TO_TIMESTAMP_LTZ(n, 3)",
    "str_to_date": "TO_TIMESTAMP(text, 'yyyy-MM-dd HH:mm:ss')",
    "iff": "IF(condition, x, y)",
    "iif": "IF(condition, x, y)",
    "strpos": "POSITION('a' IN text)",
    "charindex": "POSITION('a' IN text)",
    "safe_cast": "TRY_CAST(x AS INT)",
    "convert": "CAST(x AS INT)",
    "try_convert": "TRY_CAST(x AS INT)",
}
OF_WINDOWS = ("window", "session_window", "window_time")  # Spark's, which it replaces by operators of its own
UNITS = ("dateadd", "datediff", "date_diff")  # Spark's functions of these names take no unit in its SQL as a text
# Where an identifier is the name of a field, not a value.
NAMED = {(exp.Dot, "expression"), (exp.PropertyEQ, "this"), (exp.Alias, "alias")}
# Functions that rank rows, or read neighbouring rows.
OF_ROWS = "lead lag ntile cume_dist percent_rank rank dense_rank row_number nth_value".split()


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
            _refuse_unmade(node, span)
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


def _refuse_unmade(call: exp.Anonymous, span: Span) -> None:
    """Raise BindError for a Flink function with arguments that it does not accept, if Spark has no function of that
    name.
    """
    name = function_name(call)
    if name in functions() or is_proctime(call) or name.upper() not in by_name():
        return
    calls = " or ".join(row.call for row in by_name()[name.upper()])
    raise BindError(f"{name.upper()} cannot take these arguments", span=span_of(call, span), hint=calls)


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
    """Raise BindError for a function that neither Flink nor Spark has, or that needs an OVER clause and has none."""
    for call in tree.find_all(exp.Func):
        if function_name(call) in OF_ROWS and call.find_ancestor(exp.Window) is None:
            name = function_name(call).upper()
            hint = f"{name}(...) OVER (PARTITION BY window_start, window_end ORDER BY ...)"
            raise BindError(f"{name} needs an OVER clause", span=span_of(call, span), hint=hint)
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
        if name in UNITS and len(node.expressions) > 2:
            raise of_other_dialect(node.name, span_of(node, span))
        if name in OF_WINDOWS:
            problem = f"Spark's {name}() is not supported"
            raise UnsupportedError(problem, span=span_of(node, span), hint=IN_OTHER_WORDS[name])
        if name in functions() or name.upper() in by_name():
            _check_number(node, span)
            continue
        if name.upper() in AGGREGATES and node.find_ancestor(exp.Window) is not None:
            hint = f"ARRAY_AGG({', '.join(each.sql(dialect='spark') for each in node.expressions)}) OVER (...)"
            raise UnsupportedError(f"{name.upper()} does not work with OVER", span=span_of(node, span), hint=hint)
        raise no_function(node.name, span_of(node, span), node.meta.get(USERS, ()))


def no_function(name: str, span: Span, users: Iterable[str] = ()) -> BindError:
    """The error for a function that does not exist, with a similar name or another way to write it as its hint."""
    ours = {*(flink.lower() for flink in by_name()), *(n.lower() for n in AGGREGATES)}
    windows = {window.lower() for window in GROUP_WINDOWS}
    close = nearest(name.lower(), {*functions()} | ours | windows | {*users})
    close = close.upper() if close and close in ours | windows and close not in users else close
    known = f"did you mean {close}?" if close else "SHOW FUNCTIONS"
    return BindError(f"there is no function {name}", span=span, hint=IN_OTHER_WORDS.get(name.lower(), known))


def of_other_dialect(name: str, span: Span) -> BindError:
    """The error for a call that other databases have under a name that may exist here too."""
    hint = IN_OTHER_WORDS.get(name.lower())
    return BindError(f"there is no function {name} of this form", span=span, hint=hint)


def missing_word(column: exp.Column, span: Span) -> BindError | None:
    """The error for a word that is no column: a clock of another database, or the first argument of its function."""
    name, call = column.name.lower(), column.parent
    if not column.table and name in ("sysdate", "systimestamp"):
        return no_function(column.name, span)
    if isinstance(call, exp.Anonymous) and column.arg_key == "expressions" and function_name(call) in IN_OTHER_WORDS:
        return of_other_dialect(call.name, span_of(call, span))
    return None


def is_known(name: str) -> bool:
    """Whether a built-in function has that name."""
    named = name.lower() in functions() or name.upper() in {*AGGREGATES, *ALIASES, *by_name(), "PROCTIME"}
    return named or not isinstance(parse_scalar(f"{name}(x)", Span(0, len(name) + 3)).tree, exp.Anonymous)


@cache
def functions() -> Mapping[str, str]:
    """Spark's built-in functions by name, with the numbers of arguments that each takes, as functions.txt has them: in
    `2 3` each is one; behind the last a + means that more are taken too, a * twos of them. Empty: Spark does not say.
    """
    lines = files("tvfsql.bind.spark_text").joinpath("functions.txt").read_text().splitlines()
    return {name: counts for name, _, counts in (line.partition(" ") for line in lines)}


def _check_number(call: exp.Anonymous, span: Span) -> None:
    """Raise BindError if neither Flink's function of that name nor Spark's takes so many arguments."""
    name, counts = call.name.upper(), functions().get(call.name.lower(), "")
    given = sum(len(each.expressions) if isinstance(each, exp.Distinct) else 1 for each in call.expressions)
    taken = [int(count) for count in counts.rstrip("+*").split()]
    step = {"+": 1, "*": 2}.get(counts[-1:], 0)
    if not taken or given in taken or find(name, given) or (step and given in range(taken[-1], given + 1, step)):
        return
    least, most = taken[0], taken[-1]
    exactly = f"{least}" if least == most else f"{least} {'or' if most == least + 1 else 'to'} {most}"
    wanted = (exactly, f"{least} or more", "an even number of")[step]
    shown = ", ".join(f"x{i}" for i in range(1, (least or step) + 1))
    raise BindError(
        f"{name} takes {wanted} argument{'s' if wanted != '1' else ''}, not {given}",
        span=span_of(call, span),
        hint=f"{name}({'x' if shown == 'x1' else shown})",
    )


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
