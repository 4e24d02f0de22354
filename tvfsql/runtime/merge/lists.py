"""Partials that are lists: how the lists of slices become the list of a window."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.runtime.arrow.columns import Ints, Mask, lengths, lists, structs
from tvfsql.runtime.arrow.order import codes
from tvfsql.runtime.arrow.ranks import DIRECTIONS, ranked, sort_codes
from tvfsql.runtime.merge.ranges import Partial, Presence, Ranges


class Concat(Partial):
    """`concat`: the elements of a range are adjacent, so a merged list is one piece of them."""

    def __init__(self, column: pa.Array) -> None:
        values = lists(column)
        self.type = column.type
        self.presence = Presence(column)
        self.elements = values.flatten()
        self.offsets = np.zeros(len(column) + 1, dtype=np.int64)
        np.cumsum(lengths(values), out=self.offsets[1:])

    def over(self, ranges: Ranges) -> pa.Array:
        at, _ = self._gathered(ranges)
        counts = self.offsets[ranges.hi] - self.offsets[ranges.lo]
        return self._lists(self.elements.take(pa.array(at)), counts, self.presence.over(ranges))

    def _gathered(self, ranges: Ranges) -> tuple[Ints, Ints]:
        """The elements of all ranges, range by range, and for each element the number of its range."""
        counts = self.offsets[ranges.hi] - self.offsets[ranges.lo]
        starts = np.cumsum(counts) - counts
        at = np.arange(int(counts.sum())) + np.repeat(self.offsets[ranges.lo] - starts, counts)
        return at, np.repeat(np.arange(len(ranges)), counts)

    def _lists(self, elements: pa.Array, counts: Ints, present: Mask | None) -> pa.Array:
        """Lists of `counts` elements each, from consecutive elements."""
        offsets = np.zeros(len(counts) + 1, dtype=np.int64)
        np.cumsum(counts, out=offsets[1:])
        large = pa.types.is_large_list(self.type)
        return (pa.LargeListArray if large else pa.ListArray).from_arrays(
            pa.array(offsets if large else offsets.astype(np.int32)),
            elements,
            type=self.type,
            mask=None if present is None else pa.array(~present),
        )

    def bytes_over(self, ranges: Ranges) -> Ints:
        each = max(1, self.elements.nbytes // max(1, len(self.elements)))
        sizes: Ints = (self.offsets[ranges.hi] - self.offsets[ranges.lo]) * each
        return sizes


class Distinct(Concat):
    """`distinct`: the union of lists. A value stays where it first occurs."""

    def __init__(self, column: pa.Array) -> None:
        super().__init__(column)
        self.codes, self.top = codes(self.elements)

    def over(self, ranges: Ranges) -> pa.Array:
        at, of_range = self._gathered(ranges)
        _, once = np.unique(of_range * self.top + self.codes[at], return_index=True)
        once.sort()
        counts = np.bincount(of_range[once], minlength=len(ranges))
        return self._lists(self.elements.take(pa.array(at[once])), counts, self.presence.over(ranges))


class Bag(Concat):
    """`bag`: the number of occurrences of each value. A value stays where it first occurs."""

    def __init__(self, column: pa.Array) -> None:
        super().__init__(column)
        pairs = structs(self.elements)
        self.fields = list(pairs.type)
        self.values, numbers = pairs.flatten()
        self.codes, self.top = codes(self.values)
        self.numbers: Ints = numbers.to_numpy()

    def over(self, ranges: Ranges) -> pa.Array:
        at, of_range, numbers = self._counted(ranges)
        left = np.flatnonzero(numbers != 0)
        return self._bags(ranges, at[left], of_range[left], numbers[left])

    def _counted(self, ranges: Ranges) -> tuple[Ints, Ints, Ints]:
        """For each range and value in it: an element with this value, the number of the range, the occurrences."""
        at, of_range = self._gathered(ranges)
        _, first, value = np.unique(of_range * self.top + self.codes[at], return_index=True, return_inverse=True)
        numbers = np.zeros(len(first), dtype=np.int64)
        np.add.at(numbers, value, self.numbers[at])
        in_order = np.argsort(first)
        return at[first[in_order]], of_range[first[in_order]], numbers[in_order]

    def _bags(self, ranges: Ranges, at: Ints, of_range: Ints, numbers: Ints) -> pa.Array:
        """A bag per range, of the values of these elements with these numbers."""
        columns = [self.values.take(pa.array(at)), pa.array(numbers)]
        elements = pa.StructArray.from_arrays(columns, fields=self.fields)
        return self._lists(elements, np.bincount(of_range, minlength=len(ranges)), self.presence.over(ranges))


class Top(Concat):
    """`TopRows`: the rows of a range up to a rank, in their given order."""

    def __init__(self, kind: TopRows, column: pa.Array) -> None:
        super().__init__(column)
        self.kind = kind
        rows = structs(self.elements)
        fields = dict(zip((field.name for field in rows.type), rows.flatten(), strict=True))
        self.codes = [sort_codes(fields[name], *DIRECTIONS[direction]) for name, direction in kind.keys]

    def over(self, ranges: Ranges) -> pa.Array:
        at, of_range = self._gathered(ranges)
        order, ranks = ranked(
            self.kind.function, of_range, [numbers[at] for numbers in self.codes], len(self.kind.order)
        )
        kept = np.sort(order[ranks <= self.kind.last])
        counts = np.bincount(of_range[kept], minlength=len(ranges))
        return self._lists(self.elements.take(pa.array(at[kept])), counts, self.presence.over(ranges))
