"""Sessions as intervals: rows merged in any parts and any order, against sessions made one row after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tvfsql.runtime.batch.session_windows import LocalSessions, MergeSessions
from tvfsql.runtime.merge.session_merge import TIMESTAMP, Intervals, of_rows, running_latest

EPOCH = datetime(1970, 1, 1)
MERGES = (("rows", "sum"), ("most", "max"), ("all", "concat"), ("different", "distinct"))
Row = tuple[str | None, int, int | None]  # key, time in ms, value

ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.integers(-60, 60), st.one_of(st.none(), st.integers(0, 5))),
    max_size=40,
)


def naive(rows: Iterable[Row], gap: int, limit: int | None = None) -> list[tuple[Any, ...]]:
    """semantics.md#sessions: each row opens [t, t + gap], and windows that touch are one, if it is not too long."""
    found: list[tuple[Any, ...]] = []
    for key in {key for key, _, _ in rows}:
        held: list[Row] = []
        for row in sorted((row for row in rows if row[0] == key), key=lambda row: row[1]):
            if held and (row[1] > held[-1][1] + gap or (limit and row[1] >= held[0][1] + limit)):
                found.append(session(held, gap, limit))
                held = []
            held.append(row)
        found.append(session(held, gap, limit))
    return sorted(found, key=repr)


def session(rows: Sequence[Row], gap: int, limit: int | None) -> tuple[Any, ...]:
    values = [value for _, _, value in rows if value is not None]
    lists = (sorted(values), sorted({*values})) if values else (None, None)
    end = min(rows[-1][1] + gap, rows[0][1] + (limit or 10**9))
    return rows[0][0], rows[0][1], end, len(rows), max(values, default=None), *lists


def batch(rows: Sequence[Row]) -> Any:
    """Rows as they come into the local phase: key, time, partials of single rows."""
    keys, times, values = zip(*rows, strict=True) if rows else ((), (), ())
    lists = [None if value is None else [value] for value in values]
    columns = [
        pa.array(keys, pa.string()),
        pa.array([EPOCH + timedelta(milliseconds=time) for time in times], TIMESTAMP),
        pa.array([1] * len(rows), pa.int64()),
        pa.array(values, pa.int64()),
        *(pa.array(lists, pa.list_(pa.int64())) for _ in range(2)),
    ]
    return pa.RecordBatch.from_arrays(columns, ["key", "time", *(name for name, _ in MERGES)])


def windows_of(batches: Iterable[Any]) -> list[tuple[Any, ...]]:
    found = []
    for made in batches:
        for row in made.to_pylist():
            start, end = (round((row[name] - EPOCH) / timedelta(milliseconds=1)) for name in
                          ("window_start", "window_end"))  # fmt: skip
            lists = (None if row[name] is None else sorted(row[name]) for name in ("all", "different"))
            found.append((row["$0"], start, end, row["rows"], row["most"], *lists))
    return sorted(found, key=repr)


def intervals(layout: Intervals, rows: Sequence[Row]) -> Any:
    given = batch(rows)
    return of_rows(layout, given.columns[:1], given.column(1), given.columns[2:])


@given(ROWS, st.integers(1, 30), st.integers(0, 50), st.lists(st.integers(0, 40), max_size=4), st.integers(1, 9))
def test_local_sessions_merge_into_the_sessions_of_all_rows(
    rows: list[Row], gap: int, more: int, cuts: list[int], chunk_rows: int
) -> None:
    limit = gap + more if more else None
    layout = Intervals(1, MERGES, gap, limit)
    borders = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    tasks = [LocalSessions(layout.kept, chunk_rows=chunk_rows)([batch(rows[a:b])]) for a, b in pairwise(borders)]
    local = [made for task in tasks for made in task]
    if not local:
        assert not rows
        return
    everything = pa.Table.from_batches(local).combine_chunks()
    order = everything.append_column("nulls", pa.array([k is None for k in everything["$0"].to_pylist()]))
    ordered = order.sort_by([("nulls", "ascending"), ("$0", "ascending"), ("$start", "ascending")])
    merge = MergeSessions(layout, chunk_rows=chunk_rows)
    assert windows_of(merge(ordered.drop_columns(["nulls"]).to_batches(max_chunksize=3))) == naive(rows, gap, limit)


