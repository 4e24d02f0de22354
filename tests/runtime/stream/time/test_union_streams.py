"""UNION ALL of streams: the columns of marks come from each side in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tvfsql.runtime.stream.time.watermarks import union_streams

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WATERMARK = "CAST(NULL AS TIMESTAMP_NTZ) AS `$watermark`"
CONTROL, CHANNEL = "CAST(NULL AS BIGINT) AS `$control`", "CAST(NULL AS STRING) AS `$channel`"


@pytest.mark.spark
def test_sides_have_their_marks_in_any_order(spark: SparkSession) -> None:
    """A projection passes on the watermark first; `with_processing_time` adds it last."""
    projected = spark.range(1).selectExpr("id AS t", WATERMARK, CONTROL, CHANNEL)
    as_read = spark.range(1).selectExpr("id + 7 AS opened", CONTROL, CHANNEL, WATERMARK)
    both = union_streams(projected, as_read)
    assert both.dtypes == [
        ("t", "bigint"),
        ("$watermark", "timestamp_ntz"),
        ("$control", "bigint"),
        ("$channel", "string"),
    ]
    assert sorted(map(tuple, both.collect())) == [(0, None, None, "1/"), (7, None, None, "2/")]
