"""Merged runs of slices, so that a fire of HOP need not read every slice of its windows.

A run of level l is FAN ** l neighbouring slices, at fixed places on the time line, merged to one row per key. The
slices that all windows of a fire contain are covered by the longest runs that fit, a few of each level. Only the slices
at the edges are read one by one. A run is made when a fire first needs it, from the shorter runs that the fire reads
anyway. It is dropped when its first slice expires. Late rows are added to the slice and to the runs above it. If all
slices have the same keys, all runs together have 1/(FAN - 1) of the slices' rows. If all keys differ, each level has as
many rows as the slices.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile

import pyarrow as pa

from tvfsql.plan.window import Hop
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.state.chunk_index import Key, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore
from tvfsql.runtime.stream.state.store_part import StorePart
from tvfsql.runtime.stream.time.slice_clock import Span

FAN = 4
SHORTEST = 16  # windows with fewer slices are read slice by slice


class SliceTree:
    """The slices of one key group, and the runs made of them, in its store."""

    def __init__(self, span: Span, layout: SliceRows, store: ChunkStore | StorePart) -> None:
        self.span, self.layout, self.store = span, layout, store
        self.levels: list[int] = []
        if isinstance(span.kernel, Hop) and span.width >= SHORTEST:
            self.levels = list(takewhile(lambda level: FAN**level < span.width, range(1, 64)))

    def add(self, number: int, batch: pa.RecordBatch) -> None:
        """Add rows to a slice, and to the existing runs that contain it."""
        self.store.append(slice_key(number), batch)
        for level in self.levels:
            run = _run_key(level, (number - 1) // FAN**level + 1)
            if run in self.store:
                self.store.append(run, batch)

    def read(self, slices: Sequence[int], first: int, last: int) -> list[pa.RecordBatch]:
        """The rows for the windows that end on `first` to `last`. `slices` are those of their slices that have rows."""
        opening = self.span.opening(last)
        if not self.levels or opening > first:
            return [batch for number in slices for batch in self.store.read(slice_key(number))]
        edges = [slice_key(number) for number in slices if number < opening or number > first]
        within = [number for number in slices if opening <= number <= first]
        cover = self._cover(opening, first) if within else ()
        return [batch for key in (*edges, *cover) for batch in self._rows(key, within)]

    def expire(self, expired: int) -> None:
        """Drop the slices up to `expired`, and the runs whose first slice is among them: no window can use them."""
        for number in [number for number in self.store.numbers(Kind.SLICE) if number <= expired]:
            self.store.drop(slice_key(number))
        for run in self.store.keys(Kind.SLICE_RUN):
            if (run.number - 1) * FAN**run.level + 1 <= expired:
                self.store.drop(run)

    def _cover(self, first: int, last: int) -> Iterator[Key]:
        """The slices and runs that together cover the slices [first, last]."""
        at = first
        while at <= last:
            level = max(
                level for level in (0, *self.levels) if (at - 1) % FAN**level == 0 and at - 1 + FAN**level <= last
            )
            yield _run_key(level, (at - 1) // FAN**level + 1)
            at += FAN**level

    def _rows(self, key: Key, slices: Sequence[int]) -> list[pa.RecordBatch]:
        """The rows of a slice or a run. Makes the run if it does not exist yet. `slices` are those that have rows."""
        if key.kind == Kind.SLICE or key in self.store:
            return self.store.read(key)
        last = key.number * FAN**key.level
        if bisect_right(slices, last - FAN**key.level) == bisect_right(slices, last):
            return []
        below = range((key.number - 1) * FAN + 1, key.number * FAN + 1)
        parts = [batch for child in below for batch in self._rows(_run_key(key.level - 1, child), slices)]
        self.store.append(key, self.layout.merged(parts, into=last))
        return self.store.read(key)


def slice_key(number: int) -> Key:
    return Key(Kind.SLICE, number)


def _run_key(level: int, number: int) -> Key:
    """The key of a run; a run of level 0 is a slice."""
    return Key(Kind.SLICE_RUN, number, level) if level else slice_key(number)
