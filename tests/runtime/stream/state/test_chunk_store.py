"""Chunks in the state of a key group."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tvfsql.runtime.arrow.batches import joined
from tvfsql.runtime.stream.state.chunk_blocks import COMPRESSED_BYTES
from tvfsql.runtime.stream.state.chunk_index import Key, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore
from tvfsql.runtime.stream.state.memory import MemoryState


@pytest.mark.parametrize(("rows", "most"), [(8, 500), (COMPRESSED_BYTES // 8, COMPRESSED_BYTES // 4)])
def test_chunks_are_compressed(rows: int, most: int) -> None:
    state, key = MemoryState(), Key(Kind.EMITTED_STEP, 0)
    batch = pa.RecordBatch.from_pydict({"end": [1_767_225_600_000_000] * rows})
    store = ChunkStore(state, joined)
    store.replace(key, batch)
    store.flush()
    (data,) = state.chunks.values()
    assert len(data) <= most
    assert ChunkStore(state, joined).read(key) == [batch]
