"""All aggregates of Spark, by name: from slices in both modes, or from copies in batch and refused on streams."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tvfsql import compile
from tvfsql.errors import BindError, UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TESTS = Path(__file__).parents[1]
NAMES = (TESTS / "data" / "spark_aggregates.txt").read_text(encoding="utf-8").split()  # of Spark 4.3
# those that cannot be merged here: sketches without a merge kind, and what Spark alone makes of all rows
COPIED = frozenset("approx_top_k_accumulate approx_top_k_combine count_min_sketch histogram_numeric".split())
# ANY is a word of comparisons, MEASURE is for metric views, and GROUPING reads the set of a row
OTHERS = frozenset(["any", "measure", "grouping", "grouping_id"])
FRACTION, CONDITION, PAIR, SKETCH = "(x, 0.5)", "(b)", "(f, f)", "(z)"
ARGUMENTS = {
    **dict.fromkeys(("percentile", "approx_percentile", "percentile_approx"), FRACTION),
    **dict.fromkeys(("percentile_cont", "percentile_disc"), "(0.5) WITHIN GROUP (ORDER BY x)"),
    **dict.fromkeys(("bool_and", "bool_or", "every", "some", "count_if"), CONDITION),
    **dict.fromkeys(("corr", "covar_pop", "covar_samp", "max_by", "min_by"), PAIR),
    **{name: PAIR for name in NAMES if name.startswith("regr_")},
    **{name: SKETCH for name in NAMES if any(part in name for part in ("union_agg", "_merge_", "intersection"))},
    **dict.fromkeys(("approx_top_k_combine", "bitmap_and_agg", "bitmap_or_agg"), SKETCH),
    **dict.fromkeys(("tuple_sketch_agg_double", "tuple_sketch_agg_integer"), "(x, f)"),
    "kll_sketch_agg_float": "(r)",
    "collect_union": "(a)",
    "count_min_sketch": "(x, 0.1, 0.9, 1)",
    "histogram_numeric": "(x, 5)",
}
TABLE = """CREATE TABLE t (x INT, f DOUBLE, r FLOAT, b BOOLEAN, z BINARY, a ARRAY<INT>,
    ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');"""
HOP = "TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))"


def code(name: str, mode: str) -> str:
    call = name.upper() + ARGUMENTS.get(name, "(x)")
    query = f"SELECT window_start, {call} AS v FROM {HOP} GROUP BY window_start, window_end"
    return compile(TABLE + query, mode=mode).code


@pytest.mark.parametrize("name", [name for name in NAMES if name not in COPIED | OTHERS])
def test_what_merges_comes_from_slices_in_both_modes(name: str) -> None:
    assert "merge_slices(" in code(name, "batch")
    assert "merge_slice_stream(" in code(name, "streaming")


@pytest.mark.parametrize("name", sorted(COPIED))
def test_what_does_not_merge_is_made_of_copies_and_refused_by_name_on_streams(name: str) -> None:
    assert "merge_slices(" not in code(name, "batch")
    with pytest.raises(UnsupportedError, match=f"{name.upper()} works in batch only"):
        code(name, "streaming")


def test_the_page_names_what_does_not_merge() -> None:
    page = (TESTS.parent / "docs" / "sql" / "aggregates.md").read_text(encoding="utf-8")
    _, _, rest = page.partition("## Aggregates that cannot be merged")
    assert [name for name in sorted(COPIED) if name.upper() not in rest.partition("\n## ")[0]] == []


@pytest.mark.spark
def test_spark_has_these_aggregates(spark: SparkSession) -> None:
    registry = spark._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin()
    names = registry.listFunction().iterator()
    found = []
    while names.hasNext():
        name = names.next()
        if registry.lookupFunction(name).get().getGroup() == "agg_funcs" and name.funcName().isidentifier():
            found.append(name.funcName())
    assert sorted(found) == NAMES, "an aggregate of another Spark: from slices, or in COPIED"


MIXED = (
    "SUM(x), COUNT_IF(b), MAX_BY(x, f), PERCENTILE(f, ARRAY[0.5, 0.95, 0.99]), "
    "APPROX_PERCENTILE(f, ARRAY[0.5, 0.95, 0.99]), COUNT(DISTINCT x), AVG(DISTINCT x), COUNT(DISTINCT f)"
)


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_a_query_of_many_kinds_reads_its_source_once_and_copies_no_row(mode: str) -> None:
    made = compile(TABLE + f"SELECT window_start, {MIXED} FROM {HOP} GROUP BY window_start, window_end", mode=mode)
    assert made.warnings == ()
    assert "copies=" not in made.explain("physical")
    assert made.code.count(".load(") == 1
    assert made.code.count("'1 hour'") == 0


def test_copies_are_told_and_many_of_them_need_an_option() -> None:
    histogram = (
        f"{TABLE} SELECT window_start, SUM(x), HISTOGRAM_NUMERIC(x, 5) FROM {{}} GROUP BY window_start, window_end"
    )
    made = compile(histogram.format(HOP), mode="batch")
    (told,) = made.warnings
    assert told == "HISTOGRAM_NUMERIC cannot be merged from slices: it is computed from 60 copies of each row"
    assert "copies=[60]" in made.explain("physical")
    day = histogram.format(HOP.replace("'1' HOUR", "'24' HOUR"))
    with pytest.raises(UnsupportedError, match=r"1440 copies of each row, and tvfsql\.window\.max-copies is 100"):
        compile(day, mode="batch")
    assert compile(f"SET 'tvfsql.window.max-copies' = '1440'; {day}", mode="batch").warnings


OF_TYPE = "SUM AVG TRY_SUM TRY_AVG BOOL_AND EVERY BOOL_OR SOME BIT_AND BIT_OR BIT_XOR SKEWNESS KURTOSIS".split()


@pytest.mark.parametrize("call", [f"{name}(z)" for name in OF_TYPE] + ["CORR(f, z)", "REGR_R2(z, f)", "MAX_BY(x, m)"])
def test_an_argument_of_another_type_is_refused_with_over_too(call: str) -> None:
    query = f"SELECT {call} OVER (PARTITION BY x) AS v FROM t"
    with pytest.raises(BindError, match=r"[A-Z_0-9]+ takes a .*, but [zm] is (BINARY\(1\)|MAP<STRING, INT>)"):
        compile(TABLE.replace("x INT", "m MAP<STRING, INT>, x INT") + query, mode="batch")


@pytest.mark.parametrize("call", [*(f"{name}(b)" for name in ("BOOL_AND", "SOME")), "COLLECT_SET(z)", "MIN_BY(m, x)"])
def test_an_argument_that_only_spark_takes_stays_with_over(call: str) -> None:
    query = f"SELECT {call} OVER (PARTITION BY x) AS v FROM t"
    compile(TABLE.replace("x INT", "m MAP<STRING, INT>, x INT") + query, mode="batch")
