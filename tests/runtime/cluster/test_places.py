"""Places: files of a checkpoint on a local disk, and the texts of URLs. No JVM."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tvfsql import Session
from tvfsql.errors import UnsupportedError
from tvfsql.runtime.cluster.files import LocalPlace, for_spark
from tvfsql.runtime.cluster.hadoop_files import HadoopPlace
from tvfsql.runtime.cluster.places import place_of
from tvfsql.runtime.stream.driver.checkpoints import manifest_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def no_spark() -> SparkSession:
    raise AssertionError("it was not to start")


def test_a_url_keeps_its_slashes_and_a_file_url_is_a_path() -> None:
    assert place_of("a/b", no_spark) == LocalPlace(Path("a/b"))
    assert place_of("file:///a/b%20c", no_spark) == LocalPlace(Path("/a/b c"))
    for url in ("hdfs://namenode:9000/ck", "s3a://bucket/ck", "dbfs:/ck", "hdfs:///ck/"):
        place = place_of(url, no_spark)
        assert isinstance(place, HadoopPlace)
        assert str(place) == url and str(place / "1") == f"{url.rstrip('/')}/1"
        assert str((place / "1" / "control").parent) == f"{url.rstrip('/')}/1" and (place / "1").name == "1"
        assert for_spark(place) == url
    assert for_spark(LocalPlace(Path("a")).resolved()) == f"file:{Path('a').absolute()}"


def test_a_local_file_is_replaced_at_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    folder = LocalPlace(tmp_path / "checkpoint" / "1")
    assert (folder.exists(), folder.names(), list(folder.below()), (folder / "x").read()) == (False, [], [], None)
    folder.make()
    folder.make()
    (folder / "x").write("ä")
    (folder / "x").write("ö")
    assert (folder / "x").read() == "ö"
    assert folder.names() == ["x"], "no draft is left"
    modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (folder.path, folder.path / "x")]
    assert modes == [0o700, 0o600]
    with pytest.raises(FileNotFoundError):
        (folder / "nowhere" / "x").write("")
    for inside in ("k=1", "_k=2", "_aside", ".hidden"):
        (folder / inside).make()
        (folder / inside / inside).write("")
    assert sorted(file.name for file in folder.below()) == ["_k=2", "k=1", "x"], "as readers of tables see a folder"
    (folder / "x").delete()
    assert not (folder / "x").exists()


def test_a_url_is_refused_over_spark_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    class Connected:
        pass

    Connected.__module__ = "pyspark.sql.connect.session"
    connected: Any = Connected()
    with pytest.raises(UnsupportedError, match="over Spark Connect the checkpoint s3a://b/ck cannot be used"):
        manifest_in(place_of("s3a://b/ck", lambda: connected))


def test_a_session_takes_a_url_without_starting_spark() -> None:
    session = Session(checkpoint="hdfs://namenode:9000/ck")
    assert str(session.streams.folder()) == "hdfs://namenode:9000/ck/1"
    assert session.own.spark is None
