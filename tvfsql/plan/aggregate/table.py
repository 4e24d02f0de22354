"""The table of aggregate functions, one row each; `function.py` explains the fields. To add an aggregate, add
a row.

Result types: semantics.md#aggregate-functions. A user's aggregate becomes such a row too (`of_user`). Its templates use
`{function}` for its name, `{all}` for its arguments and `{row}` for a struct of them.
"""

from __future__ import annotations

from collections.abc import Callable

from tvfsql.plan.aggregate.chosen_values import MostFrequent, Quantiles
from tvfsql.plan.aggregate.exact_spread import exact_spread
from tvfsql.plan.aggregate.function import Accepts, AggregateFunction, MergeKind, Partial, Share, TypeRule
from tvfsql.plan.aggregate.lists import BY_TIME, EACH, LISTS, ONCE, list_of, multiset_of
from tvfsql.plan.aggregate.moments import ROWS as OF_MOMENTS_AND_PAIRS
from tvfsql.plan.aggregate.percentiles import MODE, PERCENTILE, of_chosen
from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType
from tvfsql.plan.values.user_function import UserFunction


def same(kind: SqlType) -> SqlType:
    return kind


def _always(kind: SqlType) -> TypeRule:
    return lambda _: kind


def _sum(kind: SqlType) -> SqlType:
    return types.Decimal(38, kind.scale) if types.is_decimal(kind) else kind


def _natural_sum(kind: SqlType) -> SqlType:
    """The result type of Spark's sum()."""
    return types.BIGINT if types.is_integer(kind) else types.DOUBLE if types.is_float(kind) else types.UNKNOWN


def _avg(kind: SqlType) -> SqlType:
    return types.Decimal(38, max(6, kind.scale)) if types.is_decimal(kind) else kind


def average(kind: SqlType) -> str:
    """The template that makes an average from a sum and a count. The average of integers is an integer, as in Flink."""
    if types.is_integer(kind):
        return "{sum} div nullif({count}, 0)"
    if types.is_decimal(kind):
        return f"CAST({{sum}} AS DECIMAL(38, {kind.scale})) / nullif({{count}}, 0)"
    return "{sum} / nullif({count}, 0)"


def _whole_average(kind: SqlType) -> str:
    if types.is_float(kind) or not kind:
        return "avg({d}{x}){f}"
    return average(kind).replace("{sum}", "sum({d}{x}){f}").replace("{count}", "count({d}{x}){f}")


def _one_zero(template: str) -> Callable[[SqlType], str]:
    """The template for the least or greatest value, where -0.0 becomes 0.0: they are equal, so that which of them is
    found depends on the order of rows.
    """
    return lambda kind: f"({template} + CAST(0 AS {kind.ddl}))" if types.is_float(kind) else template


# values by time, equal times by value: each value is stored with its time until the window is finished
TIMED = BY_TIME.element

ONE = "1L"  # the partial of one counted row
COUNT_OF = Partial("count", "count({x}){f}", "sum", ONE, net="aggregate({net}, 0L, (n, e) -> n + e.n)", counts=True)
WIDE_SUM = Partial(
    "sum",
    "sum(CAST({x} AS DECIMAL(20, 0))){f}",
    "sum",
    "CAST({x} AS DECIMAL(20, 0))",
    net="IF(size({net}) > 0, aggregate({net}, CAST(0 AS DECIMAL(38, 0)), (total, e) -> CAST("
    "total + CAST(e.x AS DECIMAL(20, 0)) * CAST(e.n AS DECIMAL(17, 0)) AS DECIMAL(38, 0))), NULL)",
)
DOUBLE_SUM = Partial(
    "sum",
    "sum(double({x})){f}",
    "sum",
    "double({x})",
    net="aggregate(sort_array({net}), 0D, (total, e) -> total + double(e.x) * e.n)",
)
SUM_OF = Partial("sum", "sum({x}){f}", "sum")
# Welford's formula over all values, each as often as it occurs, always in the same order
ADDED = (
    "named_struct('n', m.n + e.n, 'mean', m.mean + (e.x - m.mean) * e.n / (m.n + e.n), "
    "'m2', m.m2 + (e.x - m.mean) * (e.x - m.mean) * m.n * e.n / (m.n + e.n))"
)
NO_MOMENTS = "named_struct('n', 0L, 'mean', 0D, 'm2', 0D)"
MOMENTS = Partial(
    "moments",
    "named_struct('n', count({x}){f}, 'mean', avg(double({x})){f}, 'm2', var_pop({x}){f} * count({x}){f})",
    "moments",
    "named_struct('n', 1L, 'mean', double({x}), 'm2', 0D)",
    value="double({x})",
    net=f"aggregate(sort_array({{net}}), {NO_MOMENTS}, (m, e) -> {ADDED})",
)
EACH_VALUE = Partial("rows", "collect_set({x}){f}", "distinct", "array({x})", net=ONCE)
# {result} of the moments of these values, each of which counts once
OF_MOMENTS = (
    f"transform(array(aggregate(transform(sort_array({{rows}}), x -> struct(1L AS n, double(x) AS x)), {NO_MOMENTS}, "
    f"(m, e) -> {ADDED})), moments -> {{result}})[0]"
)
LEAST, GREATEST = "array_min({net}.x)", "array_max({net}.x)"
FIRST = Partial("first", f"min({TIMED}){{nn}}", "min", TIMED, value=TIMED, net=LEAST)
LAST = Partial("last", f"max({TIMED}){{nn}}", "max", TIMED, value=TIMED, net=GREATEST)


