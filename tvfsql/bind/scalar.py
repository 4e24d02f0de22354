"""Binds scalar expressions: sqlglot's trees become `Scalar`s, Spark SQL text with placeholders for columns.

This module is the binder's interface to sqlglot. A tree is never changed: `resolve` copies it, with each column renamed
to its name in the plan.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from tvfsql.bind.facts import among_of, bounds_of, facts_of, rising_of, string_of
from tvfsql.bind.flink.lowered_call import made
from tvfsql.bind.infer import infer
from tvfsql.bind.spark_text.functions import function_name, functions, missing_word, no_function
from tvfsql.bind.spark_text.text import in_spark_words, with_holes, written
from tvfsql.bind.user_function_calls import user_of
from tvfsql.errors import BindError, Span, TvfSqlError
from tvfsql.plan.aggregate.chosen_values import ChosenValues
from tvfsql.plan.aggregate.lists import LISTS, multiset
from tvfsql.plan.aggregate.sketches import Sketch
from tvfsql.plan.aggregate.table import AGGREGATES, ALIASES
from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.plan.values.scalar import Scalar, text
from tvfsql.plan.values.types import BOOLEAN, STRING, UNKNOWN, Row, SqlType
from tvfsql.plan.values.user_function import UserFunction
from tvfsql.syntax import ast
from tvfsql.syntax.dialect import FlinkSql
from tvfsql.syntax.places import span_of

Lookup = Callable[[str | None, str, Span | None], tuple[str, SqlType]]

TYPE = "type"  # the key in `meta` under which a PlanColumn has its type
WITHOUT_PARENTHESES = ("LOCALTIMESTAMP", "LOCALTIME", "CURRENT_TIME")
NOT_ATOMIC = (
    exp.Binary,
    exp.Unary,
    exp.Connector,
    exp.Between,
    exp.In,
    exp.Is,
    exp.Interval,
    exp.Alias,
    exp.Escape,
)
# sqlglot's classes for the functions in plan.aggregate.table; others are known by their SQL names.
CLASSES: dict[type[exp.Expr], str] = {
    exp.GroupConcat: "LISTAGG",
    exp.ArrayAgg: "ARRAY_AGG",
    exp.Stddev: "STDDEV_SAMP",
    exp.Variance: "VAR_SAMP",
    exp.VariancePop: "VAR_POP",
    exp.LogicalAnd: "BOOL_AND",
    exp.LogicalOr: "BOOL_OR",
    exp.First: "FIRST_VALUE",
    exp.Last: "LAST_VALUE",
}
# Spark's aggregates that sqlglot does not treat as aggregates.
SPARK_AGGREGATES = frozenset(
    "approx_percentile approx_top_k approx_top_k_accumulate approx_top_k_combine "
    "bitmap_and_agg bitmap_construct_agg bitmap_or_agg collect_union bit_and bit_or bit_xor count_if "
    "count_min_sketch group_id grouping grouping_id histogram_numeric hll_sketch_agg hll_union_agg kurtosis mode "
    "percentile percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy regr_count "
    "regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy skewness try_avg try_sum any_value "
    "collect_set max_by min_by median corr covar_pop covar_samp "
    "kll_sketch_agg_double kll_sketch_agg_bigint kll_sketch_agg_float kll_merge_agg_double kll_merge_agg_bigint "
    "kll_merge_agg_float theta_sketch_agg theta_union_agg theta_intersection_agg tuple_sketch_agg_double "
    "tuple_sketch_agg_integer tuple_union_agg_double tuple_union_agg_integer tuple_intersection_agg_double "
    "tuple_intersection_agg_integer".split()
)


@dataclass(frozen=True)
class Resolved:
    """A tree whose columns have their names in the plan, with the types of these."""

    tree: exp.Expr
    types: dict[str, SqlType]
    span: Span

    def scalar(self) -> Scalar:
        """Return the expression for a plan. Raises BindError for a function that does not exist."""
        return to_scalar(self.tree, self.types, self.span)


@dataclass(frozen=True)
class Call:
    """An aggregate call as written in the query: `function` of plan.aggregate.table, or None if only Spark knows the
    function `name`, or if it is a user's. `chosen` is what a percentile or a mode needs of the values, how a sketch
    merges, or which rows MIN_BY and MAX_BY keep.
    """

    tree: exp.Expr
    name: str
    function: str | None
    arguments: tuple[exp.Expr, ...]
    distinct: bool
    filter: exp.Expr | None
    star: bool = False
    as_in_spark: bool = False  # with RESPECT NULLS, or WITHIN GROUP
    user: UserFunction | None = None
    order: tuple[exp.Ordered, ...] = ()  # of WITHIN GROUP (ORDER BY ...)
    chosen: ChosenValues | Sketch | TopRows | None = None


def resolve(expr: ast.Expr, lookup: Lookup) -> Resolved:
    """Replace each column in the expression by that of the plan. Raises the errors of `lookup`."""
    types: dict[str, SqlType] = {}

    def rename(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return node
        if not node.table and node.name.upper() in WITHOUT_PARENTHESES:
            return exp.Anonymous(this=node.name.upper())
        place = span_of(node, expr.span)
        try:
            plan, kind, path = _column(node, lookup, place)
        except BindError as error:
            if node.table or node.name.upper() != "PI":
                raise missing_word(node, place) or error from None
            return exp.Anonymous(this="PI")
        types[plan] = kind
        new: exp.Expr = exp.Column(this=exp.to_identifier(plan, quoted=True))
        new.meta.update(node.this.meta)
        for part in path:
            new = exp.Dot(this=new, expression=exp.to_identifier(part))
        return new

    return Resolved(expr.tree.transform(rename), types, expr.span)


def _column(node: exp.Column, lookup: Lookup, span: Span) -> tuple[str, SqlType, list[str]]:
    """The plan's column, its type, and the struct fields taken from it: `t.c`, `c.field`."""
    parts = [part.name for part in node.parts]
    if isinstance(node, PlanColumn):
        return parts[0], node.meta[TYPE], []
    if len(parts) == 1:
        plan, kind = lookup(None, parts[0], span)
        return plan, kind, []
    try:
        plan, kind = lookup(parts[0], parts[1], span)
        return plan, kind, parts[2:]
    except BindError:
        plan, kind = lookup_or_none(lookup, parts[0], span)
        if not isinstance(kind, Row):
            raise
        return plan, kind, parts[1:]


