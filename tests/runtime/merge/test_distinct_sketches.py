"""HLL and theta sketches: any ranges of slices are what one sketch of all their values is."""

from __future__ import annotations

from typing import Any

import datasketches
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvfsql.errors import DataError
from tvfsql.plan.aggregate.sketches import DistinctSketch
from tvfsql.runtime.merge.ranges import Blocks, Ranges
from tvfsql.runtime.merge.sketches import distinct
from tvfsql.runtime.merge.sketches.distinct import DistinctSketches

FAMILIES = ("hll", "theta")
values = st.lists(st.none() | st.integers(-5, 5), min_size=1, max_size=12)


def merged(family: str, column: pa.Array, width: int, lg: int = 12) -> list[bytes | None]:
    """The sketch of the last `width` rows up to each row, in blocks of that many rows."""
    rows = np.arange(len(column))
    blocks = Blocks(rows % width == 0)
    lo = np.maximum(0, rows - width + 1)
    made: list[bytes | None] = (
        DistinctSketches(DistinctSketch(family, lg), "x", column, blocks)
        .over(Ranges(blocks, lo, rows + 1, np.zeros_like(lo)))
        .to_pylist()
    )
    return made


def count(family: str, sketch: bytes) -> float:
    reader: Any = datasketches.hll_sketch if family == "hll" else datasketches.compact_theta_sketch
    return float(reader.deserialize(sketch).get_estimate())


@given(st.sampled_from(FAMILIES), values, st.integers(1, 5))
def test_ranges_of_values_and_of_sketches_count_their_distinct_values(
    family: str, given_values: list[int | None], width: int
) -> None:
    of_values = merged(family, pa.array(given_values, pa.int64()), width)
    slices = pa.array(merged(family, pa.array(given_values, pa.int64()), 1), pa.binary())
    of_slices = merged(family, slices, width)
    for row, (one, other) in enumerate(zip(of_values, of_slices, strict=True)):
        held = {value for value in given_values[max(0, row - width + 1) : row + 1] if value is not None}
        assert (one is None) == (other is None) == (not held)
        if one is not None and other is not None:
            assert round(count(family, one)) == round(count(family, other)) == len(held)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("lg", [8, 12])
def test_counts_are_off_by_no_more_than_the_stated_error(family: str, lg: int) -> None:
    """Three standard errors: 1.04 / 2^(lg/2) for HLL, and 1 / 2^(lg/2) for theta; sketches of 20 overlapping slices."""
    per_slice, slices = 3_000, 20
    held = [pa.array(range(i * 2_000, i * 2_000 + per_slice)) for i in range(slices)]
    blocks = Blocks(np.arange(per_slice) == 0)
    of_slices = [
        DistinctSketches(DistinctSketch(family, lg), "x", column, blocks).over(Ranges.of_blocks(blocks))
        for column in held
    ]
    column = pa.concat_arrays(of_slices)
    windows = merged(family, column, slices, lg)
    for number, sketch in enumerate(windows):
        assert sketch is not None
        exact = 2_000 * number + per_slice
        error = 3 * (1.04 if family == "hll" else 1) / 2 ** (lg / 2)
        assert abs(count(family, sketch) / exact - 1) < error
        assert len(sketch) < (2**lg + 100 if family == "hll" else 16 * 2**lg + 100)


@pytest.mark.parametrize("family", FAMILIES)
def test_other_bytes_are_refused(family: str) -> None:
    with pytest.raises(DataError, match=r"bytes that are not an? \w+ sketch"):
        merged(family, pa.array([b"abc"], pa.binary()), 1)


def test_hll_sketches_of_different_sizes_are_refused() -> None:
    column = pa.array([merged("hll", pa.array([1]), 1, lg)[0] for lg in (10, 12)], pa.binary())
    with pytest.raises(DataError, match=r"2\^10 and 2\^12"):
        merged("hll", column, 2, 0)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "datasketches", None)
    with pytest.raises(DataError, match="datasketches") as raised:
        distinct.library("visitors")
    assert raised.value.hint == "pip install 'tvfsql[sketches]'"
