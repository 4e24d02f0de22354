"""`tvfsql rescale`: a stopped stream goes on with the same rows in another number of tasks."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bids import WINDOWS, create_table, some_batches, write_files
from old_checkpoints import run, unpack
from tvfsql.runtime.stream.inspect.rescale import tasks_of

from examples import SOAK
from tvfsql import Session
from tvfsql.api.state import rescale_streams
from tvfsql.cli import main
from tvfsql.errors import OptionError, TvfSqlError
from tvfsql.runtime.cluster.files import LocalPlace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS = "spark.sql.shuffle.partitions"
USUAL = ("window_join", "last_row", "windows_over_windows")


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="two Spark jobs for each operator: TVFSQL_SOAK=1")
@pytest.mark.spark
@pytest.mark.parametrize("name", USUAL)
def test_a_rescaled_stream_goes_on(spark: SparkSession, name: str, tmp_path: Path) -> None:
    """To three tasks, and to two; no micro-batch counts as lost."""
    expected = unpack(name, tmp_path)
    folder, out = str(tmp_path / "checkpoint"), io.StringIO()
    stream = LocalPlace(tmp_path / "checkpoint" / "1")
    first = tasks_of(stream)
    for tasks in (3, 2, 2):
        rescale_streams(lambda: spark, folder, tasks, out)
    assert out.getvalue().splitlines() == [
        f"stream 1: from {first} to 3",
        "stream 1: from 3 to 2",
        "stream 1: 2 already",
    ]
    assert run(spark, name, tmp_path, last=True) == expected
    metrics = json.loads((tmp_path / "checkpoint" / "1" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["micro_batches_unreported"] == 0
    assert tasks_of(stream) == 2


@pytest.mark.spark
@pytest.mark.parametrize(("asked", "tasks"), [(None, 6), ("3", 3)])
def test_a_new_stream_starts_as_many_tasks_as_asked_or_one_for_each_key_group(
    spark: SparkSession, asked: str | None, tasks: int, tmp_path: Path
) -> None:
    """By default Spark starts 200, on clusters too."""
    write_files(tmp_path / "in", some_batches(seed=1, disorder=3, batches=1))
    own = spark.newSession()
    own.conf.unset(TASKS)
    if asked:
        own.conf.set(TASKS, asked)
    groups = {"pipeline.max-parallelism": "6"}
    session = Session(own, mode="streaming", checkpoint=tmp_path / "checkpoint", options=groups)
    create_table(session, "bid", "ts TIMESTAMP(3), item STRING, WATERMARK FOR ts AS ts", tmp_path / "in")
    items = f"SELECT item, COUNT(*) FROM TABLE({WINDOWS['tumble']}) GROUP BY window_start, window_end, item"
    assert session.sql(items).collect()
    assert tasks_of(LocalPlace(tmp_path / "checkpoint" / "1")) == tasks
    assert own.conf.get(TASKS) == (asked or "200")


def test_more_tasks_than_key_groups_are_refused(tmp_path: Path) -> None:
    """Without Spark, and before anything changes."""
    unpack("hop", tmp_path)
    folder = str(tmp_path / "checkpoint")

    def start() -> SparkSession:
        raise AssertionError("Spark is not needed")

    with pytest.raises(OptionError, match="has 4 key groups, so 1 of 5 tasks would be idle") as refused:
        rescale_streams(start, folder, 5, io.StringIO())
    assert refused.value.hint == "--tasks 4"
    out = io.StringIO()
    rescale_streams(start, folder, 1, out)
    assert out.getvalue() == "stream 1: 1 already\n"
    with pytest.raises(TvfSqlError, match="there is no folder"):
        rescale_streams(start, str(tmp_path / "nothing"), 2, out)


def test_a_number_below_one_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["rescale", "totals", "--tasks", "0"])
    assert ended.value.code == 2
    assert "--tasks takes a number from 1 on" in capsys.readouterr().err
