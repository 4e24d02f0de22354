"""State of timers in dictionaries, for tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tvfsql.runtime.stream.state.timers import TimerService, TimerServices


@dataclass
class Memory:
    """State in dictionaries; counts the calls."""

    queues: dict[Any, Any] = field(default_factory=dict)
    chunks: dict[Any, bytes] = field(default_factory=dict)
    calls: int = 0

    def queue(self, name: Any) -> Any:
        self.calls += 1
        return self.queues.get(name)

    def set_queue(self, name: Any, now: int | None, chunks: bytes) -> None:
        self.calls += 1
        self.queues[name] = now, chunks

    def chunk(self, name: Any, number: int) -> bytes:
        self.calls += 1
        return self.chunks[name, number]

    def set_chunk(self, name: Any, number: int, data: bytes) -> None:
        self.calls += 1
        self.chunks[name, number] = data

    def remove_chunk(self, name: Any, number: int) -> None:
        self.calls += 1
        del self.chunks[name, number]


def service(state: Memory | None = None) -> TimerService:
    """A service with keys of one string."""
    return TimerServices(state or Memory()).get("clean-up", [pa.string()])
