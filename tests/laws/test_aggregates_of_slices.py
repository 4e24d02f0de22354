"""Aggregates beyond Flink's: each window has what Spark computes from a copy of each row, in batch and on streams."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import user_functions
from pyspark.sql import SparkSession

from tvfsql import Session

pytestmark = pytest.mark.spark

# tvfsql's call, and Spark's where it is another one or not deterministic
CALLS = {
    "COUNT_IF(price > 3)": "",
    "MAX_BY(word, price)": "max_by(word, struct(price, word)) FILTER (WHERE price IS NOT NULL)",
    "MIN_BY(word, price) FILTER (WHERE weight > 1)": (
        "min_by(word, struct(price, word)) FILTER (WHERE weight > 1 AND price IS NOT NULL)"
    ),
    "ANY_VALUE(word)": "min(word)",
    "BIT_XOR(price)": "",
    "BIT_AND(price)": "",
    "BIT_OR(price)": "",
    "CORR(price, f)": "",
    "CORR(price, f) FILTER (WHERE weight > 1)": "",
    "COVAR_POP(price, f)": "",
    "COVAR_SAMP(f, price)": "",
    "SKEWNESS(price)": "",
    "KURTOSIS(price)": "",
    "REGR_COUNT(price, f)": "",
    "REGR_AVGX(price, f)": "",
    "REGR_AVGY(price, f)": "",
    "REGR_SXX(price, f)": "",
    "REGR_SYY(price, f)": "",
    "REGR_SXY(price, f)": "",
    "REGR_SLOPE(price, f)": "",
    "REGR_INTERCEPT(price, f)": "",
    "REGR_R2(price, f)": "",
    "MEDIAN(price)": "",
    "PERCENTILE(price, 0.95)": "",
    "PERCENTILE(f, 0)": "",
    "PERCENTILE(f, 1.0)": "",
    "PERCENTILE(f, 0.25) FILTER (WHERE weight > 1)": "",
    "PERCENTILE(price, ARRAY[0.5, 0.99])": "percentile(price, array(0.5, 0.99))",
    "PERCENTILE(price, 0.5, weight)": "",
    "PERCENTILE(DISTINCT price, 0.3)": "",
    "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY price DESC)": "",
    "PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY price)": "",
    # sketches have all values of these windows
    "APPROX_PERCENTILE(price, 0.95)": "percentile_disc(0.95) WITHIN GROUP (ORDER BY price)",
    "APPROX_PERCENTILE(f, ARRAY[0.0, 0.25, 1.0], 500) FILTER (WHERE weight > 1)": (
        "percentile_disc(array(0.0, 0.25, 1.0)) WITHIN GROUP (ORDER BY f) FILTER (WHERE weight > 1)"
    ),
    "APPROX_PERCENTILE(CAST(f AS DECIMAL(10, 3)), 0.5)": (
        "CAST(percentile_disc(0.5) WITHIN GROUP (ORDER BY CAST(f AS DECIMAL(10, 3))) AS DECIMAL(10, 3))"
    ),
    "APPROX_PERCENTILE(CAST(NULL AS INT), 0.5)": "CAST(NULL AS INT)",
    "KLL_SKETCH_GET_N_BIGINT(KLL_SKETCH_AGG_BIGINT(price, 100))": "count(price)",
    "IF(COUNT(f) > 0, KLL_SKETCH_GET_QUANTILE_DOUBLE(KLL_SKETCH_AGG_DOUBLE(f), 0.5), NULL)": (
        "percentile_disc(0.5) WITHIN GROUP (ORDER BY f)"
    ),
    "HLL_SKETCH_ESTIMATE(HLL_SKETCH_AGG(price))": "size(collect_set(price))",  # exact for few values
    "HLL_SKETCH_ESTIMATE(HLL_SKETCH_AGG(word, 10)) ": "size(collect_set(word))",
    "THETA_SKETCH_ESTIMATE(THETA_SKETCH_AGG(f))": "size(collect_set(f))",
    "THETA_SKETCH_ESTIMATE(THETA_SKETCH_AGG(word) FILTER (WHERE weight > 1))": (
        "size(collect_set(word) FILTER (WHERE weight > 1))"
    ),
    "TRANSFORM(APPROX_TOP_K(price, 2), e -> e.count)": "transform(approx_top_k(price, 2), e -> e.count)",
    "MODE(word)": "mode(word, true)",
    "MODE() WITHIN GROUP (ORDER BY price)": "mode(price, true)",
    "TRY_SUM(price)": "",
    "TRY_AVG(price)": "",
    "COLLECT_SET(word)": "sort_array(collect_set(word))",
    "MAX_BY(price, price, 2)": "",
    "MAX_BY(word, price, 3)": (
        "transform(max_by(struct(word AS x), struct(price, word), 3) FILTER (WHERE price IS NOT NULL), e -> e.x)"
    ),
    "MIN_BY(weight, f, 5) FILTER (WHERE weight > 1)": (
        "transform(min_by(struct(weight AS x), struct(f, weight), 5) FILTER (WHERE f IS NOT NULL AND weight > 1), "
        "e -> e.x)"
    ),
    "COUNT_MIN_SKETCH(price, CAST(0.1 AS DOUBLE), CAST(0.9 AS DOUBLE), 1)": "",  # batch only, from copies
}
BATCH_ONLY = 1
Windows = dict[Any, tuple[Any, ...]]
TYPES = "k INT, price INT, f DOUBLE, weight INT, word STRING"
WINDOWS = {
    "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '1' HOUR)": "window(ts, '1 hour', '10 minutes')",
    "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)": "window(ts, '1 hour')",
    "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' HOUR)": "window(ts, '1 hour')",
    "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' HOUR)": "window(ts, '1 hour')",
    "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' MINUTE)": "session_window(ts, '120.000001 seconds')",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made, draw = tmp_path_factory.mktemp("rows"), random.Random(3)
    rows = []
    for i in range(400):
        at = datetime(2026, 1, 1) + timedelta(seconds=37 * i)
        row = {"k": draw.choice([1, 2, 3]), "price": draw.choice([None, *range(-5, 20)]), "weight": draw.randint(0, 3)}
        row |= {"f": draw.choice([None, 1.5, 2.5, draw.random()]), "word": draw.choice([None, "a", "b", "c"])}
        rows.append(json.dumps(row | {"ts": f"{at:%Y-%m-%d %H:%M:%S}.000"}))
    (made / "rows.json").write_text("\n".join(rows))
    return made


@pytest.mark.parametrize("window", WINDOWS)
def test_windows_have_what_spark_computes_from_copies(spark: SparkSession, folder: Path, window: str) -> None:
    spark.read.schema(f"{TYPES}, ts TIMESTAMP_NTZ").json(str(folder)).createOrReplaceTempView("copied")
    group = WINDOWS[window]
    calls = ", ".join(own or call for call, own in CALLS.items())
    copied = spark.sql(f"SELECT {group}.start, k, {calls} FROM copied GROUP BY {group}, k")
    expected = dict(_rows(copied.collect()))
    assert len(expected) > 10
    batch = dict(_rows(_session(spark, "batch", folder).sql(_query(window, [*CALLS])).collect()))
    assert _differing(batch, expected) == []
    streamed = [*CALLS][:-BATCH_ONLY]
    of_stream = dict(_rows(_session(spark, "streaming", folder).sql(_query(window, streamed)).collect()))
    assert _differing(of_stream, {key: row[:-BATCH_ONLY] for key, row in expected.items()}) == []


def _differing(found: Windows, expected: Windows) -> list[tuple[str, Any, Any]]:
    """The calls with other values, each with one of them and what was expected."""
    assert found.keys() == expected.keys()
    differing = {}
    for key, row in found.items():
        for call, one, other in zip(CALLS, row, expected[key], strict=False):
            if one != other:
                differing[call] = (call, one, other)
    return [*differing.values()]


def _query(window: str, calls: list[str]) -> str:
    items = ", ".join(f"{call} AS c{i}" for i, call in enumerate(calls))
    return f"SELECT window_start, k, {items} FROM TABLE({window}) GROUP BY window_start, window_end, k"


def _session(spark: SparkSession, mode: str, folder: Path) -> Session:
    session = Session(spark=spark, mode=mode)
    session.sql(
        f"CREATE TABLE t ({TYPES}, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) "
        f"WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json')"
    )
    return session


def _rows(rows: list[Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    for start, k, *values in rows:
        yield (start, k), tuple(map(_rounded, values))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6) + 0.0
    return tuple(map(_rounded, value)) if isinstance(value, list | tuple) else value


IN_PYTHON = {
    "all_rows": ("OfRows", "all_rows(price, word)"),  # Arrow arrays of the rows
    "seen": ("Seen", "seen(price, word)"),  # the same rows by accumulators that merge
    "spread": ("Spread", "spread(f) FILTER (WHERE f IS NOT NULL)"),  # a pandas Series
    "middle": ("Median", "middle(price)"),  # accumulators that do not merge
}


@pytest.mark.parametrize("mode", ["batch", "streaming"])
@pytest.mark.parametrize("window", [*WINDOWS][::2])
def test_python_aggregates_get_the_rows_of_each_window(
    spark: SparkSession, folder: Path, window: str, mode: str
) -> None:
    session = _session(spark, mode, folder)
    for name, (path, _) in IN_PYTHON.items():
        session.create_function(name, getattr(user_functions, path))
    calls = [call for _, call in IN_PYTHON.values()]
    rows = session.sql(_query(window, [*calls, "MAX(f) - MIN(f)", "MEDIAN(price)", "COUNT(*)"])).collect()
    assert len(rows) > 10
    for _, _, every, seen, spread, middle, width, median, number in rows:
        assert every == seen
        assert len(ast.literal_eval(every)) == number
        assert (spread, middle) == (width, median)
