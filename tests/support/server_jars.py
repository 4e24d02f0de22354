"""Jars of Maven Central for servers that tests start, kept in the user's cache.

Ivy, which Spark includes, downloads what an ivy.xml lists, and checks checksums.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import socket
import subprocess
from functools import cache
from pathlib import Path

import pyspark

from tvfsql.folders import cache_folder
from tvfsql.runtime.local_spark.java import find_java

SPARK_JARS = Path(pyspark.__file__).with_name("jars")


class Unreachable(Exception):
    """The jars cannot be downloaded."""


@cache
def jars(of: str, *, patience: int = 300) -> Path | Unreachable:
    """The folder of the jars that `of`/ivy.xml lists, with a folder for each configuration; downloads them if they
    are missing."""
    ivy_file = Path(__file__).with_name(of) / "ivy.xml"
    kept = cache_folder() / f"{of}-{hashlib.sha256(ivy_file.read_bytes()).hexdigest()[:12]}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.with_name(f"{kept.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        return kept if kept.is_dir() else _fetched(kept, ivy_file, of, patience)


def _fetched(kept: Path, ivy_file: Path, of: str, patience: int) -> Path | Unreachable:
    draft = kept.with_name(f"{kept.name}.draft")
    (ivy,) = SPARK_JARS.glob("ivy-*.jar")
    pattern = f"{draft}/[conf]/[artifact]-[revision].[ext]"
    command = [java(), "-jar", str(ivy), "-cache", f"{draft}/ivy", "-m2compatible", "-ivy", str(ivy_file)]
    command += ["-types", "jar", "bundle", "-retrieve", pattern]
    try:
        subprocess.run(command, capture_output=True, text=True, timeout=patience, check=True)
    except subprocess.TimeoutExpired:
        return Unreachable(f"Maven Central does not answer, and the jars of {of} come from there")
    except subprocess.CalledProcessError as error:
        told = [line.strip() for line in error.stdout.splitlines() if "not found" in line.lower()]
        return Unreachable(f"the jars of {of} cannot be fetched from Maven Central: {told[-1:]}")
    shutil.rmtree(draft / "ivy")
    draft.rename(kept)
    return kept


def jars_in(of: str, configuration: str) -> str | None:
    """The jars of a configuration, as the value of `--jars`; None if they cannot be downloaded."""
    found = jars(of)
    return None if isinstance(found, Unreachable) else ",".join(map(str, sorted((found / configuration).glob("*.jar"))))


def java() -> str:
    return str(find_java().home / "bin" / "java")


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
