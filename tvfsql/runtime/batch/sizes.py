"""The size of windows. Spark takes them for as large as the slices that Python makes them of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from tvfsql.runtime.cluster.code import of_connect
from tvfsql.runtime.frames.column_names import column_of

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject

TASK_BYTES = 4 << 20  # of windows, of which a task makes 50 to 100 MB a second


def sized(windows: DataFrame, *keys: str, overlap: int) -> DataFrame:
    """The same rows, after a shuffle by the keys of a join if Spark would take them for few enough to broadcast, and
    `overlap` times as many are not: a broadcast passes through the memory of the driver.

    After the shuffle, which a join without a broadcast needs anyway, Spark knows their size, and decides again. If it
    does not adapt plans, it sorts and merges the sides.
    """
    session, known = windows.sparkSession, estimated_bytes(windows)
    if known is not None:
        java: JavaObject = session
        most = java._jsparkSession.sessionState().conf().autoBroadcastJoinThreshold()
        if not known <= most < known * overlap:
            return windows
    if session.conf.get("spark.sql.adaptive.enabled") != "true":
        return windows.hint("merge")
    return windows.repartition(*map(column_of, keys))


def tasks_of(slices: DataFrame, overlap: int) -> int:
    """The number of tasks that make windows of slices: as many as Spark has for a shuffle, or fewer if there is too
    little for them. Without a number Spark counts the bytes of slices, and puts few of them into one task.
    """
    most, known = int(slices.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1), estimated_bytes(slices)
    return most if known is None else min(most, max(2, known * overlap // TASK_BYTES))


def estimated_bytes(rows: DataFrame) -> int | None:
    """What Spark expects the rows to take; None over Spark Connect, where clients are not told."""
    if of_connect(rows.sparkSession):
        return None
    java: JavaObject = rows
    return int(str(java._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))
