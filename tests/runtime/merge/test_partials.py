"""The merge kinds one by one: what a range of rows gives, and what does not fit."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tvfsql.errors import DataError
from tvfsql.plan.aggregate.top_rows import keeps, top_rows
from tvfsql.runtime.arrow.columns import differs
from tvfsql.runtime.merge.moments import CoMoments, FourMoments
from tvfsql.runtime.merge.partials import KINDS, Merge, prepare
from tvfsql.runtime.merge.ranges import Blocks, Ranges

MOMENTS = pa.struct([("n", pa.int64()), ("mean", pa.float64()), ("m2", pa.float64())])
WHOLE = ((0, None),)


def bag_of(kind: Any) -> Any:
    return pa.list_(pa.struct([("x", kind), ("n", pa.int64())]))


def merge(kind: Merge, column: Any, *bounds: tuple[int, int | None], width: int = 100) -> list[Any]:
    """The column merged over rows [lo, hi), in blocks of `width` rows."""
    rows = np.arange(len(column))
    blocks = Blocks(rows % width == 0)
    lo = np.array([lo for lo, _ in bounds])
    hi = np.array([len(column) if hi is None else hi for _, hi in bounds])
    ranges = Ranges(blocks, lo, hi, np.zeros_like(lo))
    values: list[Any] = prepare(kind, "total", column, blocks).over(ranges).to_pylist()
    return values


def of_sums(*fields: str) -> pa.DataType:
    return pa.struct([("n", pa.int64()), *((name, pa.float64()) for name in fields)])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_range_of_nulls_is_null(kind: str) -> None:
    lists = {"concat": pa.list_(pa.int64()), "distinct": pa.list_(pa.int64()), "bag": bag_of(pa.int64())}
    types = {
        **lists,
        "moments": MOMENTS,
        "moments4": of_sums(*FourMoments.fields),
        "comoments": of_sums(*CoMoments.fields),
    }
    column = pa.nulls(5, types.get(kind, pa.int64()))
    assert merge(kind, column, (0, 2), (2, 5), width=2) == [None, None]


@pytest.mark.parametrize("kind", ["sum", "min", "max"])
@pytest.mark.parametrize(
    "column",
    [
        pa.array([3, None, -7, None, None, 2**62, 2**62 - 1, -(2**62), 5]),  # sums on the way need two limbs
        pa.array([True, None, False, None, None, None, True, True, False]),
        pa.array([None if i % 4 == 1 else Decimal(i - 4) * 10**30 for i in range(9)], pa.decimal128(38, 2)),
        pa.array([1.5, None, float("nan"), None, None, -0.0, 0.0, float("inf"), 2.0]),
        pa.array([], pa.int64()),
    ],
)
def test_whole_blocks_are_merged_as_any_range_is(kind: str, column: Any) -> None:
    blocks = Blocks(np.isin(np.arange(len(column)), [0, 1, 3, 5, 8]))
    whole = Ranges.of_blocks(blocks)
    others = Ranges(blocks, whole.lo, whole.hi, whole.lo, anchored=True)
    made, expected = (prepare(kind, "total", column, blocks).over(ranges) for ranges in (whole, others))
    assert made.type == expected.type
    assert repr(made.to_pylist()) == repr(expected.to_pylist())  # NaN is not equal to itself


@pytest.mark.parametrize("column", [pa.nulls(3, pa.float64()), pa.nulls(3, pa.string()), pa.nulls(3, pa.bool_())])
def test_a_smallest_of_nulls_is_null_in_every_type(column: Any) -> None:
    assert merge("min", column, *WHOLE) == [None]


@pytest.mark.parametrize(
    "values",
    [[2**62, 2**62], [-(2**62), -(2**62), -1], [2**63 - 1, 1], [-(2**63), -(2**63)]],
)
def test_a_sum_that_does_not_fit_bigint_is_an_error_that_names_the_column(values: list[int]) -> None:
    with pytest.raises(DataError, match="the sum of total over a window does not fit bigint"):
        merge("sum", pa.array(values), *WHOLE)


def test_a_sum_that_just_fits_is_exact_even_if_the_totals_on_the_way_do_not() -> None:
    most = 2**63 - 1
    assert merge("sum", pa.array([most] * 6), (0, 1), (3, 4), (5, 6)) == [most] * 3
    assert merge("sum", pa.array([most, most, -most, -(2**63)]), (1, 3), (2, 3), (3, 4), (0, 4)) == [
        0,
        -most,
        -(2**63),
        -1,
    ]


def test_a_decimal_sum_has_38_digits_and_no_more() -> None:
    most = 10**38 - 1
    column = pa.array([Decimal(each) for each in (most, -1, 1, 1, -most, -most)], type=pa.decimal128(38, 0))
    assert merge("sum", column, (0, 3), (0, 2), (0, 1), (0, 5)) == [most, most - 1, most, 1]
    for low, high in ((0, 4), (4, 6)):
        with pytest.raises(DataError, match=r"the sum of total over a window does not fit decimal128\(38, 0\)"):
            merge("sum", column, (low, high))


def test_a_decimal_sum_is_wider_than_its_partials_and_keeps_the_scale() -> None:
    column = pa.array([Decimal("9.99")] * 1000, type=pa.decimal128(3, 2))
    blocks = Blocks(np.arange(1000) == 0)
    ranges = Ranges(blocks, np.array([0]), np.array([1000]), np.array([0]), anchored=True)
    total = prepare("sum", "total", column, blocks).over(ranges)
    assert total.type == pa.decimal128(38, 2)
    assert total.to_pylist() == [Decimal("9990.00")]


def test_infinity_and_nan_leave_a_floating_sum_with_their_slice() -> None:
    column = pa.array([1.0, math.inf, 1e-9, 1e300, 2.0, math.nan, 3.0])
    sums = merge("sum", column, (1, 3), (2, 3), (4, 5), (6, 7), (5, 7), width=1)
    assert sums[:4] == [math.inf, 1e-9, 2.0, 3.0]
    assert math.isnan(sums[4])


def test_nan_is_the_largest_number_and_null_is_none() -> None:
    column = pa.array([math.nan, None, 1.0, -math.inf])
    largest = merge("max", column, (0, 4), (2, 4), (3, 4), (1, 2), width=2)
    assert math.isnan(largest[0])
    assert largest[1:] == [1.0, -math.inf, None]
    assert merge("min", column, (0, 3), (1, 3), width=2) == [1.0, 1.0]


def test_strings_are_compared_by_their_bytes() -> None:
    column = pa.array(["Z", "a", "é", "z", None])
    assert merge("max", column, *WHOLE) == ["é"]
    assert merge("min", column, *WHOLE) == ["Z"]


@pytest.mark.parametrize("far", [-(10**9), 10**9])
def test_moments_do_not_cancel_far_from_zero(far: int) -> None:
    values = np.random.default_rng(3).normal(far, 1e-3, 1000)
    column = pa.array([{"n": 1, "mean": float(v), "m2": 0.0} for v in values], type=MOMENTS)
    (merged,) = merge("moments", column, (100, 900), width=500)
    assert merged["n"] == 800
    assert merged["mean"] == pytest.approx(values[100:900].mean(), rel=1e-15)
    assert merged["m2"] == pytest.approx(((values[100:900] - values[100:900].mean()) ** 2).sum(), rel=1e-4)


def test_sums_of_powers_and_products_are_those_of_all_rows() -> None:
    a, b = np.random.default_rng(5).normal(1e6, 3, (2, 90))
    one = [{"n": 1, "mean": x, "m2": 0.0, "m3": 0.0, "m4": 0.0} for x in a.tolist()]
    pairs = [{"n": 1, "a": x, "b": y, "aa": 0.0, "bb": 0.0, "ab": 0.0} for x, y in zip(a, b, strict=True)]
    of_one = merge("moments4", pa.array(one, of_sums(*FourMoments.fields)), (10, 70), (80, 90), width=60)
    of_pairs = merge("comoments", pa.array(pairs, of_sums(*CoMoments.fields)), (10, 70), (80, 90), width=60)
    for (lo, hi), powers, products in zip(((10, 70), (80, 90)), of_one, of_pairs, strict=True):
        from_a, from_b = (values[lo:hi] - values[lo:hi].mean() for values in (a, b))
        assert [powers["n"], products["n"]] == [hi - lo] * 2
        for power in (2, 3, 4):
            assert powers[f"m{power}"] == pytest.approx((from_a**power).sum(), rel=1e-6)
        assert products["ab"] == pytest.approx((from_a * from_b).sum(), rel=1e-6)
        assert (products["aa"], products["bb"]) == pytest.approx(((from_a**2).sum(), (from_b**2).sum()), rel=1e-6)


@pytest.mark.parametrize(("kind", "expected"), [("bit_and", 0b1000), ("bit_or", 0b1101), ("bit_xor", 0b0101)])
def test_bits_are_combined_in_the_type_of_the_column(kind: str, expected: int) -> None:
    column = pa.array([0b1100, None, 0b1001], pa.int16())
    prepared = prepare(kind, "bits", column, Blocks(np.array([True, False, False])))
    found = prepared.over(Ranges.of_blocks(Blocks(np.array([True, False, False]))))
    assert (found.to_pylist(), found.type) == ([expected], pa.int16())


def test_an_empty_side_does_not_change_infinite_moments() -> None:
    infinite, empty = {"n": 1, "mean": math.inf, "m2": 0.0}, {"n": 0, "mean": 0.0, "m2": 0.0}
    column = pa.array([infinite, empty, None], type=MOMENTS)
    assert merge("moments", column, (1, 3), width=1) == [empty]
    assert merge("moments", column, (0, 2), width=1) == [infinite]


def test_an_empty_list_is_a_value_and_null_is_none() -> None:
    column = pa.array([[1, None], None, [], [2]])
    bounds = ((0, 4), (1, 2), (1, 3), (2, 4))
    assert merge("concat", column, *bounds) == [[1, None, 2], None, [], [2]]


def test_distinct_values_are_told_apart_as_group_by_does() -> None:
    floats = pa.array([[math.nan, 0.0], [-0.0, 1.0], [-math.nan]])
    ((nan, *others),) = merge("distinct", floats, *WHOLE)
    assert math.isnan(nan)
    assert others == [0.0, 1.0]
    nested = pa.array([[[1, None], None], [[1, None]], [[], None]], pa.list_(pa.list_(pa.int64())))
    assert merge("distinct", nested, *WHOLE) == [[[1, None], None, []]]


@pytest.mark.parametrize("kind", ["sum", "min", "max"])
def test_a_column_that_is_a_slice_of_a_longer_one_is_read_from_its_own_start(kind: str) -> None:
    for column in (
        pa.array([9, 8, 1, None, 3, 7]),
        pa.array([Decimal(9), Decimal(8), Decimal(1), None, Decimal(3), Decimal(7)], type=pa.decimal128(20, 0)),
    ):
        (value,) = merge(kind, column.slice(2, 3), *WHOLE)
        assert value == {"sum": 4, "min": 1, "max": 3}[kind]


def test_a_range_that_two_scans_cannot_cover_is_our_mistake() -> None:
    column = pa.array([1, 2, 3, 4, 5, 6])
    with pytest.raises(AssertionError, match="more than two blocks"):
        merge("max", column, (0, 5), width=2)
    with pytest.raises(AssertionError, match="a range is inside a block"):
        merge("max", column, (1, 3), width=4)


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ([1, None, 2, None], [1, None, 3, 4], pa.int64()),
        ([math.nan, 0.0, math.nan, None], [math.nan, -0.0, 1.0, math.nan], pa.float64()),
        ([[1, None], [], [1, 2], None], [[1, None], [], [2, 1], []], pa.list_(pa.int64())),
        ([[[1]], None, [[1], []], [None]], [[[1]], None, [[], [1]], [[]]], pa.list_(pa.list_(pa.int64()))),
        (
            [{"x": 1}, {"x": None}, {"x": 1}, None],
            [{"x": 1}, {"x": None}, {"x": 2}, {"x": None}],
            pa.struct([("x", pa.int64())]),
        ),
    ],
)
def test_keys_differ_as_group_by_tells_them_apart(left: Sequence[Any], right: Sequence[Any], kind: Any) -> None:
    found = differs(pa.array(left, type=kind), pa.array(right, type=kind))
    assert found.tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.string(), ["a", "b", "", None]),
        (pa.float64(), [0.5, math.inf, -1.0, None]),
        (
            pa.struct([("t", pa.int64()), ("x", pa.string())]),
            [{"t": 1, "x": "a"}, {"t": 1, "x": None}, {"t": 2, "x": "a"}],
        ),
    ],
)
def test_a_bag_holds_what_did_not_go_again(kind: Any, values: list[Any]) -> None:
    draw = random.Random(7)
    rows = [
        draw.choice(
            [None, [{"x": draw.choice(values), "n": draw.choice([1, 1, -1, 2])} for _ in range(draw.randrange(4))]]
        )
        for _ in range(60)
    ]
    bounds = [(lo, lo + draw.randrange(1, 10)) for lo in range(50)]
    for (lo, hi), found in zip(bounds, merge("bag", pa.array(rows, bag_of(kind)), *bounds, width=10), strict=True):
        held: Counter[str] = Counter()
        for one in (one for row in rows[lo:hi] for one in row or []):
            held[repr(one["x"])] += one["n"]
        wanted = {value: number for value, number in held.items() if number}
        assert {repr(one["x"]): one["n"] for one in found or []} == wanted
        assert len(found or []) == len(wanted)
        assert (found is None) == all(row is None for row in rows[lo:hi])


@pytest.mark.parametrize("function", ["row_number", "rank", "dense_rank"])
def test_top_rows_are_those_up_to_the_rank_in_whatever_order_partials_merge(function: str) -> None:
    draw = random.Random(7)
    kind = pa.list_(pa.struct([("x", pa.int64()), ("name", pa.string())]))
    rows = [
        None
        if draw.random() < 0.1
        else [{"x": draw.choice([None, 1, 2, 3]), "name": draw.choice("abc")} for _ in range(draw.randrange(4))]
        for _ in range(60)
    ]
    top = top_rows(function, order={"x": "desc_nulls_first"}, ties={"name": "asc"}, last=3)

    def best(lists: Sequence[Any]) -> list[Any]:
        every = [row for each in lists for row in each or []]
        every.sort(key=lambda row: (row["x"] is not None, -(row["x"] or 0), row["name"]))
        values = [row["x"] for row in every]
        places = {
            "row_number": range(1, len(every) + 1),
            "rank": [values.index(value) + 1 for value in values],
            "dense_rank": [len(set(values[: i + 1])) for i in range(len(values))],
        }[function]
        return sorted((str(row) for row, place in zip(every, places, strict=True) if place <= 3))

    bounds = [(0, 60), (20, 41), (3, 4), (19, 21)]
    merged = merge(top, pa.array(rows, kind), *bounds, width=20)
    assert [sorted(map(str, found)) for found in merged] == [best(rows[lo:hi]) for lo, hi in bounds]
    halves = merge(top, pa.array(rows, kind), (0, 20), (20, 60), width=20)
    again = merge(top, pa.array(halves[::-1], kind), *WHOLE)
    assert [sorted(map(str, found)) for found in again] == [best(rows)]


def test_state_of_all_rows_or_of_more_rows_serves_a_smaller_limit() -> None:
    three, five = (str(top_rows("rank", order={"x": "desc"}, last=n)) for n in (3, 5))
    others = [
        str(top_rows("rank", order={"x": "asc"}, last=5)),
        str(top_rows("row_number", order={"x": "desc"}, last=5)),
    ]
    assert [keeps(held, three) for held in ("concat", three, five, *others)] == [True, True, True, False, False]
    assert [keeps(held, five) for held in ("concat", three, five)] == [True, False, True]
    assert not keeps(five, "concat")
