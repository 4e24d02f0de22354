"""Ranks of rows: ROW_NUMBER, RANK and DENSE_RANK over Arrow columns, in Spark's order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import changes_in, sort_order
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.arrow.order import places

# the names of directions, as in PySpark's Column: (descending, NULLs first)
DIRECTIONS = {
    "asc": (False, True),
    "asc_nulls_last": (False, False),
    "desc": (True, False),
    "desc_nulls_first": (True, True),
}


def sort_codes(column: pa.Array, descending: bool, nulls_first: bool) -> Ints:
    """A number for each value. The numbers sort as Spark sorts the values."""
    numbers, top = places(column)  # NULL is 0, the smallest
    if descending:
        return np.where(numbers == 0, -top, -numbers) if nulls_first else -numbers
    return numbers if nulls_first else np.where(numbers == 0, top, numbers)


def ranked(function: str, groups: Ints, codes: Sequence[Ints], ordering: int) -> tuple[Ints, Ints]:
    """The rows in order, group by group, and their ranks in their group. Rows with equal first `ordering` codes have
    equal ranks, except for row_number."""
    order = sort_order([groups, *codes])
    starts = changes_in(groups[order])
    new = starts.copy()
    for numbers in codes[:ordering]:
        new |= changes_in(numbers[order])
    return order, _ranks(function, starts, new)


def _ranks(function: str, starts: Mask, new: Mask) -> Ints:
    """The ranks of rows in order. `starts` flags the first row of each group, `new` the rows with a new value of
    ORDER BY."""
    at = np.arange(len(starts), dtype=np.int64)
    first = np.maximum.accumulate(np.where(starts, at, 0))
    if function == "row_number":
        return at - first + 1
    if function == "rank":
        return np.maximum.accumulate(np.where(new, at, 0)) - first + 1
    values = np.cumsum(new, dtype=np.int64)
    ranks: Ints = values - values[first] + 1
    return ranks
