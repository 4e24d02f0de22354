"""What a new ranking of rows changes: the rows that go and those that come, each with its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tvfsql.plan.tables.internal_columns import OP
from tvfsql.runtime.arrow.batches import changes_in, joined, key_codes, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask

OPS = ("+I", "+U", "-D", "-U")  # not an Arrow array: pyarrow would import pandas with this module


class Ranked(NamedTuple):
    """Rows within a limit, and their ranks."""

    rows: pa.RecordBatch
    ranks: Ints

    def since(self, first: int) -> Ranked:
        """The rows from rank `first` on."""
        within = self.ranks >= first
        return self if within.all() else Ranked(self.rows.filter(pa.array(within)), self.ranks[within])


@dataclass(frozen=True)
class RankChanges:
    """The changes of rows that are ranked within `partition`; columns are numbers. `shown` are those of the result, and
    with `ranked` also the rank. A row that goes and one that comes are an update (-U, +U) if they have the same rank
    (`by_rank`), or the same values of `key`. None: no two are."""

    partition: tuple[int, ...]
    shown: tuple[int, ...]
    ranked: bool
    by_rank: bool = False
    key: tuple[int, ...] | None = None

    def between(self, before: Ranked, after: Ranked) -> pa.RecordBatch:
        """The changes from one ranking to another: of each partition first the rows that go, then those that come. So
        the last change of any key of the rows is the one that counts."""
        rows = joined([before.rows, after.rows])
        ranks = np.concatenate([before.ranks, after.ranks])
        comes = np.arange(rows.num_rows) >= before.rows.num_rows
        of_rank = [pa.array(ranks)] if self.ranked else []
        same = self._codes(rows, [*(rows.column(i) for i in self.shown), *of_rank])
        at = np.flatnonzero(~has_partner(same, comes))
        rows, ranks, comes = rows.take(pa.array(at)), ranks[at], comes[at]
        partition = self._codes(rows, [])
        order = sort_order([partition, comes.astype(np.int64), ranks])
        updates = self._updates(rows, ranks, comes)
        columns = [rows.column(i) for i in self.shown] + ([pa.array(ranks)] if self.ranked else [])
        kinds = pa.array(OPS).take(pa.array(np.where(comes, 0, 2) + updates))
        made = pa.RecordBatch.from_arrays([*columns, kinds], names=[*map(str, range(len(columns))), OP])
        return made.take(pa.array(order))

    def _updates(self, rows: pa.RecordBatch, ranks: Ints, comes: Mask) -> Mask:
        """Which of the changed rows are one half of an update."""
        if self.by_rank:
            return has_partner(self._codes(rows, [pa.array(ranks)]), comes)
        if self.key is not None:
            return has_partner(self._codes(rows, [rows.column(i) for i in self.key]), comes)
        return np.zeros(rows.num_rows, dtype=np.bool_)

    def _codes(self, rows: pa.RecordBatch, more: Sequence[pa.Array]) -> Ints:
        return key_codes([*(rows.column(i) for i in self.partition), *more], rows.num_rows)


def has_partner(codes: Ints, comes: Mask) -> Mask:
    """Which rows have a partner on the other side: each row of one side is that of at most one row of the other, with
    the same code."""
    sides = comes.astype(np.int64)
    order = sort_order([codes, sides])
    new = changes_in(codes[order])
    code = np.cumsum(new) - 1
    counts = np.bincount(2 * code + sides[order], minlength=2 * (int(code[-1]) + 1 if len(code) else 0))
    starts = new | changes_in(sides[order])
    at = np.arange(len(order))
    nth = at - np.maximum.accumulate(np.where(starts, at, 0)) if len(at) else at
    found = np.zeros(len(order), dtype=np.bool_)
    found[order] = nth < counts[2 * code + 1 - sides[order]]
    return found


def remaining(rows: pa.RecordBatch, signs: Ints, columns: int) -> pa.RecordBatch:
    """The rows that are left when those with a negative sign take away one that is equal in the first `columns` columns
    each. What takes away a row that is not there counts for nothing."""
    codes = key_codes(rows.columns[:columns], rows.num_rows)
    order = sort_order([codes])
    heads = np.flatnonzero(changes_in(codes[order]))
    left = np.maximum(np.add.reduceat(signs[order], heads), 0) if len(heads) else heads
    return rows.take(pa.array(np.sort(np.repeat(order[heads], left))))
