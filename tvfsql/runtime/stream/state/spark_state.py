"""Where the state of a key group lies: in RocksDB, through Spark."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql.streaming.stateful_processor import MapState, StatefulProcessorHandle, ValueState

from tvfsql.runtime.stream.state.chunk_store import ChunkKey, Index
from tvfsql.runtime.stream.state.description import Description


@dataclass(frozen=True)
class SparkState:
    """The state of the key group at hand, with what it says of itself."""

    value: ValueState
    chunks: MapState
    description: str

    @classmethod
    def of(cls, handle: StatefulProcessorHandle, description: Description) -> SparkState:
        """For `init` of a StatefulProcessor."""
        return cls(
            handle.getValueState("index", "watermark BIGINT, channels STRING, chunks BINARY, description STRING"),
            handle.getMapState("chunks", "kind INT, number BIGINT, level INT, place INT", "data BINARY"),
            description.dump(),
        )

    def index(self) -> Index | None:
        found = self.value.get()
        return None if found is None else (found[0], found[1], bytes(found[2]))

    def set_index(self, index: Index) -> None:
        self.value.update((*index, self.description))

    def chunk(self, key: ChunkKey) -> bytes:
        found = self.chunks.getValue(key)
        if found is None:
            raise AssertionError(f"{key} is not in state")
        return bytes(found[0])

    def set_chunk(self, key: ChunkKey, data: bytes) -> None:
        self.chunks.updateValue(key, (data,))

    def remove_chunk(self, key: ChunkKey) -> None:
        self.chunks.removeKey(key)
