"""Counts of rows that a query leaves out: nothing is dropped without a trace."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

_waiting: list[tuple[str, Observation]] = []


def counted(rows: DataFrame, name: str, condition: Column) -> DataFrame:
    """The rows, unchanged; those that meet the condition are counted under `name` when a query runs over them."""
    observation = Observation()
    _waiting.append((name, observation))
    return rows.observe(observation, F.count_if(condition).alias("count"))


def take_counts() -> dict[str, int]:
    """What was counted since the last call, by name; a count that no query has brought yet is left out.

    To be called once the queries have ended.
    """
    counts: dict[str, int] = {}
    for name, observation in _waiting:
        if observation._jo is not None:
            counts[name] = counts.get(name, 0) + int(observation.get["count"])
    _waiting.clear()
    return counts
