"""Chunks in the state of a key group."""

from __future__ import annotations

import pyarrow as pa

from tvfsql.runtime.arrow.batches import joined, to_bytes
from tvfsql.runtime.stream.state.chunk_blocks import COMPRESSED_BYTES
from tvfsql.runtime.stream.state.chunk_keys import Key, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore
from tvfsql.runtime.stream.state.memory import MemoryState


def test_large_chunks_are_compressed_and_those_of_earlier_releases_are_read() -> None:
    state, key = MemoryState(), Key(Kind.BUCKET, 0)
    rows = COMPRESSED_BYTES // 8
    large, small = (pa.RecordBatch.from_pydict({"end": [1_767_225_600_000_000] * n}) for n in (rows, 8))
    for batch in (small, large):
        store = ChunkStore(state, joined)
        store.replace(key, batch)
        store.flush()
        (at,) = state.chunks
        plain = to_bytes(batch)
        assert (state.chunks[at] == plain) == (batch is small)
        assert len(state.chunks[at]) <= (len(plain) // 4 if batch is large else len(plain))
        for kept in (state.chunks[at], plain):
            state.chunks[at] = kept
            assert ChunkStore(state, joined).read(key) == [batch]