def lookup_or_none(lookup: Lookup, name: str, span: Span) -> tuple[str, SqlType]:
    try:
        return lookup(None, name, span)
    except BindError:
        return "", UNKNOWN


def to_scalar(tree: exp.Expr, types: dict[str, SqlType], span: Span) -> Scalar:
    """Turn a tree into Spark SQL text with placeholders. Raises BindError for a function that does not exist."""
    try:
        return _to_scalar(tree, types, span)
    except TvfSqlError as error:
        error.span = error.span or span_of(tree, span)
        raise


def _to_scalar(tree: exp.Expr, types: dict[str, SqlType], span: Span) -> Scalar:
    lowered = in_spark_words(tree, types, span)
    facts = facts_of(tree, lowered, lambda node: infer(node, types))
    parts = with_holes(lowered, span)
    bounds, atomic = bounds_of(lowered, types, span), not isinstance(lowered, NOT_ATOMIC)
    rising, string, among = rising_of(tree, types), string_of(lowered), among_of(lowered)
    return Scalar(parts, infer(lowered, types), atomic, facts, span, written(tree), bounds, rising, string, among)


def conjuncts(resolved: Resolved) -> Iterator[Resolved]:
    """Yield the conditions that AND connects."""
    top = resolved.tree.unnest()
    waiting = [top]
    while waiting:
        tree = waiting.pop().unnest()
        if isinstance(tree, exp.And):
            waiting += [tree.right, tree.left]
        else:
            span = resolved.span if tree is top else span_of(tree, resolved.span)
            yield Resolved(tree, resolved.types, span)


def condition(resolved: Resolved, clause: str) -> Scalar:
    """Return a condition of WHERE, HAVING or ON. Raises BindError if the expression certainly is not boolean."""
    return checked(resolved.scalar(), resolved, clause)


def checked(made: Scalar, of: Resolved, clause: str) -> Scalar:
    """Return `made`, a part of WHERE, HAVING, ON or QUALIFY. Raises BindError if it certainly is not boolean."""
    if made.type not in (UNKNOWN, BOOLEAN):
        span = span_of(of.tree, of.span)
        raise BindError(f"{clause} takes a condition, but this is {made.type.flink}", span=span)
    if isinstance(of.tree.unnest(), exp.Null):  # Spark takes no NULL without a type there
        return text("CAST(NULL AS BOOLEAN)", BOOLEAN)
    return made


def replace_parts(tree: exp.Expr, parts: dict[exp.Expr, exp.Expr]) -> exp.Expr:
    """Replace each subtree that equals a key of `parts` by its value."""

    def swap(node: exp.Expr) -> exp.Expr:
        if node not in parts:
            return node
        part = parts[node].copy()
        return exp.paren(part) if node.parent and isinstance(part, exp.Binary) else part

    return tree.transform(swap)


def column_tree(plan: str) -> exp.Expr:
    """A tree for a column of the plan."""
    return exp.Column(this=exp.to_identifier(plan, quoted=True))


