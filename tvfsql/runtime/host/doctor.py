"""Checks that this machine, and a cluster, have what tvfsql needs, with hints for what is missing."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from tvfsql.runtime.cluster.files import LocalPlace, Place
from tvfsql.runtime.cluster.places import place_of
from tvfsql.runtime.local_spark.java import INSTALL_HINT, SUPPORTED, candidates

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PYTHON = (3, 11)
TEXT = "tvfsql"  # in a file that workers look for
TASKS = 32  # small tasks that examine the workers of a cluster


@dataclass(frozen=True)
class Check:
    """The result of a check: whether it passed, what was found, and what to type if it failed."""

    name: str
    ok: bool
    found: str
    hint: str | None = None


def checks() -> tuple[Check, ...]:
    """The checks of this machine, in the order in which a run needs their results. Does not start Spark."""
    return (_python(), *_packages(), _java(), *_spark_home())


def cluster_checks(spark: SparkSession, folder: str | None = None) -> Iterator[Check]:
    """The checks of a running Spark and its workers. `folder`: a folder for checkpoints that all of them must see.

    Raises as `translated` does if no task can run on the workers.
    """
    from tvfsql.runtime.cluster.code import share
    from tvfsql.runtime.cluster.workers import workers
    from tvfsql.runtime.host.failures import translated

    version = _version("pyspark")
    yield Check("Spark", spark.version == version, spark.version, f"pip install pyspark=={spark.version}, here")
    with translated(), _file_in(spark, folder) as file:
        share(spark)
        mounted = isinstance(file, LocalPlace)
        found = workers(spark, TASKS, str(file) if mounted else "")
        if file is not None and not mounted:
            read = [row.value for row in spark.read.text(str(file)).collect()]
            yield Check(f"{folder}", read == [TEXT], "written here and read by a worker")
    for worker in found:
        shown = f"Python {worker.version} ({worker.python})"
        packages = ", ".join(f"{name} {version}".rstrip() for name, version in worker.versions)
        hint = f"{worker.python} -m pip install {' '.join(worker.missing)}, there"
        lacks = f", without {', '.join(worker.missing)}" if worker.missing else ""
        yield Check(f"worker {worker.host}", not worker.missing, f"{shown}; {packages}{lacks}", hint)
        if mounted:
            yield Check(
                f"  {folder}",
                worker.sees is True,
                "seen" if worker.sees else "not seen",
                f"mount {folder} on {worker.host}",
            )


@contextmanager
def _file_in(spark: SparkSession, folder: str | None) -> Iterator[Place | None]:
    """A temporary file in the folder, for workers to look for; None without a folder."""
    if folder is None:
        yield None
        return
    place = place_of(folder, lambda: spark).resolved()
    place.make()
    file = place / f"tvfsql-{uuid4().hex}"
    file.write(TEXT)
    try:
        yield file
    finally:
        file.delete()


def _python() -> Check:
    found = ".".join(map(str, sys.version_info[:3])) + f" ({sys.executable})"
    wanted = ".".join(map(str, PYTHON))
    return Check("Python", sys.version_info >= PYTHON, found, f"install Python {wanted} or later")


def _packages() -> Iterator[Check]:
    """The packages that the installed tvfsql requires, with their version bounds."""
    try:
        requirements = metadata.requires("tvfsql") or []
    except metadata.PackageNotFoundError:
        yield Check("tvfsql", False, "not installed", "pip install .")
        return
    yield Check("tvfsql", True, metadata.version("tvfsql"))
    for requirement in requirements:
        if ";" not in requirement:  # otherwise it belongs to an extra
            yield _package(requirement)


def _package(requirement: str) -> Check:
    name, bounds = _parts(requirement)
    hint = f"pip install '{requirement}'"
    version = _version(name)
    if version is None:
        return Check(name, False, "not installed", hint)
    if all(_within(version, sign, bound) for sign, bound in bounds):
        return Check(name, True, version)
    return Check(name, False, f"{version}, but tvfsql needs {requirement}", hint)


def _parts(requirement: str) -> tuple[str, list[tuple[str, str]]]:
    """`pyspark<5,>=4.2` is pyspark with two bounds. pyproject.toml only uses >= and <."""
    name = re.split(r"[\s<>=!~\[(]", requirement, maxsplit=1)[0]
    return name, re.findall(r"(>=|<)\s*([\d.]+)", requirement)


def _within(version: str, sign: str, bound: str) -> bool:
    found, border = _numbers(version), _numbers(bound)
    return found >= border if sign == ">=" else found < border


def _java() -> Check:
    found = []
    for java in candidates():
        found.append(f"{java.version} ({java.source}: {java.home})")
        if java.supported:
            return Check("Java", True, found[-1])
    wanted = ", ".join(map(str, SUPPORTED))
    return Check("Java", False, f"{'; '.join(found) or 'none'}; Spark runs on {wanted}", INSTALL_HINT)


def _spark_home() -> Iterator[Check]:
    """With SPARK_HOME set, pyspark starts that Spark instead of its own, so its version is checked."""
    home = os.environ.get("SPARK_HOME")
    if home is None:
        return
    jars = Path(home, "jars").glob("spark-core_*.jar")
    found = sorted(jar.stem.rpartition("-")[2] for jar in jars)
    shown = f"{home}: Spark {', '.join(found) or 'not found'}"
    yield Check("SPARK_HOME", found == [_version("pyspark")], shown, "unset SPARK_HOME")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """4.3.0.dev1 is (4, 3, 0). This is enough for bounds, and needs no library `packaging`."""
    head = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in head.group().split(".")) if head else ()
