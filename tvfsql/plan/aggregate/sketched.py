"""Aggregates that are computed from sketches, and those that return them, as rows of the table of aggregates.

A value of a KLL sketch is a double or a bigint, so integers and short DECIMALs keep all of their digits. Where a window
is its only slice, Spark makes its sketch; else sketches are made from the values of single rows, and are read with
Spark's functions in both cases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tvfsql.plan.aggregate.chosen_values import result_of
from tvfsql.plan.aggregate.function import AggregateFunction, Partial
from tvfsql.plan.aggregate.sketches import DistinctSketch, Kll, Sketch
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

PERCENTILE, PERCENTILES = "APPROX_PERCENTILE", "APPROX_PERCENTILES"  # of one fraction; of several, as an array
MERGES = {f"KLL_MERGE_AGG_{kind}": kind.lower() for kind in ("DOUBLE", "BIGINT")}
AGGREGATES = {f"KLL_SKETCH_AGG_{kind}": kind.lower() for kind in ("DOUBLE", "BIGINT")}
LONG = 18  # digits: a DECIMAL with as many is a bigint of its last digits
USUAL_SIZE = 200  # of Spark's KLL sketches


HLL, HLL_UNION, THETA, THETA_UNION = "HLL_SKETCH_AGG", "HLL_UNION_AGG", "THETA_SKETCH_AGG", "THETA_UNION_AGG"
ESTIMATE = "APPROX_COUNT_DISTINCT"  # by a sketch of the values' hashes, so of any type
USUAL_LG = 12  # of Spark's HLL and theta sketches


def of_sketch(name: str, kind: Sketch, argument: SqlType) -> AggregateFunction:
    """The row of an aggregate over sketches, for an argument of this type."""
    return _of_kll(name, kind, argument) if isinstance(kind, Kll) else _of_distinct(name, kind, argument)


def _of_distinct(name: str, kind: DistinctSketch, argument: SqlType) -> AggregateFunction:
    value, takes = "{x}", is_binary
    if name == ESTIMATE:
        zero = f" + CAST(0 AS {argument.ddl})" if types.is_float(argument) else ""  # equal zeros have one hash
        value, takes = f"IF({{x}} IS NULL, NULL, xxhash64({{x}}{zero}))", _any
    elif name in (HLL, THETA):
        value = "bigint({x})" if types.is_integer(argument) else "double({x})" if types.is_float(argument) else "{x}"
        takes = _hashed if name == HLL else _hashed_by_theta
    made = f"{name.lower()}({value}, {kind.lg}){{f}}"
    if name == ESTIMATE:
        made = f"hll_sketch_agg({value}, {kind.lg}){{f}}"
    elif name == HLL_UNION:
        made = "hll_union_agg({x}){f}"
    empty = f"020107{kind.lg or USUAL_LG:02X}03040008{'00' * 32}" if kind.family == "hll" else "01030300001E0000"
    finish = f"coalesce({{sketch}}, X'{empty}')"
    whole, result = made, types.BYTES
    if name == ESTIMATE:
        finish, whole, result = (
            "coalesce(hll_sketch_estimate({sketch}), 0L)",
            f"hll_sketch_estimate({made})",
            types.BIGINT,
        )
    return AggregateFunction(
        name,
        whole,
        lambda _: result,
        partials=(Partial("sketch", made, kind, value),),
        finish=finish,
        ignores_distinct=True,
        foreign=lambda given: not takes(given),
    )


def is_binary(kind: SqlType) -> bool:
    return kind in (types.UNKNOWN, types.BYTES)


def _any(kind: SqlType) -> bool:
    return True


def _hashed(kind: SqlType) -> bool:
    return types.is_integer(kind) or kind == types.STRING


def _hashed_by_theta(kind: SqlType) -> bool:
    return _hashed(kind) or types.is_float(kind)


def _of_kll(name: str, kind: Kll, argument: SqlType) -> AggregateFunction:
    if name in (PERCENTILE, PERCENTILES):
        return _percentile(name, kind, argument)
    values = AGGREGATES.get(name) or MERGES[name]
    kind = replace(kind, values=values)
    k = f", {kind.k}" if kind.k else ""
    value = "{x}" if name in MERGES else _of_doubles("double({x})") if values == "double" else "bigint({x})"
    made = f"{name.lower()}({value}{k}){{f}}"
    return AggregateFunction(
        name,
        made,
        lambda _: types.BYTES,
        partials=(Partial("sketch", made, kind, value),),
        finish=f"coalesce({{sketch}}, X'{_empty(kind.k or USUAL_SIZE)}')",
        foreign=(lambda given: given not in (types.UNKNOWN, types.BYTES)) if name in MERGES else _other_than(values),
    )


def _percentile(name: str, kind: Kll, argument: SqlType) -> AggregateFunction:
    values = "double" if types.is_float(argument) else "bigint"
    kind = replace(kind, values=values)
    value, result = _of_doubles("double({x})"), argument
    if values == "bigint":
        value, result = "bigint({x})", argument
    if types.is_decimal(argument) and (scale := argument.scale):
        value = f"bigint({{x}} * 1{'0' * scale}BD)"
    made = f"kll_sketch_agg_{values}({value}, {kind.k}){{f}}"
    fractions = ", ".join(f"{fraction!r}D" for fraction in kind.fractions)
    if name == PERCENTILES:
        found, each = f"kll_sketch_get_quantile_{values}({{sketch}}, array({fractions}))", _typed("x", argument)
        finish = found if each == "x" else f"transform({found}, x -> {each})"
    else:
        finish = _typed(f"kll_sketch_get_quantile_{values}({{sketch}}, {fractions})", argument)
    results = [_typed(f"{{sketch}}.`{result_of(fraction)}`", argument) for fraction in kind.fractions]
    listed = f"CASE WHEN {{sketch}}.`{result_of(kind.fractions[0])}` IS NOT NULL THEN array({', '.join(results)}) END"
    of_spark = f"IF(count({value}){{f}} > 0, {made}, NULL)"
    return AggregateFunction(
        name,
        finish.replace("{sketch}", of_spark),
        lambda _: types.Array(result) if name == PERCENTILES else result,
        partials=(Partial("sketch", of_spark, kind, value),),
        finish=finish,
        of_results=listed if name == PERCENTILES else results[0],
        foreign=lambda given: not (types.is_integer(given) or types.is_float(given) or _is_short(given)),
    )


def _of_doubles(value: str) -> str:
    """Sketches leave NaN out, as Spark's do."""
    return f"nullif({value}, double('NaN'))"


def _typed(value: str, kind: SqlType) -> str:
    """A value of a sketch in the type of the argument."""
    if types.is_decimal(kind):
        scale = kind.scale
        unit = f" * 0.{'0' * (scale - 1)}1BD" if scale else ""
        return f"CAST(CAST({value} AS DECIMAL({LONG}, 0)){unit} AS {kind.ddl})"
    return value if kind in (types.DOUBLE, types.BIGINT) else f"CAST({value} AS {kind.ddl})"


def _is_short(kind: SqlType) -> bool:
    return types.is_decimal(kind) and kind.precision <= LONG


def _other_than(values: str) -> Callable[[SqlType], bool]:
    """Whether a type has values that such a sketch cannot have."""
    taken = types.is_number if values == "double" else types.is_integer
    return lambda given: not taken(given)


def _empty(k: int) -> str:
    """The bytes of a sketch without values, as hexadecimal digits."""
    return f"02010F01{k & 255:02X}{k >> 8:02X}0800"
