"""Runs of slices, merged once: so that a HOP fire need not read every slice of its windows.

A run of level l is FAN ** l neighbouring slices, at fixed places on the time line, merged to one row per key. The
slices that all windows of a fire hold are covered by the longest runs that fit, a few of each level; only the
slices at the edges are read one by one. A run is made when a fire first needs it, out of the runs below it
that the fire reads anyway, and lives until its first slice expires. Late rows are added to the slice and to the
runs above it. With the same keys in every slice the runs hold 1/(FAN - 1) of the rows that the slices hold; with
other keys in each, as many per level.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from tvfsql.plan.window import Hop
from tvfsql.runtime.stream.spans import Span
from tvfsql.runtime.stream.store import Entry, SliceStore

FAN = 4
SHORTEST = 16  # windows of fewer slices are read slice by slice


class Runs:
    """The runs of one key group, kept in its store as entries (level, number)."""

    def __init__(self, span: Span, store: SliceStore) -> None:
        self.span, self.store = span, store
        self.levels: list[int] = []
        if isinstance(span.kernel, Hop) and span.width >= SHORTEST:
            self.levels = list(takewhile(lambda level: FAN**level < span.width, range(1, 64)))

    def add(self, number: int, batch: Any) -> None:
        """Add rows of a slice to the runs that were already made of it."""
        for level in self.levels:
            entry = (level, (number - 1) // FAN**level + 1)
            if entry in self.store.entries:
                self.store.append(entry, batch)

    def read(self, slices: Sequence[int], first: int, last: int) -> list[Any]:
        """What the windows that end on `first` to `last` need; `slices` are those of them that hold data."""
        opening = self.span.opening(last)
        if not self.levels or opening > first:
            return [batch for number in slices for batch in self.store.read((0, number))]
        edges = [(0, number) for number in slices if number < opening or number > first]
        within = [number for number in slices if opening <= number <= first]
        cover = self._cover(opening, first) if within else ()
        return [batch for entry in (*edges, *cover) for batch in self._rows(entry, within)]

    def expire(self, expired: int) -> None:
        """Drop the runs whose first slice has expired: no window can use them any more."""
        gone = [
            (level, number)
            for level, number in self.store.entries
            if level in self.levels and (number - 1) * FAN**level + 1 <= expired
        ]
        for entry in gone:
            self.store.drop(entry)

    def _cover(self, first: int, last: int) -> Iterator[Entry]:
        """Runs that together are the slices [first, last]."""
        at = first
        while at <= last:
            level = max(
                level for level in (0, *self.levels) if (at - 1) % FAN**level == 0 and at - 1 + FAN**level <= last
            )
            yield level, (at - 1) // FAN**level + 1
            at += FAN**level

    def _rows(self, entry: Entry, slices: Sequence[int]) -> list[Any]:
        """The rows of a slice or a run; a run that is not there yet is made. `slices` are those that hold data."""
        level, number = entry
        if level == 0 or entry in self.store.entries:
            return self.store.read(entry)
        last = number * FAN**level
        if bisect_right(slices, last - FAN**level) == bisect_right(slices, last):
            return []
        below = range((number - 1) * FAN + 1, number * FAN + 1)
        parts = [batch for child in below for batch in self._rows((level - 1, child), slices)]
        self.store.append(entry, self.store.layout.merged(parts, into=last))
        return self.store.read(entry)
