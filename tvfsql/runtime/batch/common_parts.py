"""Rows that several operators of one query read: kept while the result of the query is."""

from __future__ import annotations

import weakref
from contextlib import suppress
from threading import Thread
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def computed_once(rows: DataFrame) -> DataFrame:
    """The same rows, which Spark keeps in memory or on disk from where they are first read.

    A condition that always holds makes the plan that is kept a plan of its own. Without it Spark would give these rows
    to every equal plan, also to the same query over files that have come since. Spark's optimizer removes it.
    """
    return rows.where(F.lit(uuid4().hex).isNotNull()).persist()


def holding(result: DataFrame, *parts: DataFrame) -> DataFrame:
    """The result of a query, which releases the rows of its parts when it is no longer used. What else was made of it
    stays right: Spark computes the parts anew.
    """
    weakref.finalize(result, _release, parts).atexit = False
    return result


def _release(parts: tuple[DataFrame, ...]) -> None:
    def release() -> None:
        for part in parts:
            with suppress(Py4JError, PySparkException, ConnectionError):  # Spark has ended, and the rows with it
                part.unpersist()

    # Python may drop the result in the midst of another call to Spark, on the connection of this thread
    Thread(target=release, daemon=True).start()
