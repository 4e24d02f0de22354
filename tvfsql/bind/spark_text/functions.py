"""The functions that a query can call, and errors for other calls. functions.txt has Spark's, with the numbers of
arguments that each takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from sqlglot import exp

from tvfsql.bind.flink import by_name, find
from tvfsql.bind.user_function_calls import USERS, check_arguments, user_of
from tvfsql.errors import BindError, Span, UnsupportedError, from_to, nearest, wrong_number
from tvfsql.plan.aggregate.table import AGGREGATES, ALIASES
from tvfsql.syntax.places import span_of
from tvfsql.syntax.queries.reader import parse_scalar
from tvfsql.syntax.tokens import GROUP_WINDOWS

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
# Functions that rank rows, or read neighbouring rows.
OF_ROWS = "lead lag ntile cume_dist percent_rank rank dense_rank row_number nth_value".split()


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


def refuse_unmade(call: exp.Anonymous, span: Span) -> None:
    """Raise BindError for a Flink function with arguments that it does not accept, if Spark has no function of that
    name.
    """
    name = function_name(call)
    if name in functions() or is_proctime(call) or name.upper() not in by_name():
        return
    calls = " or ".join(row.call for row in by_name()[name.upper()])
    raise BindError(f"{name.upper()} cannot take these arguments", span=span_of(call, span), hint=calls)


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
    words = "an even number of" if step == 2 else from_to(least, None if step else most)
    raise wrong_number(name, words, given, least or step, span_of(call, span))
