"""The two sides of a join of rows: positions of their keys and times, and their exchange by key group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tvfsql.plan.stream import StreamContext
from tvfsql.runtime.stream.exchange.rows_by_key import own_columns, rows_by_key
from tvfsql.runtime.stream.time.union import of_side

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
