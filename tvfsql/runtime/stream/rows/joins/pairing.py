"""Which rows of the two sides of an interval join are pairs: their keys are equal, and their times within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from tvfsql.plan.joins import OF_LEFT
from tvfsql.runtime.arrow.batches import rows_of_piece, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.merge.kernel import TIMESTAMP
from tvfsql.runtime.stream.rows.joins.two_sides import LEFT, PRESERVED, RIGHT, codes_of_sides, pieces


@dataclass(frozen=True)
class Pairing:
    """Pairs are (left, right). Columns are numbers. `between` is for the left time minus the right one, in
    microseconds; all other times are in ms."""

    columns: tuple[int, ...]
    keys: tuple[tuple[int, ...], ...]
    times: tuple[int, ...]
    between: tuple[int, int]
    kind: str
    null_safe: tuple[bool, ...]

    @cached_property
    def preserved(self) -> tuple[int, ...]:
        """The sides whose rows are also emitted without a partner."""
        return PRESERVED[self.kind]

    @property
    def of_left(self) -> bool:
        """Whether it emits rows of the left side alone."""
        return self.kind in OF_LEFT

    @cached_property
    def after(self) -> tuple[int, int]:
        """How long after its own time a row of each side may still get a partner, in ms. Negative: only before its own
        time."""
        low, high = self.between
        return -(low // 1000), -(-high // 1000)

    def micros(self, rows: pa.RecordBatch, side: int) -> Ints:
        """The times of rows in epoch microseconds."""
        times: Ints = rows.column(self.times[side]).cast(TIMESTAMP).view(pa.int64()).to_numpy()
        return times

    def partners(self, side: int) -> tuple[int, int]:
        """The bounds of the times of a row's partners, relative to its own time, in microseconds."""
        low, high = self.between
        return (-high, -low) if side == LEFT else (low, high)

    def identity(self, side: int) -> list[str]:
        """The columns that decide which partners a row of a side has: its key and its time."""
        return [str(i) for i in dict.fromkeys([*self.keys[side], self.times[side]])]

    def codes(self, left: pa.RecordBatch, right: pa.RecordBatch) -> tuple[Ints, Ints]:
        """The numbers of `codes_of_sides` for the rows of both sides."""
        own = ([left.column(i) for i in self.keys[LEFT]], [right.column(i) for i in self.keys[RIGHT]])
        return codes_of_sides(*own, self.null_safe, (left.num_rows, right.num_rows))

    def pairs(self, left: pa.RecordBatch, right: pa.RecordBatch) -> Iterator[tuple[Ints, Ints]]:
        """The positions of the rows of all pairs, on the left side and on the right side, in pieces of bounded size."""
        if not left.num_rows or not right.num_rows:
            return
        yield from pieces(*self._partners_of(left, right), rows_of_piece([left, right]))

    def partnered(self, left: pa.RecordBatch, right: pa.RecordBatch) -> Mask:
        """Which rows of the left side have a partner on the right side."""
        if not left.num_rows or not right.num_rows:
            return np.zeros(left.num_rows, dtype=np.bool_)
        _, starts, stops = self._partners_of(left, right)
        found: Mask = stops > starts
        return found

    def _partners_of(self, left: pa.RecordBatch, right: pa.RecordBatch) -> tuple[Ints, Ints, Ints]:
        """The rows of the right side in order of key and time, and where in it the partners of each row of the left
        side start and stop."""
        mine, others = self.codes(left, right)
        at, times = self.micros(left, LEFT), self.micros(right, RIGHT)
        low, high = self.partners(LEFT)
        # times become ranks, so that a key and a time fit into one number
        different = np.unique(times)
        size = len(different) + 1
        lifted = others * size + np.searchsorted(different, times)
        order = sort_order([lifted])
        found = lifted[order]
        starts = np.searchsorted(found, mine * size + np.searchsorted(different, at + low, side="left"))
        stops = np.searchsorted(found, mine * size + np.searchsorted(different, at + high, side="right"))
        return order, starts, stops
