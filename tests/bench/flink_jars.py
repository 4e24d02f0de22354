"""Jars that Flink needs beside those of its wheel."""

from __future__ import annotations

from tests.support.server_jars import SPARK_JARS, Unreachable, jars


def parquet_jars() -> list[str]:
    """URLs of Flink's Parquet format, and of the Hadoop that it needs: Spark's."""
    found = jars("bench_jars")
    assert not isinstance(found, Unreachable), f"Flink's Parquet format cannot be had: {found}"
    return [file.as_uri() for file in (*(found / "parquet").glob("*.jar"), *SPARK_JARS.glob("hadoop-client-*.jar"))]
