"""The merge kinds: how partial aggregates of slices become the partial aggregate of a window.

| kind | partials | merged |
|---|---|---|
| sum | integers; decimals; floating numbers | exact, bigint; exact, decimal(38, s); double |
| min, max | anything with an order; struct<t, x>: the first, the last x by time | the same type |
| concat | lists | one list, in the order of the slices |
| distinct | lists of values, each once | their union, each value once |
| bag | lists of struct<x, n: bigint>: n occurrences of x, or -n fewer | each x once with the sum of its n, if not 0 |
| moments | struct<n: bigint, mean: double, m2: double> | the same |
| running | integers, decimals: changes | their total since the run of rows began; bigint, decimal(38, s) |

A Python aggregate is a kind too: its partials are lists of rows, or accumulators, which it merges itself. So is
`TopRows`: its partials are lists of structs, of which it keeps those within its limit.
A NULL partial is neutral (for `running` it is 0), and the result of only NULLs is NULL.
A kind is a function from a column to a `Partial`; adding one is adding a row to KINDS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pyarrow as pa

from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.runtime.arrow.columns import Ints, Mask, lengths, lists, structs
from tvfsql.runtime.arrow.order import codes
from tvfsql.runtime.arrow.ranks import DIRECTIONS, ranked, sort_codes
from tvfsql.runtime.merge.accumulators import Accumulators
from tvfsql.runtime.merge.exact_sums import ExactSum, RunningTotal
from tvfsql.runtime.merge.ranges import Blocks, Partial, Presence, Ranges
from tvfsql.runtime.merge.scans import Extreme, FloatSum, Moments
from tvfsql.runtime.udf.calls import AggregateFunction

Merge = str | AggregateFunction | TopRows
Prepare = Callable[[str, pa.Array, Blocks, int], Partial]


def are_kinds(merges: Iterable[Merge], *, but: str = "") -> bool:
    """Whether all merge kinds exist. `but` is a kind that is not allowed."""
    return all(not isinstance(kind, str) or (kind in KINDS and kind != but) for kind in merges)


def prepare(kind: Merge, name: str, column: pa.Array, blocks: Blocks, before: int = 0) -> Partial:
    """The partial column `name`, ready to be merged over ranges of its rows.

    `before` is the result of `Partial.before` for rows that were dropped before the first one.
    """
    if isinstance(kind, AggregateFunction):
        return Accumulators(kind, column, blocks)
    if isinstance(kind, TopRows):
        return Top(kind, column)
    return KINDS[kind](name, column, blocks, before)


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
        at, of_range = self._gathered(ranges)
        _, first, value = np.unique(of_range * self.top + self.codes[at], return_index=True, return_inverse=True)
        numbers = np.zeros(len(first), dtype=np.int64)
        np.add.at(numbers, value, self.numbers[at])
        left = np.flatnonzero(numbers != 0)
        left = left[np.argsort(first[left])]
        kept = pa.array(at[first[left]])
        columns = [self.values.take(kept), pa.array(numbers[left])]
        elements = pa.StructArray.from_arrays(columns, fields=self.fields)
        counts = np.bincount(of_range[first[left]], minlength=len(ranges))
        return self._lists(elements, counts, self.presence.over(ranges))


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


def _sum(name: str, column: pa.Array, blocks: Blocks, before: int) -> Partial:
    return FloatSum(column, blocks) if pa.types.is_floating(column.type) else ExactSum(name, column)


KINDS: Mapping[str, Prepare] = {
    "sum": _sum,
    "min": lambda name, column, blocks, before: Extreme(column, blocks, largest=False),
    "max": lambda name, column, blocks, before: Extreme(column, blocks, largest=True),
    "concat": lambda name, column, blocks, before: Concat(column),
    "distinct": lambda name, column, blocks, before: Distinct(column),
    "bag": lambda name, column, blocks, before: Bag(column),
    "moments": lambda name, column, blocks, before: Moments(column, blocks),
    "running": lambda name, column, blocks, before: RunningTotal(name, column, before),
}
