"""Counts of the rows that a query drops, so that no row is dropped silently."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F


@dataclass
class DroppedRows:
    """The counts of the queries that are built inside a block `counting_dropped`."""

    observed: list[tuple[str, Observation]] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """The counts by name, once the queries have ended. A count that no query has reported is left out."""
        found: dict[str, int] = {}
        for name, observation in self.observed:
            if observation._jo is not None:
                found[name] = found.get(name, 0) + int(observation.get["count"])
        return found


_current: ContextVar[DroppedRows | None] = ContextVar("dropped_rows", default=None)


@contextmanager
def counting_dropped() -> Iterator[DroppedRows]:
    """Queries that are built inside this block count the rows that they drop."""
    dropped = DroppedRows()
    before = _current.set(dropped)
    try:
        yield dropped
    finally:
        _current.reset(before)


def counted(rows: DataFrame, name: str, condition: Column) -> DataFrame:
    """The same rows. Inside a block `counting_dropped`, rows that meet the condition are counted under `name`."""
    dropped = _current.get()
    if dropped is None:
        return rows
    observation = Observation()
    dropped.observed.append((name, observation))
    return rows.observe(observation, F.count_if(condition).alias("count"))
