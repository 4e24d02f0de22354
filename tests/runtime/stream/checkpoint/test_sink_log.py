"""Spark's log of written files gets the entries that it lacks, whatever the moment of a kill: with a model of Spark's
log, and with Spark's own."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.stream_queries import TABLES, TOTALS, stream
from tvfsql.errors import DataError, UnsupportedError
from tvfsql.plan.checkpoint.manifest import Manifest, Sink
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.checkpoint.sink_log import complete_log, complete_logs, interval_of
from tvfsql.runtime.stream.driver import checkpoints

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

USUAL = (1, 2, 3, 5)


class SparksLog:
    """A run of Spark over a log, in a session with the interval `usual`. Source: Spark's CompactibleFileStreamLog."""

    def __init__(self, folder: Path, usual: int) -> None:
        self.folder = folder
        compactions = sorted(number for name, number in self.entries() if name.endswith(".compact"))
        self.interval = usual
        if len(compactions) > 1:
            self.interval = compactions[-1] - compactions[-2]
        elif compactions:
            self.interval = derived(usual, compactions[0])

    def entries(self) -> list[tuple[str, int]]:
        names = [path.name for path in self.folder.iterdir() if path.name[0].isdigit()]
        return [(name, int(name.removesuffix(".compact"))) for name in names]

    @property
    def latest(self) -> int:
        return max((number for _, number in self.entries()), default=-1)

    def path(self, number: int) -> Path:
        return self.folder / (f"{number}.compact" if (number + 1) % self.interval == 0 else f"{number}")

    def files(self) -> list[str]:
        """What readers find. Raises FileNotFoundError as Spark does."""
        latest = self.latest
        start = max(0, (latest + 1) // self.interval * self.interval - 1)
        return self._merged(range(start, latest + 1))

    def add(self, number: int, files: list[str]) -> None:
        """The end of a micro-batch."""
        assert number > self.latest, "Spark would skip its rows"
        before = range(max(0, number - self.interval), number) if self.path(number).suffix else ()
        assert not self.path(number).exists()
        self.path(number).write_text("\n".join(["v1", *self._merged(before), *files]))

    def _merged(self, numbers: Iterable[int]) -> list[str]:
        return [line for number in numbers for line in self.path(number).read_text().split("\n")[1:]]


def derived(usual: int, latest: int) -> int:
    if latest + 1 <= usual:
        return latest + 1
    if usual < (latest + 1) // 2:
        divisors = [number for number in range(usual, (latest + 1) // 2 + 1) if (latest + 1) % number == 0]
        return [*divisors, latest + 1][0]
    return latest + 1


class Killed(BaseException):
    """What ends a process at any place."""


@pytest.fixture
def kill_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """Kills the process when it has written a number of files; None: never."""
    write, left = LocalPlace.write, [10**9]

    def counted(place: LocalPlace, content: str, *, shared: bool) -> None:
        if not left[0]:
            raise Killed
        left[0] -= 1
        write(place, content, shared=shared)

    monkeypatch.setattr(LocalPlace, "write", counted)

    def wait(writes: int | None) -> None:
        left[0] = 10**9 if writes is None else writes

    return wait


@pytest.mark.parametrize("usual", USUAL)
def test_a_log_in_a_new_folder_is_read_at_once_and_goes_on(
    usual: int, tmp_path: Path, kill_after: Callable[[int | None], None]
) -> None:
    """After a kill between any two writes, and over the next compactions, with a new run for each micro-batch."""
    begun = 0
    for last in range(4 * usual + 1):
        writes, killed = 0, True
        while killed:
            log = tmp_path / str(last) / str(writes)
            kill_after(writes)
            killed = False
            try:
                complete_log(LocalPlace(log), last, usual, begin=True)
            except Killed:
                killed = True
                assert SparksLog(log, usual).files() == []
            kill_after(None)
            complete_log(LocalPlace(log), last, usual, begin=True)
            assert SparksLog(log, usual).latest == last
            assert SparksLog(log, usual).interval == usual
            every = (*USUAL, 10) if last + 1 >= 2 * usual and not killed else (usual, 10)
            assert all(SparksLog(log, of_reader).files() == [] for of_reader in every)
            written: list[str] = []
            for number in range(last + 1, last + 2 * usual + 2):
                written.append(f"file {number}")
                SparksLog(log, usual).add(number, written[-1:])
                assert SparksLog(log, usual).files() == SparksLog(log, 10).files() == written
            writes, begun = writes + 1, begun + 1
        assert writes - 1 <= 2 * usual + 1, "it does not write all entries"
    assert begun > 4 * usual + 1


@pytest.mark.parametrize("usual", USUAL)
@pytest.mark.parametrize("missing", [1, 2])
def test_a_micro_batch_without_a_sink_gets_an_entry_without_files(usual: int, missing: int, tmp_path: Path) -> None:
    """Also where it is a compaction. One that Spark has not committed gets none: Spark would skip it."""
    for last in range(4 * usual):
        log = tmp_path / str(last)
        log.mkdir()
        for number in range(last + 1):
            SparksLog(log, usual).add(number, [f"file {number}"])
        before = {path.name: path.read_text() for path in log.iterdir()}
        complete_log(LocalPlace(log), last, usual, begin=True)
        complete_log(LocalPlace(log), last - 1, usual, begin=True)  # written, but not committed yet
        assert {path.name: path.read_text() for path in log.iterdir()} == before
        complete_log(LocalPlace(log), last + missing, usual, begin=False)
        assert {name: (log / name).read_text() for name in before} == before
        assert SparksLog(log, usual).latest == last + missing
        written = [f"file {number}" for number in range(last + 1)]
        assert SparksLog(log, usual).files() == written
        for number in range(last + missing + 1, last + missing + 2 * usual + 2):
            written.append(f"file {number}")
            SparksLog(log, usual).add(number, written[-1:])
            assert SparksLog(log, usual).files() == written


def test_a_log_keeps_its_interval(tmp_path: Path) -> None:
    """Whatever the session says now."""
    for number in range(8):
        SparksLog(tmp_path, 3).add(number, [f"file {number}"])
    complete_log(LocalPlace(tmp_path), 8, 5, begin=False)
    assert (tmp_path / "8.compact").read_text().split("\n") == ["v1", *(f"file {number}" for number in range(8))]


def test_no_log_begins_where_it_may_not(tmp_path: Path) -> None:
    """Spark's log would hide the files that others write there."""
    complete_log(LocalPlace(tmp_path / "out"), 20, 10, begin=False)
    assert not (tmp_path / "out").exists()
    spark: Any = SimpleNamespace(conf=SimpleNamespace(get=lambda key, usual: "3"))
    folders = [f"file:{tmp_path}/{name}" for name in ("by_batch", "more")]
    complete_logs(spark, 4, folders, folders[1:])
    assert sorted(os.listdir(tmp_path)) == ["more"]
    assert sorted(os.listdir(tmp_path / "more" / "_spark_metadata")) == ["2.compact", "3", "4"]


def test_others_may_read_the_log_and_old_checksums_are_deleted(tmp_path: Path) -> None:
    log = tmp_path / "out" / "_spark_metadata"
    log.mkdir(parents=True)
    (log / ".2.compact.crc").write_text("of an entry that was deleted")
    (log / "_draft").write_text("")
    mask = os.umask(0o022)
    try:
        complete_log(LocalPlace(log), 3, 3, begin=True)
        complete_log(LocalPlace(tmp_path / "new" / "_spark_metadata"), 0, 3, begin=True)
    finally:
        os.umask(mask)
    assert sorted(os.listdir(log)) == ["2.compact", "3", "_draft"]
    made = [log / "3", tmp_path / "new", tmp_path / "new" / "_spark_metadata"]
    assert [stat.S_IMODE(os.stat(path).st_mode) for path in made] == [0o644, 0o755, 0o755]


def test_a_damaged_log_is_reported(tmp_path: Path) -> None:
    for number in range(5):
        SparksLog(tmp_path, 3).add(number, [f"file {number}"])
    (tmp_path / "4").write_text("")
    with pytest.raises(DataError, match=r"the entry .*/4 of Spark's log of files is damaged"):
        complete_log(LocalPlace(tmp_path), 5, 3, begin=False)
    (tmp_path / "2.compact").unlink()
    with pytest.raises(DataError, match=r"the entry .*/2.compact of Spark's log of files is missing"):
        complete_log(LocalPlace(tmp_path), 5, 3, begin=False)
    assert not (tmp_path / "5.compact").exists()
    (tmp_path / "out").write_text("a file")
    spark: Any = SimpleNamespace(conf=SimpleNamespace(get=lambda key, usual: usual))
    with pytest.raises(DataError, match=r"Spark's log of the files in .*/out cannot be completed"):
        complete_logs(spark, 4, (), [f"file:{tmp_path}/out"])


def test_which_tables_have_such_a_log() -> None:
    assert Sink("t", "filesystem", "/t").logged and Sink("t", "parquet", "/t").logged
    for other in (Sink("t", "filesystem", "/t", True), Sink("t", "managed", "/t", True), Sink("t", "kafka", "t")):
        assert not other.logged
    (alone,) = stream(TABLES + TOTALS).manifest.sinks
    assert alone.logged
    both = stream(f"{TABLES} SET 'tvfsql.late-output' = 'late'; {TOTALS}").manifest.sinks
    assert [(sink.table, sink.logged) for sink in both] == [("out1", False), ("late", False)]


def test_over_spark_connect_no_log_begins_at_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checkpoint stays as it is: this is found out before the stream claims it."""
    monkeypatch.setattr(checkpoints, "table_place", lambda path, spark: None)
    spark: Any = None
    before = Manifest((), (), (Sink("t", "filesystem", "hdfs://host/t"),), (), (), 1, "")
    checkpoint = LocalPlace(tmp_path)
    checkpoints.refuse_unseen_logs(spark, ["hdfs://host/u"], checkpoint, before)  # a new stream
    (tmp_path / "spark" / "offsets").mkdir(parents=True)
    (tmp_path / "spark" / "offsets" / "0").touch()
    checkpoints.refuse_unseen_logs(spark, ["hdfs://host/t"], checkpoint, before)
    with pytest.raises(UnsupportedError, match="another folder at a URL, such as hdfs://host/u"):
        checkpoints.refuse_unseen_logs(spark, ["hdfs://host/u"], checkpoint, before)


def test_a_new_stream_takes_no_folder_with_files_that_its_log_would_hide(tmp_path: Path) -> None:
    """Also when it goes on in another folder. Files of its own folder, and those beside late rows, are all seen."""
    spark: Any = None
    folder, checkpoint = f"file:{tmp_path}/out", LocalPlace(tmp_path / "checkpoint")
    for name in ("_SUCCESS", ".part-0.crc", "day=1/part-0.json"):
        checkpoints.refuse_files_of_others(spark, [folder], [], None)
        (tmp_path / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / name).touch()
    with pytest.raises(DataError, match=r"/out has other files, such as part-0\.json"):
        checkpoints.refuse_files_of_others(spark, [folder], [], None)
    checkpoints.refuse_files_of_others(spark, [], [folder], None)
    (tmp_path / "checkpoint" / "spark" / "offsets").mkdir(parents=True)
    (tmp_path / "checkpoint" / "spark" / "offsets" / "0").touch()
    own, other = (Manifest((), (), (Sink("t", "filesystem", at),), (), (), 1, "") for at in (folder, "/other"))
    checkpoints.refuse_files_of_others(spark, [folder], [], checkpoint, own)
    with pytest.raises(DataError, match="/out has other files"):
        checkpoints.refuse_files_of_others(spark, [folder], [], checkpoint, other)


@pytest.mark.spark
def test_spark_finds_the_same_intervals_and_reads_such_logs(spark: SparkSession, tmp_path: Path) -> None:
    """Spark's own log, without a stream."""
    java: Any = spark._jvm
    streaming = java.org.apache.spark.sql.execution.streaming
    derive = streaming.runtime.CompactibleFileStreamLog.deriveCompactInterval
    for usual in (1, 2, 3, 5, 10, 12):
        for latest in range(40):
            assert interval_of([latest], usual) == derive(usual, latest) == derived(usual, latest)

    def run(log: Path, usual: int) -> Any:
        own = spark.newSession()
        own.conf.set("spark.sql.streaming.fileSink.log.compactInterval", usual)
        return streaming.sinks.FileStreamSinkLog(1, own._jsparkSession, str(log), java.scala.Option.empty())

    context: Any = spark.sparkContext
    files = context._gateway.new_array(streaming.sinks.SinkFileStatus, 1)
    for last in (0, 1, 4, 5, 8, 16):
        log = tmp_path / str(last)
        complete_log(LocalPlace(log), last, 3, begin=True)
        assert [len(run(log, usual).allFiles()) for usual in (3, 10)] == [0, 0]
        for number in range(last + 1, last + 8):
            if number == last + 5:  # a rescale
                complete_log(LocalPlace(log), number, 3, begin=False)
                continue
            files[0] = streaming.sinks.SinkFileStatus(f"file:/{number}", 1, False, 1, 1, 1, "add")
            assert run(log, 3).add(number, files)
        for usual in (3, 10):
            names = [status.path() for status in run(log, usual).allFiles()]
            assert names == [f"file:/{number}" for number in range(last + 1, last + 8) if number != last + 5]
