"""Bags of which a finished window keeps only the values that its result needs (`plan.aggregate.chosen_values`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tvfsql.plan.aggregate.chosen_values import Frequent, Quantiles, result_of
from tvfsql.runtime.arrow.columns import Ints, Mask, fit_int64, words
from tvfsql.runtime.arrow.order import Ranked, Scale, places, scale
from tvfsql.runtime.merge.lists import Bag
from tvfsql.runtime.merge.ranges import Ranges, RankedRanges

EXACT, EXACT_POWER = 2**53, 22  # integers and powers of ten up to these are doubles


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
        if self.kind.results:
            return self._results(lo, hi)
        chosen = at_fractions(self._ranked, lo, hi, self.kind.fractions, self.kind.discrete)
        columns = [self._scale.decode(chosen.codes, None), pa.array(chosen.numbers)]
        elements = pa.StructArray.from_arrays(columns, fields=self.fields)
        counts = np.bincount(chosen.of_range, minlength=len(ranges))
        return self._lists(elements, counts, self.presence.over(ranges))

    def bytes_of_windows(self, ranges: Ranges) -> Ints | None:
        return None  # a few entries, however long the range is

    def _results(self, lo: Ints, hi: Ints) -> pa.Array:
        """The quantiles of the ranges [lo, hi) as a struct, with the arithmetic of Spark's percentile()."""
        totals = self._ranked.totals(lo, hi)
        some = totals > 0
        lo, hi, totals = lo[some], hi[some], totals[some]
        found = {}
        for fraction in self.kind.fractions:
            place = fraction * (totals - 1)
            below, above = np.floor(place), np.ceil(place)
            low, high = (self._at(lo, hi, rank.astype(np.int64)) for rank in (below, above))
            between = np.flatnonzero(low.codes != high.codes)
            values = low.values.copy()
            with np.errstate(invalid="ignore"):  # 0 * infinity is NaN
                values[between] = ((above - place) * low.values + (place - below) * high.values)[between]
            found[result_of(fraction)] = values
        for fraction in self.kind.discrete:
            rank = np.maximum(np.ceil(fraction * totals) - 1, 0).astype(np.int64)
            found[result_of(fraction, discrete=True)] = self._at(lo, hi, rank).values
        columns = [placed(values, some) for values in found.values()]
        return pa.StructArray.from_arrays(columns, [*found])

    def _at(self, lo: Ints, hi: Ints, ranks: Ints) -> _Doubles:
        codes = self._ranked.at(lo, hi, ranks).codes
        return _Doubles(codes, _as_doubles(self._scale.decode(codes, None)))

    @cached_property
    def _scale(self) -> Scale | Ranked:
        return scale(self.values, 1)

    @cached_property
    def _ranked(self) -> RankedRanges:
        return RankedRanges(self._scale.codes, self.numbers, self._scale.top)


class _Doubles(NamedTuple):
    """Values, their codes and themselves."""

    codes: Ints
    values: NDArray[np.float64]


def _as_doubles(column: pa.Array) -> NDArray[np.float64]:
    """Numbers as doubles, each the nearest one."""
    if not pa.types.is_decimal(column.type):
        return column.to_numpy().astype(np.float64)
    low, high = words(column)
    if fit_int64(low, high) and int(np.abs(low).max(initial=0)) <= EXACT and column.type.scale <= EXACT_POWER:
        return low / 10.0**column.type.scale
    return np.array([float(value) for value in column.to_pylist()], dtype=np.float64)


def placed(values: NDArray[Any], some: Mask) -> pa.Array:
    """Values at the places of `some`, in order; NULL elsewhere."""
    if some.all():
        return pa.array(values)
    whole = np.zeros(len(some), dtype=values.dtype)
    whole[some] = values
    return pa.array(whole, mask=~some)


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
