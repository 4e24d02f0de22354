"""Jars that Flink needs beside those of its wheel."""

from __future__ import annotations

import sys
from pathlib import Path

SUPPORT = Path(__file__).parents[1] / "support"
sys.path.append(str(SUPPORT))  # at the end: it has modules of the same names

from server_jars import SPARK_JARS, Unreachable, jars  # noqa: E402


def parquet_jars() -> list[str]:
    """URLs of Flink's Parquet format, and of the Hadoop that it needs: Spark's."""
    found = jars("bench_jars")
    assert not isinstance(found, Unreachable), f"Flink's Parquet format cannot be had: {found}"
    return [file.as_uri() for file in (*(found / "parquet").glob("*.jar"), *SPARK_JARS.glob("hadoop-client-*.jar"))]
