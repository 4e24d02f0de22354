"""The list of chunks of a key group, stored so that a micro-batch writes about what it has changed.

The list has one record or more for each key: a record per chunk, or one that says that the key has none. It is stored
in layers, each with the records of the keys that had changed since the layer below. A newer record of a key replaces
all older ones. The newest layer is in the index itself. When it has more than INLINE records, it becomes an entry of
its own, together with those entries above which it is not small (`FAN`). So there are few layers, and each record is
rewritten a few times for each. A list of few records is in the index alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.columns import Ints

# The names of what is in the state of a key group.


class Kind(IntEnum):
    """What the chunks of a key are. The numbers are in checkpoints: never reuse one for another kind.

    Where several windows share an operator, each of their places has LEVELS of levels for itself (`StorePart`).
    """

    SLICE = 0  # number: the slice
    SLICE_RUN = 1  # of `SliceTree`; level: its height in the tree, number: its place at that height
    EMITTED_STEP = 2  # of `ChangedSteps`; number: the first slice of the cycle
    LATE_ROWS = 3  # of `FiringWindows`; number: the last fired window end (as a slice) when the rows came
    EMITTED_WINDOW = 4  # of `FiringWindows`; number: the slice that the window ends on
    EARLY_SINCE = 5  # of `FiringWindows`, without rows; number: since when (epoch ms) rows wait for an early fire
    LATE_SINCE = 6  # the same for a late fire
    SESSIONS = 7  # of `OpenSessions`: a BUCKET of intervals
    BUCKET = 8  # of `HashBuckets`; level: how many bits of the hash are used, number: those bits
    JOIN_SLOT = 9  # of interval and temporal joins; level: the side, number: the slot
    BLOCK = 10  # of `ChunkBlocks`: small chunks of any other kind
    INDEX = 11  # of `ChunkIndex`: a layer of the list of chunks
    JOIN_MET = 12  # of interval joins: keys and times of rows of the same JOIN_SLOT that have had a partner meanwhile
    WAITING = 13  # of `WaitingRows` of one input; number: the slot
    FRAME = 14  # of OVER: what frames of RANGE need of rows that have left; number: the slot
    LOOKED_THROUGH = 15  # of `IdleKeys`, without rows; number: when (epoch ms) idle keys were last looked for
    EMITTED_SESSIONS = 16  # of `FiringSessions`: a BUCKET of sessions as they were emitted last
    RIGHT_BUCKET = 17  # of regular joins: a BUCKET of rows of the right side; those of the left side are in BUCKET


PARTIALS = (Kind.SLICE, Kind.SLICE_RUN, Kind.SESSIONS, Kind.EMITTED_SESSIONS)
INTERVALS = (Kind.SESSIONS, Kind.EMITTED_SESSIONS)
BUCKETS = (Kind.BUCKET, Kind.RIGHT_BUCKET)


class Key(NamedTuple):
    """The name of a key in the store."""

    kind: Kind
    number: int
    level: int = 0


class ChunkKey(NamedTuple):
    """The name of a chunk in state: a key, and the chunk's place among the key's chunks."""

    kind: int
    number: int
    level: int
    place: int


INLINE = 128  # records in the index itself
FAN = 4  # a layer stays as it is if it has more than so many times the records of those above it
REMOVED, NO_CHUNK = -1, 0  # in the place of a number of rows: the key is gone, the key has no chunk


class Record(NamedTuple):
    """A chunk of a key: its number of rows, where it is (its size in bytes as an entry; or as `Placed` says), and the
    first and the last time of its rows (0, 0 without times)."""

    kind: int
    number: int
    level: int
    rows: int
    where: int
    first: int
    last: int

    @property
    def key(self) -> Key:
        return Key(_KINDS[self.kind], self.number, self.level)


class Entries(Protocol):
    """The entries of state, without the index."""

    def chunk(self, key: ChunkKey) -> bytes: ...

    def set_chunk(self, key: ChunkKey, data: bytes) -> None: ...

    def remove_chunk(self, key: ChunkKey) -> None: ...


Records = dict[Key, list[Record]]
_KINDS = list(Kind)
_WIDTH = len(Record._fields)
_HEAD = np.dtype("<i8")


class ChunkIndex:
    """The layers of a key group during one micro-batch, oldest first; the last one is in the index."""

    def __init__(self, state: Entries, data: bytes = b"") -> None:
        self.state = state
        numbers, inline = _split(data)
        self.numbers = numbers
        self.layers = [_records(state.chunk(_layer_key(number))) for number in numbers]
        self.inline = _records(inline)

    def records(self) -> Records:
        """The newest records of each key that is not gone."""
        found: Records = {}
        for layer in (*self.layers, self.inline):
            for key, records in layer.items():
                if records[0].rows == REMOVED:
                    found.pop(key, None)
                else:
                    found[key] = records
        return found

    def changed(self, changes: Mapping[Key, list[Record]], left: int) -> bytes:
        """The index after changes: the records of each changed key, none if it is gone. `left` is the number of keys
        that there are then. Writes and removes layers."""
        for key, records in changes.items():
            self.inline[key] = records or [Record(*key, REMOVED, 0, 0, 0)]
        if left <= INLINE:
            self._keep(0)
        elif sum(map(len, self.inline.values())) > INLINE:
            self._spill()
        if not self.numbers:
            self.inline = _without_removed(self.inline)
        if not self.numbers and not self.inline:
            return b""
        head = np.array([len(self.numbers), *self.numbers], dtype=_HEAD).tobytes()
        return head + _data(self.inline)

    def _spill(self) -> None:
        """Make the newest records, and those of the layers that are not much larger, a layer."""
        kept, size = len(self.layers), len(self.inline)
        while kept and len(self.layers[kept - 1]) <= FAN * size:
            kept -= 1
            size += len(self.layers[kept])
        number = max(self.numbers, default=0) + 1
        self._keep(kept)
        layer = self.inline if self.numbers else _without_removed(self.inline)
        self.numbers.append(number)
        self.layers.append(layer)
        self.state.set_chunk(_layer_key(number), _data(layer))
        self.inline = {}

    def _keep(self, kept: int) -> None:
        """Remove the layers from `kept` on, and take over their records."""
        together: Records = {}
        for number, layer in zip(self.numbers[kept:], self.layers[kept:], strict=True):
            together |= layer
            self.state.remove_chunk(_layer_key(number))
        self.inline = together | self.inline
        del self.numbers[kept:], self.layers[kept:]


def listed(entries: Entries, data: bytes) -> Iterator[Record]:
    """All records of an index, those of one key in order."""
    for records in ChunkIndex(entries, data).records().values():
        yield from records


def _layer_key(number: int) -> ChunkKey:
    return ChunkKey(int(Kind.INDEX), number, 0, 0)


def _without_removed(records: Records) -> Records:
    return {key: of for key, of in records.items() if of[0].rows != REMOVED}


def _split(data: bytes) -> tuple[list[int], bytes]:
    """The numbers of the layers, and the records in the index itself."""
    if not data:
        return [], b""
    count = int(np.frombuffer(data, dtype=_HEAD, count=1)[0])
    numbers: list[int] = np.frombuffer(data, dtype=_HEAD, count=count, offset=8).tolist()
    return numbers, data[8 * (count + 1) :]


def _data(records: Mapping[Key, Iterable[Record]]) -> bytes:
    """Records column by column, as differences, compressed: neighbours are alike."""
    every = [record for of in records.values() for record in of]
    if not every:
        return b""
    columns: Ints = np.array(every, dtype=np.int64).T
    plain = np.ascontiguousarray(np.diff(columns, axis=1, prepend=0)).tobytes()
    packed: bytes = pa.compress(plain, codec="zstd", asbytes=True)
    return np.array([len(plain)], dtype=_HEAD).tobytes() + packed


def _records(data: bytes) -> Records:
    found: Records = {}
    if not data:
        return found
    size = int(np.frombuffer(data, dtype=_HEAD, count=1)[0])
    plain: bytes = pa.decompress(data[8:], decompressed_size=size, codec="zstd", asbytes=True)
    columns = np.cumsum(np.frombuffer(plain, dtype=np.int64).reshape(_WIDTH, -1), axis=1)
    for record in map(Record._make, zip(*columns.tolist(), strict=True)):
        found.setdefault(Key(_KINDS[record.kind], record.number, record.level), []).append(record)
    return found
