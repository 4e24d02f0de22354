"""State of timers in dictionaries, for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tvfsql.runtime.stream.state.memory import MemoryTimers
from tvfsql.runtime.stream.state.timers import TimerService, TimerServices


@dataclass
class Memory(MemoryTimers):
    """State in dictionaries that counts the calls."""

    calls: int = 0

    def queue(self, name: Any) -> Any:
        self.calls += 1
        return super().queue(name)

    def set_queue(self, name: Any, now: int | None, chunks: bytes) -> None:
        self.calls += 1
        super().set_queue(name, now, chunks)

    def chunk(self, name: Any, number: int) -> bytes:
        self.calls += 1
        return super().chunk(name, number)

    def set_chunk(self, name: Any, number: int, data: bytes) -> None:
        self.calls += 1
        super().set_chunk(name, number, data)

    def remove_chunk(self, name: Any, number: int) -> None:
        self.calls += 1
        super().remove_chunk(name, number)


def service(state: Memory | None = None) -> TimerService:
    """A service with keys of one string."""
    return TimerServices(state or Memory()).get("clean-up", [pa.string()])