@given(ROWS, st.integers(1, 30), st.randoms(use_true_random=False))
def test_intervals_are_merged_in_any_order(rows: list[Row], gap: int, random: Any) -> None:
    """Two by two, until one batch is left: what a stream does."""
    layout = Intervals(1, MERGES, gap)
    parts = [intervals(layout, [row]) for row in rows] or [intervals(layout, [])]
    while len(parts) > 1:
        one, other = (parts.pop(random.randrange(len(parts))) for _ in range(2))
        parts.append(layout.merged([one, other]))
    assert windows_of([layout.windows(layout.merged(parts))]) == naive(rows, gap)


@given(ROWS, st.integers(1, 30), st.integers(0, 50))
def test_every_interval_knows_the_end_of_its_session(rows: list[Row], gap: int, more: int) -> None:
    limit = gap + more if more else None
    layout = Intervals(1, MERGES, gap, limit)
    half = len(rows) // 2
    ends = layout.session_ends([intervals(layout, rows[:half]), intervals(layout, rows[half:])])
    whole = naive(rows, gap, limit)
    for (key, time, _), end in zip(rows, ends.tolist(), strict=True):
        assert [found[2] for found in whole if found[0] == key and found[1] <= time < found[2]] == [end]


def test_rows_exactly_the_gap_apart_are_one_session() -> None:
    layout = Intervals(1, MERGES, 5)
    rows: list[Row] = [("a", 0, 1), ("a", 5, 2), ("a", 11, 3)]
    found = windows_of([layout.windows(layout.merged([intervals(layout, rows)]))])
    assert [(start, end, count) for _, start, end, count, *_ in found] == [(0, 10, 2), (11, 16, 1)]


def test_rows_pass_where_few_of_them_merge() -> None:
    layout = Intervals(1, (("n", "sum"),), 5)
    far = [pa.array([row]) for row in range(100)]
    rows = [pa.RecordBatch.from_arrays([key, pa.array([EPOCH], TIMESTAMP), pa.array([1], pa.int32())], ["k", "t", "n"])
            for key in far]  # fmt: skip
    once = [made.num_rows for made in LocalSessions(layout, chunk_rows=10)(rows)]
    assert once == [10, 50, *[1] * 40]  # a chunk, a larger one, and since both merge nothing, the rest is not tried
    kinds = {made.column(3).type for made in LocalSessions(layout, chunk_rows=10)(rows)}
    assert kinds == {pa.int64()}
    near = [rows[0]] * 100
    assert [made.num_rows for made in LocalSessions(layout, chunk_rows=10)(near)] == [1] * 10


def test_floating_keys_are_those_of_group_by() -> None:
    layout = Intervals(1, (), 5)
    keys = pa.array([0.0, -0.0, float("nan"), -float("nan"), None, None])
    times = pa.array([EPOCH] * 6, TIMESTAMP)
    (made,) = LocalSessions(layout)([pa.RecordBatch.from_arrays([keys, times], ["key", "time"])])
    assert made.num_rows == 3


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([-(2**55), -5, 0, 3, 2**55])), min_size=1, max_size=20))
def test_the_running_latest_time_starts_anew_with_each_key(rows: list[tuple[bool, int]]) -> None:
    new_key = np.array([True, *(new for new, _ in rows[1:])])
    times = np.array([time for _, time in rows])
    expected: list[int] = []
    for new, time in zip(new_key.tolist(), times.tolist(), strict=True):
        expected.append(time if new else max(expected[-1], time))
    assert running_latest(times, new_key).tolist() == expected
