"""Several windows of the same slices against the definition: each window takes the rows that it holds."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import islice

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tvfsql.plan.window import Cumulate, Hop, Several, Tumble, common_slices
from tvfsql.runtime.merge.several_windows import SeveralKernels, kernel_of

MERGES = (("n", "sum"), ("least", "min"), ("most", "max"))
TIMESTAMP = pa.timestamp("us")
# of one unit, with offsets that are whole units
SMALL, OFFSETS = st.integers(1, 8), st.integers(-9, 9)
WINDOWS = st.one_of(
    st.builds(Tumble, st.integers(1, 12), st.integers(-20, 20)),
    st.builds(lambda slide, more, offset: Hop(slide, slide + more, offset), SMALL, SMALL, OFFSETS),
    st.builds(lambda step, steps, offset: Cumulate(step, step * steps, offset), SMALL, SMALL, OFFSETS),
)
ROWS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(-40, 60), st.integers(-9, 9)), max_size=30)
Windows = dict[tuple[str, str, int, int], tuple[int, int, int]]


def by_definition(several: Several, rows: list[tuple[str, int, int]]) -> Windows:
    held = defaultdict[tuple[str, str, int, int], list[int]](list)
    for key, ts, value in rows:
        for name, window in several.windows:
            for end in window.window_ends(window.slice_end(ts)):
                held[key, name, window.window_start(end), end].append(value)
    return {at: (len(values), min(values), max(values)) for at, values in held.items()}


def from_slices(several: Several, rows: list[tuple[str, int, int]], chunk: int, batch: int) -> Windows:
    slices = Tumble(several.slice_size, several.offset)
    ordered = sorted((key, slices.slice_end(ts), 1, value, value) for key, ts, value in rows)
    kernel = kernel_of(several, ("k",), MERGES, "n")
    assert isinstance(kernel, SeveralKernels)
    small = SeveralKernels(tuple((name, replace(one, chunk_rows=chunk, batch_rows=3)) for name, one in kernel.kernels))
    waiting = iter(ordered)
    found: Windows = {}
    for made in small(map(_batch, iter(lambda: [*islice(waiting, batch)], []))):
        assert made.schema.names == ["k", "window_name", "window_start", "window_end", "n", "least", "most"]
        keys, names, *others = made.columns
        numbers = [column.view(pa.int64()).to_pylist() for column in others]
        for key, name, start, end, n, least, most in zip(keys.to_pylist(), names.to_pylist(), *numbers, strict=True):
            at = (key, name, start // 1000, end // 1000)
            assert at not in found
            found[at] = (n, least, most)
    return found


def _batch(rows: list[tuple[str, int, int, int, int]]) -> pa.RecordBatch:
    key, end, *values = zip(*rows, strict=True)
    times = pa.array([ms * 1000 for ms in end], pa.int64()).view(TIMESTAMP)
    arrays = [pa.array(key), times, *(pa.array(column, pa.int64()) for column in values)]
    return pa.RecordBatch.from_arrays(arrays, list("abcde"))


@given(st.lists(WINDOWS, min_size=1, max_size=4), ROWS, st.integers(1, 9), st.integers(1, 9))
@examples(150)
def test_each_window_takes_the_rows_that_it_holds(
    windows: list[Tumble | Hop | Cumulate], rows: list[tuple[str, int, int]], chunk: int, batch: int
) -> None:
    if not common_slices(windows):  # the rule leaves them apart: one more window makes them fit
        windows = [Tumble(1), *windows]
    several = Several.of({f"w{i}": window for i, window in enumerate(windows)})
    assert from_slices(several, rows, chunk, batch) == by_definition(several, rows)


def test_which_windows_have_common_slices() -> None:
    minute = 60_000
    assert common_slices([Tumble(minute), Hop(minute, 60 * minute), Cumulate(5 * minute, 60 * minute)])
    assert common_slices([Tumble(60 * minute, 30 * minute), Tumble(10 * minute)])
    assert not common_slices([Tumble(7 * minute), Tumble(10 * minute)])
    assert not common_slices([Tumble(60 * minute, 5 * minute), Tumble(10 * minute)])