def equal(left: Scalar, right: Scalar) -> Scalar:
    """The condition that two columns are equal, as `=` in a query compares them."""
    assert left.column and right.column
    types = {left.column: left.type, right.column: right.type}
    pair = exp.EQ(this=column_tree(left.column), expression=column_tree(right.column))
    return replace(to_scalar(pair, types, Span(0, 0)), span=None, written=())


def cast_column(name: str, source: SqlType, target: SqlType) -> Scalar:
    """A CAST of a column of the plan, as of one that is written in a query."""
    return _cast_column(name, source, target, exp.DataType.build(target.spark, dialect="spark"))


def fit_column(name: str, source: SqlType, target: SqlType) -> Scalar:
    """The same, with the length and the fractional digits of a type such as CHAR(5)."""
    return _cast_column(name, source, target, exp.DataType.build(target.flink, dialect=FlinkSql))


def _cast_column(name: str, source: SqlType, target: SqlType, to: exp.DataType) -> Scalar:
    tree = exp.Cast(this=column_tree(name), to=to)
    return replace(to_scalar(tree, {name: source}, Span(0, 0)), type=target, span=None)


def text_literal(value: str) -> Scalar:
    """A literal that Spark reads as that text."""
    return to_scalar(exp.Literal.string(value), {}, Span(0, 0))


def is_grouping(tree: exp.Expr) -> bool:
    """Whether a call reads the row's grouping set: GROUPING, GROUPING_ID or GROUP_ID."""
    return function_name(tree) in ("grouping", "grouping_id", "group_id")


def is_not_null(tree: exp.Expr) -> exp.Expr:
    """The condition that a value is not NULL."""
    value = exp.paren(tree) if isinstance(tree, NOT_ATOMIC) else tree.copy()
    return exp.Is(this=value, expression=exp.Null()).not_()


def columns_of(tree: exp.Expr) -> Iterator[tuple[str, Span]]:
    """Yield the columns that a tree reads, with their spans."""
    for node in tree.find_all(exp.Column):
        yield node.name, span_of(node, Span(0, 0))


def listed(call: Call) -> exp.Expr:
    """A multiset or list without event time, for Spark. Only ARRAY_AGG keeps NULLs. Distinct values keep the order of
    their first occurrences, which Spark's own DISTINCT does not.
    """
    value, keeps_nulls = call.arguments[0], call.function == "ARRAY_AGG"
    if keeps_nulls:
        value = exp.Struct(expressions=[exp.alias_(value.copy(), "x")])
    rows: exp.Expr = made("COLLECT_LIST({0})", [value], UNKNOWN)
    if call.filter is not None:
        rows = exp.Filter(this=rows, expression=exp.Where(this=call.filter))
    if call.distinct:
        rows = made("ARRAY_DISTINCT({0})", [rows], UNKNOWN)
    if call.function == "LISTAGG":
        separator = call.arguments[1] if len(call.arguments) > 1 else exp.Literal.string(",")
        return made("ARRAY_JOIN(NULLIF({0}, ARRAY()), {1})", [rows, separator], STRING)
    if call.function == "COLLECT":
        return made(multiset("{0}"), [rows], UNKNOWN)
    return made("IF(SIZE({0}) > 0, TRANSFORM({0}, item -> item.x), NULL)", [rows], UNKNOWN) if keeps_nulls else rows


def aggregate_calls(tree: exp.Expr, span: Span) -> Iterator[Call]:
    """Yield the aggregate calls of an expression. Raises BindError if one is inside another."""
    for node in tree.walk(prune=lambda node: _as_call(node) is not None):
        call = _as_call(node)
        if call is None:
            continue
        for part in (*call.arguments, *call.order, *([call.filter] if call.filter else [])):
            inner = next((found for found in part.walk() if _as_call(found)), None)
            if inner is not None:
                raise BindError(
                    "aggregates cannot be nested",
                    span=span_of(inner, span),
                    hint="aggregate in a subquery first: SELECT ... FROM (SELECT ... GROUP BY ...)",
                )
        yield call


def has_aggregate(tree: exp.Expr) -> bool:
    return any(_as_call(node) for node in tree.walk())


def refuse_no_aggregate(tree: exp.Expr, made: Scalar, span: Span) -> None:
    """Raise BindError if sqlglot takes the call for an aggregate but Spark, given the text `made`, does not."""
    name = re.match(r"(\w+)\(", made.sql)
    if name and name.group(1).lower() not in functions():
        raise no_function(name.group(1), span)


class PlanColumn(exp.Column):
    """A column under its name in the plan, with its type in `meta`; stars expand to these."""


def column_expr(plan: str, kind: SqlType, span: Span) -> ast.Expr:
    """An unresolved expression for a column of the plan."""
    tree = PlanColumn(this=exp.to_identifier(plan, quoted=True))
    tree.meta[TYPE] = kind
    return ast.Expr(tree, span)


