"""Generates the table in docs/sql/aggregates.md from the table of aggregates: `make golden` writes it, test_docs.py
compares it. What a person has to say of an aggregate is here; modes, state and DISTINCT follow from its row.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tvfsql.plan.aggregate.chosen_values import Quantiles
from tvfsql.plan.aggregate.function import Accepts, AggregateFunction, MergeKind
from tvfsql.plan.aggregate.percentiles import of_chosen
from tvfsql.plan.aggregate.table import AGGREGATES, ALIASES, ROWS, of_best
from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.plan.values import types

PAGE = Path(__file__).parents[2] / "docs" / "sql" / "aggregates.md"
HEADER = "| aggregate | argument | result | modes | computed from | state of a key and slice | DISTINCT | error |"
SPARKS = "[Spark's other aggregates](#aggregates-that-cannot-be-merged)"
PYTHON = "[aggregates in Python](python-functions.md)"
OF_TIME = "in event-time order, or in [an order of its own](#lists-in-an-order-of-their-own)"
DOUBLE, EXACT, OVERFLOW = "that of DOUBLE", "none", "none; overflow fails"
INTEGERS = "integers: the same type; DECIMAL(p, s): "
SPREAD = "the same type, as for AVG; for integers the fraction is cut off"


class Told(NamedTuple):
    """What is said of some aggregates: how they are called, their result, the error of it."""

    names: str
    call: str
    result: str
    error: str
    argument: str = ""


TOLD = (
    Told("COUNT", "COUNT(*), COUNT(x), COUNT(DISTINCT a, b, ...)", "BIGINT", EXACT),
    Told("COUNT", "COUNT_IF(condition)", "BIGINT, as COUNT(*) FILTER (WHERE condition)", EXACT, "BOOLEAN"),
    Told("COUNT", "APPROX_COUNT_DISTINCT(x [, error])",
         "BIGINT; with `tvfsql.approx-count-distinct` = `hll` [by sketch](#sketches)", EXACT),
    Told("SUM SUM0", "SUM(x), SUM0(x)", f"{INTEGERS}DECIMAL(38, s)", OVERFLOW),
    Told("AVG", "AVG(x) (MEAN)", f"{INTEGERS}DECIMAL(38, max(6, s)); of integers it is truncated", EXACT),
    Told("MIN MAX", "MIN(x), MAX(x)", "the same type", EXACT),
    Told("BOOL_AND BOOL_OR", "BOOL_AND(x) (EVERY), BOOL_OR(x) (SOME)", "BOOLEAN", EXACT),
    Told("FIRST_VALUE LAST_VALUE", "FIRST_VALUE(x), LAST_VALUE(x)",
         "the same type; by event time, ignoring NULLs, ties by value", EXACT),
    Told("ANY_VALUE", "ANY_VALUE(x)", "the same type; the least value, so batch and streams agree", EXACT),
    Told("MIN_BY MAX_BY", "MIN_BY(x, y), MAX_BY(x, y)",
         "the type of x; among equal y the least or the greatest x", EXACT, "two values that can be ordered"),
    Told("MIN_BY MAX_BY", "MIN_BY(x, y, k), MAX_BY(x, y, k)",
         "ARRAY of x: of the k rows with the least or the greatest y, in this order; equal y by x; NULL without rows",
         EXACT,
         "two values that can be ordered; k: a literal from 1 to 100,000"),
    Told("LISTAGG", "LISTAGG(x [, separator]) (STRING_AGG)", f"STRING; {OF_TIME}", EXACT),
    Told("ARRAY_AGG", "ARRAY_AGG(x)", f"ARRAY with NULLs, unless IGNORE NULLS; {OF_TIME}; NULL without rows", EXACT),
    Told("COLLECT_LIST", "COLLECT_LIST(x)", f"ARRAY; {OF_TIME}; empty without rows", EXACT),
    Told("COLLECT_SET", "COLLECT_SET(x)", "ARRAY, sorted", EXACT),
    Told("COLLECT", "COLLECT(x)", "a map from each value to its number, like Flink's MULTISET", EXACT),
    Told("PERCENTILE", "PERCENTILE(x, p [, frequency]), MEDIAN(x), PERCENTILE_CONT(p) and PERCENTILE_DISC(p) "
         "WITHIN GROUP (ORDER BY x)", "DOUBLE, or ARRAY<DOUBLE>; [exact](#percentiles)", EXACT,
         "number; p: a literal from 0 to 1, or an array of them"),
    Told("MODE", "MODE(x), MODE() WITHIN GROUP (ORDER BY x)",
         "the same type; of several values that occur as often, the least", EXACT),
    Told("STDDEV_POP STDDEV_SAMP VAR_POP VAR_SAMP", "STDDEV_POP(x), STDDEV_SAMP(x) (STDDEV), VAR_POP(x), "
         "VAR_SAMP(x) (VARIANCE)", SPREAD, "that of DOUBLE; none for DECIMAL"),
    Told("SKEWNESS KURTOSIS", "SKEWNESS(x), KURTOSIS(x)", "DOUBLE; NULL if all values are equal", DOUBLE),
    Told("COVAR_POP COVAR_SAMP CORR REGR_AVGX REGR_AVGY REGR_SXX REGR_SYY REGR_SXY REGR_SLOPE REGR_INTERCEPT REGR_R2",
         "COVAR_POP, COVAR_SAMP, CORR, REGR_AVGX, REGR_AVGY, REGR_SXX, REGR_SYY, REGR_SXY, REGR_SLOPE, "
         "REGR_INTERCEPT, REGR_R2 (y, x)", "DOUBLE; of the rows in which both are not NULL", DOUBLE, "two numbers"),
    Told("REGR_COUNT", "REGR_COUNT(y, x)", "BIGINT", EXACT, "two numbers"),
    Told("BIT_AND BIT_OR BIT_XOR", "BIT_AND(x), BIT_OR(x), BIT_XOR(x)", "the same type", EXACT),
    Told("COLLECT_UNION", "COLLECT_UNION(x)", "the same type: the different elements, sorted, without NULLs", EXACT,
         "ARRAY of any type with an order"),
    Told("TRY_SUM", "TRY_SUM(x)", "BIGINT, NULL if the sum is too large", EXACT, "integer"),
    Told("TRY_AVG", "TRY_AVG(x)", "DOUBLE", DOUBLE, "integer, FLOAT or DOUBLE"),
)  # fmt: skip
SKETCHES = (
    ("APPROX_PERCENTILE(x, p [, accuracy]) (PERCENTILE_APPROX)", "INTEGER, FLOAT, DOUBLE, DECIMAL of at most 18 "
     "digits; p: a literal from 0 to 1, or an array of them", "the type of x, or an ARRAY of it"),
    ("KLL_SKETCH_AGG_DOUBLE, KLL_SKETCH_AGG_BIGINT, KLL_SKETCH_AGG_FLOAT (x [, k]); KLL_MERGE_AGG_DOUBLE, "
     "KLL_MERGE_AGG_BIGINT, KLL_MERGE_AGG_FLOAT (sketch [, k])", "number, integer, FLOAT; sketches",
     "BYTES: a sketch"),
    ("APPROX_TOP_K(x [, k [, tracked]])", "any type with an order", "ARRAY<ROW<item, count>>: the most frequent "
     "values, the first of them most often; NULL is a value"),
    ("HLL_SKETCH_AGG(x [, lg]), THETA_SKETCH_AGG(x [, lg]); HLL_UNION_AGG(sketch), THETA_UNION_AGG(sketch [, lg]), "
     "THETA_INTERSECTION_AGG(sketch)", "INTEGER, STRING, for theta also FLOAT and DOUBLE; sketches",
     "BYTES: a sketch"),
    ("TUPLE_SKETCH_AGG_DOUBLE, TUPLE_SKETCH_AGG_INTEGER (x, number [, lg [, mode]]); TUPLE_UNION_AGG_DOUBLE, "
     "TUPLE_UNION_AGG_INTEGER (sketch [, lg [, mode]]); TUPLE_INTERSECTION_AGG_DOUBLE, TUPLE_INTERSECTION_AGG_INTEGER "
     "(sketch [, mode])", "INTEGER, STRING, FLOAT or DOUBLE, and a number; sketches", "BYTES: a sketch"),
    ("BITMAP_CONSTRUCT_AGG(position); BITMAP_OR_AGG(bitmap), BITMAP_AND_AGG(bitmap)",
     "integer from 0 to 32,767; bitmaps", "BYTES: a bitmap of 4,096 bytes, exact"),
)  # fmt: skip
ARGUMENTS = {
    Accepts.ANY: "any",
    Accepts.NUMBER: "number",
    Accepts.INTEGER: "integer",
    Accepts.TRUTH: "BOOLEAN",
    Accepts.ORDERED: "any type with an order",
}
STATE = {
    "concat": "every value, with what orders it",
    "distinct": "every different value",
    "moments": "3 numbers",
    "moments4": "5 numbers",
    "comoments": "6 numbers",
}


def page() -> str:
    """The page with the table as it is now."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition("\n| aggregate |")
    _, _, after = rest.partition("\n\n")
    return "\n".join([before, HEADER, "|---" * 8 + "|", *_rows()]) + "\n\n" + after