def _spread(name: str, spark: str, finish: str) -> AggregateFunction:
    """A standard deviation or variance, merged by its moments. Its type is that of an average, as in Flink.

    For integers the result is cut to an integer. It is rounded first, so that 450 stays 450 in whatever order the
    doubles were added.
    """

    def of(template: str) -> Callable[[SqlType], str]:
        def typed(kind: SqlType) -> str:
            exact = f"round({template}, 6)" if types.is_integer(kind) else template
            return template if _spread_type(kind) == types.DOUBLE else f"CAST({exact} AS {_avg(kind).ddl})"

        return typed

    return AggregateFunction(
        name,
        of(f"{spark}({{x}}){{f}}"),  # of DISTINCT as over slices: Spark's own adds values in another order
        _spread_type,
        partials=(MOMENTS,),
        finish=of(finish),
        distinct_rows=EACH_VALUE,
        of_rows=of(OF_MOMENTS.replace("{result}", finish.replace("{moments}", "moments"))),
        accepts=Accepts.NUMBER,
    )


def of_decimal(row: AggregateFunction, kind: SqlType) -> AggregateFunction:
    """Return the row of a function for a DECIMAL: standard deviations and variances have exact ones."""
    if MOMENTS not in row.partials:
        return row
    return exact_spread(row, kind, _avg(kind), COUNT_OF, EACH_VALUE)


def _spread_type(kind: SqlType) -> SqlType:
    return _avg(kind) if types.is_number(kind) else types.DOUBLE


def of_user(function: UserFunction) -> AggregateFunction:
    """The row for a user's aggregate. In Spark, its function is called with the list of the rows, or with a merged
    accumulator, which is NULL if no row went into it. Slices of an aggregate that cannot merge keep their rows.
    """
    every = Partial("list", "collect_list({row}){f}", "concat", "array({row})", nulls=True)
    state = Partial("state", "{function}({all}){f}", function, "array({row})", nulls=True)
    rows = Partial("rows", "collect_set({row}){f}", "distinct", "array({row})", nulls=True)
    return AggregateFunction(
        function.name,
        "{function}(collect_list({d}{row}){f})",
        _always(function.result),
        partials=(state if function.merges else every,),
        finish="{function}({state})" if function.merges else "{function}({list})",
        distinct_rows=rows,
        of_rows="{function}({rows})",
        user=function,
        arguments=function.arguments,
    )


# Not an SQL function: all values, of any type, in no order. Our own operators keep rows with it.
ROWS = "$ROWS"


def _rows(merge: MergeKind) -> AggregateFunction:
    return AggregateFunction(
        ROWS,
        "collect_list({x}){f}",
        lambda kind: types.Array(kind) if kind else types.UNKNOWN,
        partials=(Partial("rows", "collect_list({x}){f}", merge, "array({x})", nulls=True),),
        finish="coalesce({rows}, array())",
    )


def of_top(top: TopRows) -> AggregateFunction:
    """Return the row of $ROWS that keeps only the rows within a limit."""
    return _rows(top)


def _by(name: str, merge: str, net: str) -> AggregateFunction:
    """The value {x} of the row with the least or greatest {y}; among equal {y} the least or greatest {x}."""
    pair = "struct({y} AS y, {x} AS x)"
    return AggregateFunction(
        name,
        f"{name.lower()}({{x}}, {pair}){{nn}}",
        same,
        partials=(Partial("row", f"{merge}({pair}){{nn}}", merge, pair, value=pair, net=net),),
        finish="{row}.x",
        arguments=(2, 2),
        operands=2,
        required=(1,),
        ignores_distinct=True,
        accepts=Accepts.ORDERED,
    )


