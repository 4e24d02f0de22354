"""What the key groups of row operators share: rows in a store, timers, and a delayed output watermark."""

from __future__ import annotations

from tvfsql.plan.stream import StreamContext
from tvfsql.runtime.stream.operator.protocol import KeyGroup
from tvfsql.runtime.stream.state.chunk_store import ChunkStore
from tvfsql.runtime.stream.state.timers import TimerServices
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT


class RowKeyGroup(KeyGroup):
    """A key group with rows in its store, and timers."""

    def __init__(self, context: StreamContext, store: ChunkStore, services: TimerServices) -> None:
        super().__init__(context, store)
        self.services = services

    def flush(self) -> None:
        self.store.flush()
        self.services.flush()


def delayed(watermark: int | None, delay: int) -> int | None:
    """The output watermark of an operator that emits rows up to `delay` ms after their time. The end of the input is
    not delayed."""
    return watermark if watermark is None or watermark >= END_OF_INPUT else watermark - delay
