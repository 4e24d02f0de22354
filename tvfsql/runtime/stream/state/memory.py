"""The state of a key group in dictionaries, for streams that run in this process."""

from __future__ import annotations

from dataclasses import dataclass, field

from tvfsql.runtime.stream.state.chunk_index import ChunkKey
from tvfsql.runtime.stream.state.chunk_store import Index
from tvfsql.runtime.stream.state.timer_queue import QueueName


@dataclass
class MemoryState:
    """A `State` in a dictionary."""

    kept: Index | None = None
    chunks: dict[ChunkKey, bytes] = field(default_factory=dict)

    def index(self) -> Index | None:
        return self.kept

    def set_index(self, index: Index) -> None:
        self.kept = index

    def chunk(self, key: ChunkKey) -> bytes:
        return self.chunks[key]

    def set_chunk(self, key: ChunkKey, data: bytes) -> None:
        self.chunks[key] = data

    def remove_chunk(self, key: ChunkKey) -> None:
        del self.chunks[key]


@dataclass
class MemoryTimers:
    """A `TimerState` in dictionaries."""

    queues: dict[QueueName, tuple[int | None, bytes]] = field(default_factory=dict)
    chunks: dict[tuple[QueueName, int], bytes] = field(default_factory=dict)

    def queue(self, name: QueueName) -> tuple[int | None, bytes] | None:
        return self.queues.get(name)

    def set_queue(self, name: QueueName, now: int | None, chunks: bytes) -> None:
        self.queues[name] = now, chunks

    def chunk(self, name: QueueName, number: int) -> bytes:
        return self.chunks[name, number]

    def set_chunk(self, name: QueueName, number: int, data: bytes) -> None:
        self.chunks[name, number] = data

    def remove_chunk(self, name: QueueName, number: int) -> None:
        del self.chunks[name, number]
