"""The two sides of a join of rows: positions of their keys and times, their exchange by key group, and their pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.stream import StreamContext
from tvfsql.runtime.arrow.batches import key_codes, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.stream.exchange.rows_by_key import own_columns, rows_by_key
from tvfsql.runtime.stream.time.watermarks import of_side

LEFT, RIGHT = 0, 1
# The sides whose rows are also emitted without a partner, by the kind of a join; of an anti-join only these are.
PRESERVED = {"inner": (), "left": (LEFT,), "right": (RIGHT,), "full": (LEFT, RIGHT), "semi": (), "anti": (LEFT,)}


@dataclass(frozen=True)
class TwoSides:
    """`sides` with equal columns `on`, pairs of (left, right), and a column of time each. No other name may be on both
    sides. `behind` are columns of each side that travel behind its own ones.
    """

    sides: tuple[DataFrame, DataFrame]
    on: Sequence[tuple[str, str]]
    times: tuple[str, str]
    behind: tuple[Sequence[str], ...] = ((), ())

    @cached_property
    def columns(self) -> tuple[list[str], ...]:
        """The own columns of both sides."""
        sides = zip(self.sides, self.behind, strict=True)
        return tuple([name for name in own_columns(side) if name not in behind] for side, behind in sides)

    @cached_property
    def keys(self) -> tuple[list[str], ...]:
        return tuple([pair[side] for pair in self.on] for side in (LEFT, RIGHT))

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(map(len, self.columns))

    @property
    def key_positions(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(map(of.index, names)) for of, names in zip(self.columns, self.keys, strict=True))

    @property
    def time_positions(self) -> tuple[int, ...]:
        return tuple(of.index(time) for of, time in zip(self.columns, self.times, strict=True))

    @property
    def schema(self) -> T.StructType:
        """The columns of both sides, all of which may be NULL."""
        fields = [rows.schema[column] for rows, of in zip(self.sides, self.columns, strict=True) for column in of]
        return T.StructType([T.StructField(each.name, each.dataType, True) for each in fields])

    def exchanged(self, context: StreamContext) -> DataFrame:
        """Payloads of both sides by key group."""
        left, right = (
            rows_by_key(
                of_side(rows, side),
                context,
                columns=[*self.columns[i], *self.behind[i]],
                keys=self.keys[i],
                time=self.times[i],
                side=side,
            )
            for i, (rows, side) in enumerate(zip(self.sides, ("1/", "2/"), strict=True))
        )
        return left.union(right)


# The keys of two sides of a join as numbers.


def codes_of_sides(
    left: Sequence[pa.Array], right: Sequence[pa.Array], null_safe: Sequence[bool], rows: tuple[int, int]
) -> tuple[Ints, Ints]:
    """A number for the key of each row, equal on both sides for equal keys. -1 (left) and -2 (right) stand for NULLs
    that equal nothing. `left` and `right` are the columns of the keys, `rows` the numbers of rows."""
    both = [pa.concat_arrays([a, b]) for a, b in zip(left, right, strict=True)]
    codes = key_codes(both, sum(rows))
    for column, safe in zip(both, null_safe, strict=True):
        if column.null_count and not safe:
            nothing = column.is_null().to_numpy(zero_copy_only=False)
            codes = np.where(nothing, np.where(np.arange(len(codes)) < rows[0], -1, -2), codes)
    if len(both) > 1 and len(codes):  # smaller numbers, so that a key and a time fit into one number
        codes = np.unique(codes, return_inverse=True)[1] + min(int(codes.min()), 0)
    return codes[: rows[0]], codes[rows[0] :]


# Pairs of rows with equal keys, by these numbers.


@dataclass(frozen=True)
class Partners:
    """Rows of one side, as partners of rows of the other side: the numbers of their keys in order, and the position of
    each."""

    numbers: Ints
    positions: Ints

    @classmethod
    def of(cls, codes: Ints, chosen: Mask) -> Partners:
        """The chosen rows of a side whose keys have these numbers."""
        at = np.flatnonzero(chosen)
        order = sort_order([codes[at]])
        return cls(codes[at][order], at[order])

    def counts(self, codes: Ints) -> Ints:
        """The number of partners of each row of the other side."""
        starts, stops = self._found(codes)
        return stops - starts

    def pairs(self, codes: Ints, most: int) -> Iterator[tuple[Ints, Ints]]:
        """The positions of all pairs, on the other side and on this one, in pieces of at most `most` pairs."""
        return pieces(self.positions, *self._found(codes), most)

    def _found(self, codes: Ints) -> tuple[Ints, Ints]:
        return np.searchsorted(self.numbers, codes, "left"), np.searchsorted(self.numbers, codes, "right")


def pieces(order: Ints, starts: Ints, stops: Ints, most: int) -> Iterator[tuple[Ints, Ints]]:
    """Pairs in pieces of at most `most`: each row of one side with those of the other side that are from `starts` up to
    `stops` in `order`."""
    counts = np.maximum(stops - starts, 0)
    ends = np.cumsum(counts)
    shift, total = starts - (ends - counts), int(ends[-1]) if len(ends) else 0
    for start in range(0, total, most):
        numbers = np.arange(start, min(start + most, total))
        of_row = np.searchsorted(ends, numbers, side="right")
        yield of_row, order[shift[of_row] + numbers]
