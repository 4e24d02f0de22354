"""The slices of one window function in a store: which of its windows fire, and from which slices."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.operator.messages import Fire
from tvfsql.runtime.stream.state.chunk_index import Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore
from tvfsql.runtime.stream.state.store_part import StorePart
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.windows.fire import FiredWindows
from tvfsql.runtime.stream.windows.slice_tree import SliceTree, slice_key


class Due(NamedTuple):
    """Windows that fire: the rows of their slices, and the slices that the first and the last of them end on."""

    rows: list[pa.RecordBatch]
    first: int
    last: int


class WindowSlices:
    """The slices of a window function in a store, which may have other slices of the same length too."""

    def __init__(self, span: Span, layout: SliceRows, rows: str, store: ChunkStore | StorePart, name: str = "") -> None:
        self.span, self.layout, self.store, self.name = span, layout, store, name
        self.tree = SliceTree(span, layout, store)
        self.fired_windows = FiredWindows(span, layout, rows)

    def due(self, already: int | None, fired: int) -> Due | None:
        """The windows that end after `already` and at or before `fired`. None: none of them has rows."""
        slices = sorted(self.store.numbers(Kind.SLICE))
        if not slices:
            return None
        first = self.first_open(slices[0], already)
        last = self.span.latest(min(fired, self.span.last(slices[-1])))
        if last < first:
            return None
        opening = self.span.opening(first)
        rows = self.tree.read([number for number in slices if opening <= number <= last], first, last)
        return Due(rows, first, last) if rows else None

    def fire(self, due: Due, rows: pa.RecordBatch | None = None) -> Fire:
        """The windows, from `rows` instead if these are other ones than those of their slices."""
        made = self.layout.by_key(due.rows) if rows is None else rows
        return Fire(made, self.span.end(due.first), self.span.end(due.last), self.name)

    def first_open(self, first: int, fired: int | None) -> int:
        """The end of the first window that has not fired. `first` is the first slice with rows."""
        of_rows = self.span.first(first)
        return of_rows if fired is None else max(of_rows, self.span.latest(fired) + self.span.stride)

    def fold(self, fired: int) -> None:
        """Merge the fired slices of the open cycle of a CUMULATE into one: later windows contain all of them."""
        folded = sorted(number for number in self.store.numbers(Kind.SLICE) if number <= fired)
        if len(folded) < 2:
            return
        batches = [batch for number in folded for batch in self.store.read(slice_key(number))]
        merged = self.layout.merged(batches, into=folded[-1])
        for number in folded:
            self.store.drop(slice_key(number))
        self.store.append(slice_key(folded[-1]), merged)
