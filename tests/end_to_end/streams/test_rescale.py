"""`tvfsql rescale`: a stopped stream goes on with the same rows in other tasks and key groups."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.bids import WINDOWS, create_table, some_batches, write_files
from tests.support.examples import SOAK
from tests.support.old_checkpoints import CASES, run, unpack
from tvfsql import Session
from tvfsql.api.streams.state import rescale_streams
from tvfsql.cli import main
from tvfsql.errors import DataError, OptionError, TvfSqlError, UnsupportedError
from tvfsql.plan.checkpoint.changes import changes
from tvfsql.plan.checkpoint.manifest import PARALLELISM
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.checkpoint.parallelism import keep_key_groups, usual_key_groups
from tvfsql.runtime.stream.driver.checkpoints import manifest_in, refuse_changes
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.inspect.checkpoint import StoredIndex
from tvfsql.runtime.stream.rescale import rescale, rewriter
from tvfsql.runtime.stream.rescale.rescale import Size, refuse_undividable, refuse_unready, size_of
from tvfsql.runtime.stream.state.description import Description

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS = "spark.sql.shuffle.partitions"


def size_in(folder: Path) -> Size | None:
    return size_of(LocalPlace(folder / "checkpoint" / "1"))


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="four Spark jobs for each operator: TVFSQL_SOAK=1")
@pytest.mark.spark
@pytest.mark.parametrize("name", CASES)
def test_a_rescaled_stream_goes_on(spark: SparkSession, name: str, tmp_path: Path) -> None:
    """With more key groups and tasks, with fewer, and with other tasks only; no micro-batch counts as lost."""
    expected = unpack(name, tmp_path)
    folder, out = str(tmp_path / "checkpoint"), io.StringIO()
    rescale_streams(lambda: spark, folder, 3, 8, out)
    rescale_streams(lambda: spark, folder, None, 3, out)
    rescale_streams(lambda: spark, folder, 2, None, out)
    rescale_streams(lambda: spark, folder, 2, 3, out)
    assert out.getvalue().splitlines()[1:] == [
        "stream 1: from 3 tasks and 8 key groups to 3 tasks and 3 key groups",
        "stream 1: from 3 tasks and 3 key groups to 2 tasks and 3 key groups",
        "stream 1: 2 tasks and 3 key groups already",
    ]
    assert run(spark, name, tmp_path, last=True) == expected
    metrics = json.loads((tmp_path / "checkpoint" / "1" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["micro_batches_unreported"] == 0
    assert size_in(tmp_path) == Size(2, 3)


class Killed(BaseException):
    """What ends a command at any place."""


@pytest.mark.spark
def test_a_rescale_that_is_killed_is_taken_back_or_finished(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether Spark had committed it or not, and whether another rescale follows or a run. The rows are the same."""
    expected = unpack("hop", tmp_path)
    stream = tmp_path / "checkpoint" / "1"

    def killed(*_: object) -> None:
        raise Killed

    def killed_when_written(*given: Any) -> None:
        rewriter.rewrite(*given)
        raise Killed

    def rescaled(tasks: int, key_groups: int) -> None:
        rescale_streams(lambda: spark, str(tmp_path / "checkpoint"), tasks, key_groups, io.StringIO())

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(rewriter, "_write_metadata", killed)  # the state is written, and not committed
        rescaled(3, 8)
    assert (stream / "rescale.json").exists()
    assert len([*stream.glob("spark/state/0/*/2.zip")]) == 3
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(rescale, "rewrite", killed_when_written)  # after what the first one wrote has been taken back
        rescaled(2, 3)
    assert size_in(tmp_path) == Size(2, 2)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(rewriter, "_write_metadata", killed)  # completes the second one, and is not committed
        rescaled(3, 8)
    assert size_in(tmp_path) == Size(2, 3)
    assert run(spark, "hop", tmp_path, last=True) == expected  # takes back the third one
    assert size_in(tmp_path) == Size(2, 3)
    assert not (stream / "rescale.json").exists()
    assert not [*stream.glob("spark/state/0/2/3.zip")]


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
    session = Session(own, mode="streaming", checkpoint=tmp_path / "checkpoint", options=groups, final=True)
    create_table(session, "bid", "ts TIMESTAMP(3), item STRING, WATERMARK FOR ts AS ts", tmp_path / "in")
    items = f"SELECT item, COUNT(*) FROM TABLE({WINDOWS['tumble']}) GROUP BY window_start, window_end, item"
    assert session.sql(items).collect()
    assert size_in(tmp_path) == Size(tasks, 6)
    assert own.conf.get(TASKS) == (asked or "200")


