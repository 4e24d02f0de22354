"""Groups without a window as Spark's own aggregate, for sinks in which a new result replaces the old one.

Its state is one row for each group, in Spark's format, and no stage of it is in Python. Source:
semantics.md#groups-without-a-window.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame

from tvfsql.runtime.stream.exchange.key_groups import labels_of
from tvfsql.runtime.stream.time.execution import execution


def upserted_groups(rows: DataFrame, *results: Column, keys: Sequence[str], key_groups: int | None = None) -> DataFrame:
    """UpsertAggregate: `keys` and `results` of all groups that have rows in a micro-batch, of all rows so far.

    What writes them must be in the output mode `update`. Spark divides the state into as many partitions as other
    operators have key groups.
    """
    labels_of(key_groups, keyed=True)
    return execution().aggregate(rows, results, keys)
