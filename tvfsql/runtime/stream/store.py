"""The slices of one key group in state: Arrow chunks by slice, found through one small index.

A micro-batch reads the index, the chunks that it needs and no others, and writes what it changed at its end:
so rows that come and go within a micro-batch never reach the state, and the number of state calls depends on the
slices touched, never on the keys. A chunk that is no larger than what is added to it is merged with it, so
that a slice has one chunk in the usual case, at most log2(its rows) of them, and each row is rewritten as often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tvfsql.runtime.stream.slice_rows import SliceRows, from_bytes, to_bytes
from tvfsql.runtime.stream.valve import Valve

# (level, number): level 0 is a slice, higher ones are runs of slices; negative ones are those of `firing`
Entry = tuple[int, int]
ChunkKey = tuple[int, int, int]  # (number, level, chunk)


# The watermark in epoch ms, the channels that it comes from (as `Valve` writes them), the list of chunks.
Index = tuple[int | None, str, bytes]


class State(Protocol):
    """Where a key group's index and chunks are kept: RocksDB through Spark, or a dictionary in tests."""

    def index(self) -> Index | None:
        """None if the group is new."""

    def set_index(self, index: Index) -> None: ...

    def chunk(self, key: ChunkKey) -> bytes: ...

    def set_chunk(self, key: ChunkKey, data: bytes) -> None: ...

    def remove_chunk(self, key: ChunkKey) -> None: ...


@dataclass(slots=True)
class Chunk:
    """A piece of an entry: how large it is, and its rows if this micro-batch has seen them."""

    rows: int
    size: int
    batch: Any = None
    stored: bool = False  # some version of it is in state
    changed: bool = False


class SliceStore:
    """The state of a key group during one micro-batch."""

    def __init__(self, layout: SliceRows, state: State, inputs: Sequence[str] = ("",)) -> None:
        self.layout, self.state = layout, state
        self.valve = Valve(inputs=inputs)
        self.entries: dict[Entry, list[Chunk]] = {}
        self.dropped: list[ChunkKey] = []
        self.before = state.index()
        if self.before is not None:
            watermark, channels, chunks = self.before
            self.valve = Valve.load(watermark, channels, inputs)
            for level, number, rows, size in zip(
                *np.frombuffer(chunks, dtype=np.int64).reshape(4, -1).tolist(), strict=True
            ):
                held = self.entries.setdefault((level, number), [])
                if size:
                    held.append(Chunk(rows, size, None, True))

    def slices(self) -> Iterator[int]:
        """The slices that hold rows."""
        return (number for level, number in self.entries if level == 0)

    def append(self, entry: Entry, batch: Any) -> None:
        """Add rows to an entry."""
        chunks = self.entries.setdefault(entry, [])
        rows, kept = batch.num_rows, len(chunks)
        while kept and chunks[kept - 1].rows <= rows:
            kept -= 1
            rows += chunks[kept].rows
        if kept < len(chunks):
            older = [self._load(entry, at) for at in range(kept, len(chunks))]
            batch = self.layout.merged([*older, batch])
        self._put(entry, kept, batch)

    def replace(self, entry: Entry, batch: Any) -> None:
        """Put rows in the place of those of an entry."""
        self.entries.setdefault(entry, [])
        self._put(entry, 0, batch)

    def mark(self, entry: Entry) -> None:
        """Remember an entry that is nothing but its two numbers."""
        self.entries.setdefault(entry, [])

    def read(self, entry: Entry) -> list[Any]:
        """The rows of an entry, oldest first; none if there is no such entry."""
        return [self._load(entry, at) for at in range(len(self.entries.get(entry, ())))]

    def drop(self, entry: Entry) -> None:
        self._cut(entry, 0)
        del self.entries[entry]

    def flush(self) -> None:
        """Write what has changed."""
        for key in self.dropped:
            self.state.remove_chunk(key)
        index = []
        for (level, number), chunks in self.entries.items():
            for at, chunk in enumerate(chunks):
                if chunk.changed:
                    data = to_bytes(chunk.batch)
                    chunk.size = len(data)
                    self.state.set_chunk((number, level, at), data)
                index.append((level, number, chunk.rows, chunk.size))
            if not chunks:
                index.append((level, number, 0, 0))
        after = self.valve.watermark, self.valve.dump(), np.array(index, dtype=np.int64).T.tobytes()
        if after != self.before:
            self.state.set_index(after)

    @property
    def rows(self) -> int:
        """How many partials are held, of slices and of runs of slices."""
        return sum(chunk.rows for chunks in self.entries.values() for chunk in chunks)

    @property
    def size(self) -> int:
        """About how many bytes."""
        return sum(chunk.size for chunks in self.entries.values() for chunk in chunks)

    def _put(self, entry: Entry, at: int, batch: Any) -> None:
        """Write rows as the chunk at a place, the last one of the entry."""
        chunks = self.entries[entry]
        self._cut(entry, at + 1)
        if at == len(chunks):
            chunks.append(Chunk(0, 0))
        chunk = chunks[at]
        chunk.batch, chunk.rows, chunk.size, chunk.changed = batch, batch.num_rows, batch.nbytes, True

    def _load(self, entry: Entry, at: int) -> Any:
        chunk = self.entries[entry][at]
        if chunk.batch is None:
            level, number = entry
            chunk.batch = from_bytes(self.state.chunk((number, level, at)))
        return chunk.batch

    def _cut(self, entry: Entry, kept: int) -> None:
        level, number = entry
        chunks = self.entries[entry]
        self.dropped += [(number, level, at) for at in range(kept, len(chunks)) if chunks[at].stored]
        del chunks[kept:]
