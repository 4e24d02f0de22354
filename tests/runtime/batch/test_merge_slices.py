"""merge_slices on Spark: names, types and rows, against Spark's own windows that copy each row."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tvfsql.plan.window import Cumulate, Hop
from tvfsql.runtime import merge_slices

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOADED = "import sys, tvfsql.runtime; print({'pyspark', 'numpy', 'pyarrow'} & {*sys.modules})"


def test_importing_the_runtime_loads_neither_spark_nor_numpy() -> None:
    shown = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"


@pytest.mark.spark
def test_merged_slices_are_the_rows_of_sparks_own_sliding_windows(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    bids = spark.range(3000).selectExpr(
        "timestampadd(SECOND, id * 37 - 50000, timestamp_ntz'1970-01-01') AS ts",
        "nullif(concat('k', id % 7), 'k3') AS `the.``key`",
        "cast(id % 101 AS decimal(5, 2)) AS price",
        "if(id % 5 = 0, double('NaN'), id % 11) AS weight",
    )
    key = "`the.``key`"
    calls = [
        F.count(F.lit(1)).alias("rows"),
        F.sum("price").alias("total"),
        F.max("weight").alias("most"),
        F.min("ts").alias("opened"),
    ]
    slices = bids.groupBy(key, F.window("ts", "5 minutes").end.alias("slice_end")).agg(*calls)
    merges = {"rows": "sum", "total": "sum", "most": "max", "opened": "min"}
    merged = merge_slices(slices, Hop(600_000, 1_500_000), keys=["the.`key"], merges=merges, rows="rows")
    assert merged.columns == ["the.`key", "window_start", "window_end", *merges]
    types = dict(merged.dtypes)
    assert (types["window_end"], types["total"]) == ("timestamp_ntz", "decimal(38,2)")

    windowed = bids.groupBy(key, F.window("ts", "25 minutes", "10 minutes").alias("w"))
    bounds = (F.col("w.start").alias("window_start"), F.col("w.end").alias("window_end"))
    expected = windowed.agg(*calls).select(key, *bounds, *merges)
    assert sorted(map(repr, merged.collect())) == sorted(map(repr, expected.collect()))

    alone = slices.groupBy("slice_end").agg(F.sum("rows").alias("rows"))
    day = merge_slices(alone, Cumulate(300_000, 86_400_000), keys=[], merges={"rows": "sum"}, rows="rows")
    last = day.where("window_end = timestamp_ntz'1970-01-02'").collect()
    assert [row.rows for row in last] == [bids.where("date(ts) = '1970-01-01'").count()]
