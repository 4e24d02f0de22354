"""Aggregates that are computed from sketches, and those that return them, as rows of the table of aggregates.

A value of a KLL sketch is a double or a bigint, so integers and short DECIMALs keep all of their digits. Where a window
is its only slice, Spark makes its sketch; else sketches are made from the values of single rows, and are read with
Spark's functions in both cases.
"""

from __future__ import annotations

from dataclasses import replace

from tvfsql.plan.aggregate.chosen_values import result_of
from tvfsql.plan.aggregate.function import Accepts, AggregateFunction, Partial
from tvfsql.plan.aggregate.sketches import DistinctSketch, Kll, Sketch
from tvfsql.plan.values import types
from tvfsql.plan.values.types import SqlType

PERCENTILE, PERCENTILES = "APPROX_PERCENTILE", "APPROX_PERCENTILES"  # of one fraction; of several, as an array
MERGES = {f"KLL_MERGE_AGG_{kind}": kind.lower() for kind in ("DOUBLE", "BIGINT", "FLOAT")}
OF_VALUES = {"double": Accepts.NUMBER, "bigint": Accepts.INTEGER, "float": Accepts.FLOAT}
AGGREGATES = {f"KLL_SKETCH_AGG_{kind}": kind.lower() for kind in ("DOUBLE", "BIGINT", "FLOAT")}
LONG = 18  # digits: a DECIMAL with as many is a bigint of its last digits
USUAL_SIZE = 200  # of Spark's KLL sketches


HLL, HLL_UNION, THETA, THETA_UNION = "HLL_SKETCH_AGG", "HLL_UNION_AGG", "THETA_SKETCH_AGG", "THETA_UNION_AGG"
THETA_COMMON = "THETA_INTERSECTION_AGG"
BITMAP, BITMAP_OR, BITMAP_AND = "BITMAP_CONSTRUCT_AGG", "BITMAP_OR_AGG", "BITMAP_AND_AGG"
TUPLES = {
    f"TUPLE_{kind}_AGG_{of}": kind for kind in ("SKETCH", "UNION", "INTERSECTION") for of in ("DOUBLE", "INTEGER")
}
ESTIMATE = "APPROX_COUNT_DISTINCT"  # by a sketch of the values' hashes, so of any type
USUAL_LG = 12  # of Spark's HLL and theta sketches


def of_sketch(name: str, kind: Sketch, argument: SqlType) -> AggregateFunction:
    """The row of an aggregate over sketches, for an argument of this type."""
    return _of_kll(name, kind, argument) if isinstance(kind, Kll) else _of_distinct(name, kind, argument)


def _of_distinct(name: str, kind: DistinctSketch, argument: SqlType) -> AggregateFunction:
    if name in TUPLES:
        return _of_tuples(name, kind, argument)
    value, takes, size = "{x}", _any, f", {kind.lg}" if kind.lg else ""
    accepts = Accepts.ANY if name == ESTIMATE else Accepts.SKETCH
    if name == ESTIMATE:
        zero = f" + CAST(0 AS {argument.ddl})" if types.is_float(argument) else ""  # equal zeros have one hash
        value = f"IF({{x}} IS NULL, NULL, xxhash64({{x}}{zero}))"
    elif name in (HLL, THETA):
        value, takes, accepts = hashed(argument), _hashed if name == HLL else _hashed_by_theta, Accepts.ANY
    elif name == BITMAP:
        value, accepts = "bigint({x})", Accepts.INTEGER
    made = f"{name.lower()}({value}{size}){{f}}"
    if name == ESTIMATE:
        made = f"hll_sketch_agg({value}, {kind.lg}){{f}}"
    finish = f"coalesce({{sketch}}, {_without_values(kind)})"
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
        accepts=accepts,
        foreign=lambda given: not takes(given),
    )


def _of_tuples(name: str, kind: DistinctSketch, argument: SqlType) -> AggregateFunction:
    size, mode = f", {kind.lg}" if kind.lg else "", f", '{kind.mode}'"
    if TUPLES[name] != "SKETCH":
        value, made, takes, operands = "{x}", f"{name.lower()}({{x}}{size}{mode}){{f}}", _any, 1
    else:
        key, number, takes, operands = hashed(argument), f"CAST({{y}} AS {kind.family[6:]})", _hashed_by_theta, 2
        value, made = f"struct({key} AS x, {number} AS y)", f"{name.lower()}({key}, {number}{size}{mode}){{f}}"
    return AggregateFunction(
        name,
        made,
        lambda _: types.BYTES,
        partials=(Partial("sketch", made, kind, value),),
        finish=f"coalesce({{sketch}}, {_without_values(kind)})",
        arguments=(operands, operands),
        required=tuple(range(operands)),
        accepts=Accepts.ANY if operands == 2 else Accepts.SKETCH,
        foreign=lambda given: not takes(given),
    )


def hashed(argument: SqlType) -> str:
    """The template of a value in the type in which Apache DataSketches hashes it."""
    return "bigint({x})" if types.is_integer(argument) else "double({x})" if types.is_float(argument) else "{x}"


def _without_values(kind: DistinctSketch) -> str:
    """The sketch of no values, as Spark makes it."""
    match kind.family:
        case "hll":
            return f"X'020107{kind.lg or USUAL_LG:02X}03040008{'00' * 32}'"
        case "bitmap":
            return f"unhex(repeat('{'FF' if kind.common else '00'}', 4096))"
        case "theta":
            return "X'01030300001E0000'"
    return "X'01030901000ECC93'"


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
    value = "{x}" if name in MERGES else "bigint({x})" if values == "bigint" else _numbers(f"{values}({{x}})")
    made = f"{name.lower()}({value}{k}){{f}}"
    accepts = Accepts.SKETCH if name in MERGES else OF_VALUES[values]
    return AggregateFunction(
        name,
        made,
        lambda _: types.BYTES,
        partials=(Partial("sketch", made, kind, value),),
        finish=f"coalesce({{sketch}}, X'{_empty(kind.k or USUAL_SIZE)}')",
        accepts=accepts,
    )


def _percentile(name: str, kind: Kll, argument: SqlType) -> AggregateFunction:
    values = "double" if types.is_float(argument) else "bigint"
    kind = replace(kind, values=values)
    value, result = _numbers("double({x})"), argument
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


def _numbers(value: str) -> str:
    """Floating numbers without NaN, which sketches leave out, as Spark's do."""
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


def _empty(k: int) -> str:
    """The bytes of a sketch without values, as hexadecimal digits."""
    return f"02010F01{k & 255:02X}{k >> 8:02X}0800"
