"""Keys of Arrow columns, and batches as bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tests.models.streams import (
    LAYOUT,
    TYPES,
    partials,
)
from tvfsql.runtime.arrow.batches import RADIX_ROWS, from_bytes, key_codes, sort_order, to_bytes
from tvfsql.runtime.arrow.order import codes


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


@pytest.mark.parametrize("rows", [0, 1, RADIX_ROWS - 1, 3 * RADIX_ROWS])
def test_rows_are_sorted_by_the_first_numbers_then_by_the_next_and_stay_in_order_if_equal(rows: int) -> None:
    draw = np.random.default_rng(rows)
    for tops in ((5,), (70_000,), (300, 300), (2**20, 2**20), (2**40, 2**40), (2**20, 2**20, 3)):
        numbers = [draw.integers(-(top // 2), top - top // 2, rows) for top in tops]
        expected = np.lexsort(tuple(reversed(numbers)))
        assert (sort_order(numbers) == expected).all(), tops
        in_order = [column[expected] for column in numbers]
        assert (sort_order(in_order) == np.arange(rows)).all()


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.date32(), pa.bool_(), pa.timestamp("us")])
def test_dense_and_sparse_numbers_have_the_same_codes_where_they_are_equal(kind: pa.DataType) -> None:
    least, greatest = (0, 1) if pa.types.is_boolean(kind) else (-100, 100)
    values = np.random.default_rng(1).integers(least, greatest + 1, 300).tolist()
    for extreme in (values, [*values, *([] if least == 0 or kind == pa.int8() else [2**19, -(2**19)])]):
        column = pa.array([None, *extreme, None], pa.int64()).cast(pa.int32() if kind == pa.date32() else pa.int64())
        column = column.cast(kind)
        numbers, top = codes(column)
        assert 0 <= numbers.min() <= numbers.max() < top
        pairs = set(zip(numbers.tolist(), column.to_pylist(), strict=True))
        assert len(pairs) == len({number for number, _ in pairs}) == len({value for _, value in pairs})


def test_compressed_bytes_hold_the_same_batch() -> None:
    batch = pa.RecordBatch.from_pydict({"key": ["a", None] * 5_000, "time": [1_767_225_600_000_000] * 10_000})
    plain, compressed = to_bytes(batch), to_bytes(batch, compressed=True)
    assert len(compressed) < len(plain) / 4
    assert from_bytes(compressed).equals(batch) and from_bytes(plain).equals(batch)
