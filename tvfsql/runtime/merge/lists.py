"""Partials that are lists: how the lists of slices become the list of a window."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from tvfsql.plan.aggregate.chosen_values import Counted
from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.runtime.arrow.columns import Ints, Mask, lengths, lists, presence, structs
from tvfsql.runtime.arrow.order import codes
from tvfsql.runtime.arrow.ranks import DIRECTIONS, ranked, sort_codes
from tvfsql.runtime.merge.exact_sums import Totals
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

    @property
    def codes(self) -> Ints:
        return self._coded[0]

    @property
    def top(self) -> int:
        return self._coded[1]

    @cached_property
    def _coded(self) -> tuple[Ints, int]:
        return codes(self.elements)

    def over(self, ranges: Ranges) -> pa.Array:
        at, of_range = self._gathered(ranges)
        _, once = np.unique(of_range * self.top + self.codes[at], return_index=True)
        once.sort()
        counts = np.bincount(of_range[once], minlength=len(ranges))
        return self._lists(self.elements.take(pa.array(at[once])), counts, self.presence.over(ranges))


class CountedValues(Distinct):
    """`Counted`: lists of different values, of which a window has the number, and with `total` the sum.

    In windows in order, none of which starts or stops before the one before it, a value is counted where it comes
    first: in those that stop behind its row and start behind the row before with the same value, up to the first one
    that starts behind its row. So it enters the counts at one window and leaves them at a later one, and the cost is
    that of values and windows, not of values in windows.
    """

    def __init__(self, kind: Counted, name: str, column: pa.Array) -> None:
        super().__init__(column)
        self.kind, self.name = kind, name

    def of_windows(self, ranges: Ranges) -> pa.Array:
        values, enters, leaves = self._spans(ranges)
        change = np.bincount(enters, minlength=len(ranges) + 1) - np.bincount(leaves, minlength=len(ranges) + 1)
        columns, names = [pa.array(np.cumsum(change)[:-1])], ["n"]
        if self.kind.total:
            columns, names = [*columns, self._totals(values, enters, leaves, len(ranges))], [*names, "total"]
        return pa.StructArray.from_arrays(columns, names)

    def bytes_of_windows(self, ranges: Ranges) -> Ints | None:
        return None

    def of_rows(self, rows: Ranges) -> pa.Array:
        columns, names = [pa.array(np.diff(self.offsets))], ["n"]
        if self.kind.total:
            sums = Totals(self.name, self.elements)
            columns.append(sums.column(sums.between(self.offsets[:-1], self.offsets[1:])))
            names.append("total")
        return pa.StructArray.from_arrays(columns, names)

    def carried(self, rows: pa.Array) -> pa.Array:
        """Each value only where it comes last: windows that stop behind all of these rows count no other place."""
        offsets = self.offsets[len(self.offsets) - 1 - len(rows) :]
        at = np.arange(offsets[-1], offsets[0], -1) - 1
        kept = np.sort(at[np.unique(self.codes[at], return_index=True)[1]])
        counts = np.diff(np.searchsorted(kept, offsets))
        return self._lists(self.elements.take(pa.array(kept)), counts, presence(rows))

    def _spans(self, ranges: Ranges) -> tuple[Ints, Ints, Ints]:
        """The elements that windows count, the window at which each enters the counts, and that at which it leaves."""
        lo, hi = ranges.lo, ranges.hi
        if (np.diff(lo) < 0).any() or (np.diff(hi) < 0).any():
            raise AssertionError("windows are not in order")
        start, stop = (int(lo[0]), int(hi[-1])) if len(lo) else (0, 0)
        values = np.arange(self.offsets[start], self.offsets[stop])
        rows, before = self._rows[values] - start, self._rows_before[values] - start
        inside = np.arange(start, stop)
        stops_behind = np.searchsorted(hi, inside, side="right")
        starts_behind = np.searchsorted(lo, inside, side="right")
        enters, leaves = stops_behind[rows], starts_behind[rows]
        again = np.flatnonzero(before >= 0)
        enters[again] = np.maximum(enters[again], starts_behind[before[again]])
        counted = np.flatnonzero(enters < leaves)
        return values[counted], enters[counted], leaves[counted]

    def _totals(self, values: Ints, enters: Ints, leaves: Ints, windows: int) -> pa.Array:
        """The sum of the values that each window counts: of those that have entered, less those that have left."""
        each = []
        for at in (enters, leaves):
            order = np.argsort(at, kind="stable")
            sums = Totals(self.name, self.elements.take(pa.array(values[order])))
            upto = np.searchsorted(at[order], np.arange(windows), side="right")
            each.append((sums, sums.between(np.zeros(windows, dtype=np.int64), upto)))
        (sums, entered), (_, left) = each
        return sums.column([a - b for a, b in zip(entered, left, strict=True)])

    @cached_property
    def _rows(self) -> Ints:
        """The row of each element."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def _rows_before(self) -> Ints:
        """The last row before that of each element that has the same value; -1 if there is none."""
        short = self.codes.astype(np.uint16) if self.top <= 1 << 16 else self.codes
        order = np.argsort(short, kind="stable")
        same = np.flatnonzero(self.codes[order[1:]] == self.codes[order[:-1]])
        before = np.full(len(order), -1, dtype=np.int64)
        before[order[same + 1]] = self._rows[order[same]]
        return before


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
