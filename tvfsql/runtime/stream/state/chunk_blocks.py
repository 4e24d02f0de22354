"""Blocks of small chunks: what would be many entries of state is one.

An entry takes some hundred bytes besides its rows, and a state call to write, to read and to remove it. So small
chunks that are written in the same micro-batch share a block, an Arrow batch of all their rows. A block never changes:
it is removed once none of its chunks is left. When less than half of a large one is left, that is written anew.

In the index a chunk within a block has the block and its first row there instead of a size, as a negative number
(`where`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Never

import pyarrow as pa

from tvfsql.runtime.arrow.batches import from_bytes, joined, to_bytes
from tvfsql.runtime.stream.state.chunk_index import ChunkKey, Entries, Key, Kind, listed

SMALL_ROWS, SMALL_BYTES = 64, 8 << 10  # chunks up to this size share blocks
FEWEST = 4  # chunks of a block
MOST_ROWS = 4096  # rows of a block
LARGE_ROWS = 256  # a block with as many rows is written anew when less than half is left
# Entries are compressed: Spark serves them to Python as pickled text, which costs 10 ns a byte. Those below this size
# are so as a whole, for an Arrow stream begins with a schema of some 700 bytes; larger ones column by column.
COMPRESSED_BYTES = 64 << 10
_ZSTD = b"zstd"  # how a compressed entry begins; an Arrow stream begins otherwise
_WIDTH = 1 << 20  # more than the rows of any block


class Placed(NamedTuple):
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
    """The rows of a block: their number, their size in bytes, how many of them are left, and the rows themselves, once
    they are loaded."""

    rows: int
    size: int
    left: int = 0
    batch: pa.RecordBatch | None = None


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
            block.batch = of_entry(self.state.chunk(block_key(placed.block)))
        return block.batch.slice(placed.start, rows)

    def size(self, placed: Placed, rows: int) -> int:
        """The approximate size in bytes of a chunk with so many rows."""
        block = self.blocks[placed.block]
        return block.size * rows // block.rows

    def thin(self) -> set[int]:
        """The large blocks less than half of whose rows are left, but some."""
        large = ((number, block) for number, block in self.blocks.items() if block.rows >= LARGE_ROWS)
        return {number for number, block in large if 0 < block.left * 2 < block.rows}

    def remove_empty(self) -> list[int]:
        """Remove the blocks without chunks. Returns their numbers."""
        empty = [number for number, block in self.blocks.items() if not block.left]
        for number in empty:
            self.state.remove_chunk(block_key(number))
            del self.blocks[number]
        return empty

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
                self.blocks[number] = Block(start, len(data), start, batch)
                self.state.set_chunk(block_key(number), data)
        return placed


def entry(batch: pa.RecordBatch) -> bytes:
    """A batch as an entry of state."""
    if batch.nbytes >= COMPRESSED_BYTES:
        return to_bytes(batch, compressed=True)
    plain = to_bytes(batch)
    packed: bytes = pa.compress(plain, codec="zstd", asbytes=True)
    return _ZSTD + len(plain).to_bytes(4, "little") + packed


def of_entry(data: bytes) -> pa.RecordBatch:
    """The batch of an entry of state."""
    if data.startswith(_ZSTD):
        size = int.from_bytes(data[4:8], "little")
        data = pa.decompress(data[8:], decompressed_size=size, codec="zstd", asbytes=True)
    return from_bytes(data)


def block_key(number: int) -> ChunkKey:
    return ChunkKey(int(Kind.BLOCK), number, 0, 0)


def unpacked(index: bytes, chunks: Mapping[ChunkKey, bytes]) -> Iterator[tuple[ChunkKey, pa.RecordBatch]]:
    """All chunks of a key group, those of one key in order. `index`: the list of chunks."""
    entries = Stored(chunks)
    records = [*listed(entries, index)]
    blocks = ChunkBlocks(entries)
    blocks.blocks = {one.number: Block(one.rows, one.where) for one in records if one.kind == Kind.BLOCK}
    places: Counter[Key] = Counter()
    for one in records:
        if one.kind == Kind.BLOCK or not one.where:
            continue
        key = ChunkKey(one.kind, one.number, one.level, places[one.key])
        places[one.key] += 1
        yield key, blocks.rows(Placed.at(one.where), one.rows) if one.where < 0 else of_entry(chunks[key])


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
