"""The rows of one key group in state: Arrow chunks under named keys, with one small index.

A micro-batch reads the index and only the chunks that it needs, and writes its changes at the end. Rows that come and
go within a micro-batch never reach the state. The number of state calls depends on the keys here (slices, for example),
never on the keys of the query; small chunks share calls (`ChunkBlocks`). New rows are merged with the last chunk if it
has at most as many rows. So a key usually has one chunk, and at most log2(its rows). Each row is rewritten at most that
often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import from_bytes
from tvfsql.runtime.stream.state.chunk_blocks import SMALL_BYTES, SMALL_ROWS, Block, ChunkBlocks, Entries, Placed, entry
from tvfsql.runtime.stream.state.chunk_keys import PARTIALS, ChunkKey, Key, Kind
from tvfsql.runtime.stream.time.valve import Valve

# The watermark in epoch ms, its channels (as `Valve.dump` writes them), the list of chunks.
Index = tuple[int | None, str, bytes]


class State(Entries, Protocol):
    """Access to a key group's index and chunks: RocksDB through Spark, or a dictionary in tests."""

    def index(self) -> Index | None:
        """The index; None if the key group is new."""

    def set_index(self, index: Index) -> None: ...


Times = tuple[int, int]  # the first and the last time of the rows of a chunk


@dataclass(slots=True)
class Chunk:
    """A part of the rows of a key: their number, their size in bytes, and the rows themselves, once they are loaded.

    `stored`: an entry of its own has a version of it, maybe an older one. `placed`: where it is, if it is in a block.
    """

    rows: int
    size: int
    times: Times | None = None
    batch: pa.RecordBatch | None = None
    stored: bool = False
    placed: Placed | None = None
    changed: bool = False


