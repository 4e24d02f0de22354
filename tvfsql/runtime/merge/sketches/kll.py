"""KLL sketches (`plan.aggregate.sketches`): how those of slices become those of windows, or their quantiles.

A merged sketch has the values of all its parts, level by level. If these are more than it has room for, levels are
compacted from the lowest up: of a level's values in order, every second one moves up, where it counts twice. All ranges
are compacted together. The choice between odd and even ones depends on the values alone, so that a repeated task makes
the same bytes.

The quantiles of windows do not need merged sketches: the values of their slices, each with its weight, are a bag, of
which windows that overlap find ranks without copies (`ranked_ranges`). So they have only the errors of slices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from tvfsql.plan.aggregate.chosen_values import result_of
from tvfsql.plan.aggregate.sketches import K_LEAST, K_MOST, Kll
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.arrow.order import Ranked, Scale, scale
from tvfsql.runtime.merge.chosen_values import at_fractions, placed
from tvfsql.runtime.merge.ranges import Partial, Presence, Ranges, RankedRanges
from tvfsql.runtime.merge.sketches.kll_bytes import Kind, Sketches, Values, capacity, decoded, encoded, of_values, room

DTYPES: Mapping[str, Kind] = {"double": np.float64, "bigint": np.int64, "float": np.float32}


class KllSketches(Partial):
    """`Kll`: sketches as binary, or the values of single rows. The result is binary."""

    def __init__(self, kind: Kll, name: str, column: pa.Array) -> None:
        self.kind = kind
        packed = pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)
        k = kind.k or K_MOST
        self.parts = decoded(column, name, DTYPES[kind.values], k) if packed else of_values(column, k)
        self.presence = Presence(column)

    def over(self, ranges: Ranges) -> pa.Array:
        return encoded(in_order(compacted(self._merged(ranges))), self.presence.over(ranges))

    def bytes_over(self, ranges: Ranges) -> Ints:
        starts = self.parts.starts
        sizes: Ints = 8 * (starts[ranges.hi] - starts[ranges.lo]) + 64
        return sizes

    def of_windows(self, ranges: Ranges) -> pa.Array:
        if not self.kind.fractions:
            return self.over(ranges)
        starts = self.parts.starts
        lo, hi = starts[ranges.lo], starts[ranges.hi]
        if self.kind.results:
            return self._results(lo, hi)
        chosen = at_fractions(self._ranked, lo, hi, discrete=self.kind.fractions)
        row, level = _bits(chosen.numbers)
        values = _numbers(self._scale.decode(chosen.codes, None), self.parts.values)[row]
        of_range = chosen.of_range[row]
        order = np.lexsort((level, of_range))
        held = np.bincount(of_range, minlength=len(ranges))
        upto = np.append(0, np.cumsum(held))
        counts = np.bincount(chosen.of_range, chosen.numbers, minlength=len(ranges)).astype(np.int64)
        first = np.searchsorted(chosen.of_range, np.arange(len(ranges)))
        least, greatest = self._extremes(chosen.codes, chosen.of_range, first, len(ranges))
        k = _size_for(held, len(ranges))
        few = Sketches(values[order], level[order], upto, counts, least, greatest, k, k)
        return encoded(few, self.presence.over(ranges))

    def _results(self, lo: Ints, hi: Ints) -> pa.Array:
        """The values at the fractions of the ranges [lo, hi), as a struct."""
        totals = self._ranked.totals(lo, hi)
        some = totals > 0
        lo, hi, totals = lo[some], hi[some], totals[some]
        columns = []
        for fraction in self.kind.fractions:
            rank = np.maximum(np.ceil(fraction * totals) - 1, 0).astype(np.int64)
            codes = self._ranked.at(lo, hi, rank).codes
            columns.append(placed(_numbers(self._scale.decode(codes, None), self.parts.values), some))
        return pa.StructArray.from_arrays(columns, [*map(result_of, self.kind.fractions)])

    def bytes_of_windows(self, ranges: Ranges) -> Ints | None:
        return None if self.kind.fractions else self.bytes_over(ranges)

    def _extremes(self, codes: Ints, of_range: Ints, first: Ints, ranges: int) -> tuple[Values, Values]:
        """The least and the greatest kept value of each range; arbitrary without one."""
        values = _numbers(self._scale.decode(codes, None), self.parts.values)
        values = np.append(values, np.zeros(1, values.dtype))
        stops = np.append(first[1:], len(of_range))
        return values[first], values[np.maximum(stops - 1, 0)]

    @cached_property
    def _with_extremes(self) -> Values:
        """The values of all sketches, those at the ends of a compacted sketch replaced by its least and greatest."""
        parts = self.parts
        values = parts.values.copy()
        deep = np.zeros(len(parts), dtype=np.bool_)
        deep[parts.row_of_value[parts.levels > 0]] = True
        if deep.any():
            order = np.lexsort((values, parts.row_of_value))
            rows = np.flatnonzero(deep)
            values[order[parts.starts[rows]]] = parts.least[rows]
            values[order[parts.starts[rows + 1] - 1]] = parts.greatest[rows]
        return values

    @cached_property
    def _scale(self) -> Scale | Ranked:
        return scale(pa.array(self._with_extremes), 1)

    @cached_property
    def _ranked(self) -> RankedRanges:
        return RankedRanges(self._scale.codes, np.left_shift(1, self.parts.levels), self._scale.top)

    def _merged(self, ranges: Ranges) -> Sketches:
        """The values of each range as one sketch, which may be too large."""
        parts, lo, hi = self.parts, ranges.lo, ranges.hi
        held = parts.starts[hi] - parts.starts[lo]
        upto = np.append(0, np.cumsum(held))
        at = np.arange(int(upto[-1])) + np.repeat(parts.starts[lo] - upto[:-1], held)
        of_range = np.repeat(np.arange(len(ranges)), held)
        levels = parts.levels[at]
        if levels.any():
            order = np.lexsort((levels, of_range))
            at, levels = at[order], levels[order]
        total = np.append(0, np.cumsum(parts.counts))
        least, greatest = self._extremes_of(ranges)
        k = np.full(len(ranges), self.kind.k, dtype=np.int64) if self.kind.k else _reduced(np.minimum, parts.k, lo, hi)
        least_k = np.minimum(k, _reduced(np.minimum, parts.least_k, lo, hi))
        return Sketches(parts.values[at], levels, upto, total[hi] - total[lo], least, greatest, k, least_k)

    def _extremes_of(self, ranges: Ranges) -> tuple[Values, Values]:
        parts = self.parts
        empty = parts.counts == 0
        low, high = parts.least, parts.greatest
        if empty.any():
            limits = (np.inf, -np.inf) if low.dtype.kind == "f" else (2**63 - 1, -(2**63))
            low, high = np.where(empty, limits[0], low), np.where(empty, limits[1], high)
        return _reduced(np.minimum, low, ranges.lo, ranges.hi), _reduced(np.maximum, high, ranges.lo, ranges.hi)


def compacted(sketches: Sketches) -> Sketches:
    """Sketches that have no more values than they have room for."""
    row = sketches.row_of_value
    levels = np.ones(len(sketches), dtype=np.int64)
    np.maximum.at(levels, row, sketches.levels + 1)
    held = sketches.held
    allowed = capacity(sketches.k, levels)
    if (held <= allowed).all():
        return sketches
    draw = np.random.default_rng(_seed(sketches.values))
    waiting = [(sketches.values[sketches.levels == i], row[sketches.levels == i]) for i in range(int(levels.max()))]
    done: list[tuple[Values, Ints]] = []
    while waiting:
        values, rows = waiting.pop(0)
        level = len(done)
        number = np.bincount(rows, minlength=len(held))
        over = (held > allowed) & (number >= room(sketches.k, np.maximum(levels - level - 1, 0)))
        if over.any():
            raised = over & (level == levels - 1)  # a new highest level makes room below
            levels = levels + raised
            allowed = allowed + np.where(raised, room(sketches.k, levels - 1), 0)
            values, rows, up = _halved(values, rows, over, draw)
            held = held - np.where(over, number // 2, 0)
            above = waiting.pop(0) if waiting else (values[:0], rows[:0])
            waiting.insert(0, (np.concatenate([above[0], up[0]]), np.concatenate([above[1], up[1]])))
        done.append((values, rows))
    of_level = np.repeat(np.arange(len(done)), [len(values) for values, _ in done])
    values, rows = (np.concatenate(parts) for parts in zip(*done, strict=True))
    order = np.lexsort((of_level, rows))
    upto = np.append(0, np.cumsum(np.bincount(rows, minlength=len(held))))
    least_k = np.where(held < sketches.held, np.minimum(sketches.k, sketches.least_k), sketches.least_k)
    return replace(sketches, values=values[order], levels=of_level[order], starts=upto, least_k=least_k)


def in_order(sketches: Sketches) -> Sketches:
    """The same with the values of each level in order: whoever reads a sketch merges its levels."""
    if not sketches.levels.any():  # only the lowest level may be in any order
        return sketches
    order = np.lexsort((sketches.values, sketches.levels, sketches.row_of_value))
    return replace(sketches, values=sketches.values[order])


def _seed(values: Values) -> int:
    bits = values.view(np.uint32 if values.dtype == np.float32 else np.uint64)
    return int(bits.sum(dtype=np.uint64) & np.uint64(2**63 - 1))


def _halved(
    values: Values, rows: Ints, over: Mask, draw: np.random.Generator
) -> tuple[Values, Ints, tuple[Values, Ints]]:
    """Of the values of one level: those that stay, with their rows, and those that move up, with theirs."""
    mine = over[rows]
    full, of = values[mine], rows[mine]
    order = np.lexsort((full, of))
    full, of = full[order], of[order]
    number = np.bincount(of, minlength=len(over))
    nth = np.arange(len(of)) - (np.cumsum(number) - number)[of] - (number % 2)[of]
    chosen = draw.integers(0, 2, len(over))[of]
    up, left = (nth >= 0) & (nth % 2 == chosen), nth < 0
    stay = np.concatenate([values[~mine], full[left]]), np.concatenate([rows[~mine], of[left]])
    return *stay, (full[up], of[up])


def _size_for(held: Ints, rows: int) -> Ints:
    """The least size with room for so many values, because Spark takes memory for all that a sketch has room for."""
    k = K_LEAST
    while int(held.max(initial=0)) > capacity(np.array([k]), np.array([1]))[0]:
        k *= 2
    return np.full(rows, k, dtype=np.int64)


def _bits(numbers: Ints) -> tuple[Ints, Ints]:
    """The numbers as sums of powers of two: for each power the place of its number, and the exponent."""
    bits = np.arange(int(numbers.max(initial=0)).bit_length())
    row, level = np.nonzero(numbers[:, None] >> bits & 1)
    return row.astype(np.int64), level.astype(np.int64)


def _reduced(merge: np.ufunc, values: Values, lo: Ints, hi: Ints) -> Values:
    """The least or greatest of each range of rows. Ranges that follow each other take one pass."""
    if not len(lo):
        return values[:0]
    if (lo[1:] == hi[:-1]).all() and lo[0] == 0 and hi[-1] == len(values):
        found: Values = merge.reduceat(values, lo)
        return found
    bounds = np.stack([lo, hi], axis=1).ravel()
    made: Values = merge.reduceat(np.append(values, values[-1:]), bounds)[::2]
    return made


def _numbers(column: pa.Array, like: Values) -> Values:
    numbers: Values = column.to_numpy().astype(like.dtype, copy=False)
    return numbers
