"""The open sessions of one key group in state: a few batches of intervals of bounded size.

The intervals of a micro-batch are added as a new batch, and merged with those older batches that are not larger. The
number of state calls depends on the size of the open sessions in bytes, never on keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.stream.state.chunk_keys import Key, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State

BATCH_ROWS = 100_000


class OpenSessions:
    """The batches are in `store`, one chunk each, under keys that are numbered in order of insertion."""

    def __init__(
        self,
        layout: Intervals,
        state: State,
        inputs: Sequence[str] = ("",),
        lacking: Mapping[str, pa.Array] | None = None,
    ) -> None:
        self.layout = layout
        self.store = ChunkStore(state, layout.kept.merged, inputs, self._ends, layout.names, lacking)
        self.next = max(self.store.numbers(Kind.SESSIONS), default=-1) + 1

    def add(self, batch: pa.RecordBatch) -> None:
        """Add intervals."""
        older = self.store.keys(Kind.SESSIONS)
        while older and self.store.rows_of(older[-1]) <= batch.num_rows:
            key = older.pop()
            batch = self.layout.kept.merged([*self.store.read(key), batch])
            self.store.drop(key)
        self._append(batch)

    def read(self) -> list[pa.RecordBatch]:
        """All intervals, oldest first."""
        return [batch for key in self.store.keys(Kind.SESSIONS) for batch in self.store.read(key)]

    def replace(self, batch: pa.RecordBatch) -> None:
        """Replace all intervals."""
        for key in self.store.keys(Kind.SESSIONS):
            self.store.drop(key)
        self._append(batch)

    def restore(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Take over the intervals of earlier key groups, oldest first, without merging any."""
        for batch in batches:
            self._append(batch)

    @property
    def first_end(self) -> int | None:
        """A lower bound of the ends of all sessions (epoch ms); None: no session is open."""
        ends = self.store.times()
        return None if ends is None else ends[0]

    @property
    def last_end(self) -> int | None:
        """The end of the last session (epoch ms); None: no session is open."""
        ends = self.store.times()
        return None if ends is None else ends[1]

    def _append(self, batch: pa.RecordBatch) -> None:
        for start in range(0, batch.num_rows, BATCH_ROWS):
            self.store.append(Key(Kind.SESSIONS, self.next), batch.slice(start, BATCH_ROWS))
            self.next += 1

    def _ends(self, batch: pa.RecordBatch) -> tuple[int, int]:
        return self.layout.first_end(batch), int(self.layout.ends(batch).max())