def test_more_tasks_than_key_groups_are_refused(tmp_path: Path) -> None:
    """Without Spark, and before anything changes."""
    unpack("hop", tmp_path)
    folder = str(tmp_path / "checkpoint")

    def start() -> SparkSession:
        raise AssertionError("Spark is not needed")

    out = io.StringIO()
    with pytest.raises(OptionError, match="has 2 key groups, so 3 of 5 tasks would be idle") as refused:
        rescale_streams(start, folder, 5, None, out)
    assert refused.value.hint == "--tasks 5 --key-groups 5"
    with pytest.raises(OptionError, match="would have 2 key groups, so 1 of 3 tasks would be idle"):
        rescale_streams(start, folder, 3, 2, out)
    rescale_streams(start, folder, 2, 2, out)
    assert out.getvalue() == "stream 1: 2 tasks and 2 key groups already\n"
    with pytest.raises(TvfSqlError, match="there is no folder"):
        rescale_streams(start, str(tmp_path / "nothing"), 2, None, out)


def test_what_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    def start() -> SparkSession:
        raise AssertionError("Spark is not needed")

    unpack("hop", tmp_path)
    stream = LocalPlace(tmp_path / "checkpoint" / "1")
    assert refuse_unready(stream) == 0
    (stream / "spark" / "offsets" / "1").write("v1")
    with pytest.raises(DataError, match="stream 1 has not finished its micro-batch 1"):
        refuse_unready(stream)
    (stream / "spark" / "offsets" / "1").delete()
    (stream / "spark" / "commits" / "0").write("v2\n{}")
    with pytest.raises(UnsupportedError, match="checkpoints of another format of Spark's"):
        refuse_unready(stream)


def test_state_that_cannot_be_divided_is_refused_by_name(tmp_path: Path) -> None:
    stream = LocalPlace(tmp_path / "1")
    first, second, *_ = key_group_labels(4)

    def index(operator: str, *keys: str, watermark: int = 7) -> StoredIndex:
        return StoredIndex(watermark, "{}", Description(operator, keys).dump())

    refuse_undividable(stream, {first: index("Deduplicate", "a"), second: index("Deduplicate", "a")}, 4, None)
    with pytest.raises(UnsupportedError, match="the state of SomethingNew cannot be divided"):
        refuse_undividable(stream, {first: index("SomethingNew", "a")}, 4, None)
    with pytest.raises(UnsupportedError, match="has no manifest, which says by which columns"):
        refuse_undividable(stream, {first: index("IntervalJoin", "a = b")}, 4, None)
    with pytest.raises(DataError, match="it has a key group 1, which no stream with 1 key group has"):
        refuse_undividable(stream, {0: index("Deduplicate", "a"), 1: index("Deduplicate", "a")}, 1, None)
    with pytest.raises(DataError, match="the key groups of Deduplicate in stream 1 have different watermarks"):
        others = index("Deduplicate", "a", watermark=8)
        refuse_undividable(stream, {first: index("Deduplicate", "a"), second: others}, 4, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tasks", "0"], "--tasks must be at least 1"),
        (["--key-groups", "0"], "--key-groups must be at least 1"),
        ([], "rescale needs --tasks N, --key-groups M, or both"),
    ],
)
def test_what_is_wrong_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["rescale", "totals", *arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_another_number_in_the_script_is_refused(tmp_path: Path) -> None:
    """A script that names no number takes the one of the checkpoint."""
    unpack("hop", tmp_path)
    stream = LocalPlace(tmp_path / "checkpoint" / "1")
    kept = manifest_in(stream)
    assert kept is not None
    keep_key_groups(stream, 8)
    found = manifest_in(stream)
    assert found is not None
    assert [*changes(found, kept)]
    (change,) = changes(found, kept)
    assert change.lines == [
        "  pipeline.max-parallelism: state is divided into the old number of key groups",
        "    - 8",
        "    + 2",
    ]
    with pytest.raises(OptionError) as refused:
        refuse_changes(stream, [change], changed_input=True)
    assert str(refused.value.hint).startswith("tvfsql rescale CHECKPOINT --key-groups 2")
    silent = replace(found, operators=tuple(replace(one, settings={}) for one in found.operators))
    known = {name for one in found.operators for name in one.settings or {}} - {PARALLELISM}
    assert PARALLELISM not in {change.what for change in changes(found, silent)}
    assert {change.what for change in changes(found, silent)} == known


@pytest.mark.parametrize(
    ("master", "cores", "told", "number"),
    [
        ("local[1]", 1, None, 2),
        ("local[8]", 8, None, 8),
        ("local[8]", 8, "3", 3),
        ("local[2]", 2, "200", 2),
        ("spark://host", 2, None, 4),
        ("spark://host", 40, "200", 40),
    ],
)
def test_a_new_stream_has_a_key_group_for_each_task_up_to_the_cores(
    master: str, cores: int, told: str | None, number: int
) -> None:
    settings = {} if told is None else {TASKS: told}
    context = SimpleNamespace(master=master, defaultParallelism=cores)
    spark: Any = SimpleNamespace(sparkContext=context, conf=SimpleNamespace(getAll=settings))
    assert usual_key_groups(spark) == number
