"""The rows of one key group in state: Arrow chunks under named keys, with one small index.

A micro-batch reads the index and only the chunks that it needs, and writes its changes at the end. Rows that come and
go within a micro-batch never reach the state. The number of state calls depends on the keys here (slices, for example),
never on the keys of the query; small chunks share calls (`ChunkBlocks`). New rows are merged with the last chunk if it
has at most as many rows. So a key usually has one chunk, and at most log2(its rows). Each row is rewritten at most that
often. What is written follows what changed, also of the index (`ChunkIndex`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from tvfsql.runtime.stream.state.chunk_blocks import (
    SMALL_BYTES,
    SMALL_ROWS,
    Block,
    ChunkBlocks,
    Placed,
    entry,
    of_entry,
)
from tvfsql.runtime.stream.state.chunk_index import PARTIALS, ChunkIndex, ChunkKey, Entries, Key, Kind, Record
from tvfsql.runtime.stream.time.valve import Valve

# The watermark in epoch ms, its channels (as `Valve.dump` writes them), the list of chunks.
Index = tuple[int | None, str, bytes]


class State(Entries, Protocol):
    """Access to a key group's index and chunks: RocksDB through Spark, or a dictionary in tests."""

    def index(self) -> Index | None:
        """The index; None if the key group is new."""

    def set_index(self, index: Index) -> None: ...


