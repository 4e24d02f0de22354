"""A checkpoint has one owner at a time, and an identity that no path changes. No JVM."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tvfsql import Session
from tvfsql.api.streams.state import rescale_streams
from tvfsql.cli import main
from tvfsql.cli.output import Exit
from tvfsql.errors import DataError
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.checkpoint import owner
from tvfsql.runtime.stream.checkpoint.owner import own, owned
from tvfsql.runtime.stream.driver.identity import identify

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OWNER = """
import sys, time
from pathlib import Path
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.checkpoint.owner import own
own(LocalPlace(Path(sys.argv[1])))
print("owned", flush=True)
time.sleep(60)
"""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner, "BEAT", 0.02)
    monkeypatch.setattr(owner, "PATIENCE", 0.3)


def test_a_second_process_is_refused_and_a_killed_one_gives_way(tmp_path: Path) -> None:
    first = subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert first.stdout is not None and first.stdout.readline() == "owned\n"
    with pytest.raises(DataError, match=f"is in use by process {first.pid}, since ") as caught:
        own(LocalPlace(tmp_path))
    assert str(tmp_path) in caught.value.message and "--checkpoint" in str(caught.value.hint)
    first.send_signal(signal.SIGKILL)
    first.wait()
    with owned(LocalPlace(tmp_path)):
        assert json.loads((tmp_path / "owner.json").read_text())["pid"] == os.getpid()
    first.stdout.close()


def test_two_streams_of_a_process_do_not_share_a_checkpoint(tmp_path: Path) -> None:
    release = own(LocalPlace(tmp_path))
    with pytest.raises(DataError, match="is in use by this process"):
        own(LocalPlace(tmp_path))
    release()
    release()
    own(LocalPlace(tmp_path))()


@pytest.mark.usefixtures("quick")
def test_without_locks_an_owner_that_shows_no_life_is_gone(tmp_path: Path) -> None:
    file = LocalPlace(tmp_path / "owner.json")
    release = owner._Beats(file).begin()
    with pytest.raises(DataError, match="is in use by this process"):
        owner._Beats(file).begin()
    release()
    assert not file.exists()
    file.write('{"host": "gone", "pid": 1, "since": "2020-01-01 00:00:00 UTC", "beat": 7}')
    owner._Beats(file).begin()()
    assert not file.exists()


@pytest.mark.usefixtures("quick")
def test_one_of_many_that_take_over_wins(tmp_path: Path) -> None:
    file = LocalPlace(tmp_path / "owner.json")
    file.write("{}")
    won, lost = list[owner.Release](), list[DataError]()

    def take() -> None:
        try:
            won.append(owner._Beats(file).begin())
        except DataError as error:
            lost.append(error)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 3)
    won[0]()


def test_a_checkpoint_in_use_is_not_rescaled(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "query.py").touch()
    with owned(LocalPlace(tmp_path / "1")), pytest.raises(DataError, match="1 is in use by this process"):
        rescale_streams(no_spark, str(tmp_path), 2, None, io.StringIO())
    rescale_streams(no_spark, str(tmp_path), 2, None, out := io.StringIO())
    assert out.getvalue() == "stream 1: no state yet\n"


BOUNDED = "CREATE TABLE b (k STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '1');"


def test_a_checkpoint_in_use_is_refused_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def get(own: object) -> SparkSession:
        raise AssertionError("no Spark starts")

    monkeypatch.setattr("tvfsql.api.own_spark.OwnSpark.get", get)
    monkeypatch.setattr("tvfsql.cli.run._start_early", lambda given: None)
    insert = f"{BOUNDED}CREATE TABLE o (k STRING) WITH ('connector' = 'print'); INSERT INTO o SELECT k FROM b"

    def session() -> Session:
        return Session(mode="streaming", checkpoint=tmp_path)

    with owned(LocalPlace(tmp_path / "1")):
        with pytest.raises(DataError, match="1 is in use by this process"):
            session().execute(insert)
        with pytest.raises(DataError, match="1 is in use by this process"):
            session().execute(f"{BOUNDED}SELECT k FROM b")[-1].collect()
        arguments = ["run", "--mode", "streaming", "--checkpoint", str(tmp_path), "-e"]
        assert main([*arguments, insert]) == Exit.ERROR
        assert main([*arguments, f"{BOUNDED}SELECT k FROM b"]) == Exit.ERROR
    assert capsys.readouterr().err.count("1 is in use by this process") == 2
    with pytest.raises(AssertionError, match="no Spark starts"):
        session().execute(insert)


# ------------------------------------------------------------------------------------------ identity


def no_spark() -> SparkSession:
    raise AssertionError("a local checkpoint needs no Spark")


def begun(folder: Path) -> str:
    (folder / "spark" / "offsets").mkdir(parents=True)
    (folder / "spark" / "offsets" / "0").touch()
    return identify(LocalPlace(folder), no_spark)


def test_a_checkpoint_keeps_its_id_wherever_it_is(tmp_path: Path) -> None:
    id = begun(tmp_path / "first")
    assert identify(LocalPlace(tmp_path / "first"), no_spark) == id
    (tmp_path / "link").symlink_to(tmp_path / "first")
    assert identify(LocalPlace(tmp_path / "link").resolved(), no_spark) == id
    (tmp_path / "first").rename(tmp_path / "second")
    (tmp_path / "first").symlink_to(tmp_path / "second")
    assert identify(LocalPlace(tmp_path / "second").resolved(), no_spark) == id
    assert identify(LocalPlace(tmp_path / "first").resolved(), no_spark) == id


def test_a_copy_is_refused_while_its_original_is_there(tmp_path: Path) -> None:
    first, copy = tmp_path / "first", tmp_path / "copy"
    id = begun(first)
    shutil.copytree(first, copy)
    with pytest.raises(DataError, match=f"{copy} is a copy of {first}, which is still there") as caught:
        identify(LocalPlace(copy), no_spark)
    assert identify(LocalPlace(first), no_spark) == id
    assert caught.value.hint == (
        f"go on with {first}; or delete {copy / 'identity.json'}, and the copy is a stream of its own"
    )
    (copy / "identity.json").unlink()
    other = identify(LocalPlace(copy), no_spark)
    assert other != id and identify(LocalPlace(copy), no_spark) == other
    shutil.rmtree(copy)
    shutil.copytree(first, copy)
    shutil.rmtree(first)
    assert identify(LocalPlace(copy), no_spark) == id, "a backup that was put back"


def test_a_damaged_identity_is_refused(tmp_path: Path) -> None:
    begun(tmp_path)
    (tmp_path / "identity.json").write_text("{}")
    with pytest.raises(DataError, match="is damaged"):
        identify(LocalPlace(tmp_path), no_spark)
