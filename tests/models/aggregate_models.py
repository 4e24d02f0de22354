"""Calls of all aggregates, each with a plain model: what the call is over the rows of one window, in plain Python.

The rows are those of `random_rows`. This shares no code with tvfsql.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cmp_to_key, reduce
from operator import and_, or_, xor
from statistics import median
from typing import Any

from tests.models.naive import Row, by_time, deviation, joined, largest, mean, order, smallest, total, values, variance

Rows = Sequence[Row]
Model = Callable[[Rows], Any]
Key = tuple[str, bool, bool]  # column, descending, NULLs first

FILTER = "price > 3"
SKETCHES = {  # a column of sketches, and Spark's aggregate that makes it of the values in `xs`
    "kd": "kll_sketch_agg_double(double(x))",
    "kb": "kll_sketch_agg_bigint(bigint(x))",
    "hs": "hll_sketch_agg(x)",
    "tz": "theta_sketch_agg(x)",
    "kf": "kll_sketch_agg_float(float(x))",
    "td": "tuple_sketch_agg_double(x, double(x))",
    "ti": "tuple_sketch_agg_integer(x, x, 8, 'max')",
    "bm": "substr(bitmap_construct_agg(x), 1, 2)",  # the bytes behind are zeros
}
TYPES = {
    "k": "INT",
    "price": "INT",
    "f": "DOUBLE",
    "n": "DECIMAL(12, 2)",
    "word": "STRING",
    "b": "BOOLEAN",
    "w": "INT",
    **dict.fromkeys(SKETCHES, "BINARY"),
}


def random_rows(seed: int, count: int) -> list[dict[str, Any]]:
    """Rows about 40 seconds apart, nearly in order, of two keys. `xs` are the values of the row's sketches."""
    draw, made = random.Random(seed), []
    for i in range(count):
        row = {
            "k": draw.choice([1, 2]),
            "price": draw.choice([None, *range(-3, 9)]),
            "f": draw.choice([None, 0.5, 2.25, -1.0]),
            "n": draw.choice([None, Decimal("1.25"), Decimal("-3.50"), Decimal("0.10")]),
            "word": draw.choice([None, "a", "b", "é"]),
            "b": draw.choice([None, True, True, False]),
            "w": draw.choice([None, 0, 1, 2, 5]),
            "xs": draw.choice([(), (1,), (2, 3), (3, 4, 5)]),
        }
        at = 1_767_225_600_000 + 41_000 * i + draw.choice([0, 500]) - draw.choice([0, 0, 41_000])
        made.append(row | {"ts": at})
    return made


@dataclass(frozen=True)
class Case:
    """A call with the places of DISTINCT `{d}` and FILTER `{f}`, and what it is over some rows, of which FILTER has
    already dropped others. DISTINCT is over the columns `of`. `only` is a condition that FILTER must have beside
    another one (with DISTINCT).
    """

    call: str
    model: Model
    of: tuple[str, ...] = ()
    only: str = ""

    def variants(self) -> Iterator[Case]:
        """The call with and without DISTINCT and FILTER, as far as it takes them, written out."""
        for distinct in (False, True) if "{d}" in self.call else (False,):
            for filtered in (False, True) if "{f}" in self.call else (False,):
                condition = f"{self.only} AND {FILTER}" if distinct and self.only else FILTER
                where = f" FILTER (WHERE {condition})" if filtered else ""
                call = self.call.replace("{d}", "DISTINCT " if distinct else "").replace("{f}", where)
                yield replace(self, call=call, model=self._model(distinct, filtered))

    def _model(self, distinct: bool, filtered: bool) -> Model:
        def of(rows: Rows) -> Any:
            left = [row for row in rows if not filtered or (row["price"] is not None and row["price"] > 3)]
            if distinct and filtered and self.only:
                left = [row for row in left if row[self.of[0]] is not None]
            if distinct:
                left = [*{tuple(row[column] for column in self.of): row for row in reversed(left)}.values()][::-1]
            return self.model(left)

        return of


def of_values(column: str, function: Callable[[list[Any]], Any], empty: Any = None) -> Model:
    """The function over the values of the column that are not NULL; `empty` without such values."""
    return lambda rows: function(found) if (found := values(rows, column)) else empty


