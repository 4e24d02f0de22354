"""Slices and windows of a stream on Spark: rows as in batch, one partial per key and slice in the state store."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql.plan.window import Cumulate, Hop, Tumble, Window
from tvfsql.runtime import merge_slices
from tvfsql.runtime.stream import local_slices, merge_slice_stream
from tvfsql.runtime.stream.progress.counts import operator_counters
from tvfsql.runtime.stream.state.chunk_index import Kind
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

MINUTE = 60_000
KEY = "the.`key"  # a name that needs care
FILES, ROWS = 3, 400
KINDS = {"rows": "sum", "total": "sum", "most": "max", "spread": "moments"}
CALLS = ["count(*) AS rows", "sum(price) AS total", "max(weight) AS most"]
MOMENTS = "named_struct('n', count(weight), 'mean', avg(weight), 'm2', var_pop(weight) * count(weight)) AS spread"


def bids(spark: SparkSession) -> DataFrame:
    return spark.range(FILES * ROWS).selectExpr(
        "timestampadd(SECOND, id * 7 - id % 11 * 13, timestamp_ntz'2024-02-29') AS ts",
        "nullif(concat('k', id % 7), 'k3') AS `the.``key`",
        "cast(id % 101 AS decimal(5, 2)) AS price",
        "double(id % 16) AS weight",
        f"id div {ROWS} AS file",
    )


class Stream:
    """Files of bids, read one a micro-batch, and a control channel; each `run` goes on from the last one."""

    def __init__(self, spark: SparkSession, folder: Path, window: Window, *, key_groups: int = 3) -> None:
        self.spark, self.folder, self.window, self.key_groups = spark, folder, window, key_groups
        self.said = 0
        (folder / "control").mkdir()
        for file in range(FILES):
            rows = bids(spark).where(f"file = {file}").drop("file").coalesce(1)
            rows.write.mode("append").parquet(str(folder / "bids"))

    def say(self, watermark: int) -> None:
        """Put a watermark (epoch ms) into the control channel; file streams go by the time of a file."""
        file = self.folder / "control" / f"{watermark}.json"
        file.write_text(json.dumps({"$control": watermark}))
        self.said += 1
        os.utime(file, (self.said, self.said))

    def windows(self) -> DataFrame:
        from pyspark.sql import functions as F

        def stream(schema: Any) -> Any:
            return self.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)

        rows = stream(bids(self.spark).drop("file").schema).parquet(str(self.folder / "bids"))
        rows = (
            rows.withColumn("$watermark", F.expr("ts - INTERVAL '5' MINUTE"))
            .withColumn("$control", F.lit(None))
            .withColumn("$channel", F.lit(None).cast("string"))
        )
        control = stream("`$control` BIGINT").json(str(self.folder / "control"))
        both = rows.unionByName(control, allowMissingColumns=True).selectExpr(
            "*",
            "if(ts IS NOT NULL, 1L, NULL) AS rows",
            "price AS total",
            "weight AS most",
            "if(weight IS NOT NULL, named_struct('n', 1L, 'mean', weight, 'm2', 0D), NULL) AS spread",
        )
        slices = local_slices(both, self.window, time="ts", keys=[KEY], merges=KINDS, key_groups=self.key_groups)
        return merge_slice_stream(slices, self.window, keys=[KEY], merges=KINDS, rows="rows")

    def run(self) -> list[dict[str, Any]]:
        """Read all that is there; the counters of each micro-batch."""
        query = (
            self.windows()
            .writeStream.format("parquet")
            .option("checkpointLocation", str(self.folder / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(self.folder / "out"))
        )
        query.awaitTermination()
        observed = (progress["observedMetrics"].get("tvfsql") for progress in query.recentProgress)
        counters = (operator_counters(row.reports) for row in observed if row is not None)
        return [each for each in counters if "watermark" in each]

    def rows(self) -> list[str]:
        return in_order(self.spark.read.parquet(str(self.folder / "out")))

    def held(self) -> DataFrame:
        """What the state store holds: the parts of a `ChunkKey`, and its bytes."""
        store = self.spark.read.format("statestore").option("stateVarName", "chunks")
        return store.load(str(self.folder / "checkpoint")).selectExpr("user_map_key.*", "user_map_value.data AS data")


def in_order(windows: DataFrame) -> list[str]:
    rounded = windows.selectExpr(
        "`the.``key`", "window_start", "window_end", "rows", "total", "most", "round(spread.m2, 6)"
    )
    return sorted(map(repr, rounded.collect()))


def by_batch(rows: DataFrame, window: Hop | Cumulate) -> DataFrame:
    from pyspark.sql import functions as F

    sliced = rows.withColumn("slice_end", F.window("ts", f"{window.slice_size} milliseconds").end)
    slices = sliced.groupBy("`the.``key`", "slice_end").agg(*map(F.expr, (*CALLS, MOMENTS)))
    return merge_slices(slices, window, keys=[KEY], merges=KINDS, rows="rows")


@pytest.mark.usefixtures("several_partitions")
def test_a_stream_of_hops_ends_with_the_rows_of_batch_and_empty_state(spark: SparkSession, tmp_path: Path) -> None:
    from tvfsql.runtime.stream.state.chunk_blocks import of_entry

    window = Hop(10 * MINUTE, 30 * MINUTE)
    stream = Stream(spark, tmp_path, window)
    counters = stream.run()
    assert len(counters) == FILES
    assert [each["rowsIn"] for each in counters] == [ROWS] * FILES
    assert {each["numLateRecordsDropped"] for each in counters} == {0}

    held = [(row.number, row.kind, of_entry(row.data).to_pydict()) for row in stream.held().collect()]
    partials = [(number, key) for number, _, batch in held for key in batch["$0"]]
    fired = (counters[-1]["watermark"] + 1) // (10 * MINUTE)
    open_slices = bids(spark).selectExpr("`the.``key` AS key", "unix_millis(timestamp(ts)) AS ms").distinct()
    expected = {(row.ms // (10 * MINUTE) + 1, row.key) for row in open_slices.collect()}
    assert sorted(partials, key=repr) == sorted((s for s in expected if s[0] + 2 > fired), key=repr)
    assert {kind for _, kind, _ in held} == {Kind.SLICE}
    assert counters[-1]["stateRows"] == len(partials)

    stream.say(END_OF_INPUT)
    (last,) = stream.run()
    assert stream.rows() == in_order(by_batch(bids(spark), window))
    assert sum(each["windowsOut"] for each in (*counters, last)) == len(stream.rows())
    assert (last["watermark"], last["stateRows"], last["stateBytes"], last["openSlices"]) == (END_OF_INPUT, 0, 0, 0)
    assert stream.held().count() == 0


def test_a_stream_of_cumulating_windows_ends_with_its_last_file(spark: SparkSession, tmp_path: Path) -> None:
    window = Cumulate(20 * MINUTE, 120 * MINUTE)
    stream = Stream(spark, tmp_path, window, key_groups=1)
    for watermark in (-2, -1, END_OF_INPUT):  # one for each file
        stream.say(watermark)
    counters = stream.run()
    assert stream.rows() == in_order(by_batch(bids(spark), window))
    assert (len(counters), sum(each["windowsOut"] for each in counters)) == (FILES, len(stream.rows()))


def test_rows_after_the_end_of_a_stream_of_tumbling_windows_are_late(spark: SparkSession, tmp_path: Path) -> None:
    window = Tumble(20 * MINUTE)
    stream = Stream(spark, tmp_path, window)
    stream.say(END_OF_INPUT)  # read along with the first file
    counters = stream.run()
    first_file = bids(spark).where("file = 0")
    assert stream.rows() == in_order(by_batch(first_file, Cumulate(window.size, window.size)))
    assert [each["numLateRecordsDropped"] for each in counters] == [0, ROWS, ROWS]
    assert stream.held().count() == 0
