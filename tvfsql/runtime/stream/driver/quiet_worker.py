"""Discards the output of Spark's driver-side Python worker, which logs every step of a stateful operator on stderr."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from tvfsql.runtime.cluster.code import of_connect

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

_lock = threading.Lock()
_inside = 0  # how many blocks are running, in all threads
_before: Any = None


@contextmanager
def quiet_java(spark: SparkSession) -> Iterator[None]:
    """Discard what Java writes to stderr inside the block. Errors still arrive as exceptions.

    Blocks may overlap in several threads. The last one to end restores stderr.
    """
    if of_connect(spark):  # its server writes nothing here
        yield
        return
    _enter(spark)
    try:
        yield
    finally:
        _leave(spark)


def silence(spark: SparkSession) -> None:
    """Discard what Java writes to stderr from now on. A later block of `quiet_java` restores this silence when it
    ends."""
    with _lock:
        _mute(spark)


def _mute(spark: SparkSession) -> None:
    java: JavaObject = spark._jvm
    java.java.lang.System.setErr(java.java.io.PrintStream(java.java.io.OutputStream.nullOutputStream()))


def _enter(spark: SparkSession) -> None:
    global _inside, _before
    java: JavaObject = spark._jvm
    with _lock:
        if not _inside:
            _before = java.java.lang.System.err
            _mute(spark)
        _inside += 1


def _leave(spark: SparkSession) -> None:
    global _inside
    java: JavaObject = spark._jvm
    with _lock:
        _inside -= 1
        if not _inside:
            with suppress(Py4JError, OSError):  # a Java that has ended needs no stderr
                java.java.lang.System.setErr(_before)
