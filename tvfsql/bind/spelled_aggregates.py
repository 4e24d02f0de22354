"""Aggregates that are other spellings of those in the table: COUNT_IF is a COUNT with FILTER, MEDIAN a percentile.

A percentile's fractions are literals, so that slices know what to keep. What is not of these forms stays Spark's own.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from tvfsql.bind.scalar import Call
from tvfsql.errors import BindError, Span
from tvfsql.plan.aggregate.chosen_values import ChosenValues, MostFrequent, Quantiles
from tvfsql.plan.aggregate.percentiles import MODE, PERCENTILE, PERCENTILES


def respelled(call: Call, span: Span) -> Call:
    """The call in the words of the table of aggregates. Raises BindError for arguments that a function cannot have."""
    match call.name, call.arguments:
        case "COUNT_IF", (condition,) if not call.distinct:
            both = exp.and_(call.filter, condition) if call.filter is not None else condition
            return replace(call, function="COUNT", arguments=(exp.Star(),), star=True, filter=both)
        case "MEDIAN", (value,):
            return _percentile(call, (value,), Quantiles((0.5,)), PERCENTILE)
        case "PERCENTILE", (value, fractions, *weights):
            wanted = _fractions(fractions, span)
            several = PERCENTILES if isinstance(fractions, exp.Array) else PERCENTILE
            return _percentile(call, (value, *weights), Quantiles(wanted), several) if wanted else call
        case "PERCENTILE_CONT" | "PERCENTILE_DISC", (fractions,):
            return _of_group(call, fractions, span)
        case "MODE", (value,) if not call.distinct and not call.as_in_spark:
            return replace(call, function=MODE, chosen=MostFrequent())
        case "MODE", () if call.order is not None and not call.order.args.get("desc"):
            return replace(call, function=MODE, arguments=(call.order.this,), chosen=MostFrequent(), as_in_spark=False)
        case "MAX_BY" | "MIN_BY", (_, _, _):  # a list of several values, in the order of the second argument
            return replace(call, function=None)
    return call


def _of_group(call: Call, fractions: exp.Expr, span: Span) -> Call:
    """PERCENTILE_CONT(p) or PERCENTILE_DISC(p) WITHIN GROUP (ORDER BY x)."""
    wanted = _fractions(fractions, span)
    if call.order is None or wanted is None:
        return call
    down = bool(call.order.args.get("desc"))
    several = PERCENTILES if isinstance(fractions, exp.Array) else PERCENTILE
    if call.name == "PERCENTILE_CONT":
        chosen = Quantiles(tuple(1 - fraction for fraction in wanted) if down else wanted)
        return _percentile(call, (call.order.this,), chosen, several)
    return call if down else _percentile(call, (call.order.this,), Quantiles(discrete=wanted), several)


def _percentile(call: Call, arguments: tuple[exp.Expr, ...], chosen: ChosenValues, function: str) -> Call:
    return replace(call, function=function, arguments=arguments, chosen=chosen, as_in_spark=False)


def _fractions(tree: exp.Expr, span: Span) -> tuple[float, ...] | None:
    """The fractions that a literal or an array of literals names; None if they are computed. Raises BindError if one is
    not between 0 and 1."""
    parts = tree.expressions if isinstance(tree, exp.Array) else [tree]
    found = [_number(part) for part in parts]
    if not found or any(number is None for number in found):
        return None
    wanted = tuple(number for number in found if number is not None)
    if not all(0 <= number <= 1 for number in wanted):
        raise BindError("the fraction of a percentile is between 0 and 1", span=span, hint="PERCENTILE(x, 0.95)")
    return wanted


def _number(tree: exp.Expr) -> float | None:
    match tree:
        case exp.Literal() if not tree.is_string:
            return float(tree.name)
        case exp.Neg():
            inner = _number(tree.this)
            return None if inner is None else -inner
        case exp.Cast() | exp.Paren():
            return _number(tree.this)
    return None
