"""The open sessions of one key group in state: intervals in buckets by the hash of their key.

The intervals of a micro-batch are added to their buckets, and merged with others when chunks of a bucket are. The index
has the first end of each bucket, so only buckets in which a session may be due are read. What is written follows the
new intervals and the sessions that close, never the open ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from tvfsql.errors import UnsupportedError
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.arrow.spark_hash import xxhash64
from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.stream.state.chunk_index import Kind
from tvfsql.runtime.stream.state.chunk_store import NO_TIMES, ChunkStore, State, Times
from tvfsql.runtime.stream.state.hash_buckets import BUCKET_ROWS, CHANGE, REMOVES, BucketRows, HashBuckets


class OpenSessions:
    """The buckets are in `store`, under keys of one of the INTERVALS."""

    def __init__(
        self, layout: Intervals, store: ChunkStore, kind: Kind = Kind.SESSIONS, bucket_rows: int = BUCKET_ROWS
    ) -> None:
        self.layout, self.store = layout, store
        self.buckets = HashBuckets(store, bucket_rows, BucketRows(self.hashes, layout.kept.merged), kind)

    @classmethod
    def of_state(
        cls,
        layout: Intervals,
        state: State,
        inputs: Sequence[str] = ("",),
        lacking: Mapping[str, pa.Array] | None = None,
        bucket_rows: int = BUCKET_ROWS,
    ) -> OpenSessions:
        """The open sessions in a store of their own."""
        names = [*layout.names, CHANGE]
        store = ChunkStore(state, layout.kept.merged, inputs, partial(_ends, layout), names, lacking)
        return cls(layout, store, bucket_rows=bucket_rows)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add intervals."""
        self.buckets.add(batch)

    def read(self) -> list[pa.RecordBatch]:
        """All intervals."""
        return self.buckets.read(self.buckets.every())

    def near(self, intervals: pa.RecordBatch) -> list[pa.RecordBatch]:
        """All intervals with the keys of the given ones, and maybe others."""
        numbers = np.unique(self.buckets.numbers(self.hashes(intervals))).tolist()
        return self.buckets.read([number for number in numbers if self.buckets.key(number) in self.store])

    def due(self, watermark: int) -> Iterator[tuple[int, list[pa.RecordBatch]]]:
        """The buckets in which a session may have ended by the watermark (epoch ms), with their intervals."""
        for number in self.buckets.every():
            if self.first_end_in(number) - 1 <= watermark:
                yield number, self.buckets.read([number])

    def first_end_in(self, number: int) -> int:
        """A lower bound of the ends of the sessions in a bucket (epoch ms)."""
        return self.store.times_in(self.buckets.key(number))[0]

    def close(self, number: int, opened: pa.RecordBatch, due: Mask, ends: Ints) -> None:
        """Remove the intervals of a bucket that are `due`. `opened` are all its intervals, merged; `ends` are the ends
        of the sessions that they form now (epoch ms)."""
        rest = opened.filter(pa.array(~due))
        self.buckets.update(rest, self.hashes(opened.filter(pa.array(due))), [opened])
        if rest.num_rows:
            left = ends[~due]
            self.store.retime(self.buckets.key(number), (int(left.min()), int(left.max())))

    def restore(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Take over the intervals of earlier key groups, without merging any."""
        self.buckets.restore(batches)

    @property
    def first_end(self) -> int | None:
        """A lower bound of the ends of all sessions (epoch ms); None: no session is open."""
        times = self._times
        return None if times is None else times[0]

    @property
    def last_end(self) -> int | None:
        """The end of the last session (epoch ms); None: no session is open."""
        times = self._times
        return None if times is None else times[1]

    @property
    def _times(self) -> Times | None:
        """The first and the last end of all sessions; None: no session is open."""
        found = [self.store.times_in(self.buckets.key(number)) for number in self.buckets.every()]
        first = min((one for one, _ in found), default=NO_TIMES[0])
        last = max((one for _, one in found), default=NO_TIMES[1])
        return (first, last) if first <= last else None

    def hashes(self, batch: pa.RecordBatch) -> Ints:
        """The hash of the key of each interval; one for all if their type has none."""
        try:
            return xxhash64(batch.columns[: self.layout.keys], batch.num_rows)
        except UnsupportedError:
            return np.zeros(batch.num_rows, dtype=np.int64)


def _ends(layout: Intervals, batch: pa.RecordBatch) -> Times:
    rows = batch.filter(pa.array(batch.column(CHANGE).to_numpy() != REMOVES))
    return (layout.first_end(rows), int(layout.ends(rows).max())) if rows.num_rows else NO_TIMES