def of_best(name: str, best: TopRows) -> AggregateFunction:
    """MIN_BY or MAX_BY with a number: the values {x} of the rows with the least or greatest {y}, in order."""
    pair = "struct({y} AS y, {x} AS x)"
    in_order = f"slice(sort_array({{pairs}}, {'true' if name == 'MIN_BY' else 'false'}), 1, {best.last})"
    values, left = f"transform({in_order}, e -> e.x)", in_order.replace("{pairs}", EACH)
    sql = f"{name.lower()}({pair}, {pair}, {best.last}){{nn}}"
    return AggregateFunction(
        name,
        values.replace("{pairs}", sql),
        lambda kind: types.Array(kind) if kind else types.UNKNOWN,
        partials=(
            Partial(
                "rows",
                sql,
                best,
                f"array({pair})",
                value=pair,
                net=f"IF(size({{net}}) > 0, {left}, NULL)",
            ),
        ),
        finish=values.replace("{pairs}", "{rows}"),
        arguments=(2, 2),
        operands=2,
        required=(1,),
        accepts=Accepts.ORDERED,
    )


def _bits(name: str) -> AggregateFunction:
    spark = f"{name.lower()}({{x}}){{f}}"
    first, sign = "get({net}, 0).x", {"BIT_AND": "&", "BIT_OR": "|", "BIT_XOR": "^"}[name]
    net = f"aggregate({{net}}, {first}, (bits, e) -> bits {sign} e.x)"
    if name == "BIT_XOR":  # a value that occurs twice is out
        net = f"aggregate({{net}}, {first} ^ {first}, (bits, e) -> IF(e.n % 2 = 0, bits, bits ^ e.x))"
    part = Partial("bits", spark, name.lower(), net=net)
    return AggregateFunction(name, spark, same, partials=(part,), finish="{bits}", accepts=Accepts.INTEGER)


POP = "CASE WHEN {moments}.n > 0 THEN {moments}.m2 / {moments}.n END"
SAMP = "CASE WHEN {moments}.n > 1 THEN {moments}.m2 / ({moments}.n - 1) END"

