"""Percentiles and the mode, as rows of the table of aggregates: exact, from bags that merge over slices.

A bag counts how often each value occurs. Its entries that decide a result are `chosen` where a window is finished; the
templates here read the result from these, or from a whole bag. The arithmetic is that of Spark's percentile(), which is
also Flink's: place `p * (rows - 1)`, interpolated between the values around it.
"""

from __future__ import annotations

from dataclasses import replace

from tvfsql.plan.aggregate.chosen_values import ChosenValues, Frequent, Quantiles, result_of
from tvfsql.plan.aggregate.function import Accepts, AggregateFunction, Partial
from tvfsql.plan.aggregate.lists import ONCE
from tvfsql.plan.values.types import BIGINT, DOUBLE, UNKNOWN, Array, Row, SqlType

MODE, TOP = "MODE", "APPROX_TOP_K"
PERCENTILE, PERCENTILES = "PERCENTILE", "PERCENTILES"  # of one fraction; of several, as an array
# the value at a place among the rows in order: an entry has it if fewer rows are before it
BETWEEN = (
    "aggregate(sort_array({bag}), struct({place} AS place, 0L AS n, 0D AS low, 0D AS high), "
    "(a, e) -> struct(a.place AS place, a.n + e.n AS n, IF(a.n <= floor(a.place), double(e.x), a.low) AS low, "
    "IF(a.n <= ceil(a.place), double(e.x), a.high) AS high), a -> CASE WHEN a.n = 0 THEN NULL "
    "WHEN a.low = a.high THEN a.low "
    "ELSE (ceil(a.place) - a.place) * a.low + (a.place - floor(a.place)) * a.high END)"
)
NUMBER_OF_ROWS = "aggregate({bag}, 0L, (n, e) -> n + e.n)"
# how often a row counts; Spark refuses a negative frequency too
FREQUENCY = (
    "CASE WHEN {y} < 0 THEN raise_error('a frequency of PERCENTILE is negative') ELSE coalesce(bigint({y}), 0L) END"
)


def of_chosen(name: str, chosen: ChosenValues, *, weighted: bool) -> AggregateFunction:
    """The row of a percentile or mode. `weighted`: its second argument says how often a row counts."""
    occurrence = f"struct({{x}} AS x, {FREQUENCY if weighted else '1L'} AS n)"
    of_row = f"array({occurrence})"
    bag = Partial("bag", f"collect_list({occurrence}){{nn}}", chosen, of_row, net="{net}")
    if weighted:  # what changes leave are pairs of a value and its frequency, as often as they occur
        pair, left = (
            f"struct({{x}} AS x, {FREQUENCY} AS w)",
            "transform({net}, e -> struct(e.x.x AS x, e.x.w * e.n AS n))",
        )
        bag = replace(bag, value=pair, net=left)
    if isinstance(chosen, Frequent):
        return _top(name, chosen)
    if not isinstance(chosen, Quantiles):
        return AggregateFunction(
            name,
            "mode({x}, true){f}",
            lambda kind: kind,
            partials=(bag,),
            finish="array_min(transform({bag}, e -> struct(-e.n AS n, e.x AS x))).x",
            accepts=Accepts.ORDERED,
        )
    finish = _finish(chosen, several=name == PERCENTILES)
    of_rows = "" if weighted else finish.replace("{bag}", "transform({rows}, x -> struct(x AS x, 1L AS n))")
    return AggregateFunction(
        name,
        _in_spark(chosen, several=name == PERCENTILES, weighted=weighted),
        lambda _: result_type(name),
        partials=(bag,),
        finish=finish,
        distinct_rows=None if weighted else Partial("rows", "collect_set({x}){f}", "distinct", "array({x})", net=ONCE),
        of_rows=of_rows,
        of_results=_of_results(chosen, several=name == PERCENTILES),
        arguments=(1, 2),
        accepts=Accepts.NUMBER,
    )


def _top(name: str, chosen: Frequent) -> AggregateFunction:
    """The most frequent values, among which NULL is one, as in Spark."""
    entry = "struct({x} AS x, 1L AS n)"
    bag = Partial("bag", f"collect_list({entry}){{f}}", chosen, f"array({entry})", nulls=True)
    in_order = f"slice(sort_array(transform({{bag}}, e -> struct(-e.n AS n, e.x AS x))), 1, {chosen.kept})"
    return AggregateFunction(
        name,
        f"approx_top_k({{x}}, {chosen.kept}, {chosen.tracked}){{f}}",
        lambda kind: Array(Row((("item", kind), ("count", BIGINT)))) if kind else UNKNOWN,
        partials=(bag,),
        finish=f"coalesce(transform({in_order}, e -> struct(e.x AS item, -e.n AS count)), array())",
        accepts=Accepts.ORDERED,
    )


def result_type(name: str) -> SqlType:
    return Array(DOUBLE) if name == PERCENTILES else DOUBLE


def _in_spark(chosen: Quantiles, *, several: bool, weighted: bool) -> str:
    fractions = ", ".join(f"{fraction!r}D" for fraction in (*chosen.fractions, *chosen.discrete))
    wanted = f"array({fractions})" if several else fractions
    if chosen.discrete:
        return f"percentile_disc({wanted}) WITHIN GROUP (ORDER BY {{x}}){{f}}"
    return f"percentile({{d}}{{x}}, {wanted}{', {y}' if weighted else ''}){{f}}"


def _of_results(chosen: Quantiles, *, several: bool) -> str:
    names = [*map(result_of, chosen.fractions), *(result_of(p, discrete=True) for p in chosen.discrete)]
    found = [f"{{bag}}.`{name}`" for name in names]
    return f"CASE WHEN {found[0]} IS NOT NULL THEN array({', '.join(found)}) END" if several else found[0]


def _finish(chosen: Quantiles, *, several: bool) -> str:
    places = [f"{fraction!r}D * ({NUMBER_OF_ROWS} - 1)" for fraction in chosen.fractions]
    places += [f"double(greatest(ceil({fraction!r}D * {NUMBER_OF_ROWS}) - 1, 0))" for fraction in chosen.discrete]
    values = [BETWEEN.replace("{place}", place) for place in places]
    return f"IF({NUMBER_OF_ROWS} > 0, array({', '.join(values)}), NULL)" if several else values[0]
