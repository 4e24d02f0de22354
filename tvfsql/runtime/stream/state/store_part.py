"""A part of a key group's store: slices that do not meet those of its other parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from tvfsql.runtime.stream.state.chunk_index import Key, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, Merge

LEVELS = 64  # of a part: more than a `SliceTree` can have


@dataclass(frozen=True)
class StorePart:
    """The keys of a store whose level is from `number` * LEVELS on, as if their levels began at 0."""

    store: ChunkStore
    number: int

    def __contains__(self, key: Key) -> bool:
        return self._placed(key) in self.store

    def keys(self, *kinds: Kind) -> list[Key]:
        first = self.number * LEVELS
        every = self.store.keys(*kinds)
        return [key._replace(level=key.level - first) for key in every if key.level // LEVELS == self.number]

    def numbers(self, kind: Kind) -> Iterator[int]:
        """The numbers of the keys of a kind."""
        return (key.number for key in self.keys(kind))

    def append(self, key: Key, batch: pa.RecordBatch, merge: Merge | None = None, fan: int = 1) -> None:
        self.store.append(self._placed(key), batch, merge, fan)

    def read(self, key: Key) -> list[pa.RecordBatch]:
        return self.store.read(self._placed(key))

    def rows_of(self, key: Key) -> int:
        return self.store.rows_of(self._placed(key))

    def drop(self, key: Key) -> None:
        self.store.drop(self._placed(key))

    def _placed(self, key: Key) -> Key:
        return key._replace(level=self.number * LEVELS + key.level)
