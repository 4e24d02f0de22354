"""KLL sketches: the bytes of Apache DataSketches, exact, then within the stated error."""

from __future__ import annotations

from typing import Any

import datasketches
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvfsql.errors import DataError
from tvfsql.plan.aggregate.sketches import Kll, rank_error, size_for
from tvfsql.runtime.merge.ranges import Blocks, Ranges
from tvfsql.runtime.merge.sketches.kll import KllSketches, compacted
from tvfsql.runtime.merge.sketches.kll_bytes import capacity, decoded, encoded

FRACTIONS = (0.0, 0.01, 0.5, 0.9, 1.0)
numbers = st.lists(st.none() | st.floats(allow_infinity=False), min_size=1, max_size=40)
wholes = st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=40)


def every_range(rows: int) -> Ranges:
    pairs = [(lo, hi) for lo in range(rows) for hi in range(lo + 1, rows + 1)]
    lo, hi = (np.array(bound, dtype=np.int64) for bound in zip(*pairs, strict=True))
    return Ranges(Blocks(np.arange(rows) == 0), lo, hi, lo)


def in_blocks(*sizes: int) -> Ranges:
    starts = np.cumsum([0, *sizes])
    return Ranges.of_blocks(Blocks(np.isin(np.arange(starts[-1]), starts[:-1])))


def of_values(values: Any, k: int, ranges: Ranges) -> pa.Array:
    """The sketch of each range of the values."""
    return KllSketches(Kll(k, "double"), "x", pa.array(values, pa.float64())).over(ranges)


def read(sketch: bytes) -> Any:
    return datasketches.kll_doubles_sketch.deserialize(sketch)


def quantile(sketch: bytes, fraction: float) -> float:
    return float(read(sketch).get_quantile(fraction, inclusive=True))


def known(values: list[Any], lo: int, hi: int) -> list[float]:
    return sorted(value for value in values[lo:hi] if value is not None and value == value)


@given(numbers)
def test_a_sketch_of_few_values_has_all_of_them(values: list[float | None]) -> None:
    ranges = every_range(len(values))
    made = of_values(values, 40, ranges).to_pylist()
    for lo, hi, sketch in zip(ranges.lo.tolist(), ranges.hi.tolist(), made, strict=True):
        expected = known(values, lo, hi)
        if sketch is None:
            assert all(value is None for value in values[lo:hi])
            continue
        found = read(sketch)
        assert found.n == len(expected)
        assert sorted(value for value, _ in found) == expected
        if expected:
            assert (found.get_min_value(), found.get_max_value()) == (expected[0], expected[-1])


@given(numbers)
def test_a_window_keeps_what_decides_its_quantiles(values: list[float | None]) -> None:
    ranges = every_range(len(values))
    kind = Kll(40, "double", FRACTIONS)
    whole = of_values(values, 40, every_range(len(values)))
    kept = KllSketches(kind, "x", pa.array(values, pa.float64())).of_windows(ranges)
    for sketch, all_values in zip(kept.to_pylist(), whole.to_pylist(), strict=True):
        assert (sketch is None) == (all_values is None)
        if sketch is not None and read(all_values).n:
            assert read(sketch).n == read(all_values).n
            for fraction in FRACTIONS:
                assert quantile(sketch, fraction) == quantile(all_values, fraction)


@given(wholes)
def test_whole_numbers_keep_all_digits(values: list[int | None]) -> None:
    kind = Kll(40, "bigint", FRACTIONS)
    column = pa.array(values, pa.int64())
    sketch = KllSketches(kind, "x", column).over(in_blocks(len(values)))
    found = decoded(sketch, "x", np.int64, 40)
    expected = sorted(value for value in values if value is not None)
    assert sorted(found.values.tolist()) == expected
    if expected:
        assert (found.least[0], found.greatest[0]) == (expected[0], expected[-1])


