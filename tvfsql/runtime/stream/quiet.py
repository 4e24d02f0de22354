"""Spark's driver-side Python worker of a stateful operator reports its every step on stderr: nobody asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def quiet_java(spark: SparkSession) -> Iterator[None]:
    """What Java writes to stderr meanwhile is thrown away; errors come as exceptions all the same."""
    java = spark._jvm
    assert java is not None
    before = java.java.lang.System.err
    java.java.lang.System.setErr(java.java.io.PrintStream(java.java.io.OutputStream.nullOutputStream()))
    try:
        yield
    finally:
        java.java.lang.System.setErr(before)
