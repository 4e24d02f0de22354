"""The first rows of a stream, for a SELECT with LIMIT: once they have come, the stream stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from pyspark.sql import DataFrame

Write = Callable[[DataFrame, int], None]  # writes the rows of a micro-batch, whose number is passed


@dataclass
class FirstRows:
    """`left` rows are still wanted, after `skipped` others. `stateful`: operators keep state, for which Spark wants
    each micro-batch computed to its end: also the last one, and those that begin before the stream has stopped."""

    left: int
    skipped: int = 0
    stateful: bool = False

    @property
    def complete(self) -> bool:
        return self.left == 0

    def take(self, rows: DataFrame, write: Callable[[DataFrame], None]) -> None:
        """Write the wanted rows of a micro-batch. Without state Spark computes no more of it than they need."""
        if self.stateful:
            rows = rows.persist()
            rows.count()
        if not self.complete:
            self._take(rows, write)
        if self.stateful:
            rows.unpersist()

    def _take(self, rows: DataFrame, write: Callable[[DataFrame], None]) -> None:
        kept = rows.limit(self.skipped + self.left).persist()
        try:
            count = kept.count()
            passed = min(count, self.skipped)
            self.skipped -= passed
            if count > passed:
                write(kept.offset(passed) if passed else kept)
                self.left -= count - passed
        finally:
            kept.unpersist()


_taking: ContextVar[FirstRows | None] = ContextVar("first_rows", default=None)


@contextmanager
def taking(first: FirstRows | None) -> Iterator[None]:
    """Queries that are built inside this block write only these rows; None: all."""
    before = _taking.set(first)
    try:
        yield
    finally:
        _taking.reset(before)


def of_first_rows(write: Write) -> Write:
    """What writes the micro-batches of the query that is being built: with LIMIT, `write` gets the first rows alone."""
    first = _taking.get()
    if first is None:
        return write
    return lambda rows, number: first.take(rows, lambda kept: write(kept, number))