class ChunkStore:
    """The state of a key group during one micro-batch: rows by key, and the watermark with its channels (`valve`).

    `merge` makes one batch of several batches of a key, oldest first. `times` returns the first and the last time of
    the rows of a batch. With it, the index has the times of each chunk, so `times()` reads no chunks. `columns` are
    those of slices and sessions. Chunks of an earlier version of the query may have others: they lose them when they
    are read, and get those that they lack with the one value in `lacking`.
    """

    def __init__(
        self,
        state: State,
        merge: Callable[[Sequence[pa.RecordBatch]], pa.RecordBatch],
        inputs: Sequence[str] = ("",),
        times: Callable[[pa.RecordBatch], Times] | None = None,
        columns: Sequence[str] = (),
        lacking: Mapping[str, pa.Array] | None = None,
    ) -> None:
        self.state, self.merge, self.times_of = state, merge, times
        self.columns, self.lacking = list(columns), lacking or {}
        self.valve = Valve(inputs=inputs)
        self.chunks: dict[Key, list[Chunk]] = {}
        self.blocks = ChunkBlocks(state)
        self.removed: list[ChunkKey] = []
        self.before = state.index()
        if self.before is not None:
            watermark, channels, index = self.before
            self.valve = Valve.load(watermark, channels, inputs)
            self._load_index(index)

    def __contains__(self, key: Key) -> bool:
        return key in self.chunks

    def keys(self, *kinds: Kind) -> list[Key]:
        """The keys of some kinds, in order of insertion."""
        return [key for key in self.chunks if key.kind in kinds]

    def numbers(self, kind: Kind) -> Iterator[int]:
        """The numbers of the keys of a kind."""
        return (key.number for key in self.chunks if key.kind == kind)

    def append(self, key: Key, batch: pa.RecordBatch) -> None:
        """Add rows to a key."""
        chunks = self.chunks.setdefault(key, [])
        rows, kept = batch.num_rows, len(chunks)
        while kept and chunks[kept - 1].rows <= rows:
            kept -= 1
            rows += chunks[kept].rows
        if kept < len(chunks):
            older = [self._load(key, place) for place in range(kept, len(chunks))]
            batch = self.merge([*older, batch])
        self._put(key, kept, batch)

    def replace(self, key: Key, batch: pa.RecordBatch) -> None:
        """Replace the rows of a key."""
        self.chunks.setdefault(key, [])
        self._put(key, 0, batch)

    def restore(self, key: Key, batches: Sequence[pa.RecordBatch]) -> None:
        """Take over the chunks of a key from earlier key groups, oldest first, without merging any."""
        chunks = self.chunks.setdefault(key, [])
        for batch in batches:
            self._put(key, len(chunks), batch)

    def mark(self, key: Key) -> None:
        """Add a key without rows. Only for stores without `times`."""
        self.chunks.setdefault(key, [])

    def read(self, key: Key) -> list[pa.RecordBatch]:
        """The rows of a key, oldest first; empty if there is no such key."""
        return [self._load(key, place) for place in range(len(self.chunks.get(key, ())))]

    def drop(self, key: Key) -> None:
        """Remove a key and its rows."""
        self._cut(key, 0)
        del self.chunks[key]

    def flush(self) -> None:
        """Write the changes to state."""
        for removed in self.removed:
            self.state.remove_chunk(removed)
        self._write_anew()
        self._write_together()
        times = (0, 0) if self.times_of else ()
        index: list[tuple[int, ...]] = [
            (Kind.BLOCK, number, 0, block.rows, block.size, *times) for number, block in self.blocks.blocks.items()
        ]
        for key, chunks in self.chunks.items():
            for place, chunk in enumerate(chunks):
                if chunk.changed and chunk.placed is None:
                    data = entry(self._load(key, place))
                    chunk.size = len(data)
                    self.state.set_chunk(_chunk_key(key, place), data)
                where = chunk.placed.where if chunk.placed else chunk.size
                index.append((*key, chunk.rows, where, *(chunk.times or ())))
            if not chunks:
                index.append((*key, 0, 0))
        after = self.valve.watermark, self.valve.dump(), np.array(index, dtype=np.int64).T.tobytes()
        if after != self.before:
            self.state.set_index(after)

    def _write_anew(self) -> None:
        """Chunks of blocks that are mostly gone become changed chunks. Removes the blocks without chunks."""
        if not self.blocks.blocks:
            return
        placed = [
            (chunk.placed.block, key, place, chunk)
            for key, chunks in self.chunks.items()
            for place, chunk in enumerate(chunks)
            if chunk.placed
        ]
        thin = self.blocks.thin((block, chunk.rows) for block, _, _, chunk in placed)
        for block, key, place, chunk in placed:
            if block in thin:
                self._load(key, place)
                chunk.placed, chunk.changed = None, True
        self.blocks.keep({block for block, *_ in placed} - thin)

    def _write_together(self) -> None:
        """Write the small ones of the changed chunks into blocks."""
        small = [
            (key, place, chunk)
            for key, chunks in self.chunks.items()
            for place, chunk in enumerate(chunks)
            if chunk.changed and 0 < chunk.rows <= SMALL_ROWS and chunk.size <= SMALL_BYTES
        ]
        together = self.blocks.write([self._load(key, place) for key, place, _ in small])
        for (key, place, chunk), placed in zip(small, together, strict=True):
            if placed is not None:
                if chunk.stored:
                    self.state.remove_chunk(_chunk_key(key, place))
                chunk.placed, chunk.stored, chunk.size = placed, False, self.blocks.size(placed, chunk.rows)

    def rows_of(self, key: Key) -> int:
        """The number of rows of a key."""
        return sum(chunk.rows for chunk in self.chunks[key])

    def times(self) -> Times | None:
        """The first and the last time of all rows; None if there are no rows."""
        found = [chunk.times for chunks in self.chunks.values() for chunk in chunks if chunk.times is not None]
        return (min(first for first, _ in found), max(last for _, last in found)) if found else None

    @property
    def rows(self) -> int:
        """The number of rows in state."""
        return sum(chunk.rows for chunks in self.chunks.values() for chunk in chunks)

    @property
    def size(self) -> int:
        """The approximate size of the rows in bytes."""
        return sum(chunk.size for chunks in self.chunks.values() for chunk in chunks)

    def _load_index(self, index: bytes) -> None:
        columns = 5 if self.times_of is None else 7
        fields = np.frombuffer(index, dtype=np.int64).reshape(columns, -1).tolist()
        for kind, number, level, rows, size, *times in zip(*fields, strict=True):
            if kind == Kind.BLOCK:  # before all its chunks
                self.blocks.blocks[number] = Block(rows, size)
                continue
            chunks = self.chunks.setdefault(Key(Kind(kind), number, level), [])
            placed = Placed.at(size) if size < 0 else None
            if placed:
                size = self.blocks.size(placed, rows)
            if size or placed:
                of = (times[0], times[1]) if times else None
                chunks.append(Chunk(rows, size, of, stored=placed is None, placed=placed))

    def _put(self, key: Key, place: int, batch: pa.RecordBatch) -> None:
        """Write rows as the chunk at `place`, and make it the last chunk of the key."""
        chunks = self.chunks[key]
        self._cut(key, place + 1)
        if place == len(chunks):
            chunks.append(Chunk(0, 0))
        chunk = chunks[place]
        chunk.batch, chunk.rows, chunk.size, chunk.changed = batch, batch.num_rows, batch.nbytes, True
        chunk.placed = None
        chunk.times = self.times_of(batch) if self.times_of else None

    def _load(self, key: Key, place: int) -> pa.RecordBatch:
        chunk = self.chunks[key][place]
        if chunk.batch is None:
            if chunk.placed:
                batch = self.blocks.rows(chunk.placed, chunk.rows)
            else:
                batch = from_bytes(self.state.chunk(_chunk_key(key, place)))
            chunk.batch = self._fitted(batch) if key.kind in PARTIALS and self.columns else batch
        return chunk.batch

    def _fitted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of a chunk with exactly `columns`."""
        known = batch.schema.names
        if known == self.columns:
            return batch
        first = pa.array(np.zeros(batch.num_rows, dtype=np.int64))
        columns = [batch.column(name) if name in known else self.lacking[name].take(first) for name in self.columns]
        return pa.RecordBatch.from_arrays(columns, self.columns)

    def _cut(self, key: Key, kept: int) -> None:
        """Remove the chunks of a key from place `kept` on."""
        chunks = self.chunks[key]
        self.removed += [_chunk_key(key, place) for place in range(kept, len(chunks)) if chunks[place].stored]
        del chunks[kept:]


def _chunk_key(key: Key, place: int) -> ChunkKey:
    return ChunkKey(int(key.kind), key.number, key.level, place)
