"""References to columns and intervals for Spark's functions, whatever the columns are called."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F


def column_of(name: str) -> Column:
    """The column with that name, which may contain dots and backticks."""
    return F.col("`" + name.replace("`", "``") + "`")


def interval_of(ms: int) -> Column:
    """An interval of `ms` milliseconds."""
    seconds, rest = divmod(abs(ms), 1000)
    return F.expr(f"INTERVAL '{'-' if ms < 0 else ''}{seconds}.{rest:03d}' SECOND")
