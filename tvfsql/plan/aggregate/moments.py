"""Aggregates that are computed from sums of powers of deviations: of one number (skewness, kurtosis), and of pairs of
numbers (covariance, correlation, linear regression), as rows of the table of aggregates.

A pair counts if both numbers are not NULL. Names and results are Spark's, also its NULL where nothing varies.
"""

from __future__ import annotations

from tvfsql.plan.aggregate.function import Accepts, AggregateFunction, Partial, TypeRule
from tvfsql.plan.values.types import BIGINT, DOUBLE, SqlType

# of the values that remain in a bag: their number and mean, then the sums of powers of deviations from it
CENTRE = (
    "aggregate(sort_array({net}), named_struct('n', 0L, 'x', 0D, 'y', 0D), (s, e) -> named_struct('n', s.n + e.n, "
    "'x', s.x + double(X) * e.n, 'y', s.y + double(Y) * e.n), "
    "s -> named_struct('n', s.n, 'x', s.x / nullif(s.n, 0), 'y', s.y / nullif(s.n, 0)))"
)


def _of_bag(x: str, y: str, mean_x: str, mean_y: str, **powers: str) -> str:
    """The template of a partial from the values `x` and `y` of the entries of `{net}`. `powers` are sums of products of
    deviations: `xy` is that of x times that of y.
    """
    means = {"x": x, "y": y}
    centre = CENTRE.replace("X", x).replace("Y", y)
    fields = {"n": "`$s`.n", mean_x: "`$s`.x"} | ({mean_y: "`$s`.y"} if mean_y else {})
    for name, factors in powers.items():
        product = " * ".join(f"(double({means[factor]}) - `$s`.{factor})" for factor in factors)
        fields[name] = f"aggregate(sort_array({{net}}), 0D, (total, e) -> total + {product} * e.n)"
    made = ", ".join(f"'{name}', {value}" for name, value in fields.items())
    return f"transform(array({centre}), `$s` -> named_struct({made}))[0]"


OF_ROW = "named_struct('n', 1L, 'mean', double({x}), 'm2', 0D, 'm3', 0D, 'm4', 0D)"
# Spark has no aggregate for sums of third and fourth powers, but these follow from its skewness and kurtosis
SUMS = (
    "transform(array(struct(count({x}){f} AS n, avg(double({x})){f} AS mean, var_pop({x}){f} * count({x}){f} AS m2, "
    "skewness({x}){f} AS skew, kurtosis({x}){f} AS kurt)), s -> named_struct('n', s.n, 'mean', s.mean, 'm2', s.m2, "
    "'m3', coalesce(s.skew * sqrt(s.m2 * s.m2 * s.m2 / s.n), 0D), "
    "'m4', coalesce((s.kurt + 3) * s.m2 * s.m2 / s.n, 0D)))[0]"
)
FOURTH = Partial(
    "moments", SUMS, "moments4", OF_ROW, net=_of_bag("e.x", "e.x", "mean", "", m2="xx", m3="xxx", m4="xxxx")
)

PAIR_OF_ROW = "named_struct('n', 1L, 'a', double({x}), 'b', double({y}), 'aa', 0D, 'bb', 0D, 'ab', 0D)"
PAIR_SUMS = (
    "named_struct('n', count(1){nn}, 'a', avg(double({x})){nn}, 'b', avg(double({y})){nn}, "
    "'aa', var_pop(double({x})){nn} * count(1){nn}, 'bb', var_pop(double({y})){nn} * count(1){nn}, "
    "'ab', covar_pop({x}, {y}){f} * count(1){nn})"
)
PAIRS = Partial(
    "pairs",
    PAIR_SUMS,
    "comoments",
    PAIR_OF_ROW,
    value="struct({x} AS x, {y} AS y)",
    net=_of_bag("e.x.x", "e.x.y", "a", "b", aa="xx", bb="yy", ab="xy"),
)


def _of_one(name: str, finish: str) -> AggregateFunction:
    whole, finish = f"{name.lower()}({{x}}){{f}}", finish.replace("$", "{moments}.")
    return AggregateFunction(name, whole, _double, partials=(FOURTH,), finish=finish, accepts=Accepts.NUMBER)


def _of_pairs(name: str, finish: str, kind: TypeRule | None = None) -> AggregateFunction:
    """`finish` uses a and b, the means of the first and second argument, and the sums aa, bb and ab of products of
    deviations."""
    return AggregateFunction(
        name,
        f"{name.lower()}({{x}}, {{y}}){{f}}",
        kind or _double,
        partials=(PAIRS,),
        finish=finish.replace("$", "{pairs}."),
        arguments=(2, 2),
        operands=2,
        required=(0, 1),
        accepts=Accepts.NUMBER,
    )


def _double(_: SqlType) -> SqlType:
    return DOUBLE


def _bigint(_: SqlType) -> SqlType:
    return BIGINT


# in a regression of pairs (y, x), y is the first argument
ROWS = (
    _of_one("SKEWNESS", "CASE WHEN $m2 > 0 THEN sqrt($n) * $m3 / sqrt(pow($m2, 3)) END"),
    _of_one("KURTOSIS", "CASE WHEN $m2 > 0 THEN $n * $m4 / pow($m2, 2) - 3 END"),
    _of_pairs("COVAR_POP", "CASE WHEN $n > 0 THEN $ab / $n END"),
    _of_pairs("COVAR_SAMP", "CASE WHEN $n > 1 THEN $ab / ($n - 1) END"),
    _of_pairs("CORR", "CASE WHEN $aa > 0 AND $bb > 0 THEN $ab / sqrt($aa * $bb) END"),
    _of_pairs("REGR_COUNT", "coalesce($n, 0L)", _bigint),
    _of_pairs("REGR_AVGY", "CASE WHEN $n > 0 THEN $a END"),
    _of_pairs("REGR_AVGX", "CASE WHEN $n > 0 THEN $b END"),
    _of_pairs("REGR_SYY", "CASE WHEN $n > 0 THEN $aa END"),
    _of_pairs("REGR_SXX", "CASE WHEN $n > 0 THEN $bb END"),
    _of_pairs("REGR_SXY", "CASE WHEN $n > 0 THEN $ab END"),
    _of_pairs("REGR_SLOPE", "CASE WHEN $bb > 0 THEN $ab / $bb END"),
    _of_pairs("REGR_INTERCEPT", "CASE WHEN $bb > 0 THEN $a - $ab / $bb * $b END"),
    _of_pairs("REGR_R2", "CASE WHEN $bb > 0 AND $aa > 0 THEN $ab * $ab / ($aa * $bb) WHEN $bb > 0 THEN 1D END"),
)  # fmt: skip
