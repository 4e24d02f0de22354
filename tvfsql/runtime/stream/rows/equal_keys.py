"""The keys of two sides of a join as numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import key_codes
from tvfsql.runtime.arrow.columns import Ints


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
