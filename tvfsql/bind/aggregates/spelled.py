"""Aggregates that are other spellings of those in the table: COUNT_IF is a COUNT with FILTER, MEDIAN a percentile.

A percentile's fractions are literals, so that slices know what to keep. What is not of these forms stays Spark's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from tvfsql.bind.flink.lowered_call import made
from tvfsql.bind.infer import infer
from tvfsql.bind.scalar import Call, constant_string, is_not_null
from tvfsql.errors import BindError, Span
from tvfsql.plan.aggregate.chosen_values import ChosenValues, Frequent, MostFrequent, Quantiles
from tvfsql.plan.aggregate.percentiles import MODE, PERCENTILE, PERCENTILES, TOP
from tvfsql.plan.aggregate.sketched import AGGREGATES as OF_VALUES
from tvfsql.plan.aggregate.sketched import (
    BITMAP,
    BITMAP_AND,
    BITMAP_OR,
    HLL,
    HLL_UNION,
    MERGES,
    THETA_COMMON,
    TUPLES,
    USUAL_LG,
    USUAL_SIZE,
)
from tvfsql.plan.aggregate.sketches import K_LEAST, K_MOST, TUPLE_MODES, DistinctSketch, Kll, size_for
from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.plan.values.types import UNKNOWN, Row, SqlType, is_orderable

ACCURACY, MOST_ACCURATE = 1000, 20_000  # of APPROX_PERCENTILE: without one, and at most
MOST_TRACKED = 1_000_000  # by APPROX_TOP_K, as in Spark
MOST_BEST = 100_000  # of MAX_BY and MIN_BY, as in Spark
SKETCHES = {**OF_VALUES, **MERGES}
WITHOUT_SIZE = {
    HLL_UNION: DistinctSketch("hll", 0),
    THETA_COMMON: DistinctSketch("theta", 0, common=True),
    **dict.fromkeys((BITMAP, BITMAP_OR), DistinctSketch("bitmap", 0)),
    BITMAP_AND: DistinctSketch("bitmap", 0, common=True),
}


def respelled(call: Call, types: dict[str, SqlType], span: Span) -> Call:
    """The call in the words of the table of aggregates. Raises BindError for arguments that a function cannot have."""
    match call.name, call.arguments:
        case "COUNT_IF", (condition,) if not call.distinct:
            both = exp.and_(call.filter, condition) if call.filter is not None else condition
            return replace(call, function="COUNT", arguments=(exp.Star(),), star=True, filter=both)
        case "COUNT", (_, _, *_) if call.distinct and not any(isinstance(part, exp.Star) for part in call.arguments):
            return _together(call, types)
        case "MEDIAN", (value,):
            return _percentile(call, (value,), Quantiles((0.5,)), PERCENTILE)
        case "PERCENTILE", (value, fractions, *weights):
            wanted = _fractions(fractions, span)
            several = PERCENTILES if isinstance(fractions, exp.Array) else PERCENTILE
            return _percentile(call, (value, *weights), Quantiles(wanted), several) if wanted else call
        case "APPROX_PERCENTILE" | "PERCENTILE_APPROX", (value, fractions, *accuracy) if not call.distinct:
            return _approximate(call, value, fractions, accuracy, span)
        case "APPROX_TOP_K", (value, *sizes) if not call.distinct and len(sizes) <= 2:
            return _top(call, value, sizes, span)
        case "APPROX_COUNT_DISTINCT", (value, error):
            return _within(call, value, error, span)
        case (("HLL_SKETCH_AGG" | "THETA_SKETCH_AGG" | "THETA_UNION_AGG"), (value, *size)) if len(size) <= 1:
            return _of_distinct(call, value, size, span)
        case name, (_,) if name in WITHOUT_SIZE and not call.distinct:
            return replace(call, function=name, chosen=WITHOUT_SIZE[name])
        case name, arguments if name in TUPLES and not call.distinct:
            return _of_tuples(call, arguments, span)
        case name, (value, *size) if name in SKETCHES and not call.distinct and len(size) <= 1:
            return _sketch(call, value, size, span)
        case "PERCENTILE_CONT" | "PERCENTILE_DISC", (fractions,):
            return _of_group(call, fractions, span)
        case "PERCENTILE_CONT" | "PERCENTILE_DISC", _:
            raise BindError(
                f"{call.name} takes a fraction, and the value in WITHIN GROUP",
                span=span,
                hint=f"{call.name}(0.95) WITHIN GROUP (ORDER BY x)",
            )
        case "MODE", (value,) if not call.distinct and not call.as_in_spark:
            return replace(call, function=MODE, chosen=MostFrequent())
        case "MODE", () if len(call.order) == 1 and not call.order[0].args.get("desc"):
            return replace(
                call, function=MODE, arguments=(call.order[0].this,), chosen=MostFrequent(), as_in_spark=False
            )
        case "MAX_BY" | "MIN_BY", (value, by, number):
            return _best(call, (value, by), number, types, span)
    return call


def _together(call: Call, types: dict[str, SqlType]) -> Call:
    """A COUNT of several values as one of structs. A row in which one of them is NULL is not counted, as in Spark."""
    values = call.arguments
    fields = ", ".join(f"{{{i}}} AS x{i}" for i in range(len(values)))
    kinds = [infer(value, types) for value in values]
    kind = Row(tuple((f"x{i}", each) for i, each in enumerate(kinds))) if all(kinds) else UNKNOWN
    counts = exp.and_(*([call.filter] if call.filter is not None else []), *map(is_not_null, values))
    return replace(call, arguments=(made(f"STRUCT({fields})", values, kind),), filter=counts)


def _of_group(call: Call, fractions: exp.Expr, span: Span) -> Call:
    """PERCENTILE_CONT(p) or PERCENTILE_DISC(p) WITHIN GROUP (ORDER BY x)."""
    wanted = _fractions(fractions, span)
    if len(call.order) != 1 or wanted is None:
        return call
    down = bool(call.order[0].args.get("desc"))
    several = PERCENTILES if isinstance(fractions, exp.Array) else PERCENTILE
    if call.name == "PERCENTILE_CONT":
        chosen = Quantiles(tuple(1 - fraction for fraction in wanted) if down else wanted)
        return _percentile(call, (call.order[0].this,), chosen, several)
    return call if down else _percentile(call, (call.order[0].this,), Quantiles(discrete=wanted), several)


def _percentile(call: Call, arguments: tuple[exp.Expr, ...], chosen: ChosenValues, function: str) -> Call:
    return replace(call, function=function, arguments=arguments, chosen=chosen, as_in_spark=False)


def _approximate(call: Call, value: exp.Expr, fractions: exp.Expr, accuracy: Sequence[exp.Expr], span: Span) -> Call:
    """APPROX_PERCENTILE(x, p [, accuracy])."""
    wanted = _fractions(fractions, span)
    given = _whole_number(accuracy[0]) if accuracy else ACCURACY
    if wanted is None or given is None or len(accuracy) > 1:
        return call
    if given < 1 or given > MOST_ACCURATE:
        message = f"the accuracy of APPROX_PERCENTILE is a whole number from 1 to {MOST_ACCURATE:,}"
        raise BindError(message, span=span, hint=f"APPROX_PERCENTILE(x, 0.95, {ACCURACY})")
    several = PERCENTILES if isinstance(fractions, exp.Array) else PERCENTILE
    function = f"APPROX_{several}"
    return replace(call, function=function, arguments=(value,), chosen=Kll(size_for(given), "", wanted))


def _sketch(call: Call, value: exp.Expr, size: Sequence[exp.Expr], span: Span) -> Call:
    """KLL_SKETCH_AGG_*(x [, k]), or KLL_MERGE_AGG_*(sketch [, k])."""
    merges = call.name in MERGES
    k = _whole_number(size[0]) if size else 0 if merges else USUAL_SIZE
    if k is None:
        return call
    if size and not K_LEAST <= k <= K_MOST:
        message = f"the size k of a KLL sketch is from {K_LEAST} to {K_MOST}"
        raise BindError(message, span=span, hint=f"{call.name}(x, {USUAL_SIZE})")
    return replace(call, function=call.name, arguments=(value,), chosen=Kll(k, SKETCHES[call.name]))


def _of_distinct(call: Call, value: exp.Expr, size: Sequence[exp.Expr], span: Span) -> Call:
    """HLL_SKETCH_AGG(x [, lg]), THETA_SKETCH_AGG(x [, lg]) or THETA_UNION_AGG(sketch [, lg])."""
    lg = _whole_number(size[0]) if size else USUAL_LG
    if lg is None or call.distinct:
        return call
    family = "hll" if call.name == HLL else "theta"
    _check_size(call, lg, 21 if family == "hll" else 26, f"{call.name}(x, {USUAL_LG})", span)
    return replace(call, function=call.name, arguments=(value,), chosen=DistinctSketch(family, lg))


def _within(call: Call, value: exp.Expr, error: exp.Expr, span: Span) -> Call:
    """APPROX_COUNT_DISTINCT(x, error): a sketch whose standard error is at most this. The exact count is within it."""
    wanted = _number(error)
    lg = next((lg for lg in range(4, 22) if wanted is not None and 1.04 / 2 ** (lg / 2) <= wanted), None)
    if lg is None or (wanted or 1) >= 1:
        message = "the standard error of APPROX_COUNT_DISTINCT is a literal from 0.001 to 0.99"
        raise BindError(message, span=span, hint="APPROX_COUNT_DISTINCT(x, 0.01)")
    return replace(call, arguments=(value,), chosen=DistinctSketch("hll", lg))


def _of_tuples(call: Call, arguments: tuple[exp.Expr, ...], span: Span) -> Call:
    """TUPLE_SKETCH_AGG_*(x, number [, lg [, mode]]), TUPLE_UNION_AGG_*(sketch [, lg [, mode]]) or
    TUPLE_INTERSECTION_AGG_*(sketch [, mode])."""
    of = TUPLES[call.name]
    operands = 2 if of == "SKETCH" else 1
    sized = of != "INTERSECTION"
    options = arguments[operands:]
    if len(options) > 1 + sized:
        return call
    lg = (_whole_number(options[0]) if options else USUAL_LG) if sized else 0
    words = options[1:] if sized else options
    mode = constant_string(words[0]) if words else "sum"
    if lg is None or mode is None:
        return call
    example = f"{call.name}({'x, y' if of == 'SKETCH' else 'sketch'}{f', {USUAL_LG}' if sized else ''}, 'sum')"
    if sized:
        _check_size(call, lg, 26, example, span)
    if mode.lower() not in TUPLE_MODES:
        raise BindError(f"the mode of {call.name} is one of {', '.join(TUPLE_MODES)}", span=span, hint=example)
    family = f"tuple_{call.name.rpartition('_')[2].lower()}"
    chosen = DistinctSketch(family, lg, mode.lower(), common=not sized)
    return replace(call, function=call.name, arguments=arguments[:operands], chosen=chosen)


def _check_size(call: Call, lg: int, most: int, example: str, span: Span) -> None:
    if not 4 <= lg <= most:
        message = f"the size of {call.name} is a power of two: its exponent is from 4 to {most}"
        raise BindError(message, span=span, hint=example)


def _top(call: Call, value: exp.Expr, sizes: Sequence[exp.Expr], span: Span) -> Call:
    """APPROX_TOP_K(x [, k [, tracked]])."""
    found = [*map(_whole_number, sizes), *(5, 10_000)[len(sizes) :]]
    if found[0] is None or found[1] is None:
        return call
    if not 1 <= found[0] <= found[1] <= MOST_TRACKED:
        message = f"APPROX_TOP_K(x, k, tracked) needs 1 <= k <= tracked <= {MOST_TRACKED:,}"
        raise BindError(message, span=span, hint="APPROX_TOP_K(x, 5, 10000)")
    return replace(call, function=TOP, arguments=(value,), chosen=Frequent(found[0], found[1]))


def _best(call: Call, pair: tuple[exp.Expr, exp.Expr], number: exp.Expr, types: dict[str, SqlType], span: Span) -> Call:
    """MAX_BY(x, y, k) or MIN_BY(x, y, k): the values x of the k rows with the greatest or least y, in a list."""
    k = _whole_number(number)
    if k is None or call.distinct or not all(is_orderable(infer(value, types)) for value in pair):
        return replace(call, function=None)
    if not 1 <= k <= MOST_BEST:
        message = f"the number of values of {call.name} is from 1 to {MOST_BEST:,}"
        raise BindError(message, span=span, hint=f"{call.name}(x, y, 10)")
    direction = "desc" if call.name == "MAX_BY" else "asc"
    best = TopRows("row_number", k, (("y", direction), ("x", direction)))
    return replace(call, function=call.name, arguments=pair, chosen=best)


def _whole_number(tree: exp.Expr) -> int | None:
    number = _number(tree)
    return int(number) if number is not None and number == int(number) else None


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
