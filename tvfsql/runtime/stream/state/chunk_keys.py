"""The names of what is in the state of a key group."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """What the chunks of a key are. The numbers are in checkpoints: never reuse one for another kind."""

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


PARTIALS = (Kind.SLICE, Kind.SLICE_RUN, Kind.SESSIONS)


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
