"""Counts of rows that a query leaves out: nothing is dropped without a trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F


@dataclass
class DroppedRows:
    """What the queries count that are built in a block `counting_dropped`."""

    observed: list[tuple[str, Observation]] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """By name, once the queries have ended; a count that no query has brought is left out."""
        found: dict[str, int] = {}
        for name, observation in self.observed:
            if observation._jo is not None:
                found[name] = found.get(name, 0) + int(observation.get["count"])
        return found


_current: ContextVar[DroppedRows | None] = ContextVar("dropped_rows", default=None)


@contextmanager
def counting_dropped() -> Iterator[DroppedRows]:
    """Queries that are built in the block count the rows that they drop."""
    dropped = DroppedRows()
    before = _current.set(dropped)
    try:
        yield dropped
    finally:
        _current.reset(before)


def counted(rows: DataFrame, name: str, condition: Column) -> DataFrame:
    """The rows, unchanged. In a block `counting_dropped` those that meet the condition are counted under `name`."""
    dropped = _current.get()
    if dropped is None:
        return rows
    observation = Observation()
    dropped.observed.append((name, observation))
    return rows.observe(observation, F.count_if(condition).alias("count"))
