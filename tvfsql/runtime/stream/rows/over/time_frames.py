"""What frames of RANGE need of rows that have left, in slots of time: the rows, and of older slots their merged
partials.

A slot is dropped as a whole when no later frame can reach it. Of a wide frame new rows read the slots that the lower
bounds of their frames cut, and the one that they are in. For all slots between these one row of each key is enough: it
is made when a slot is first read so, and kept beside the rows. So what a micro-batch reads is a small part of
the frame, and its own rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.plan.aggregate.chosen_values import Counted, MostFrequent, Quantiles
from tvfsql.plan.over import Frame
from tvfsql.runtime.arrow.batches import changes_in, joined, key_codes, sort_order
from tvfsql.runtime.merge.partials import prepare
from tvfsql.runtime.merge.ranges import Blocks, Ranges
from tvfsql.runtime.merge.scans import SLOTS, slot_of
from tvfsql.runtime.stream.exchange.rows_by_key import HASH
from tvfsql.runtime.stream.rows.over.kept_rows import TIME, Part, merged_rows
from tvfsql.runtime.stream.state.chunk_index import Key, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore
from tvfsql.runtime.stream.state.hash_buckets import hashes_of

SHARED, OF_VALUES = 0, 1000  # numbers of groups: that of several frames, from where on those of ONCE have theirs
PER_FRAME = 16  # slots in the longest of the frames that are not wide
# Kinds whose merged partials are the same in whatever groups partials are merged: those of floats are merged by slots
# anyway (`SlotRanges`). The merged partial of a SMALL kind is as small as one partial; that of the others has each
# value once.
SMALL = ("sum", "min", "max", "first", "last", "moments", "moments4", "comoments", "bit_and", "bit_or", "bit_xor")
ONCE = (Counted, Quantiles, MostFrequent)


@dataclass(frozen=True)
class TimeFrames:
    """Some frames of an operator, the `number`th group of them. `keys` are the names of key columns. With `wide` it is
    one frame, and rows are kept as merged partials of themselves. `slot`: the shortest slot in ms."""

    number: int
    parts: tuple[Part, ...]
    keys: tuple[str, ...]
    wide: bool
    slot: int

    @classmethod
    def of(cls, parts: Iterable[Part], keys: tuple[str, ...], slot: int) -> tuple[TimeFrames, ...]:
        """The groups of frames: each wide one, and all others."""
        wide, once, others, shared = list[Part](), list[Part](), list[Part](), False
        for frame, partials in parts:
            is_wide = frame.length >= SLOTS * slot
            small = tuple(partial for partial in partials if is_wide and partial[2] in SMALL)
            of_values = tuple(partial for partial in partials if is_wide and isinstance(partial[2], ONCE))
            left = tuple(partial for partial in partials if partial not in (*small, *of_values))
            for made, of in ((wide, small), (once, of_values), (others, left)):
                made.extend([(frame, of)] if of else [])
            shared |= bool(left or of_values)
        groups = [(SHARED, tuple(others), False)] if others else []
        groups += [(SHARED + shared + i, (part,), True) for i, part in enumerate(wide)]
        groups += [(OF_VALUES + i, (part,), True) for i, part in enumerate(once)]
        return tuple(cls(number, group, keys, is_wide, slot) for number, group, is_wide in groups)

    @property
    def reach(self) -> int:
        """How long before a row its frames begin, in us; negative: behind it."""
        return max(frame.start or 0 for frame, _ in self.parts) * 1000

    @property
    def slot_us(self) -> int:
        longest = max(frame.length for frame, _ in self.parts) * 1000
        return slot_of(self.parts[0][0]) if self.wide else max(longest // PER_FRAME, self.slot * 1000)

    def own(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The columns of kept rows that these frames need."""
        columns = {name: rows.column(name) for name in (HASH, *self.keys, TIME)}
        for _, partials in self.parts:
            for number, name, kind in partials:
                column = rows.column(str(number))
                columns[str(number)] = merged_rows(kind, name, column) if self.wide else column
        return pa.RecordBatch.from_pydict(columns)

    def add(self, store: ChunkStore, rows: pa.RecordBatch) -> None:
        """Keep rows, which are in order of time."""
        numbers = rows.column(TIME).to_numpy() // self.slot_us
        cuts = [*np.flatnonzero(changes_in(numbers)).tolist(), len(numbers)]
        for start, stop in pairwise(cuts):
            store.append(self._key(int(numbers[start])), rows.slice(start, stop - start))

    def stored(self, store: ChunkStore, new: pa.RecordBatch) -> list[pa.RecordBatch]:
        """The rows of the keys of new ones that can be in their frames, and for whole slots between the bounds of all
        frames, with the time at which it starts, one row of each key."""
        times = new.column(TIME)
        first, last = int(times[0].as_py()), int(times[-1].as_py())
        ends = [1000 * frame.end for frame, _ in self.parts]
        bounds = (first - self.reach, last - self.reach, first - max(ends), last - min(ends))
        lowest, cut, here, highest = (at // self.slot_us for at in bounds)
        found = [
            self._merged(store, number) if self.wide and cut < number < here else self._rows(store, number)
            for number in sorted(self._numbers(store))
            if lowest <= number <= highest
        ]
        if not found:
            return []
        rows = joined(found)
        wanted = np.isin(hashes_of(rows), np.unique(hashes_of(new)))
        return [rows if wanted.all() else rows.filter(pa.array(wanted))]

    def forget(self, store: ChunkStore, watermark: int) -> None:
        """Drop the slots that no row after the watermark (epoch ms) can reach."""
        for number in [*self._numbers(store)]:
            if (number + 1) * self.slot_us <= (watermark + 1) * 1000 - self.reach:
                for key in (self._key(number), self._key(number, merged=True)):
                    if key in store:
                        store.drop(key)

    def _rows(self, store: ChunkStore, number: int) -> pa.RecordBatch:
        return joined(store.read(self._key(number)))

    def _merged(self, store: ChunkStore, number: int) -> pa.RecordBatch:
        """One row of each key for a slot that gets no more rows; the rows themselves where they are hardly more, which
        an empty key notes."""
        key = self._key(number, merged=True)
        if key in store:
            merged = store.read(key)
            return joined(merged) if merged else self._rows(store, number)
        rows = self._rows(store, number)
        many = 2 * len(np.unique(hashes_of(rows))) > rows.num_rows
        by_key = None if many else self._by_key(rows, number)
        if by_key is None or 2 * by_key.nbytes > rows.nbytes:
            store.mark(key)
            return rows
        store.replace(key, by_key)
        return by_key

    def _by_key(self, rows: pa.RecordBatch, number: int) -> pa.RecordBatch:
        codes = key_codes([rows.column(name) for name in self.keys], rows.num_rows)
        order = sort_order([codes])
        ranges = Ranges.of_blocks(Blocks(changes_in(codes[order])))
        rows = rows.take(pa.array(order))
        columns = {name: rows.column(name).take(pa.array(ranges.lo)) for name in (HASH, *self.keys)}
        columns[TIME] = pa.array(np.full(len(ranges), number * self.slot_us))
        for _, partials in self.parts:
            for column, name, kind in partials:
                columns[str(column)] = prepare(kind, name, rows.column(str(column)), ranges.blocks).over(ranges)
        return pa.RecordBatch.from_pydict(columns)

    def _numbers(self, store: ChunkStore) -> Iterator[int]:
        level = self._key(0).level
        return (key.number for key in store.keys(Kind.FRAME) if key.level == level)

    def _key(self, number: int, *, merged: bool = False) -> Key:
        return Key(Kind.FRAME, number, 2 * self.number + 1 + merged)


def take_over(store: ChunkStore, groups: Sequence[TimeFrames]) -> None:
    """Put the rows of a checkpoint in which all frames shared their slots into those of the groups."""
    shared = sorted(key for key in store.keys(Kind.FRAME) if key.level == 0)
    if shared:
        rows = joined([batch for key in shared for batch in store.read(key)])
        for group in groups:
            group.add(store, group.own(rows))
        for key in shared:
            store.drop(key)
    _take_values(store, groups)


def _take_values(store: ChunkStore, groups: Sequence[TimeFrames]) -> None:
    """Put the partials of ONCE of a checkpoint in which they were in the shared slots into those of their groups."""
    own = {group: {str(number) for _, partials in group.parts for number, _, _ in partials} for group in groups}
    moved = {group: names for group, names in own.items() if group.number >= OF_VALUES}
    left = next((group for group in groups if group.number == SHARED and not group.wide), None)
    for key in sorted(key for key in store.keys(Kind.FRAME) if key.level == 1) if moved else ():
        rows = joined(store.read(key))
        if not any(names <= {*rows.schema.names} for names in moved.values()):
            continue
        for group in moved:
            group.add(store, group.own(rows))
        if left is None:
            store.drop(key)
        else:
            store.replace(key, left.own(rows))


def asking(rows: pa.RecordBatch, frame: Frame) -> pa.RecordBatch:
    """Rows without partials, at the times at which a frame of rows ends. They come behind the rows of their time, and a
    frame that ends at them, `frame.up_to_row`, has the same rows."""
    kept = (HASH, TIME)
    columns = {
        name: column if name in kept or name.startswith("k") else pa.nulls(rows.num_rows, column.type)
        for name, column in zip(rows.schema.names, rows.columns, strict=True)
    }
    columns[TIME] = pc.subtract(rows.column(TIME), 1000 * frame.end)
    return pa.RecordBatch.from_pydict(columns)