@pytest.mark.parametrize("k", [8, 200, 1000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bytes_of_apache_datasketches_are_read_and_written_as_they_are(k: int, dtype: Any) -> None:
    draw = np.random.default_rng(k)
    made = datasketches.kll_doubles_sketch if dtype is np.float64 else datasketches.kll_floats_sketch
    sketches = []
    for size in (0, 1, 2, 7, 8, 9, 300, 5_000, 100_000):
        sketch = made(k)
        sketch.update(draw.random(size).astype(dtype))
        sketches.append(sketch.serialize())
    column = pa.array([None, *sketches], pa.binary())
    found = decoded(column, "x", dtype, 17)
    assert encoded(found, np.arange(len(column)) > 0).equals(column)
    sliced = decoded(column.slice(4, 3), "x", dtype, 17)
    assert encoded(sliced, None).equals(column.slice(4, 3))
    weights = np.bincount(found.row_of_value, np.left_shift(1, found.levels), minlength=len(column))
    assert weights.tolist() == found.counts.tolist()


@pytest.mark.parametrize("k", [20, 200, size_for(1000)])
def test_ranks_are_off_by_no_more_than_the_stated_error(k: int) -> None:
    """Of 25 sketches, each merged in three steps from 40 parts, at most a few ranks of 99 are off by more."""
    draw = np.random.default_rng(5)
    sketches, parts, size = 25, 40, max(2 * k, 300)
    values = draw.lognormal(size=(sketches, parts * size))
    column = of_values(values.ravel(), k, in_blocks(*[size] * (sketches * parts)))
    for width in (4, 5, 2):
        column = KllSketches(Kll(k, "double"), "x", column).over(in_blocks(*[width] * (len(column) // width)))
    fractions = np.linspace(0.01, 0.99, 99)
    off = []
    for sketch, own in zip(column.to_pylist(), np.sort(values, axis=1), strict=True):
        assert read(sketch).n == len(own)
        assert (read(sketch).get_min_value(), read(sketch).get_max_value()) == (own[0], own[-1])
        found = [quantile(sketch, fraction) for fraction in fractions]
        off += np.abs(np.searchsorted(own, found, side="right") / len(own) - fractions).tolist()
    assert np.mean(np.array(off) > rank_error(k)) <= 0.01
    assert max(off) < 2 * rank_error(k)
    assert max(off) > 0  # the sketches are no copies of their values


@pytest.mark.parametrize("size", [150, 230, 300, 700])
def test_ranks_of_windows_of_two_slices_are_off_by_no_more_than_the_stated_error(size: int) -> None:
    """A level of a merged sketch may have values of both slices, which are in order all the same."""
    values = np.random.default_rng(size).random(2 * size)
    minutes = of_values(values, 200, in_blocks(*[10] * (size // 5)))
    slices = KllSketches(Kll(0, "double"), "x", minutes).over(in_blocks(size // 10, size // 10))
    (window,) = KllSketches(Kll(0, "double"), "x", slices).over(in_blocks(2)).to_pylist()
    found = np.array([quantile(window, fraction) for fraction in np.linspace(0.01, 0.99, 99)])
    ranks = np.searchsorted(np.sort(values), found, side="right") / len(values)
    assert np.abs(ranks - np.linspace(0.01, 0.99, 99)).max() < rank_error(200) + 1 / len(values)
    levels = decoded(pa.array([window]), "x", np.float64, 200)
    assert all(np.all(np.diff(levels.values[levels.levels == i]) >= 0) for i in range(1, int(levels.levels.max()) + 1))


def test_the_error_of_an_accuracy_is_what_it_says() -> None:
    for accuracy in (1, 100, 1000, 10_000, 20_000):
        assert rank_error(size_for(accuracy)) <= 1 / accuracy or size_for(accuracy) == 8
    assert rank_error(200) == pytest.approx(datasketches.kll_doubles_sketch(200).normalized_rank_error(False))


@given(st.lists(st.integers(0, 500), min_size=1, max_size=12), st.sampled_from([8, 30]))
def test_a_compacted_sketch_has_the_weight_of_its_values_and_fits(sizes: list[int], k: int) -> None:
    values = np.random.default_rng(sum(sizes)).random(sum(sizes) or 1)
    column = of_values(values, k, in_blocks(*[size for size in sizes if size] or [1]))
    merged = KllSketches(Kll(k, "double"), "x", column)
    small = compacted(merged._merged(in_blocks(len(column))))
    assert np.left_shift(1, small.levels).sum() == small.counts[0] == len(values)
    levels = np.array([int(small.levels.max()) + 1])
    assert small.held[0] <= capacity(small.k, levels)[0]
    assert encoded(small, None).equals(encoded(compacted(small), None))


def test_sketches_of_several_sizes_merge_to_the_least() -> None:
    sizes = (400, 100, 200)
    column = pa.concat_arrays([of_values(np.arange(5000.0), k, in_blocks(5000)) for k in sizes])
    merged = KllSketches(Kll(0, "double"), "x", column).over(in_blocks(3))
    assert (read(merged[0].as_py()).k, read(merged[0].as_py()).n) == (100, 15_000)


def test_sketches_of_float_merge_like_those_of_double() -> None:
    values = np.random.default_rng(7).random(6_000).astype(np.float32)
    parts = KllSketches(Kll(200, "float"), "x", pa.array(values)).over(in_blocks(*[100] * 60))
    (merged,) = KllSketches(Kll(0, "float"), "x", parts).over(in_blocks(60)).to_pylist()
    found = datasketches.kll_floats_sketch.deserialize(merged)
    assert (found.n, found.get_min_value(), found.get_max_value()) == (6_000, values.min(), values.max())
    assert abs(np.mean(values <= found.get_quantile(0.5)) - 0.5) < rank_error(200)


CUT_OFF = b"\x02\x02\x0f\x04\xc8\x00\x08\x00"


@pytest.mark.parametrize("other", [b"", b"abc", b"abcd", CUT_OFF, bytes(60), b"\x05\x01" * 40])
def test_other_bytes_are_refused(other: bytes) -> None:
    good = of_values([1.0, 2.0], 200, in_blocks(2))[0].as_py()
    with pytest.raises(DataError, match="not a KLL sketch"):
        decoded(pa.array([good, other, good], pa.binary()), "x", np.float64, 200)
