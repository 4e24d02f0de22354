"""Keys of Arrow columns, and batches as bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from streams import (
    LAYOUT,
    TYPES,
    partials,
)

from tvfsql.runtime.arrow.batches import from_bytes, key_codes, to_bytes


def test_keys_are_the_same_where_group_by_says_so() -> None:
    nan = float("nan")
    floats = pa.array([nan, 1.0, None, nan, 1.0, None])
    structs = pa.array([{"x": 1}, {"x": None}, None, {"x": 1}, {"x": None}, None])
    lists = pa.array([[1], [], None, [1], [], None])
    for column in (floats, structs, lists, pa.nulls(6)):
        codes = key_codes([column], 6).tolist()
        assert codes[:3] == codes[3:]
        assert len(set(codes)) == (1 if pa.types.is_null(column.type) else 3)
    wide = [pa.array(range(5000)) for _ in range(6)]
    assert len(set(key_codes(wide, 5000).tolist())) == 5000


@pytest.mark.parametrize("rows", [1, 5])
def test_a_part_of_a_batch_is_written_alone(rows: int) -> None:
    columns = zip(*(partials(n, n) for n in range(1000)), strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, TYPES, strict=True)]
    whole = LAYOUT.merged([LAYOUT.batch([pa.array(["key"] * 1000)], np.arange(1000), arrays)])
    part = to_bytes(whole.slice(500, rows))
    assert len(part) < 3000
    assert from_bytes(part) == whole.slice(500, rows)