def field_expr(row: ast.Expr, name: str) -> ast.Expr:
    """An expression for a field of a row."""
    return ast.Expr(exp.Dot(this=row.tree.copy(), expression=exp.to_identifier(name, quoted=True)), row.span)


def constant_string(tree: exp.Expr) -> str | None:
    return tree.name if isinstance(tree, exp.Literal) and tree.is_string else None


def spelled_out(expr: ast.Expr, meaning: Callable[[str], ast.Expr | None]) -> ast.Expr:
    """Replace each bare name in the expression by the expression that it means, if it means one."""

    def spell(node: exp.Expr) -> exp.Expr:
        found = meaning(node.name) if isinstance(node, exp.Column) and not node.table else None
        if found is None:
            return node
        return exp.paren(found.tree) if isinstance(found.tree, NOT_ATOMIC) else found.tree.copy()

    return ast.Expr(expr.tree.transform(spell), expr.span)


def ordinal(expr: ast.Expr) -> int | None:
    """The number in GROUP BY 1 or ORDER BY 1; None for other expressions."""
    tree = expr.tree
    return int(tree.name) if isinstance(tree, exp.Literal) and tree.is_int else None


def bare_name(expr: ast.Expr) -> str | None:
    """The name of an expression that is just an unqualified column name."""
    tree = expr.tree
    return tree.name if isinstance(tree, exp.Column) and not isinstance(tree, PlanColumn) and not tree.table else None


def column_name(expr: ast.Expr) -> tuple[str | None, str] | None:
    """The qualifier, if any, and the name of an expression that is just a column."""
    tree = expr.tree
    return (tree.table or None, tree.name) if isinstance(tree, exp.Column) and len(tree.parts) <= 2 else None


def output_name(expr: ast.Expr) -> str | None:
    """The name of an expression without an alias: that of a column, else None."""
    tree = expr.tree.unnest()
    return tree.name if isinstance(tree, exp.Column | exp.Dot) else None


def place_of(call: Call | exp.Expr, fallback: Span) -> Span:
    return span_of(call.tree if isinstance(call, Call) else call, fallback)


def _as_call(node: exp.Expr) -> Call | None:
    condition, as_in_spark = None, False
    inner = node
    if isinstance(inner, exp.Filter):
        condition, inner = inner.expression.this, inner.this
    nulls = inner if isinstance(inner, exp.IgnoreNulls | exp.RespectNulls) else None
    if nulls is not None:
        as_in_spark, inner = isinstance(nulls, exp.RespectNulls), nulls.this
    order: tuple[exp.Ordered, ...] = ()
    if isinstance(inner, exp.WithinGroup):
        order, inner = tuple(inner.expression.expressions), inner.this
    name = _aggregate_name(inner)
    as_in_spark |= bool(order) and name not in LISTS
    if name is None:
        return None
    first = inner.args.get("this") if not isinstance(inner, exp.Anonymous) else None
    arguments = [first] if isinstance(first, exp.Expr) else list(inner.expressions)
    if isinstance(inner, exp.GroupConcat) and inner.args.get("separator"):
        arguments.append(inner.args["separator"])
    if isinstance(inner, exp.ApproxDistinct) and inner.args.get("accuracy"):
        arguments.append(inner.args["accuracy"])
    if isinstance(inner, exp.Count) and len(inner.expressions):
        arguments += inner.expressions
    distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
    if distinct:
        arguments[:1] = arguments[0].expressions
    star = len(arguments) == 1 and isinstance(arguments[0], exp.Star)
    if nulls is not None and name == "ARRAY_AGG":  # keeps NULLs, unless it is told not to
        as_in_spark = False
        if isinstance(nulls, exp.IgnoreNulls):
            held = is_not_null(arguments[0])
            condition = exp.and_(condition, held) if condition is not None else held
    user = user_of(inner)
    function = name if name in AGGREGATES and user is None else None
    return Call(node, name, function, tuple(arguments), distinct, condition, star, as_in_spark, user, order)


def _aggregate_name(node: exp.Expr) -> str | None:
    """The name in plan.aggregate.table, or the SQL name of another aggregate; None if it is not an aggregate."""
    if type(node) in CLASSES:
        return CLASSES[type(node)]
    if not isinstance(node, exp.Func):
        return None
    if user := user_of(node):
        return user.name if user.aggregate else None
    name = function_name(node).upper()
    name = ALIASES.get(name, name)
    known = name in AGGREGATES or name.lower() in SPARK_AGGREGATES or name == "APPROX_COUNT_DISTINCT"
    return name if known or isinstance(node, exp.AggFunc) else None