def _rows() -> Iterator[str]:
    named = {name for told in TOLD for name in told.names.split()}
    assert named == AGGREGATES.keys() - {ROWS}, named ^ AGGREGATES.keys()
    assert {*ALIASES.values()} <= named
    for told in TOLD:
        yield _row(told, AGGREGATES[told.names.split()[0]])
    for call, argument, result in SKETCHES:
        bounded = "[bounded](#sketches)"
        yield f"| {call} | {argument} | {result} | both | slices | {bounded} | no | {bounded} |"
    yield f"| {SPARKS} | as in Spark | as in Spark | batch | copies | | as in Spark | as in Spark |"
    source = "slices; without `merge` lists of rows"
    yield f"| {PYTHON} | any | as declared | both | {source} | yours | yes | yours |"


def _row(told: Told, row: AggregateFunction) -> str:
    if row.name == "PERCENTILE":
        row = of_chosen("PERCENTILE", Quantiles((0.5,)), weighted=False)
    assert row.mergeable(types.INT, distinct=False), row.name
    argument = told.argument or ARGUMENTS[row.accepts]
    if "k)" in told.call:
        row = of_best(row.name, TopRows("row_number", 1, ()))
    state = _state(row.partials[0].merge) if len(row.partials) == 1 else f"{len(row.partials)} numbers"
    if "APPROX" in told.call:
        state = STATE["distinct"]
    distinct = "the same" if row.ignores_distinct else "yes" if row.templates(types.INT).take_distinct else "no"
    return f"| {told.call} | {argument} | {told.result} | both | slices | {state} | {distinct} | {told.error} |"


def _state(kind: MergeKind) -> str:
    if not isinstance(kind, str):
        return (
            "k values, with what orders them" if isinstance(kind, TopRows) else "every different value, with its number"
        )
    return STATE.get(kind, "one value")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
