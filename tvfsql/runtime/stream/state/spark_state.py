"""The state of a key group in RocksDB, through Spark.

Imports only light modules: Spark starts a Python process for each stateful operator just to ask for its state
variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import types as T
from pyspark.sql.streaming.stateful_processor import MapState, StatefulProcessorHandle, ValueState

if TYPE_CHECKING:
    from tvfsql.runtime.stream.state.chunk_index import ChunkKey
    from tvfsql.runtime.stream.state.chunk_store import Index
    from tvfsql.runtime.stream.state.timer_queue import QueueName

_INT, _BIGINT, _STRING, _BINARY = T.IntegerType(), T.LongType(), T.StringType(), T.BinaryType()


def _row(**columns: T.DataType) -> T.StructType:
    return T.StructType([T.StructField(name, kind) for name, kind in columns.items()])


# Not as text, which Spark's JVM would parse twice for each task.
INDEX = _row(watermark=_BIGINT, channels=_STRING, chunks=_BINARY, description=_STRING)
CHUNK_KEY, CHUNK = _row(kind=_INT, number=_BIGINT, level=_INT, place=_INT), _row(data=_BINARY)
QUEUE_KEY, QUEUE = _row(service=_STRING, clock=_STRING), _row(now=_BIGINT, chunks=_BINARY)
TIMERS_KEY, TIMERS = _row(service=_STRING, clock=_STRING, chunk=_BIGINT), _row(timers=_BINARY)


@dataclass(frozen=True)
class SparkState:
    """The state of the current key group, and the description that is written with it."""

    value: ValueState
    chunks: MapState
    description: str

    @classmethod
    def of(cls, handle: StatefulProcessorHandle, description: str) -> SparkState:
        """Declare the state in `init` of a StatefulProcessor. `description` is a `Description`, dumped."""
        return cls(
            handle.getValueState("index", INDEX),
            handle.getMapState("chunks", CHUNK_KEY, CHUNK),
            description,
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


@dataclass(frozen=True)
class SparkTimerState:
    """The timers of the current key group: two maps for all services of an operator."""

    queues: MapState
    chunks: MapState

    @classmethod
    def of(cls, handle: StatefulProcessorHandle) -> SparkTimerState:
        """Declare the timers in `init` of a StatefulProcessor."""
        return cls(
            handle.getMapState("timer_queues", QUEUE_KEY, QUEUE),
            handle.getMapState("timers", TIMERS_KEY, TIMERS),
        )

    def queue(self, name: QueueName) -> tuple[int | None, bytes] | None:
        found = self.queues.getValue(name)
        return None if found is None else (found[0], bytes(found[1]))

    def set_queue(self, name: QueueName, now: int | None, chunks: bytes) -> None:
        self.queues.updateValue(name, (now, chunks))

    def chunk(self, name: QueueName, number: int) -> bytes:
        found = self.chunks.getValue((*name, number))
        if found is None:
            raise AssertionError(f"chunk {number} of the timers {name} is not in state")
        return bytes(found[0])

    def set_chunk(self, name: QueueName, number: int, data: bytes) -> None:
        self.chunks.updateValue((*name, number), (data,))

    def remove_chunk(self, name: QueueName, number: int) -> None:
        self.chunks.removeKey((*name, number))
