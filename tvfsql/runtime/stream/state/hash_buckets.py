"""Rows in state by the hash of their key: buckets of bounded size, whose number grows with the number of rows.

A micro-batch reads only the buckets of its keys, and appends to them what has changed: the rows of each hash that has
changed, which replace all older rows of that hash in the bucket (`CHANGE`). Chunks of a bucket are merged by size, as
those of any key of the store; rows that have been replaced go then. So what is written follows what has changed, and a
bucket has few chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import changes_in, joined, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.stream.exchange.rows_by_key import HASH
from tvfsql.runtime.stream.state.chunk_index import Key, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore

BUCKET_ROWS = 16_384
FAN = 4  # a chunk with up to so many times the rows behind it is merged with them: a bucket has at most 8 chunks
# What a row does to older chunks of its bucket, as a column of int8: nothing; it replaces their rows of its hash; it
# removes them, and is not a row itself. Within a chunk it does nothing.
CHANGE = "$change"
ADDED, REPLACES, REMOVES = 0, 1, 2


def hashes_of(rows: pa.RecordBatch) -> Ints:
    """The hashes of rows that came with them."""
    return rows.column(HASH).to_numpy()


def among(hashes: Ints, ordered: Ints) -> Mask:
    """Which hashes are among others, which are in order: `np.isin` would sort the others anew for each bucket."""
    if not len(ordered):
        return np.zeros(len(hashes), dtype=np.bool_)
    places = np.minimum(np.searchsorted(ordered, hashes), len(ordered) - 1)
    found: Mask = ordered[places] == hashes
    return found


@dataclass(frozen=True)
class BucketRows:
    """How rows are kept in buckets: `hashes` finds the hash of each row, `merge` merges rows of several chunks that all
    count."""

    hashes: Callable[[pa.RecordBatch], Ints] = hashes_of
    merge: Callable[[Sequence[pa.RecordBatch]], pa.RecordBatch] = joined

    def merged(self, chunks: Sequence[pa.RecordBatch], every: bool) -> pa.RecordBatch:
        """One chunk with the effect of several, oldest first. `every`: they are all chunks of the bucket."""
        rows = self.live(chunks)
        together = self.merge([one for one in rows if one.num_rows] or rows[:1])
        if every:
            return with_change(together, ADDED)
        marked = np.unique(np.concatenate([self._marked(chunk) for chunk in chunks]))
        hashes = self.hashes(together)
        changed = np.isin(hashes, marked)
        kept = with_change(together, np.where(changed, REPLACES, ADDED))
        gone = np.setdiff1d(marked, hashes)
        return joined([kept, *self.removals([chunk.drop_columns([CHANGE]) for chunk in chunks], gone)])

    def live(self, chunks: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
        """The rows of each chunk that count, without `CHANGE`, oldest first."""
        found: list[pa.RecordBatch] = []
        newer = np.zeros(0, dtype=np.int64)  # the hashes whose older rows do not count, in order
        for chunk in reversed(chunks):
            rows = chunk.drop_columns([CHANGE])
            older = among(self.hashes(chunk), newer)
            rows_kept = ~older
            marks = _change(chunk)
            if marks.any():
                rows_kept &= marks != REMOVES
                newer = np.sort(np.concatenate([newer, self._marked(chunk)]))
            found.append(rows if rows_kept.all() else rows.filter(pa.array(rows_kept)))
        return found[::-1]

    def _marked(self, chunk: pa.RecordBatch) -> Ints:
        """The hashes whose rows in older chunks do not count."""
        marks = _change(chunk)
        return self.hashes(chunk)[marks != ADDED] if marks.any() else np.zeros(0, dtype=np.int64)

    def removals(self, batches: Sequence[pa.RecordBatch], gone: Ints) -> Iterator[pa.RecordBatch]:
        """Rows that remove these hashes, made of one row of each in `batches`."""
        for rows in batches:
            if len(gone):
                hashes = self.hashes(rows)
                _, first = np.unique(hashes, return_index=True)
                places = first[np.isin(hashes[first], gone)]
                gone = np.setdiff1d(gone, hashes[places])
                yield with_change(rows.take(pa.array(places)), REMOVES)


@dataclass
class HashBuckets:
    """The buckets of a key group in its `store`: 2**level of them, numbered by the lowest `level` bits of the hash."""

    store: ChunkStore
    bucket_rows: int = BUCKET_ROWS
    rows: BucketRows = field(default_factory=BucketRows)
    kind: Kind = Kind.BUCKET

    def __post_init__(self) -> None:
        self.level = max((key.level for key in self.store.keys(self.kind)), default=0)
        self.count = sum(map(self.store.rows_of, self.store.keys(self.kind)))

    def numbers(self, hashes: Ints) -> Ints:
        """The bucket of each hash."""
        return hashes & ((1 << self.level) - 1)

    def read(self, buckets: Sequence[int]) -> list[pa.RecordBatch]:
        """The rows of some buckets, the oldest of each bucket first."""
        return [batch for number in buckets for batch in self.rows.live(self.store.read(self.key(number)))]

    def of(self, hashes: Ints) -> list[pa.RecordBatch]:
        """The rows of these hashes, in batches that have some; of each bucket the oldest first."""
        numbers = self.numbers(hashes := np.unique(hashes))
        order = np.argsort(numbers, kind="stable")
        starts = np.flatnonzero(changes_in(numbers[order])) if len(order) else np.zeros(1, dtype=np.int64)
        found = []
        for wanted in np.split(hashes[order], starts[1:]):
            for rows in self.read([int(number) for number in self.numbers(wanted[:1])]):
                here = among(self.rows.hashes(rows), wanted)
                found.append(rows if here.all() else rows.filter(pa.array(here)))
        return [rows for rows in found if rows.num_rows]

    def every(self) -> list[int]:
        """The buckets that have rows."""
        return sorted(self.store.numbers(self.kind))

    def add(self, rows: pa.RecordBatch) -> None:
        """Add rows. Those in state stay as they are."""
        self.make_room(rows.num_rows)
        for number, part in self._parts(with_change(rows, ADDED)):
            self._append(number, part)

    def put(self, rows: pa.RecordBatch, before: Sequence[pa.RecordBatch] = ()) -> None:
        """Replace the rows of these hashes by `rows`, and remove those of the other hashes in `before`, whatever else
        their buckets have."""
        self.make_room(rows.num_rows)
        fresh = with_change(rows, REPLACES)
        if before:
            gone = np.setdiff1d(np.concatenate([*map(self.rows.hashes, before)]), self.rows.hashes(rows))
            fresh = joined([fresh, *self.rows.removals(before, gone)])
        for number, part in self._parts(fresh):
            self._append(number, part)

    def update(self, rows: pa.RecordBatch, changed: Ints, before: Sequence[pa.RecordBatch]) -> None:
        """Replace the rows of the hashes `changed` by those of `rows`. `rows` are all rows of their buckets, and
        `before` are those that the buckets had, as `read` returned them. Rows of other buckets are ignored. The number
        of buckets stays: `make_room` comes afterwards."""
        buckets, changed = {*np.unique(self.numbers(changed)).tolist()}, np.unique(changed)
        is_changed = np.isin(self.rows.hashes(rows), changed)
        fresh = with_change(rows.filter(pa.array(is_changed)), REPLACES)
        gone = np.setdiff1d(changed, self.rows.hashes(fresh))
        removals = self.rows.removals(before, gone)
        left = {number: part for number, part in self._parts(with_change(rows, ADDED)) if number in buckets}
        for number in buckets - left.keys():
            self._drop(number)
        for number, part in self._parts(joined([fresh, *removals])):
            if number not in left:
                continue
            if 2 * part.num_rows >= left[number].num_rows:
                self._replace(number, left[number])
            else:
                self._append(number, part)

    def restore(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Take over rows of earlier key groups, those of a hash oldest first, without merging any."""
        self.make_room(sum(batch.num_rows for batch in batches))
        parts: dict[int, list[pa.RecordBatch]] = {}
        for batch in batches:
            for number, part in self._parts(with_change(batch, ADDED)):
                parts.setdefault(number, []).append(part)
        for number, of_bucket in sorted(parts.items()):
            self.store.restore(self.key(number), of_bucket)
            self.count += sum(part.num_rows for part in of_bucket)

    def clear(self) -> None:
        """Remove all rows."""
        for number in self.every():
            self._drop(number)

    def key(self, number: int) -> Key:
        """The key of a bucket in the store."""
        return Key(self.kind, number, self.level)

    def _parts(self, rows: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows of each bucket, in order."""
        numbers = self.numbers(self.rows.hashes(rows))
        order = sort_order([numbers])
        rows, numbers = rows.take(pa.array(order)), numbers[order]
        starts = np.flatnonzero(changes_in(numbers)).tolist() if len(numbers) else []
        for start, stop in pairwise([*starts, len(numbers)]):
            yield int(numbers[start]), rows.slice(start, stop - start)

    def _append(self, number: int, part: pa.RecordBatch) -> None:
        key = self.key(number)
        self.count -= self.store.rows_of(key) if key in self.store else 0
        self.store.append(key, part, self.rows.merged, FAN)
        self.count += self.store.rows_of(key)

    def _replace(self, number: int, part: pa.RecordBatch) -> None:
        self._drop(number)
        self.store.replace(self.key(number), part)
        self.count += part.num_rows

    def _drop(self, number: int) -> None:
        key = self.key(number)
        if key in self.store:
            self.count -= self.store.rows_of(key)
            self.store.drop(key)

    def make_room(self, more: int = 0) -> None:
        """Double the number of buckets until each has at most `bucket_rows` of all rows and so many more. Some room is
        left, so that this does not come again soon."""
        if self.count + more <= self.bucket_rows << self.level:
            return
        kept = [self.rows.live(self.store.read(self.key(number))) for number in self.every()]
        parts = [part for of_bucket in kept for part in of_bucket if part.num_rows]
        self.clear()
        rows = sum(part.num_rows for part in parts)
        while rows + more > (3 * self.bucket_rows << self.level) // 4:
            self.level += 1
        if parts:
            for number, part in self._parts(with_change(self.rows.merge(parts), ADDED)):
                self._replace(number, part)


def with_change(rows: pa.RecordBatch, change: int | Ints) -> pa.RecordBatch:
    """The rows with the column `CHANGE`."""
    return rows.append_column(CHANGE, pa.array(np.broadcast_to(np.asarray(change, dtype=np.int8), rows.num_rows)))


def _change(chunk: pa.RecordBatch) -> Ints:
    return chunk.column(CHANGE).to_numpy()