Merge = Callable[[Sequence[pa.RecordBatch], bool], pa.RecordBatch]
Times = tuple[int, int]  # the first and the last time of the rows of a chunk
NO_TIMES: Times = (2**62, -(2**62))  # of a chunk whose rows have no time


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
        by_input: bool = False,
    ) -> None:
        self.state, self.merge, self.times_of = state, merge, times
        self.columns, self.lacking = list(columns), lacking or {}
        self.valve = Valve(inputs=inputs, by_input=by_input)
        self.chunks: dict[Key, list[Chunk]] = {}
        self.blocks = ChunkBlocks(state)
        self.removed: list[ChunkKey] = []
        self.changed: set[Key] = set()  # the keys whose records in the index change
        self.before = state.index()
        watermark, channels, data = self.before or (None, "", b"")
        if self.before is not None:
            self.valve = Valve.load(watermark, channels, inputs, by_input=by_input)
        self.index = ChunkIndex(state, data)
        self._load_index()

    def __contains__(self, key: Key) -> bool:
        return key in self.chunks

    def keys(self, *kinds: Kind) -> list[Key]:
        """The keys of some kinds, in order of insertion."""
        return [key for key in self.chunks if key.kind in kinds]

    def numbers(self, kind: Kind) -> Iterator[int]:
        """The numbers of the keys of a kind."""
        return (key.number for key in self.chunks if key.kind == kind)

    def append(self, key: Key, batch: pa.RecordBatch, merge: Merge | None = None, fan: int = 1) -> None:
        """Add rows to a key. `merge` makes one batch of the last chunks and these rows, oldest first; it is also passed
        whether these are all rows of the key. Chunks with up to `fan` times as many rows as those behind them are
        merged with them: the larger, the fewer chunks a key has."""
        chunks = self.chunks.setdefault(key, [])
        rows, kept = batch.num_rows, len(chunks)
        while kept and chunks[kept - 1].rows <= fan * rows:
            kept -= 1
            rows += chunks[kept].rows
        if kept < len(chunks):
            older = [self._load(key, place) for place in range(kept, len(chunks))]
            batch = self.merge([*older, batch]) if merge is None else merge([*older, batch], not kept)
        elif merge is not None and not kept:
            batch = merge([batch], True)
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
        """Add a key without rows."""
        if key not in self.chunks:
            self.chunks[key] = []
            self.changed.add(key)

    def retime(self, key: Key, times: Times) -> None:
        """Replace the times of the rows of a key, which are known better than those of its chunks."""
        for chunk in self.chunks[key]:
            if chunk.times != times:
                chunk.times = times
                self.changed.add(key)

    def times_in(self, key: Key) -> Times:
        """The first and the last time of the rows of a key; NO_TIMES if there are none."""
        found = [chunk.times for chunk in self.chunks[key] if chunk.times is not None]
        return min((first for first, _ in found), default=NO_TIMES[0]), max(
            (last for _, last in found), default=NO_TIMES[1]
        )

    def read(self, key: Key) -> list[pa.RecordBatch]:
        """The rows of a key, oldest first; empty if there is no such key."""
        return [self._load(key, place) for place in range(len(self.chunks.get(key, ())))]

    def drop(self, key: Key) -> None:
        """Remove a key and its rows."""
        self._cut(key, 0)
        del self.chunks[key]
        self.changed.add(key)

    def flush(self) -> None:
        """Write the changes to state."""
        for removed in self.removed:
            self.state.remove_chunk(removed)
        self._write_anew()
        self._write_together()
        records = {key: self._written(key) for key in sorted(self.changed)}
        records |= self._block_records()
        data = self.before[2] if self.before else b""
        if records:
            data = self.index.changed(records, len(self.chunks) + len(self.blocks.blocks))
        after = self.valve.watermark, self.valve.dump(), data
        if after != self.before:
            self.state.set_index(after)

    def _written(self, key: Key) -> list[Record]:
        """Write the changed chunks of a key. Returns the records of all its chunks; none if it is gone."""
        chunks = self.chunks.get(key)
        if chunks is None:
            return []
        found = []
        for place, chunk in enumerate(chunks):
            if chunk.changed and chunk.placed is None:
                data = entry(self._load(key, place))
                chunk.size = len(data)
                self.state.set_chunk(_chunk_key(key, place), data)
            where = chunk.placed.where if chunk.placed else chunk.size
            found.append(Record(*key, chunk.rows, where, *(chunk.times or (0, 0))))
        return found or [Record(*key, 0, 0, 0, 0)]

    def _block_records(self) -> dict[Key, list[Record]]:
        """The records of the blocks that are new or gone."""
        gone = {Key(Kind.BLOCK, number): list[Record]() for number in self.blocks.remove_empty()}
        made = {
            Key(Kind.BLOCK, number): [Record(Kind.BLOCK, number, 0, block.rows, block.size, 0, 0)]
            for number, block in self.blocks.blocks.items()
            if number not in self.stored_blocks
        }
        return gone | made

    def _write_anew(self) -> None:
        """Chunks of blocks that are mostly gone become changed chunks."""
        thin = self.blocks.thin()
        if not thin:
            return
        for key, chunks in self.chunks.items():
            for place, chunk in enumerate(chunks):
                if chunk.placed and chunk.placed.block in thin:
                    self._load(key, place)
                    self._leave_block(chunk)
                    chunk.changed = True
                    self.changed.add(key)

    def _write_together(self) -> None:
        """Write the small ones of the changed chunks into blocks."""
        small = [
            (key, place, chunk)
            for key in sorted(self.changed)
            for place, chunk in enumerate(self.chunks.get(key, ()))
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
        first, last = min((one for one, _ in found), default=0), max((one for _, one in found), default=-1)
        return (first, last) if first <= last else None

    @property
    def rows(self) -> int:
        """The number of rows in state."""
        return sum(chunk.rows for chunks in self.chunks.values() for chunk in chunks)

    @property
    def size(self) -> int:
        """The approximate size of the rows in bytes."""
        return sum(chunk.size for chunks in self.chunks.values() for chunk in chunks)

    def _load_index(self) -> None:
        found = self.index.records()
        blocks = [one for (one, *_) in found.values() if one.kind == Kind.BLOCK]
        self.blocks.blocks = {one.number: Block(one.rows, one.where) for one in blocks}
        self.stored_blocks = {*self.blocks.blocks}
        for key, records in found.items():
            if key.kind != Kind.BLOCK:
                self.chunks[key] = [self._of_record(one) for one in records if one.where]

    def _of_record(self, one: Record) -> Chunk:
        times = (one.first, one.last) if self.times_of else None
        if one.where > 0:
            return Chunk(one.rows, one.where, times, stored=True)
        placed = Placed.at(one.where)
        self.blocks.blocks[placed.block].left += one.rows
        return Chunk(one.rows, self.blocks.size(placed, one.rows), times, placed=placed)

    def _leave_block(self, chunk: Chunk) -> None:
        if chunk.placed:
            self.blocks.blocks[chunk.placed.block].left -= chunk.rows
            chunk.placed = None

    def _put(self, key: Key, place: int, batch: pa.RecordBatch) -> None:
        """Write rows as the chunk at `place`, and make it the last chunk of the key."""
        chunks = self.chunks[key]
        self._cut(key, place + 1)
        if place == len(chunks):
            chunks.append(Chunk(0, 0))
        chunk = chunks[place]
        self._leave_block(chunk)
        self.changed.add(key)
        chunk.batch, chunk.rows, chunk.size, chunk.changed = batch, batch.num_rows, batch.nbytes, True
        chunk.times = self.times_of(batch) if self.times_of else None

    def _load(self, key: Key, place: int) -> pa.RecordBatch:
        chunk = self.chunks[key][place]
        if chunk.batch is None:
            if chunk.placed:
                batch = self.blocks.rows(chunk.placed, chunk.rows)
            else:
                batch = of_entry(self.state.chunk(_chunk_key(key, place)))
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
        for chunk in chunks[kept:]:
            self._leave_block(chunk)
        del chunks[kept:]


def _chunk_key(key: Key, place: int) -> ChunkKey:
    return ChunkKey(int(key.kind), key.number, key.level, place)
