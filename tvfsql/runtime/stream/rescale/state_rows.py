"""The state of a key group as Spark's rewriter of state passes it on: rows of bytes of all state variables.

A row has the columns partition_key (a struct of key_group), key_bytes, value_bytes and column_family_name, the name of
the state variable. The state variables are those of `SparkState` and `SparkTimerState`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from tvfsql.runtime.stream.state.chunk_index import ChunkKey
from tvfsql.runtime.stream.state.timer_queue import QueueName

INDEX, CHUNKS, QUEUES, TIMERS = "index", "chunks", "timer_queues", "timers"  # the state variables
VARIABLES = (INDEX, CHUNKS, QUEUES, TIMERS)
StateRow = tuple[str, bytes, bytes]  # the name of the state variable, key, value


class SetTimers(NamedTuple):
    """A chunk of the timers of a queue, by its number, as an Arrow IPC stream."""

    name: QueueName
    number: int
    data: bytes


@dataclass
class GroupState:
    """The state of a key group: the index with the description of the operator, the chunks, and the timers."""

    index: tuple[int | None, str, bytes, str] | None = None
    chunks: dict[ChunkKey, bytes] = field(default_factory=dict)
    queues: dict[QueueName, tuple[int | None, bytes]] = field(default_factory=dict)
    timers: list[SetTimers] = field(default_factory=list)


def read(rows: Iterable[StateRow]) -> GroupState:
    """The state of a key group, from its rows in any order."""
    state = GroupState()
    for variable, key, value in rows:
        if variable == INDEX:
            watermark, channels, chunks, description = unpacked(value, (int, bytes, bytes, bytes))
            state.index = watermark, channels.decode(), chunks, description.decode()
            continue
        _, own = unpacked(key, (bytes, bytes))
        if variable == CHUNKS:
            (data,) = unpacked(value, (bytes,))
            state.chunks[ChunkKey(*unpacked(own, (int, int, int, int)))] = data
        elif variable == QUEUES:
            service, clock = unpacked(own, (bytes, bytes))
            now, chunks = unpacked(value, (int, bytes))
            state.queues[service.decode(), clock.decode()] = now, chunks
        else:
            assert variable == TIMERS, variable
            service, clock, number = unpacked(own, (bytes, bytes, int))
            (data,) = unpacked(value, (bytes,))
            state.timers.append(SetTimers((service.decode(), clock.decode()), number, data))
    return state


def written(label: int, state: GroupState) -> Iterator[StateRow]:
    """The rows of the state of the key group with this label."""
    group = packed(label)
    if state.index is not None:
        watermark, channels, chunks, description = state.index
        yield INDEX, group, packed(watermark, channels.encode(), chunks, description.encode())
    for key, data in state.chunks.items():
        yield CHUNKS, packed(group, packed(*key)), packed(data)
    for (service, clock), (now, chunks) in state.queues.items():
        yield QUEUES, packed(group, packed(service.encode(), clock.encode())), packed(now, chunks)
    for (service, clock), number, data in state.timers:
        yield TIMERS, packed(group, packed(service.encode(), clock.encode(), number)), packed(data)


def rows_of(batch: pa.RecordBatch) -> Iterator[StateRow]:
    """The rows of a batch."""
    columns = (batch.column(name).to_pylist() for name in ("column_family_name", "key_bytes", "value_bytes"))
    yield from zip(*columns, strict=True)


def batch_of(label: int, rows: Iterable[StateRow], schema: pa.Schema) -> pa.RecordBatch:
    """A batch of rows of one key group. The columns of `schema` are those of a row."""
    variables, keys, values = zip(*rows, strict=True)
    groups = [{"key_group": label}] * len(keys)
    columns = zip((groups, keys, values, variables), schema.types, strict=True)
    return pa.RecordBatch.from_arrays([pa.array(column, kind) for column, kind in columns], schema=schema)


# Rows of Spark's state as bytes: its UnsafeRow, for the types that our state variables have.
#
# An UnsafeRow is a word of NULL bits, a word per field, and then the bytes of fields of variable length, each filled up
# to whole words; their words hold the place and the length. A word has 8 bytes, the lowest first. Source: Spark's
# UnsafeRow and UnsafeRowWriter.


WORD = 8
Field = int | bytes | None  # an INT that is not negative, a BIGINT; a STRING, a BINARY or a row; NULL


def packed(*fields: Field) -> bytes:
    """A row of up to 64 fields."""
    words, rest = [0], bytearray()
    start = WORD * (1 + len(fields))
    for place, value in enumerate(fields):
        if value is None:
            words[0] |= 1 << place
            words.append(0)
        elif isinstance(value, int):
            words.append(value)
        else:
            words.append((start + len(rest)) << 32 | len(value))
            rest += value + bytes(-len(value) % WORD)
    return struct.pack(f"<{len(words)}q", *words) + bytes(rest)


def unpacked(row: bytes, kinds: Sequence[type]) -> list[Any]:
    """The fields of a row, whose types are int or bytes; None for NULL."""
    nulls, *words = struct.unpack_from(f"<{1 + len(kinds)}q", row)
    found: list[Any] = []
    for place, (kind, word) in enumerate(zip(kinds, words, strict=True)):
        if nulls >> place & 1:
            found.append(None)
        elif kind is int:
            found.append(word)
        else:
            found.append(row[word >> 32 : (word >> 32) + (word & 0xFFFFFFFF)])
    return found
