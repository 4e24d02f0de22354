"""Rows in state by the hash of their key: buckets of bounded size, whose number grows with the number of rows.

A micro-batch reads and writes only the buckets of its keys. The number of state calls depends on the rows in state,
never on the number of keys in the micro-batch.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import changes_in, joined, sort_order
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.stream.exchange.rows_by_key import HASH
from tvfsql.runtime.stream.state.chunk_keys import Key, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore

BUCKET_ROWS = 16_384


class HashBuckets:
    """The buckets of a key group in its `store`: 2**level of them, numbered by the lowest `level` bits of the hash."""

    def __init__(self, store: ChunkStore, bucket_rows: int = BUCKET_ROWS) -> None:
        self.store, self.bucket_rows = store, bucket_rows
        self.level = max((key.level for key in store.keys(Kind.BUCKET)), default=0)

    def numbers(self, hashes: Ints) -> Ints:
        """The bucket of each hash."""
        return hashes & ((1 << self.level) - 1)

    def read(self, buckets: Sequence[int]) -> list[pa.RecordBatch]:
        return [batch for number in buckets for batch in self.store.read(self._key(number))]

    def every(self) -> list[int]:
        """The buckets that have rows."""
        return sorted(self.store.numbers(Kind.BUCKET))

    def replace(self, rows: pa.RecordBatch, changed: Sequence[int]) -> None:
        """Replace the rows of the buckets `changed` by those of `rows` that belong there. Other rows are ignored."""
        for number in changed:
            if self._key(number) in self.store:
                self.store.drop(self._key(number))
        self._put(rows, {*changed})
        if self._rows > self.bucket_rows << self.level:
            self._grow()

    def clear(self) -> None:
        """Remove all rows."""
        for number in self.every():
            self.store.drop(self._key(number))

    def _put(self, rows: pa.RecordBatch, wanted: Collection[int] | None = None) -> None:
        numbers = self.numbers(hashes_of(rows))
        order = sort_order([numbers])
        rows, numbers = rows.take(pa.array(order)), numbers[order]
        starts = np.flatnonzero(changes_in(numbers)).tolist() if len(numbers) else []
        for start, stop in pairwise([*starts, len(numbers)]):
            number = int(numbers[start])
            if wanted is None or number in wanted:
                self.store.append(self._key(number), rows.slice(start, stop - start))

    def _grow(self) -> None:
        rows = joined(self.read(self.every()))
        self.clear()
        while rows.num_rows > self.bucket_rows << self.level:
            self.level += 1
        self._put(rows)

    @property
    def _rows(self) -> int:
        return sum(self.store.rows_of(key) for key in self.store.keys(Kind.BUCKET))

    def _key(self, number: int) -> Key:
        return Key(Kind.BUCKET, number, self.level)


def hashes_of(rows: pa.RecordBatch) -> Ints:
    return rows.column(HASH).to_numpy()
