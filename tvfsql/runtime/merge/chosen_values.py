"""Bags of which a finished window keeps only the values that its result needs (`plan.aggregate.chosen_values`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tvfsql.plan.aggregate.chosen_values import Frequent, Quantiles
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.arrow.order import Ranked, Scale, places, scale
from tvfsql.runtime.merge.lists import Bag
from tvfsql.runtime.merge.ranges import Ranges
from tvfsql.runtime.merge.ranked_ranges import RankedRanges


class Chosen(NamedTuple):
    """Entries of bags, range by range: the number of the range, the code of the value, and how often it counts."""

    of_range: Ints
    codes: Ints
    numbers: Ints


def at_fractions(
    ranked: RankedRanges, lo: Ints, hi: Ints, fractions: Sequence[float] = (), discrete: Sequence[float] = ()
) -> Chosen:
    """The entries of the ranges [lo, hi) that decide the values at these fractions of the rows in order, and that of
    the greatest value. An entry counts also the rows between it and the one before it."""
    totals = ranked.totals(lo, hi)
    filled = np.flatnonzero(totals > 0)
    ranks = _ranks(totals[filled], fractions, discrete)
    each = ranks.shape[1]
    found = ranked.at(np.repeat(lo[filled], each), np.repeat(hi[filled], each), ranks.ravel())
    of_range = np.repeat(filled, each)
    different = np.append(True, (np.diff(of_range) != 0) | (np.diff(found.first) != 0))[: len(of_range)]
    of_range, stops = of_range[different], found.stop[different]
    skipped = np.where(np.diff(of_range, prepend=-1) != 0, 0, np.append(0, stops[:-1])[: len(stops)])
    return Chosen(of_range, found.codes[different], stops - skipped)


def _ranks(totals: Ints, fractions: Sequence[float], discrete: Sequence[float]) -> Ints:
    """The ranks that a range with so many rows keeps, in order: one row per range."""
    last = totals - 1
    ranks = [last, *(np.clip(np.ceil(p * totals).astype(np.int64) - 1, 0, last) for p in discrete)]
    for place in (fraction * last for fraction in fractions):
        ranks += [np.floor(place).astype(np.int64), np.ceil(place).astype(np.int64)]
    return np.sort(np.stack(ranks, axis=1), axis=1)


class OfQuantiles(Bag):
    """`Quantiles`: bags, of which a window keeps the entries that decide its quantiles, and its greatest value."""

    def __init__(self, kind: Quantiles, column: pa.Array) -> None:
        super().__init__(column)
        self.kind = kind

    def of_windows(self, ranges: Ranges) -> pa.Array:
        lo, hi = self.offsets[ranges.lo], self.offsets[ranges.hi]
        chosen = at_fractions(self._ranked, lo, hi, self.kind.fractions, self.kind.discrete)
        columns = [self._scale.decode(chosen.codes, None), pa.array(chosen.numbers)]
        elements = pa.StructArray.from_arrays(columns, fields=self.fields)
        counts = np.bincount(chosen.of_range, minlength=len(ranges))
        return self._lists(elements, counts, self.presence.over(ranges))

    def bytes_of_windows(self, ranges: Ranges) -> Ints | None:
        return None  # a few entries, however long the range is

    @cached_property
    def _scale(self) -> Scale | Ranked:
        return scale(self.values, 1)

    @cached_property
    def _ranked(self) -> RankedRanges:
        return RankedRanges(self._scale.codes, self.numbers, self._scale.top)


class OfFrequent(Bag):
    """`Frequent`: bags with a bounded number of entries, of which a window keeps a few."""

    def __init__(self, kind: Frequent, column: pa.Array) -> None:
        super().__init__(column)
        self.kind = kind

    def over(self, ranges: Ranges) -> pa.Array:
        at, of_range, numbers = self._counted(ranges)
        order, rank = _by_number(of_range, numbers)
        beyond = order[rank == self.kind.tracked]
        cut = np.zeros(len(ranges), dtype=np.int64)
        cut[of_range[beyond]] = numbers[beyond]
        numbers = numbers - cut[of_range]
        left = np.flatnonzero(numbers > 0)
        return self._bags(ranges, at[left], of_range[left], numbers[left])

    def of_windows(self, ranges: Ranges) -> pa.Array:
        at, of_range, numbers = self._counted(ranges)
        order, rank = _by_number(of_range, numbers, self._places[at])
        first = order[rank < self.kind.kept]
        return self._bags(ranges, at[first], of_range[first], numbers[first])

    @cached_property
    def _places(self) -> Ints:
        return places(self.values)[0]


def _by_number(of_range: Ints, numbers: Ints, ties: Ints | None = None) -> tuple[Ints, Ints]:
    """The places of entries by range and falling number, and the rank of each in its range, from 0."""
    keys = (-numbers, of_range) if ties is None else (ties, -numbers, of_range)
    order = np.lexsort(keys)
    starts = np.append(True, np.diff(of_range[order]) != 0)[: len(order)]
    return order, np.arange(len(order)) - np.flatnonzero(starts)[np.cumsum(starts) - 1]


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
