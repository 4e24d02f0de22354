"""Columns as Spark's functions want them, whatever they are called."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F


def column_of(name: str) -> Column:
    """The column of that name, which may hold dots and backticks."""
    return F.col("`" + name.replace("`", "``") + "`")


def interval_of(ms: int) -> Column:
    """An interval of so many milliseconds."""
    seconds, rest = divmod(abs(ms), 1000)
    return F.expr(f"INTERVAL '{'-' if ms < 0 else ''}{seconds}.{rest:03d}' SECOND")
