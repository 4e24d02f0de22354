"""Aggregates in queries that Spark plans, such as those with OVER: with Flink's types, digits and NULLs."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import Made, made, runtime_call
from tvfsql.bind.flink.operators.arithmetic import TypeOf
from tvfsql.bind.flink.refused_operands import require_known_argument
from tvfsql.plan.aggregate.exact_spread import settings_of
from tvfsql.plan.aggregate.function import AggregateFunction
from tvfsql.plan.aggregate.table import AGGREGATES, MOMENTS, of_decimal
from tvfsql.plan.values.types import STRING, UNKNOWN, Array, SqlType, is_decimal, is_integer, is_number

TYPED: dict[type[exp.Expr], str] = {
    exp.Sum: "SUM",
    exp.Avg: "AVG",
    exp.StddevPop: "STDDEV_POP",
    exp.StddevSamp: "STDDEV_SAMP",
    exp.Stddev: "STDDEV_SAMP",
    exp.VariancePop: "VAR_POP",
    exp.Variance: "VAR_SAMP",
}
AGGREGATE = (*TYPED, exp.ArrayAgg)
AROUND = (exp.Window, exp.Filter, exp.IgnoreNulls, exp.RespectNulls)
ONE_CALL = re.compile(r"(\w+\((?:[^()]|\([^()]*\))*\))\{f\}")  # of a template of plan/aggregate/table.py


def aggregated(node: exp.Expr, type_of: TypeOf) -> Made | None:
    """An aggregate call, `node` with the OVER, FILTER and treatment of NULLs around it. None: Spark's is the same.

    Source: Flink 2.3. The type of SUM, AVG, STDDEV and VARIANCE follows that of the argument. ARRAY_AGG keeps NULLs.
    """
    call = _call_in(node)
    if isinstance(node.parent, AROUND) or call is None:
        return None
    if isinstance(call, exp.ArrayAgg):
        if isinstance(call.this, exp.Distinct | exp.Order | exp.Struct) or node.find(exp.IgnoreNulls):
            return None  # a struct is not NULL
        rows = _with(node, made("COLLECT_LIST({0})", [made("STRUCT({0} AS x)", [call.this.copy()], UNKNOWN)], UNKNOWN))
        kind = type_of(call.this)
        return made("IF(SIZE({0}) > 0, TRANSFORM({0}, item -> item.x), NULL)", [rows], Array(kind) if kind else UNKNOWN)
    distinct = isinstance(call.this, exp.Distinct)
    value = call.this.expressions[0] if distinct else call.this
    kind = type_of(value)
    require_known_argument(TYPED[type(call)], kind)
    if not is_number(kind):
        return None
    row = AGGREGATES[TYPED[type(call)]]
    spreads = MOMENTS in row.partials
    if spreads and is_decimal(kind):
        return _spread_of_decimals(row, kind, lambda one: _with(node, made(one, [value.copy()], UNKNOWN)), distinct)
    template = row.templates(kind).whole.replace("({x})", "({d}{x})")
    if spreads and is_integer(kind) and isinstance(node, exp.Window):
        template = _spread_of_integers(row.name)
    calls: list[str] = []

    def hole(found: re.Match[str]) -> str:
        calls.append(found[1].replace("{x}", "{0}"))
        return f"{{{len(calls) - 1}}}"

    text = ONE_CALL.sub(hole, template.replace("{d}", "DISTINCT " if distinct else ""))
    if spreads or (row.natural and row.natural(kind) != row.result(kind)):
        text = f"CAST({text} AS {row.result(kind).ddl})"
    if text == "{0}":
        return None
    return made(text, [_with(node, made(one, [value.copy()], UNKNOWN)) for one in calls], row.result(kind))


def _spread_of_decimals(
    row: AggregateFunction, kind: SqlType, called: Callable[[str], exp.Expr], distinct: bool
) -> Made:
    """STDDEV_* and VAR_* from exact sums; `called` makes an aggregate call of its template."""
    result = row.result(kind)
    assert is_decimal(kind) and is_decimal(result), kind
    digits, scale = settings_of(kind, result)
    exact = of_decimal(row, kind)
    parts = ["collect_set({x})"] if distinct else [part.sql.replace("{f}", "") for part in exact.partials]
    settings = [exp.Literal.string(row.name), *map(exp.Literal.number, [digits] if distinct else [digits, scale])]
    calls = [called(part.replace("{x}", "{0}")) for part in parts]
    spread = runtime_call("spread_of_values" if distinct else "spread_of_sums", [*settings, *calls], STRING)
    return made(f"CAST({{0}} AS {result.ddl})", [spread], result)


def _spread_of_integers(name: str) -> str:
    """STDDEV_* and VAR_* over rows, which Flink computes with integers. Where a square overflows the argument's type
    there, the query fails here.
    """
    total, squares = "sum({x}){f}", "sum({x} * {x}){f}"
    number, less = "count({x}){f}", " - 1" if name.endswith("SAMP") else ""
    variance = f"({squares} - {total} * {total} div nullif({number}, 0)) div nullif({number}{less}, 0)"
    return f"sqrt({variance})" if name.startswith("STDDEV") else variance


def without_nulls(node: exp.FirstValue | exp.LastValue | exp.Filter) -> exp.Expr | None:
    """FIRST_VALUE and LAST_VALUE with their FILTER, if any: Flink leaves NULLs out. None for the call in a FILTER."""
    return None if isinstance(node.parent, exp.Filter | exp.IgnoreNulls) else exp.IgnoreNulls(this=node.copy())


def _call_in(node: exp.Expr) -> exp.Expr | None:
    while isinstance(node, AROUND):
        node = node.this
    return node if isinstance(node, AGGREGATE) else None


def _with(node: exp.Expr, call: Made) -> exp.Expr:
    """The same with another call in it. NULLs are respected without a word."""
    if isinstance(node, exp.Window | exp.Filter):
        copy = node.copy()
        copy.set("this", _with(node.this, call))
        return copy
    return _with(node.this, call) if isinstance(node, AROUND) else call
