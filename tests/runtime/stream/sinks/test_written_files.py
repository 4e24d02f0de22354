"""Files of micro-batches: those of an earlier try are replaced, and the folder is listed no more than that takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql.runtime.stream.sinks import files
from tvfsql.runtime.stream.sinks.files import write_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GROUP = "spark.jobGroup.id"


@pytest.fixture
def listings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows with each listing of the folder `out`."""
    found = list[str]()
    list_files = files._files

    def counted(system: Any, folder: Any, prefix: str) -> Any:
        found.extend([prefix] if folder.toString() == str(tmp_path / "out") else [])
        return list_files(system, folder, prefix)

    monkeypatch.setattr(files, "_files", counted)
    return found


@contextmanager
def run_of_a_stream(spark: SparkSession, name: str) -> Iterator[None]:
    """As Spark runs a stream: the jobs of a run are a group."""
    spark.sparkContext.setLocalProperty(GROUP, name)
    try:
        yield
    finally:
        none: Any = None
        spark.sparkContext.setLocalProperty(GROUP, none)


@pytest.mark.spark
@pytest.mark.parametrize("by", [(), ("part",)], ids=["plain", "partitioned"])
def test_a_folder_is_listed_while_it_has_files_of_earlier_runs(
    spark: SparkSession, by: tuple[str, ...], tmp_path: Path, listings: list[str]
) -> None:
    """A restart repeats the last micro-batch. If an older checkpoint is put back, it repeats several."""
    tries = list[int]()

    def listed(*numbers: int) -> list[int]:
        """Write micro-batches. Returns how often each lists the folder."""
        found = []
        for number in numbers:
            before = len(listings)
            rows = spark.range(number, number + 1, 1, 1).selectExpr("id AS number", f"{len(tries)} AS part")
            write_files(rows, number, str(tmp_path / "out"), "json", partition_by=by)
            tries.append(number)
            found.append(len(listings) - before)
        return found

    for name, numbers, wanted in (
        ("first", (0, 1, 2), [1, 0, 0]),
        ("after a kill", (2, 3, 4), [1, 0, 0]),
        ("after a kill, without rows at first", (6, 7), [1, 0]),
        ("over an older checkpoint", (3, 4, 6, 7, 8, 9), [1, 1, 1, 1, 0, 0]),
    ):
        with run_of_a_stream(spark, name):
            assert listed(*numbers) == wanted
    assert listed(9, 10) == [1, 1], "no stream, so nothing is known"
    rows = spark.read.json(str(tmp_path / "out")).select("number").collect()
    assert sorted(row.number for row in rows) == sorted({*tries})
    assert not [*(tmp_path / "out").glob("_batch-*")]


@pytest.mark.spark
def test_each_run_of_a_stream_lists_a_folder_once(spark: SparkSession, tmp_path: Path, listings: list[str]) -> None:
    def write(rows: DataFrame, number: int) -> None:
        write_files(rows, number, str(tmp_path / "out"), "json")

    (tmp_path / "in").mkdir()
    for run in range(2):
        for i in range(3):
            (tmp_path / "in" / f"{run}{i}.json").write_text(json.dumps({"n": 3 * run + i}), encoding="utf-8")
        read = spark.readStream.schema("n INT").option("maxFilesPerTrigger", 1).json(str(tmp_path / "in"))
        writer = read.writeStream.foreachBatch(write).option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
        assert len(listings) == run + 1
    assert sorted(row.n for row in spark.read.json(str(tmp_path / "out")).collect()) == [*range(6)]
