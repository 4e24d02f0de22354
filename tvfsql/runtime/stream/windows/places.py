"""Where the slices of several windows are kept, so that new rows are written once for all of them.

Slices of one length have a place, and so has each CUMULATE. Rows come as slices of the shortest length, into the first
place. When a slice ends it goes on to the places below its own, merged to their longer slices: the hours of a TUMBLE
are made of minutes, its days of hours. A row that comes after its slice has ended is added to each place below by
itself.

    windows: TUMBLE 1 min, HOP 1 min/1 h, TUMBLE 1 h, CUMULATE 1 min/24 h

    place 0: minutes     TUMBLE 1 min, HOP 1 min/1 h
      place 1: minutes   CUMULATE 1 min/24 h, whose fired minutes are one slice
      place 2: hours     TUMBLE 1 h
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from tvfsql.plan.window import Cumulate, Hop, Several, Tumble, common_slices
from tvfsql.runtime.merge.slice_rows import SLICE, SliceRows
from tvfsql.runtime.stream.operator.messages import Fire
from tvfsql.runtime.stream.state.chunk_index import Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore
from tvfsql.runtime.stream.state.store_part import StorePart
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.windows.slice_tree import SliceTree, slice_key
from tvfsql.runtime.stream.windows.window_slices import WindowSlices


@dataclass(frozen=True)
class Place:
    """The windows of slices of one length, or one CUMULATE. Its slices come from the place with the number `above`;
    None: they come from the rows."""

    slices: Tumble
    windows: tuple[tuple[str, Tumble | Hop | Cumulate], ...]
    above: int | None = None

    @property
    def folds(self) -> bool:
        """Whether slices that have fired become one."""
        return any(isinstance(window, Cumulate) for _, window in self.windows)


def places_of(several: Several) -> list[Place]:
    """The places of several windows, each after the one above it. State knows them by their order."""
    shared: dict[Tumble, list[tuple[str, Tumble | Hop | Cumulate]]] = defaultdict(list)
    alone = []
    first = shared[several.slices]
    for name, window in several.windows:
        slices = Tumble(window.slice_size, window.offset)
        if isinstance(window, Cumulate):
            alone.append(Place(slices, ((name, window),)))
        else:
            shared[slices].append((name, window))
    made = [Place(several.slices, tuple(first))]
    others = [Place(slices, tuple(windows)) for slices, windows in shared.items() if windows is not first]
    for place in sorted([*others, *alone], key=lambda place: place.slices.size):
        made.append(replace(place, above=_above(place, made)))
    return made


def _above(place: Place, made: Sequence[Place]) -> int:
    """The place with the longest slices of which those of another place are made."""
    found = (at for at, other in enumerate(made) if not other.folds and common_slices((other.slices, place.slices)))
    return max(found, key=lambda at: made[at].slices.size)


class Slices:
    """The slices of a place in the state of a key group. Watermarks are in epoch ms, and None before the first one."""

    def __init__(self, place: Place, number: int, layout: SliceRows, rows: str, store: ChunkStore) -> None:
        self.layout, self.folds, self.span = layout, place.folds, Span(place.slices)
        self.part = StorePart(store, number)
        self.windows = [WindowSlices(Span(window), layout, rows, self.part, name) for name, window in place.windows]
        longest = max((window.span for window in self.windows), key=lambda span: span.width, default=self.span)
        self.tree = SliceTree(longest, layout, self.part)
        self.above: Slices | None = None
        self.below: list[Slices] = []

    def fired(self, watermark: int | None) -> int | None:
        """The last slice that has ended."""
        return None if watermark is None else self.span.number(watermark + 1)

    def number(self, end: int) -> int:
        """The slice that contains a shorter one, which ends at `end` (epoch ms)."""
        return self.span.number(end - 1) + 1

    def add(self, end: int, batch: pa.RecordBatch, watermark: int | None) -> None:
        """Add the rows of a slice of the first place to the slice here, and if that has ended to those below. `end` is
        in epoch ms."""
        number, fired = self.number(end), self.fired(watermark)
        batch = batch if self.above is None else self._in_slice(number, batch)
        if fired is None or number > fired:
            self.tree.add(number, batch)
            return
        if any(window.span.last(number) > fired for window in self.windows):
            self.tree.add(number, batch)
        for other in self.below:
            other.add(end, batch, watermark)

    def advance(self, already: int | None, watermark: int) -> Iterator[tuple[WindowSlices, Fire]]:
        """Fire the windows that end between two watermarks, after the slices that have ended have gone to the places
        below. Those places come later."""
        before, fired = self.fired(already), self.fired(watermark)
        assert fired is not None
        if fired == before:
            return
        ended = [n for n in sorted(self.part.numbers(Kind.SLICE)) if n <= fired and (before is None or n > before)]
        for other in self.below:
            other.take({number: self.part.read(slice_key(number)) for number in ended}, self.span)
        for window in self.windows:
            due = window.due(before, fired)
            if due is not None:
                yield window, window.fire(due)
        self.tree.expire(min((window.span.expired(fired) for window in self.windows), default=fired))
        if self.folds:
            self.windows[0].fold(fired)

    def take(self, ended: Mapping[int, Sequence[pa.RecordBatch]], span: Span) -> None:
        """Take over slices of the place above, whose numbers are those of `span`."""
        found: dict[int, list[pa.RecordBatch]] = defaultdict(list)
        for number, batches in ended.items():
            found[self.number(span.end(number))] += batches
        for number, batches in found.items():
            one = batches[0] if len(batches) == 1 else self.layout.merged(batches, into=number)
            self.tree.add(number, self._in_slice(number, one))

    def rows(self, watermark: int | None) -> Counter[int]:
        """The number of rows in state of each slice, with those that are still in shorter slices."""
        found = Counter({number: self.part.rows_of(slice_key(number)) for number in self.part.numbers(Kind.SLICE)})
        if self.above is not None:
            fired = self.above.fired(watermark)
            for number, rows in self.above.rows(watermark).items():
                if fired is None or number > fired:
                    found[self.number(self.above.span.end(number))] += rows
        return found

    def _in_slice(self, number: int, batch: pa.RecordBatch) -> pa.RecordBatch:
        at = batch.schema.names.index(SLICE)
        return batch.set_column(at, SLICE, pa.array(np.full(batch.num_rows, number, dtype=np.int64)))


def slices_of(several: Several, layout: SliceRows, rows: str, store: ChunkStore) -> list[Slices]:
    """The slices of all places of several windows, in the order of the places."""
    places = places_of(several)
    made = [Slices(place, number, layout, rows, store) for number, place in enumerate(places)]
    for place, slices in zip(places, made, strict=True):
        if place.above is not None:
            slices.above = made[place.above]
            slices.above.below.append(slices)
    return made