def in_order(rows: Rows, column: str, *keys: Key, nulls: bool = False) -> list[Any]:
    """The values of the column in the order of the keys; equal keys by time, and at the same time by value."""

    def compared(one: Row, other: Row) -> int:
        for name, down, nulls_first in keys:
            a, b = one[name], other[name]
            if (a is None) != (b is None):
                return -1 if (a is None) == nulls_first else 1
            if a != b:
                return (-1 if a < b else 1) * (-1 if down else 1)
        a, b = ((row["ts"], order(row[column])) for row in (one, other))
        return (a > b) - (a < b)

    kept = [row for row in rows if nulls or row[column] is not None]
    return [row[column] for row in sorted(kept, key=cmp_to_key(compared))]


def pairs(rows: Rows) -> list[tuple[float, float]]:
    return [(float(row["price"]), row["f"]) for row in rows if row["price"] is not None and row["f"] is not None]


def of_pairs(function: Callable[[int, float, float, float, float, float], Any]) -> Model:
    """The function of the pairs (price, f): their number, the means, and the sums of products of deviations."""

    def of(rows: Rows) -> Any:
        found = pairs(rows)
        if not found:
            return None
        a, b = (math.fsum(part) / len(found) for part in zip(*found, strict=True))
        aa, bb = (math.fsum((pair[i] - middle) ** 2 for pair in found) for i, middle in enumerate((a, b)))
        return function(len(found), a, b, aa, bb, math.fsum((x - a) * (y - b) for x, y in found))

    return of


def power(found: Sequence[float], of: Callable[[float, float, float, int], float]) -> float | None:
    middle = math.fsum(found) / len(found)
    m2, m3, m4 = (math.fsum((x - middle) ** i for x in found) for i in (2, 3, 4))
    return None if m2 == 0 else of(m2, m3, m4, len(found))


def percentile(fraction: float) -> Callable[[list[Any]], float]:
    def of(found: list[Any]) -> float:
        ranked, place = sorted(map(float, found)), fraction * (len(found) - 1)
        low, high = ranked[math.floor(place)], ranked[math.ceil(place)]
        return low + (place - math.floor(place)) * (high - low)

    return of


def discrete(fraction: float) -> Callable[[list[Any]], Any]:
    """The first value that so many of the rows do not exceed."""
    return lambda found: sorted(found)[max(0, math.ceil(fraction * len(found)) - 1)]


def weighted(rows: Rows) -> float | None:
    found = [row["f"] for row in rows if row["f"] is not None for _ in range(row["w"] or 0)]
    return median(found) if found else None


def best(column: str, by: str, chosen: Callable[..., Any]) -> Model:
    """The value in the row with the chosen `by`; of equal ones the chosen value, NULL least."""

    def of(rows: Rows) -> Any:
        held = [row for row in rows if row[by] is not None]
        return chosen(held, key=lambda row: (row[by], order(row[column])))[column] if held else None

    return of


def several(column: str, by: str, number: int, *, down: bool) -> Model:
    """The values in the rows with the greatest or least `by`, as many as that; of equal ones by value, NULL least."""

    def of(rows: Rows) -> Any:
        held = [row for row in rows if row[by] is not None]
        ranked = sorted(held, key=lambda row: (row[by], order(row[column])), reverse=down)
        return [row[column] for row in ranked[:number]] or None

    return of


def six(found: float | None) -> float | None:
    """As DECIMAL with six digits after the point."""
    return None if found is None else round(found, 6)


def whole(found: float | None) -> int | None:
    return None if found is None else int(round(found, 6))


def inside(rows: Rows) -> list[int]:
    """The values of the sketches."""
    return [x for row in rows for x in row["xs"]]


def in_all(rows: Rows) -> set[int]:
    """The values that all sketches have."""
    held = [{*row["xs"]} for row in rows if row["xs"]]
    return set.intersection(*held) if held else set()


