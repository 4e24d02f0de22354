"""The start of Spark's Java: the home of Spark that it uses, and its end if the start is interrupted."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from pyspark import SparkContext, java_gateway

from tvfsql.folders import in_cache, is_ours

_launched: list[subprocess.Popen[bytes]] = []  # those that have not told their port yet


def kill_launched() -> None:
    """Kill the Java that another thread is starting."""
    for java in _launched:
        java.kill()


@contextmanager
def no_java_left() -> Iterator[None]:
    """Kill the Java that pyspark launches in this block if the block fails before Java has told its port.

    pyspark removes the folder for the port when it is interrupted. Java then fails to write it, and never ends.
    """

    class Recorded(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            _launched.append(self)

    try:
        with launched_by(Recorded):
            yield
    except BaseException:
        if SparkContext._gateway is None:
            for java in _launched:
                java.kill()
                java.wait()
        raise
    finally:
        _launched.clear()


@contextmanager
def launched_by(java: type[subprocess.Popen[bytes]]) -> Iterator[None]:
    """In the block pyspark launches Java by this class."""
    launcher: Any = java_gateway
    own, launcher.Popen = launcher.Popen, java
    try:
        yield
    finally:
        launcher.Popen = own


# A SPARK_HOME for the installed pyspark with which Python workers start in half the time.
#
# Spark puts SPARK_HOME's `python/lib/pyspark.zip` first on the PYTHONPATH of every Python process that it starts.
# Python does not cache compiled modules of a zip, so each process would compile pyspark again, 0.6 s. Without the zip,
# workers import the installed package, as this process does.


_ZIPPED = "python"  # the folder that only contains the zips, and sources for R


def home_without_zip(home: Path) -> Path:
    """A folder with links to everything in `home` except the zip.

    If `home` is not the installed package but a separate Spark, `home` itself, because its version may differ. The
    folder is kept in the user's cache, or in a temporary folder if the cache cannot be written.
    """
    if os.name == "nt" or home.resolve() != Path(pyspark.__file__).resolve().parent:
        return home
    links = {entry.name: str(entry) for entry in home.resolve().iterdir() if entry.name != _ZIPPED}
    name = f"spark-{hashlib.sha256(repr(sorted(links.items())).encode()).hexdigest()[:12]}"
    return in_cache(lambda folder: _linked(folder / name, links))


def _linked(folder: Path, links: dict[str, str]) -> Path:
    if _has(folder, links):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        for name, target in links.items():
            (draft / name).symlink_to(target)
        draft.rename(folder)  # atomic: another process may be starting Spark from it
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)
        if not _has(folder, links):  # otherwise another process was first
            raise
    return folder


def _has(folder: Path, links: dict[str, str]) -> bool:
    """Whether the folder exists, belongs to us, and has exactly these links."""
    try:
        return is_ours(folder) and {entry.name: os.readlink(entry) for entry in folder.iterdir()} == links
    except OSError:
        return False
