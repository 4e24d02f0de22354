"""Rows in state by the hash of their key: buckets of bounded size, whose number grows with the rows.

So a micro-batch reads and writes the buckets of the keys that it touches, and the number of state calls depends on
the rows that are held, never on the keys of the micro-batch.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from tvfsql.runtime.columns import Ints
from tvfsql.runtime.stream.local_rows import HASH
from tvfsql.runtime.stream.slice_rows import SliceRows, changes_in, joined, sort_order
from tvfsql.runtime.stream.store import SliceStore

BUCKET_ROWS = 16_384


class PlainRows(SliceRows):
    """Rows of which none are merged, as a layout of `SliceStore`."""

    def __init__(self) -> None:
        super().__init__(0, ())

    def merged(self, batches: Sequence[Any], *, into: int | None = None) -> Any:
        return joined(batches)


class KeyedRows:
    """The buckets of a key group over its `store`: 2**level of them, numbered by the lowest bits of the hash."""

    def __init__(self, store: SliceStore, bucket_rows: int = BUCKET_ROWS) -> None:
        self.store, self.bucket_rows = store, bucket_rows
        self.level = max((level for level, _ in store.entries), default=0)

    def buckets(self, hashes: Ints) -> Ints:
        return hashes & ((1 << self.level) - 1)

    def read(self, buckets: Sequence[int]) -> list[Any]:
        return [batch for number in buckets for batch in self.store.read((self.level, number))]

    def every(self) -> list[int]:
        """The buckets that hold rows."""
        return sorted(number for _, number in self.store.entries)

    def replace(self, rows: Any, changed: Sequence[int]) -> None:
        """Put rows in the place of what some buckets held; rows of other buckets are left out."""
        for number in changed:
            if (self.level, number) in self.store.entries:
                self.store.drop((self.level, number))
        self._put(rows, {*changed})
        if self.store.rows > self.bucket_rows << self.level:
            self._grow()

    def _put(self, rows: Any, wanted: Collection[int] | None = None) -> None:
        numbers = self.buckets(hashes_of(rows))
        order = sort_order([numbers])
        rows, numbers = rows.take(pa.array(order)), numbers[order]
        starts = np.flatnonzero(changes_in(numbers)).tolist() if len(numbers) else []
        for start, stop in pairwise([*starts, len(numbers)]):
            number = int(numbers[start])
            if wanted is None or number in wanted:
                self.store.append((self.level, number), rows.slice(start, stop - start))

    def _grow(self) -> None:
        rows = joined(self.read(self.every()))
        for entry in list(self.store.entries):
            self.store.drop(entry)
        while rows.num_rows > self.bucket_rows << self.level:
            self.level += 1
        self._put(rows)


def hashes_of(rows: Any) -> Ints:
    hashes: Ints = rows.column(HASH).to_numpy()
    return hashes