def numbered(rows: Rows) -> dict[str, list[float]]:
    """The numbers `f` of each word."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["word"] is not None and row["f"] is not None:
            found.setdefault(row["word"], []).append(row["f"])
    return found


def often(found: list[Any]) -> Any:
    return min(found, key=lambda value: (-found.count(value), order(value)))


def counts(rows: Rows) -> list[int]:
    """The numbers of the two most frequent prices, of which NULL is one."""
    return sorted(Counter(row["price"] for row in rows).values(), reverse=True)[:2]


ASC, DESC, DESC_FIRST, ASC_LAST = (False, True), (True, False), (True, True), (False, False)
PRICE, WORD = ("price",), ("word",)

# by the name of the row of plan.aggregate.table, or of an aggregate of sketches
CASES: dict[str, tuple[Case, ...]] = {
    "COUNT": (
        Case("COUNT(*){f}", len),
        Case("COUNT({d}price){f}", lambda rows: len(values(rows, "price")), PRICE),
        Case("COUNT({d}word){f}", lambda rows: len(values(rows, "word")), WORD),
        Case("COUNT({d}f){f}", lambda rows: len(values(rows, "f")), ("f",)),
        Case("COUNT(DISTINCT price, word){f}",
             lambda rows: len({pair for row in rows if None not in (pair := (row["price"], row["word"]))})),
        Case("COUNT_IF(w > 1){f}", lambda rows: sum(w > 1 for w in values(rows, "w"))),
    ),
    "APPROX_COUNT_DISTINCT": (
        Case("APPROX_COUNT_DISTINCT(word){f}", lambda rows: len({*values(rows, "word")})),
        Case("APPROX_COUNT_DISTINCT(price, 0.01){f}", lambda rows: len({*values(rows, "price")})),
    ),
    "SUM": (
        Case("SUM({d}price){f}", of_values("price", total), PRICE),
        Case("SUM({d}n){f}", of_values("n", total), ("n",)),
        Case("SUM({d}f){f}", of_values("f", total), ("f",)),
    ),
    "SUM0": (Case("SUM0({d}price){f}", of_values("price", total, 0), PRICE),),
    "AVG": (
        Case("AVG({d}price){f}", of_values("price", mean), PRICE),
        Case("AVERAGE({d}n){f}", of_values("n", mean), ("n",)),
        Case("MEAN({d}f){f}", of_values("f", mean), ("f",)),
    ),
    "MIN": (Case("MIN({d}price){f}", of_values("price", smallest), PRICE),
            Case("MIN({d}word){f}", of_values("word", smallest), WORD)),
    "MAX": (Case("MAX({d}price){f}", of_values("price", largest), PRICE),
            Case("MAX({d}f){f}", of_values("f", largest), ("f",))),
    "BOOL_AND": (Case("BOOL_AND({d}b){f}", of_values("b", all), ("b",)),
                 Case("EVERY({d}b){f}", of_values("b", all), ("b",))),
    "BOOL_OR": (Case("BOOL_OR({d}b){f}", of_values("b", any), ("b",)),
                Case("SOME({d}b){f}", of_values("b", any), ("b",))),
    "FIRST_VALUE": (
        Case("FIRST_VALUE({d}word){f}", lambda rows: next(iter(by_time(rows, "word")), None), WORD),
        Case("FIRST({d}n){f}", lambda rows: next(iter(by_time(rows, "n")), None), ("n",)),
    ),
    "LAST_VALUE": (
        # a value of DISTINCT stays where it comes last
        Case("LAST_VALUE(word){f}", lambda rows: [None, *by_time(rows, "word")][-1]),
        Case("LAST(n){f}", lambda rows: [None, *by_time(rows, "n")][-1]),
        Case("LAST_VALUE(DISTINCT word){f}", lambda rows: [None, *by_time(rows, "word")][-1]),
    ),
    "ANY_VALUE": (Case("ANY_VALUE({d}word){f}", of_values("word", smallest), WORD),),
    "MIN_BY": (Case("MIN_BY(word, price){f}", best("word", "price", min)),
               Case("MIN_BY(DISTINCT word, price){f}", best("word", "price", min)),
               Case("MIN_BY(word, price, 3){f}", several("word", "price", 3, down=False)),
               Case("MIN_BY(price, word, 1){f}", several("price", "word", 1, down=False))),
    "MAX_BY": (Case("MAX_BY(word, price){f}", best("word", "price", max)),
               Case("MAX_BY(DISTINCT word, price){f}", best("word", "price", max)),
               Case("MAX_BY(word, f, 4){f}", several("word", "f", 4, down=True)),
               Case("MAX_BY(n, price, 2){f}", several("n", "price", 2, down=True))),
    "LISTAGG": (
        Case("LISTAGG({d}word){f}", lambda rows: joined(by_time(rows, "word"), ","), WORD),
        Case("STRING_AGG({d}word, ';'){f}", lambda rows: joined(by_time(rows, "word"), ";"), WORD),
        Case("LISTAGG(word, ';') WITHIN GROUP (ORDER BY price DESC, f NULLS LAST){f}",
             lambda rows: joined(in_order(rows, "word", ("price", *DESC), ("f", *ASC_LAST)), ";")),
        Case("LISTAGG({d}word, '') WITHIN GROUP (ORDER BY word DESC){f}",
             lambda rows: joined(sorted(values(rows, "word"), reverse=True), ""), WORD),
    ),
    "ARRAY_AGG": (
        Case("ARRAY_AGG({d}price){f}", lambda rows: by_time(rows, "price", nulls=True) or None, PRICE,
             "price IS NOT NULL"),
        Case("ARRAY_AGG(price ORDER BY f DESC NULLS FIRST){f}",
             lambda rows: in_order(rows, "price", ("f", *DESC_FIRST), nulls=True) or None),
        Case("ARRAY_AGG(price) WITHIN GROUP (ORDER BY word, price DESC){f}",
             lambda rows: in_order(rows, "price", ("word", *ASC), ("price", *DESC), nulls=True) or None),
        Case("ARRAY_AGG(f ORDER BY n) IGNORE NULLS", lambda rows: in_order(rows, "f", ("n", *ASC)) or None),
    ),
    "COLLECT_LIST": (
        Case("COLLECT_LIST({d}word){f}", lambda rows: by_time(rows, "word"), WORD),
        Case("COLLECT_LIST(word ORDER BY n DESC){f}", lambda rows: in_order(rows, "word", ("n", *DESC))),
    ),
    "COLLECT_SET": (Case("COLLECT_SET({d}word){f}", lambda rows: sorted({*values(rows, "word")}), WORD),),
    "COLLECT": (Case("COLLECT({d}word){f}", lambda rows: dict(Counter(values(rows, "word"))), WORD),),
    "COLLECT_UNION": (
        Case("COLLECT_UNION({d}ARRAY[price, w, 7]){f}",
             lambda rows: sorted({7 for _ in rows} | {*values(rows, "price"), *values(rows, "w")}),
             ("price", "w")),
    ),
    "TRY_SUM": (Case("TRY_SUM(price){f}", of_values("price", total)),),
    "TRY_AVG": (
        Case("TRY_AVG(price){f}", of_values("price", lambda found: sum(found) / len(found))),
        Case("TRY_AVG(f){f}", of_values("f", lambda found: sum(found) / len(found))),
    ),
    "BIT_AND": (Case("BIT_AND(price){f}", of_values("price", lambda found: reduce(and_, found))),),
    "BIT_OR": (Case("BIT_OR(price){f}", of_values("price", lambda found: reduce(or_, found))),),
    "BIT_XOR": (Case("BIT_XOR(price){f}", of_values("price", lambda found: reduce(xor, found))),),
    "SKEWNESS": (
        Case("SKEWNESS(price){f}",
             of_values("price", lambda found: power(found, lambda m2, m3, m4, n: math.sqrt(n) * m3 / m2**1.5))),
    ),
    "KURTOSIS": (
        Case("KURTOSIS(f){f}", of_values("f", lambda found: power(found, lambda m2, m3, m4, n: n * m4 / m2**2 - 3))),
    ),
    "COVAR_POP": (Case("COVAR_POP(price, f){f}", of_pairs(lambda n, a, b, aa, bb, ab: ab / n)),),
    "COVAR_SAMP": (
        Case("COVAR_SAMP(price, f){f}", of_pairs(lambda n, a, b, aa, bb, ab: ab / (n - 1) if n > 1 else None)),
    ),
    "CORR": (
        Case("CORR(price, f){f}",
             of_pairs(lambda n, a, b, aa, bb, ab: ab / math.sqrt(aa * bb) if aa and bb else None)),
    ),
    "REGR_COUNT": (Case("REGR_COUNT(price, f){f}", lambda rows: len(pairs(rows))),),
    "REGR_AVGY": (Case("REGR_AVGY(price, f){f}", of_pairs(lambda n, a, b, aa, bb, ab: a)),),
    "REGR_AVGX": (Case("REGR_AVGX(price, f){f}", of_pairs(lambda n, a, b, aa, bb, ab: b)),),
    "REGR_SYY": (Case("REGR_SYY(price, f){f}", of_pairs(lambda n, a, b, aa, bb, ab: aa)),),
    "REGR_SXX": (Case("REGR_SXX(price, f){f}", of_pairs(lambda n, a, b, aa, bb, ab: bb)),),
    "REGR_SXY": (Case("REGR_SXY(price, f){f}", of_pairs(lambda n, a, b, aa, bb, ab: ab)),),
    "REGR_SLOPE": (Case("REGR_SLOPE(price, f){f}", of_pairs(lambda n, a, b, aa, bb, ab: ab / bb if bb else None)),),
    "REGR_INTERCEPT": (
        Case("REGR_INTERCEPT(price, f){f}", of_pairs(lambda n, a, b, aa, bb, ab: a - ab / bb * b if bb else None)),
    ),
    "REGR_R2": (
        Case("REGR_R2(price, f){f}",
             of_pairs(lambda n, a, b, aa, bb, ab: None if not bb else 1.0 if not aa else ab * ab / aa / bb)),
    ),
    "PERCENTILE": (
        Case("PERCENTILE({d}price, 0.95){f}", of_values("price", percentile(0.95)), PRICE),
        Case("PERCENTILE({d}f, ARRAY[0, 0.3, 1.0]){f}",
             of_values("f", lambda found: [percentile(p)(found) for p in (0, 0.3, 1)]), ("f",)),
        Case("PERCENTILE(f, 0.5, w){f}", weighted),
        Case("MEDIAN({d}price){f}", of_values("price", median), PRICE),
        Case("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY price DESC){f}", of_values("price", percentile(0.1))),
        Case("PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY price){f}", of_values("price", discrete(0.9))),
    ),
    "MODE": (
        Case("MODE(word){f}", of_values("word", often)),
        Case("MODE() WITHIN GROUP (ORDER BY price){f}", of_values("price", often)),
    ),
    "STDDEV_POP": (
        Case("STDDEV_POP({d}f){f}", of_values("f", lambda found: deviation(found, sample=False)), ("f",)),
        Case("STDDEV_POP({d}price){f}", of_values("price", lambda found: whole(deviation(found, sample=False))), PRICE),
    ),
    "STDDEV_SAMP": (
        Case("STDDEV_SAMP({d}n){f}", of_values("n", lambda found: six(deviation(found, sample=True))), ("n",)),
        Case("STDDEV({d}f){f}", of_values("f", lambda found: deviation(found, sample=True)), ("f",)),
        Case("STD({d}f){f}", of_values("f", lambda found: deviation(found, sample=True)), ("f",)),
    ),
    "VAR_POP": (Case("VAR_POP({d}n){f}", of_values("n", lambda found: six(variance(found, sample=False))), ("n",)),),
    "VAR_SAMP": (
        Case("VAR_SAMP({d}price){f}", of_values("price", lambda found: whole(variance(found, sample=True))), PRICE),
        Case("VARIANCE({d}f){f}", of_values("f", lambda found: variance(found, sample=True)), ("f",)),
    ),
    # sketches have all values of these windows
    "APPROX_PERCENTILE": (
        Case("APPROX_PERCENTILE(price, 0.95){f}", of_values("price", discrete(0.95))),
        Case("PERCENTILE_APPROX(n, 0.5, 500){f}", of_values("n", discrete(0.5))),
    ),
    "APPROX_PERCENTILES": (
        Case("APPROX_PERCENTILE(f, ARRAY[0.25, 1.0]){f}",
             of_values("f", lambda found: [discrete(0.25)(found), max(found)])),
    ),
    "KLL_SKETCH_AGG_DOUBLE": (
        Case("KLL_SKETCH_GET_N_DOUBLE(KLL_SKETCH_AGG_DOUBLE(f){f})", lambda rows: len(values(rows, "f"))),
        Case("IF(COUNT(f) > 0, KLL_SKETCH_GET_QUANTILE_DOUBLE(KLL_SKETCH_AGG_DOUBLE(f, 400), 0.3), NULL)",
             of_values("f", discrete(0.3))),
    ),
    "KLL_SKETCH_AGG_BIGINT": (
        Case("KLL_SKETCH_GET_N_BIGINT(KLL_SKETCH_AGG_BIGINT(price, 100){f})", lambda rows: len(values(rows, "price"))),
    ),
    "KLL_MERGE_AGG_DOUBLE": (
        Case("KLL_SKETCH_GET_N_DOUBLE(KLL_MERGE_AGG_DOUBLE(kd){f})", lambda rows: len(inside(rows))),
    ),
    "KLL_MERGE_AGG_BIGINT": (
        Case("KLL_SKETCH_GET_N_BIGINT(KLL_MERGE_AGG_BIGINT(kb){f})", lambda rows: len(inside(rows))),
    ),
    "HLL_SKETCH_AGG": (
        Case("HLL_SKETCH_ESTIMATE(HLL_SKETCH_AGG(price){f})", lambda rows: len({*values(rows, "price")})),
        Case("HLL_SKETCH_ESTIMATE(HLL_SKETCH_AGG(word, 10){f})", lambda rows: len({*values(rows, "word")})),
    ),
    "HLL_UNION_AGG": (Case("HLL_SKETCH_ESTIMATE(HLL_UNION_AGG(hs){f})", lambda rows: len({*inside(rows)})),),
    "THETA_SKETCH_AGG": (
        Case("THETA_SKETCH_ESTIMATE(THETA_SKETCH_AGG(f){f})", lambda rows: len({*values(rows, "f")})),
    ),
    "KLL_SKETCH_AGG_FLOAT": (
        Case("KLL_SKETCH_GET_N_FLOAT(KLL_SKETCH_AGG_FLOAT(CAST(f AS FLOAT)){f})", lambda rows: len(values(rows, "f"))),
        Case("IF(COUNT(f) > 0, KLL_SKETCH_GET_QUANTILE_FLOAT(KLL_SKETCH_AGG_FLOAT(CAST(f AS FLOAT), 400), 0.3), NULL)",
             of_values("f", discrete(0.3))),
    ),
    "KLL_MERGE_AGG_FLOAT": (
        Case("KLL_SKETCH_GET_N_FLOAT(KLL_MERGE_AGG_FLOAT(kf){f})", lambda rows: len(inside(rows))),
    ),
    "THETA_INTERSECTION_AGG": (
        Case("THETA_SKETCH_ESTIMATE(THETA_INTERSECTION_AGG(tz){f})", lambda rows: len(in_all(rows))),
    ),
    "TUPLE_SKETCH_AGG_DOUBLE": (
        Case("TUPLE_SKETCH_ESTIMATE_DOUBLE(TUPLE_SKETCH_AGG_DOUBLE(word, f){f})", lambda rows: len(numbered(rows))),
        Case("TUPLE_SKETCH_SUMMARY_DOUBLE(TUPLE_SKETCH_AGG_DOUBLE(word, f, 10, 'min'){f}, 'sum')",
             lambda rows: float(sum(map(min, numbered(rows).values())))),
    ),
    "TUPLE_SKETCH_AGG_INTEGER": (
        Case("TUPLE_SKETCH_SUMMARY_INTEGER(TUPLE_SKETCH_AGG_INTEGER(price, w){f})",
             lambda rows: sum(row["w"] for row in rows if row["price"] is not None and row["w"] is not None)),
    ),
    "TUPLE_UNION_AGG_DOUBLE": (
        Case("TUPLE_SKETCH_SUMMARY_DOUBLE(TUPLE_UNION_AGG_DOUBLE(td){f})", lambda rows: float(sum(inside(rows)))),
    ),
    "TUPLE_UNION_AGG_INTEGER": (
        Case("TUPLE_SKETCH_SUMMARY_INTEGER(TUPLE_UNION_AGG_INTEGER(ti, 8, 'max'){f})",
             lambda rows: sum({*inside(rows)})),
    ),
    "TUPLE_INTERSECTION_AGG_DOUBLE": (
        Case("TUPLE_SKETCH_ESTIMATE_DOUBLE(TUPLE_INTERSECTION_AGG_DOUBLE(td){f})", lambda rows: len(in_all(rows))),
    ),
    "TUPLE_INTERSECTION_AGG_INTEGER": (
        Case("TUPLE_SKETCH_SUMMARY_INTEGER(TUPLE_INTERSECTION_AGG_INTEGER(ti, 'min'){f})",
             lambda rows: sum(in_all(rows))),
    ),
    "BITMAP_CONSTRUCT_AGG": (
        Case("BITMAP_COUNT(BITMAP_CONSTRUCT_AGG(BITMAP_BIT_POSITION(price)){f})",
             lambda rows: len({x - 1 if x > 0 else -x for x in values(rows, "price")})),
    ),
    "BITMAP_OR_AGG": (Case("BITMAP_COUNT(BITMAP_OR_AGG(bm){f})", lambda rows: len({*inside(rows)})),),
    "BITMAP_AND_AGG": (
        Case("BITMAP_COUNT(BITMAP_AND_AGG(bm){f})", lambda rows: len(in_all(rows)) if inside(rows) else 32768),
    ),
    "THETA_UNION_AGG": (Case("THETA_SKETCH_ESTIMATE(THETA_UNION_AGG(tz){f})", lambda rows: len({*inside(rows)})),),
    "APPROX_TOP_K": (Case("TRANSFORM(APPROX_TOP_K(price, 2){f}, e -> e.count)", counts),),
}  # fmt: skip
