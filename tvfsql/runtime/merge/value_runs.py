"""Distinct values of sliding windows: when a value enters the windows of its key, and when it leaves them.

A value is in the windows from each slice that contains it until the window size has passed. Slices no further apart
than that are one run: the value enters the windows at the first slice and leaves them one window size after the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.errors import DataError
from tvfsql.runtime.arrow.columns import Mask, changes, integers
from tvfsql.runtime.merge.kernel import CHUNK_BYTES, CHUNK_ROWS, TIMESTAMP, Feed

FEW = 0.1  # the share of rows that must be repetitions for dropping them to pay
PASSED = 9  # chunks that pass unchanged after one with fewer repetitions


@dataclass(frozen=True)
class Unrepeated:
    """Drops most repetitions of a row before a shuffle, in bounded memory. Repetitions far apart remain.

    Passes rows unchanged where repetitions are rare, and where Arrow cannot group by a column's type.
    """

    chunk_rows: int = CHUNK_ROWS
    chunk_bytes: int = CHUNK_BYTES

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        feed, passing = Feed(batches), 0
        while fresh := feed.take(self.chunk_rows, self.chunk_bytes):
            if passing or any(pa.types.is_nested(column.type) for column in fresh[0].schema):
                passing = max(0, passing - 1)
                yield from fresh
                continue
            rows = pa.Table.from_batches(fresh)
            unique = rows.group_by(rows.column_names, use_threads=False).aggregate([])
            passing = PASSED if unique.num_rows > (1 - FEW) * rows.num_rows else 0
            yield from unique.to_batches()


@dataclass(frozen=True)
class ValueRuns:
    """Changes of the distinct values of HOP windows of `size` ms.

    In: `keys` key columns, a value, the end of a slice that contains it (timestamp), in this order and sorted by it.
    A row may repeat.
    Out: the key columns, a slice end (timestamp[us]), and the change of the number of distinct values there (int64):
    1 where a value enters the windows, -1 where it leaves them. With `total` also the value, negated where it leaves
    (int64 or decimal). A key and slice end may have several rows.
    """

    keys: int
    size: int
    total: bool = False
    chunk_rows: int = CHUNK_ROWS
    chunk_bytes: int = CHUNK_BYTES

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        feed, last = Feed(batches), None
        while True:
            fresh = feed.take(self.chunk_rows, self.chunk_bytes)
            known: list[pa.RecordBatch] = [] if last is None else [last]
            if not fresh and last is None:
                return
            rows = pa.Table.from_batches([*known, *fresh]).combine_chunks()
            first = self._first_of_runs(rows)
            ends = np.append(first[1:], not fresh)
            first[0] = last is None
            yield from self._changes(rows, first, ends)
            if not fresh:
                return
            last = rows.slice(rows.num_rows - 1).to_batches()[0]

    def _first_of_runs(self, rows: pa.Table) -> Mask:
        """Which rows begin a run; the first row is left False."""
        times = rows.column(self.keys + 1).chunk(0).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        first = np.append(False, np.diff(times) > self.size * 1000)
        for column in rows.columns[: self.keys + 1]:
            first |= changes(column.chunk(0))
        return first

    def _changes(self, rows: pa.Table, first: Mask, last: Mask) -> Iterator[pa.RecordBatch]:
        enter, leave = np.flatnonzero(first), np.flatnonzero(last)
        times = rows.column(self.keys + 1).chunk(0).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        at = pa.array(np.concatenate([enter, leave]))
        columns = {str(i): rows.column(i).chunk(0).take(at) for i in range(self.keys)}
        names = [*columns, "end"]
        columns["end"] = pa.array(np.concatenate([times[enter], times[leave] + self.size * 1000])).view(TIMESTAMP)
        columns["change"] = pa.array(np.repeat(np.array([1, -1], dtype=np.int64), (len(enter), len(leave))))
        if self.total:
            columns["total"] = self._signed(rows.column(self.keys).chunk(0).take(at), len(enter))
        changed = pa.table(columns)
        if not self.total and not any(pa.types.is_nested(column.type) for column in changed.schema):
            counted = changed.group_by(names, use_threads=False).aggregate([("change", "sum")]).combine_chunks()
            if counted.num_rows:
                changed = counted.take(pa.array(np.flatnonzero(integers(counted.column("change_sum").chunk(0)))))
            changed = changed.select([*names, changed.column_names[-1]])
        yield from changed.to_batches()

    def _signed(self, values: pa.Array, entering: int) -> pa.Array:
        try:
            leaving = pc.negate_checked(values.slice(entering))
        except pa.ArrowInvalid:
            raise DataError(
                "SUM(DISTINCT) overflows BIGINT", hint="SUM(DISTINCT CAST(... AS DECIMAL(38, 0)))"
            ) from None
        return pa.concat_arrays([values.slice(0, entering), leaving])
