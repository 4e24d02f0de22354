"""Spark's driver-side Python worker of a stateful operator reports its every step on stderr: nobody asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

_lock = threading.Lock()
_inside = 0  # how many blocks run now, of all threads
_before: Any = None


@contextmanager
def quiet_java(spark: SparkSession) -> Iterator[None]:
    """What Java writes to stderr meanwhile is thrown away; errors come as exceptions all the same.

    Blocks may overlap, in several threads: the last one to end gives Java its stderr back.
    """
    _enter(spark)
    try:
        yield
    finally:
        _leave(spark)


def silence(spark: SparkSession) -> None:
    """The same, from now on. A block of `quiet_java` that ends later gives Java this silence back."""
    with _lock:
        _mute(spark)


def _mute(spark: SparkSession) -> None:
    java: Any = spark._jvm
    java.java.lang.System.setErr(java.java.io.PrintStream(java.java.io.OutputStream.nullOutputStream()))


def _enter(spark: SparkSession) -> None:
    global _inside, _before
    java: Any = spark._jvm
    with _lock:
        if not _inside:
            _before = java.java.lang.System.err
            _mute(spark)
        _inside += 1


def _leave(spark: SparkSession) -> None:
    global _inside
    java: Any = spark._jvm
    with _lock:
        _inside -= 1
        if not _inside:
            with suppress(Py4JError, OSError):  # a Java that has ended needs no stderr
                java.java.lang.System.setErr(_before)
