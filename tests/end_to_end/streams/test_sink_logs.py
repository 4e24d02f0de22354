"""A stream that is rescaled, or goes on in another folder, has its rows where Spark and tvfsql read them, over the next
compactions of Spark's log of files."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql import Session
from tvfsql.api.streams.state import rescale_streams
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.checkpoint.sink_log import INTERVAL
from tvfsql.runtime.stream.rescale import rescale

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BID = """CREATE TABLE bid (item STRING, price BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{folder}/in', 'format' = 'json', 'maxFilesPerTrigger' = '1');
"""
TOTALS = """CREATE TABLE totals (ends TIMESTAMP(3), item STRING, n BIGINT, s BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{folder}/{out}', 'format' = 'json');
"""
LATE = """CREATE TABLE late (item STRING)
WITH ('connector' = 'filesystem', 'path' = '{folder}/late', 'format' = 'json');
SET 'tvfsql.late-output' = 'late';
"""
QUERY = """SELECT window_end, item, COUNT(*) AS n, SUM(price) AS s
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, item"""
Rows = Counter[tuple[Any, ...]]


class Killed(BaseException):
    """What ends a process at any place."""


@pytest.fixture
def every_third(spark: SparkSession) -> Iterator[None]:
    """Spark's log has a compaction in every third micro-batch."""
    spark.conf.set(INTERVAL, 3)
    yield
    spark.conf.unset(INTERVAL)


@pytest.mark.spark
def test_the_folders_of_a_stream_are_read_after_a_rescale_and_after_a_change_of_the_path(
    spark: SparkSession, every_third: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both rescales are compactions of the log. The second one is killed when Spark has committed it, and the first
    run with the new path when the log has one entry there."""
    stream = Bids(spark, tmp_path)
    stream.run("out", 2)
    assert stream.entries("out") == ["0", "1"]
    stream.rescale(2)
    assert stream.entries("out") == ["0", "1", "2.compact"]
    assert sum(stream.read("out").values()) == 2
    stream.run("out", 2)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(rescale, "complete_logs", killed)
        stream.rescale(3)
    assert stream.entries("out") == ["0", "1", "2.compact", "3", "4"]
    assert (tmp_path / "checkpoint" / "1" / "spark" / "commits" / "5").exists()
    stream.run("out", 3)
    assert stream.entries("out") == ["0", "1", "2.compact", "3", "4", "5.compact", "6", "7", "8.compact"]
    before = stream.read("out")
    assert sum(before.values()) == 2 * 6

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(LocalPlace, "write", killed_after(1))
        stream.run("more", 0)
    assert stream.entries("more") == ["8.compact"]
    assert stream.read("more") == Counter()
    stream.run("more", 1)
    assert stream.entries("more") == ["8.compact", "9"]
    assert sum(stream.read("more").values()) == 2
    stream.run("more", 4)
    stream.run("more", 1, final=True)
    assert {"11.compact", "14.compact"} < {*stream.entries("more")}
    assert stream.read("out") == before
    whole = Session(spark)
    whole.execute(BID.format(folder=tmp_path))
    assert before + stream.read("more") == Counter(map(tuple, whole.sql(QUERY).collect()))


@pytest.mark.spark
def test_a_folder_whose_log_only_has_entries_without_files_is_read(
    spark: SparkSession, every_third: None, tmp_path: Path
) -> None:
    """Without a manifest, which compiled programs do not write, a rescale does not know the folder: the next run adds
    its entry."""
    stream = Bids(spark, tmp_path)
    stream.run("out", 4)
    (tmp_path / "checkpoint" / "1" / "manifest.json").rename(tmp_path / "manifest.json")
    stream.rescale(2)
    assert stream.entries("out") == ["0", "1", "2.compact", "3"]
    (tmp_path / "manifest.json").rename(tmp_path / "checkpoint" / "1" / "manifest.json")
    stream.run("out", 0)
    assert stream.entries("out") == ["0", "1", "2.compact", "3", "4", "5.compact"]
    stream.run("more", 0)
    assert stream.entries("more") == ["2.compact", "3", "4", "5.compact", "6"]
    assert stream.read("more") == Counter()
    assert sum(stream.read("out").values()) == 2 * 3


@pytest.mark.spark
def test_late_output_is_switched_off_together_with_another_folder(
    spark: SparkSession, every_third: None, tmp_path: Path
) -> None:
    """The first folder has no log, because each micro-batch is written on its own."""
    stream = Bids(spark, tmp_path)
    stream.run("out", 4, late=True)
    assert stream.entries("out") == []
    stream.run("more", 2)
    assert stream.entries("more") == ["2.compact", "3", "4", "5.compact"]
    assert [sum(stream.read(out).values()) for out in ("out", "more")] == [2 * 3, 2 * 2]


def killed(*_: object) -> None:
    raise Killed


def killed_after(entries: int) -> Any:
    """Writes files, and some entries of a log of files."""
    write, left = LocalPlace.write, [entries]

    def counted(place: LocalPlace, content: str | bytes, *, shared: bool = False) -> None:
        if shared and not left[0]:
            raise Killed
        left[0] -= shared
        write(place, content, shared=shared)

    return counted


class Bids:
    """A stream of files with a minute each, one in a micro-batch, which closes the minute before."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder, self.files = spark, folder, 0

    def run(self, out: str, files: int, *, final: bool = False, late: bool = False) -> None:
        """Run it with some more files."""
        for _ in range(files):
            self._write()
        session = Session(self.spark, mode="streaming", checkpoint=self.folder / "checkpoint", final=final)
        tables = (BID + TOTALS + LATE * late).format(folder=self.folder, out=out)
        session.execute(f"{tables}INSERT INTO totals {QUERY}")

    def rescale(self, key_groups: int) -> None:
        rescale_streams(lambda: self.spark, str(self.folder / "checkpoint"), None, key_groups, io.StringIO())

    def entries(self, out: str) -> list[str]:
        """The entries of the log, in the order of their numbers."""
        found = [path.name for path in (self.folder / out / "_spark_metadata").glob("[0-9]*")]
        return sorted(found, key=lambda name: int(name.removesuffix(".compact")))

    def read(self, out: str) -> Rows:
        """The rows that both Spark and tvfsql read."""
        columns = "ends TIMESTAMP_NTZ, item STRING, n BIGINT, s BIGINT"
        by_spark = self.spark.read.schema(columns).json(str(self.folder / out)).collect()
        session = Session(self.spark)
        session.execute(TOTALS.format(folder=self.folder, out=out))
        by_tvfsql = session.sql("SELECT * FROM totals").collect()
        assert Counter(map(tuple, by_spark)) == Counter(map(tuple, by_tvfsql))
        return Counter(map(tuple, by_tvfsql))

    def _write(self) -> None:
        (self.folder / "in").mkdir(exist_ok=True)
        file = self.folder / "in" / f"{self.files:02}.json"
        rows = [("a", self.files, 1), ("b", 2, 2), ("a", 3, 58)]
        told = [
            {"item": item, "price": price, "ts": f"2024-01-01 00:{self.files:02}:{second:02}"}
            for item, price, second in rows
        ]
        file.write_text("".join(f"{json.dumps(row)}\n" for row in told), encoding="utf-8")
        os.utime(file, (1_600_000_000 + self.files, 1_600_000_000 + self.files))  # the order in which they are read
        self.files += 1
