"""Blocks of small chunks: what would be many entries of state is one.

An Arrow chunk takes some 700 bytes besides its rows, and a state call to write, to read and to remove it. So small
chunks that are written in the same micro-batch share a block, an Arrow batch of all their rows. A block never changes:
it is removed once none of its chunks is left. When less than half of a large one is left, that is written anew.

In the index a chunk within a block has the block and its first row there instead of a size, as a negative number
(`where`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Never, Protocol

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import from_bytes, joined, to_bytes
from tvfsql.runtime.stream.state.chunk_keys import ChunkKey, Kind

SMALL_ROWS, SMALL_BYTES = 64, 8 << 10  # chunks up to this size share blocks
FEWEST = 4  # chunks of a block
MOST_ROWS = 4096  # rows of a block
LARGE_ROWS = 256  # a block with as many rows is written anew when less than half is left
# From this size on an entry is compressed: Spark serves it to Python as pickled text, which costs 10 ns a byte.
COMPRESSED_BYTES = 64 << 10
_WIDTH = 1 << 20  # more than the rows of any block


@dataclass(frozen=True)
class Placed:
    """Where a chunk is: in which block, and from which row on."""

    block: int
    start: int

    @property
    def where(self) -> int:
        """As the negative size of the chunk in the index."""
        return -1 - (self.block * _WIDTH + self.start)

    @classmethod
    def at(cls, where: int) -> Placed:
        return cls(*divmod(-1 - where, _WIDTH))


@dataclass(slots=True)
class Block:
    """The rows of a block: their number, their size in bytes, and the rows themselves, once they are loaded."""

    rows: int
    size: int
    batch: pa.RecordBatch | None = None


class Entries(Protocol):
    """The entries of state, without the index."""

    def chunk(self, key: ChunkKey) -> bytes: ...

    def set_chunk(self, key: ChunkKey, data: bytes) -> None: ...

    def remove_chunk(self, key: ChunkKey) -> None: ...


@dataclass(frozen=True)
class Stored:
    """Entries that are only read."""

    chunks: Mapping[ChunkKey, bytes]

    def chunk(self, key: ChunkKey) -> bytes:
        return self.chunks[key]

    def _write(self, *_: object) -> Never:
        raise AssertionError("a snapshot is read-only")

    set_chunk = remove_chunk = _write


class ChunkBlocks:
    """The blocks of a key group during one micro-batch."""

    def __init__(self, state: Entries) -> None:
        self.state = state
        self.blocks: dict[int, Block] = {}

    def rows(self, placed: Placed, rows: int) -> pa.RecordBatch:
        """The rows of a chunk, which has so many."""
        block = self.blocks[placed.block]
        if block.batch is None:
            block.batch = from_bytes(self.state.chunk(block_key(placed.block)))
        return block.batch.slice(placed.start, rows)

    def size(self, placed: Placed, rows: int) -> int:
        """The approximate size in bytes of a chunk with so many rows."""
        block = self.blocks[placed.block]
        return block.size * rows // block.rows

    def thin(self, chunks: Iterable[tuple[int, int]]) -> set[int]:
        """The large blocks less than half of whose rows are left. `chunks`: the block of each chunk, and its rows."""
        left: Counter[int] = Counter()
        for number, rows in chunks:
            left[number] += rows
        large = {number: block.rows for number, block in self.blocks.items() if block.rows >= LARGE_ROWS}
        return {number for number, rows in large.items() if left[number] * 2 < rows}

    def keep(self, used: set[int]) -> None:
        """Remove all other blocks."""
        for number in [*self.blocks.keys() - used]:
            self.state.remove_chunk(block_key(number))
            del self.blocks[number]

    def write(self, batches: Sequence[pa.RecordBatch]) -> list[Placed | None]:
        """Write small chunks into new blocks. Returns the place of each; None: too few have its columns."""
        alike: dict[tuple[tuple[str, pa.DataType], ...], list[int]] = defaultdict(list)
        for i, batch in enumerate(batches):
            alike[tuple(zip(batch.schema.names, batch.schema.types, strict=True))].append(i)
        placed: list[Placed | None] = [None] * len(batches)
        for chunks in alike.values():
            for together in _parts(chunks, [batch.num_rows for batch in batches]):
                number, start = max(self.blocks, default=-1) + 1, 0
                for i in together:
                    placed[i] = Placed(number, start)
                    start += batches[i].num_rows
                batch = joined([batches[i] for i in together])
                data = entry(batch)
                self.blocks[number] = Block(start, len(data), batch)
                self.state.set_chunk(block_key(number), data)
        return placed


def entry(batch: pa.RecordBatch) -> bytes:
    """A batch as an entry of state."""
    return to_bytes(batch, compressed=batch.nbytes >= COMPRESSED_BYTES)


def block_key(number: int) -> ChunkKey:
    return ChunkKey(int(Kind.BLOCK), number, 0, 0)


def unpacked(index: bytes, fields: int, chunks: Mapping[ChunkKey, bytes]) -> Iterator[tuple[ChunkKey, bytes]]:
    """All chunks of a key group as entries of their own. `index`: the list of chunks, each with so many `fields`."""
    listed = np.frombuffer(index, dtype=np.int64).reshape(fields, -1).T.tolist()
    places: Counter[tuple[int, ...]] = Counter()
    blocks = ChunkBlocks(Stored(chunks))
    for kind, number, level, rows, size, *_ in listed:
        if kind == Kind.BLOCK:
            blocks.blocks[number] = Block(rows, size)
        elif size:
            key = ChunkKey(kind, number, level, places[kind, number, level])
            places[kind, number, level] += 1
            yield key, to_bytes(blocks.rows(Placed.at(size), rows)) if size < 0 else chunks[key]


def _parts(chunks: Sequence[int], rows: Sequence[int]) -> Iterator[list[int]]:
    """Chunks with the given rows, divided among blocks. Chunks that are too few for a block are left out."""
    part, size = list[int](), 0
    for i in chunks:
        if part and size + rows[i] > MOST_ROWS:
            yield part
            part, size = [], 0
        part.append(i)
        size += rows[i]
    if len(part) >= FEWEST:
        yield part
