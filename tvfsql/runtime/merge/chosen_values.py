"""Bags of which a finished window keeps only the values that its result needs (`plan.aggregate.chosen_values`)."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from tvfsql.plan.aggregate.chosen_values import Quantiles
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.arrow.order import Ranked, Scale, scale
from tvfsql.runtime.merge.lists import Bag
from tvfsql.runtime.merge.ranges import Ranges
from tvfsql.runtime.merge.ranked_ranges import RankedRanges


class OfQuantiles(Bag):
    """`Quantiles`: bags, of which a window keeps the entries that decide its quantiles, and its greatest value."""

    def __init__(self, kind: Quantiles, column: pa.Array) -> None:
        super().__init__(column)
        self.kind = kind

    def of_windows(self, ranges: Ranges) -> pa.Array:
        lo, hi = self.offsets[ranges.lo], self.offsets[ranges.hi]
        totals = self._ranked.totals(lo, hi)
        filled = np.flatnonzero(totals > 0)
        ranks = self._ranks(totals[filled])
        each = ranks.shape[1]
        found = self._ranked.at(np.repeat(lo[filled], each), np.repeat(hi[filled], each), ranks.ravel())
        of_range = np.repeat(filled, each)
        different = np.append(True, (np.diff(of_range) != 0) | (np.diff(found.first) != 0))[: len(of_range)]
        of_range, stops = of_range[different], found.stop[different]
        skipped = np.where(np.diff(of_range, prepend=-1) != 0, 0, np.append(0, stops[:-1])[: len(stops)])
        columns = [self._scale.decode(found.codes[different], None), pa.array(stops - skipped)]
        elements = pa.StructArray.from_arrays(columns, fields=self.fields)
        return self._lists(elements, np.bincount(of_range, minlength=len(ranges)), self.presence.over(ranges))

    def bytes_of_windows(self, ranges: Ranges) -> Ints | None:
        return None  # a few entries, however long the range is

    @cached_property
    def _scale(self) -> Scale | Ranked:
        return scale(self.values, 1)

    @cached_property
    def _ranked(self) -> RankedRanges:
        return RankedRanges(self._scale.codes, self.numbers, self._scale.top)

    def _ranks(self, totals: Ints) -> Ints:
        """The ranks that a window with so many rows keeps, in order: one row per window."""
        last = totals - 1
        ranks = [last, *(np.clip(np.ceil(p * totals).astype(np.int64) - 1, 0, last) for p in self.kind.discrete)]
        for place in (fraction * last for fraction in self.kind.fractions):
            ranks += [np.floor(place).astype(np.int64), np.ceil(place).astype(np.int64)]
        return np.sort(np.stack(ranks, axis=1), axis=1)


class OfMostFrequent(Bag):
    """`MostFrequent`: bags, of which a window keeps one entry."""

    def of_windows(self, ranges: Ranges) -> pa.Array:
        at, of_range, numbers = self._counted(ranges)
        best = np.lexsort((self._codes[at], -numbers, of_range))
        first = best[np.append(True, np.diff(of_range[best]) != 0)[: len(best)]]
        first = first[numbers[first] > 0]
        return self._bags(ranges, at[first], of_range[first], numbers[first])

    @cached_property
    def _codes(self) -> Ints:
        codes: Ints = scale(self.values, 1).codes
        return codes