_ROWS = (
    AggregateFunction(
        "COUNT",
        "count({d}{x}){f}",
        _always(types.BIGINT),
        partials=(COUNT_OF,),
        finish="{count}",  # never NULL: every window has a slice with rows
        distinct="{count}",
        shares=(Share("COUNT", "SUM0"),),
    ),
    AggregateFunction(
        "SUM",
        "sum({d}{x}){f}",
        _sum,
        _natural_sum,
        partials=(SUM_OF,),
        finish="{sum}",
        distinct="CASE WHEN {count} <> 0 THEN {sum} END",
        shares=(Share("SUM", "SUM"),),
        accepts=Accepts.NUMBER,
    ),
    AggregateFunction(
        "SUM0",
        "coalesce(sum({d}{x}){f}, 0)",
        _sum,
        _natural_sum,
        partials=(SUM_OF,),
        finish="coalesce({sum}, 0)",
        distinct="coalesce({sum}, 0)",
        shares=(Share("SUM0", "SUM0"),),
        accepts=Accepts.NUMBER,
    ),
    AggregateFunction(
        "AVG",
        _whole_average,
        _avg,
        _natural_sum,
        partials=(SUM_OF, COUNT_OF),
        finish=average,
        distinct=average,
        shares=(Share("SUM", "SUM", "sum"), Share("COUNT", "SUM0", "count")),
        accepts=Accepts.NUMBER,
    ),
    AggregateFunction(
        "MIN",
        _one_zero("min({x}){f}"),
        same,
        partials=(Partial("min", "min({x}){f}", "min", net=LEAST),),
        finish=_one_zero("{min}"),
        ignores_distinct=True,
        shares=(Share("MIN", "MIN"),),
        accepts=Accepts.ORDERED,
    ),
    AggregateFunction(
        "MAX",
        _one_zero("max({x}){f}"),
        same,
        partials=(Partial("max", "max({x}){f}", "max", net=GREATEST),),
        finish=_one_zero("{max}"),
        ignores_distinct=True,
        shares=(Share("MAX", "MAX"),),
        accepts=Accepts.ORDERED,
    ),
    AggregateFunction(
        "BOOL_AND",
        "bool_and({x}){f}",
        _always(types.BOOLEAN),
        partials=(Partial("and", "bool_and({x}){f}", "min", net=LEAST),),
        finish="{and}",
        ignores_distinct=True,
        shares=(Share("BOOL_AND", "BOOL_AND"),),
        accepts=Accepts.TRUTH,
    ),
    AggregateFunction(
        "BOOL_OR",
        "bool_or({x}){f}",
        _always(types.BOOLEAN),
        partials=(Partial("or", "bool_or({x}){f}", "max", net=GREATEST),),
        finish="{or}",
        ignores_distinct=True,
        shares=(Share("BOOL_OR", "BOOL_OR"),),
        accepts=Accepts.TRUTH,
    ),
    AggregateFunction(
        "FIRST_VALUE",
        "min_by({x}, struct({t}, {x})){nn}",
        same,
        partials=(FIRST,),
        finish="{first}.x",
        ignores_distinct=True,
        shares=(Share("MIN", "MIN", "first", TIMED),),
        accepts=Accepts.ORDERED,
    ),
    AggregateFunction(
        "LAST_VALUE",
        "max_by({x}, struct({t}, {x})){nn}",
        same,
        partials=(LAST,),
        finish="{last}.x",
        ignores_distinct=True,
        shares=(Share("MAX", "MAX", "last", TIMED),),
        accepts=Accepts.ORDERED,
    ),
    *map(list_of, LISTS),
    multiset_of("COLLECT"),
    _rows("concat"),
    _by("MIN_BY", "min", LEAST),
    _by("MAX_BY", "max", GREATEST),
    AggregateFunction(
        "ANY_VALUE",  # any value will do; the least one is the same in batch and on streams
        "min({x}){f}",
        same,
        partials=(Partial("min", "min({x}){f}", "min", net=LEAST),),
        finish="{min}",
        ignores_distinct=True,
        accepts=Accepts.ORDERED,
    ),
    AggregateFunction(
        "COLLECT_SET",
        "sort_array(collect_set({x}){f})",
        lambda kind: types.Array(kind) if kind else types.UNKNOWN,
        partials=(Partial("set", "collect_set({x}){f}", "distinct", "array({x})", net=ONCE),),
        finish="coalesce(sort_array({set}), array())",
        ignores_distinct=True,
        accepts=Accepts.ORDERED,
    ),
    AggregateFunction(
        "COLLECT_UNION",
        "sort_array(collect_union({x}){f})",
        same,
        partials=(
            Partial(
                "set",
                "collect_union({x}){f}",
                "distinct",
                "array_distinct(array_compact({x}))",
                net=f"array_distinct(array_compact(flatten({ONCE})))",
            ),
        ),
        finish="coalesce(sort_array({set}), array())",
        ignores_distinct=True,
        accepts=Accepts.ARRAY,
        foreign=lambda kind: not kind,
    ),
    AggregateFunction(
        "TRY_SUM",  # NULL where the sum is too large, however the rows are ordered
        f"try_cast({WIDE_SUM.sql} AS BIGINT)",
        _always(types.BIGINT),
        partials=(WIDE_SUM,),
        finish="try_cast({sum} AS BIGINT)",
        accepts=Accepts.NUMBER,
        foreign=lambda kind: not types.is_integer(kind),
    ),
    AggregateFunction(
        "TRY_AVG",
        "avg(double({x})){f}",
        _always(types.DOUBLE),
        partials=(DOUBLE_SUM, COUNT_OF),
        finish="{sum} / nullif({count}, 0)",
        accepts=Accepts.NUMBER,
        foreign=lambda kind: types.is_decimal(kind) or not kind,
    ),
    *map(_bits, ("BIT_AND", "BIT_OR", "BIT_XOR")),
    *OF_MOMENTS_AND_PAIRS,
    of_chosen(PERCENTILE, Quantiles((0.5,)), weighted=False),
    of_chosen(MODE, MostFrequent(), weighted=False),
    _spread("STDDEV_POP", "stddev_pop", f"sqrt({POP})"),
    _spread("STDDEV_SAMP", "stddev_samp", f"sqrt({SAMP})"),
    _spread("VAR_POP", "var_pop", POP),
    _spread("VAR_SAMP", "var_samp", SAMP),
)

AGGREGATES = {row.name: row for row in _ROWS}
ALIASES = {
    "AVERAGE": "AVG",
    "MEAN": "AVG",
    "EVERY": "BOOL_AND",
    "SOME": "BOOL_OR",
    "STDDEV": "STDDEV_SAMP",
    "STD": "STDDEV_SAMP",
    "VARIANCE": "VAR_SAMP",
    "STRING_AGG": "LISTAGG",
}
