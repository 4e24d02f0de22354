"""Windows that keep of a bag only what a result needs: the same quantiles, the same mode, as from the whole bag."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from math import ceil, floor, isnan
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvfsql.plan.aggregate.chosen_values import Frequent, Quantiles
from tvfsql.runtime.merge.chosen_values import OfFrequent, OfMostFrequent, OfQuantiles
from tvfsql.runtime.merge.partials import prepare
from tvfsql.runtime.merge.ranges import Blocks, Ranges, RankedRanges

BAG = pa.list_(pa.struct([("x", pa.int64()), ("n", pa.int64())]))
entries = st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 5)), max_size=6)
bags = st.lists(st.none() | entries, min_size=1, max_size=12)
fractions = st.lists(st.sampled_from([0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 1.0]), min_size=1, max_size=3)


def column(rows: list[list[tuple[int, int]] | None]) -> pa.Array:
    return pa.array([None if row is None else [{"x": x, "n": n} for x, n in row] for row in rows], BAG)


def every_range(rows: int) -> Ranges:
    pairs = [(lo, hi) for lo in range(rows) for hi in range(lo + 1, rows + 1)]
    lo, hi = (np.array(bound, dtype=np.int64) for bound in zip(*pairs, strict=True))
    return Ranges(Blocks(np.arange(rows) == 0), lo, hi, lo)


def values(rows: list[list[tuple[int, int]] | None], lo: int, hi: int) -> list[int]:
    return sorted(x for row in rows[lo:hi] for x, n in row or [] for _ in range(n))


def expanded(bag: list[dict[str, int]] | None) -> list[int]:
    return [entry["x"] for entry in bag or [] for _ in range(entry["n"])]


@given(bags, fractions, st.booleans())
def test_a_window_keeps_what_decides_its_quantiles_and_its_number_of_rows(rows, wanted, discrete) -> None:
    ranges = every_range(len(rows))
    kind = Quantiles(discrete=tuple(wanted)) if discrete else Quantiles(tuple(wanted))
    kept = OfQuantiles(kind, column(rows)).of_windows(ranges)
    for lo, hi, bag in zip(ranges.lo.tolist(), ranges.hi.tolist(), kept.to_pylist(), strict=True):
        expected, found = values(rows, lo, hi), expanded(bag)
        assert (bag is None) == all(row is None for row in rows[lo:hi])
        assert len(found) == len(expected)
        assert found == sorted(found)
        assert len(bag or []) <= 2 * len(wanted) + 1
        for fraction in wanted if expected else ():
            last = len(expected) - 1
            first_of = max(0, ceil(fraction * len(expected)) - 1)
            ranks = [first_of] if discrete else [floor(fraction * last), ceil(fraction * last)]
            assert [found[rank] for rank in ranks] == [expected[rank] for rank in ranks]


@given(bags)
def test_a_window_keeps_its_most_frequent_value_and_of_several_the_least(rows) -> None:
    ranges = every_range(len(rows))
    kept = OfMostFrequent(column(rows)).of_windows(ranges)
    for lo, hi, bag in zip(ranges.lo.tolist(), ranges.hi.tolist(), kept.to_pylist(), strict=True):
        counts = Counter(values(rows, lo, hi))
        best = [min(counts, key=lambda x: (-counts[x], x))] if counts else []
        assert [entry["x"] for entry in bag or []] == best
        assert [entry["n"] for entry in bag or []] == [counts[x] for x in best]


@given(bags, st.integers(1, 4), st.integers(1, 4))
def test_a_bounded_bag_counts_too_low_by_a_known_part_at_most(rows, kept, tracked) -> None:
    """Merged slice by slice, as state is, and then to windows."""
    kind = Frequent(kept, tracked)
    bounded, parts = column(rows), len(rows)
    while len(bounded) > 1:
        blocks = Blocks(np.arange(len(bounded)) % 2 == 0)
        bounded = OfFrequent(kind, bounded).over(Ranges.of_blocks(blocks))
    exact = Counter(values(rows, 0, parts))
    found = {entry["x"]: entry["n"] for entry in bounded[0].as_py() or []} if parts > 1 else dict(exact)
    assert len(found) <= max(tracked, len(exact) if parts == 1 else 0)
    for value, number in exact.items():
        assert number - exact.total() / (tracked + 1) <= found.get(value, 0) <= number
    first = OfFrequent(kind, column(rows)).of_windows(every_range(parts)).to_pylist()[parts - 1]
    wanted = sorted(exact.items(), key=lambda entry: (-entry[1], entry[0]))[:kept]
    assert [(entry["x"], entry["n"]) for entry in first or []] == wanted


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3)), min_size=1, max_size=30), st.data())
def test_ranked_ranges_find_every_rank(rows, data) -> None:
    codes, numbers = (np.array(part, dtype=np.int64) for part in zip(*rows, strict=True))
    ranked = RankedRanges(codes, numbers, 40)
    lo = data.draw(st.integers(0, len(rows) - 1))
    hi = data.draw(st.integers(lo + 1, len(rows)))
    expected = sorted(code for code, number in rows[lo:hi] for _ in range(number))
    assert ranked.totals(np.array([lo]), np.array([hi])).tolist() == [len(expected)]
    ranks = np.arange(len(expected))
    found = ranked.at(np.full(len(ranks), lo), np.full(len(ranks), hi), ranks)
    assert found.codes.tolist() == expected
    assert found.first.tolist() == [expected.index(code) for code in expected]
    assert found.stop.tolist() == [expected.index(code) + expected.count(code) for code in expected]


def test_quantiles_of_floats_take_nan_for_the_greatest() -> None:
    kind = pa.list_(pa.struct([("x", pa.float64()), ("n", pa.int64())]))
    rows = pa.array([[{"x": x, "n": 1} for x in (float("nan"), 2.5, -1.0)]], kind)
    kept = OfQuantiles(Quantiles((0.5,)), rows).of_windows(every_range(1)).to_pylist()[0]
    assert (kept[0]["x"], kept[0]["n"], kept[1]["n"]) == (2.5, 2, 1)
    assert isnan(kept[1]["x"])


@pytest.mark.parametrize(
    ("kind", "pool"),
    [
        (pa.int32(), [1, 5, -3]),
        (pa.float64(), [1.5, math.inf, -2.0, math.nan]),
        (pa.decimal128(12, 2), [Decimal("1.25"), Decimal("-3.10")]),
        (pa.decimal128(38, 2), [Decimal(10**30), Decimal("2.25")]),
    ],
)
def test_windows_have_the_quantiles_themselves_as_doubles(kind: Any, pool: list[Any]) -> None:
    draw = Random(3)
    rows = [[{"x": draw.choice(pool), "n": draw.randint(1, 3)} for _ in range(draw.randint(0, 3))] for _ in range(40)]
    column = pa.array([row or None for row in rows], pa.list_(pa.struct([("x", kind), ("n", pa.int64())])))
    lo, fractions = np.arange(38), (0.0, 0.3, 1.0)
    ranges = Ranges(Blocks(lo == 0), lo, lo + 3, lo)
    made = prepare(Quantiles(fractions, (0.5,), results=True), "x", column, ranges.blocks).of_windows(ranges)
    for i, found in enumerate(made.to_pylist()):
        held = [float(e["x"]) for row in rows[i : i + 3] for e in row for _ in range(e["n"])]
        held.sort(key=lambda x: (isnan(x), x))
        expected: dict[str, float | None] = dict.fromkeys(found)
        for fraction in fractions if held else ():
            place = fraction * (len(held) - 1)
            low, high = held[floor(place)], held[ceil(place)]
            between = (ceil(place) - place) * low + (place - floor(place)) * high
            expected[f"p{fraction}"] = low if repr(low) == repr(high) else between
        if held:
            expected["disc0.5"] = held[max(ceil(0.5 * len(held)) - 1, 0)]
        assert repr(found) == repr(expected)
