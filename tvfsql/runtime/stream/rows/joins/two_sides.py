"""The two sides of a join of rows: positions of their keys and times, and their exchange by key group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.stream import StreamContext
from tvfsql.runtime.arrow.batches import key_codes
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.stream.exchange.rows_by_key import own_columns, rows_by_key
from tvfsql.runtime.stream.time.watermarks import of_side

LEFT, RIGHT = 0, 1


@dataclass(frozen=True)
class TwoSides:
    """`sides` with equal columns `on`, pairs of (left, right), and a column of time each. No other name may be on both
    sides.
    """

    sides: tuple[DataFrame, DataFrame]
    on: Sequence[tuple[str, str]]
    times: tuple[str, str]

    @cached_property
    def columns(self) -> tuple[list[str], ...]:
        return tuple(list(own_columns(side)) for side in self.sides)

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
                columns=self.columns[i],
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
    if len(both) > 1:  # smaller numbers, so that a key and a time fit into one number
        codes = np.unique(codes, return_inverse=True)[1] + min(int(codes.min()), 0)
    return codes[: rows[0]], codes[rows[0] :]
