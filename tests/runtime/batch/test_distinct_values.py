"""Changes of distinct values against sets: the changes added up give the size and the sum of a set per window."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from tvfsql.errors import DataError
from tvfsql.runtime.batch.distinct_values import DistinctChanges
from tvfsql.runtime.batch.session_windows import LocalSessions, MergeSessions
from tvfsql.runtime.merge.session_merge import Intervals

SLIDE, SIZE = 10, 50  # ms
EPOCH = datetime(1970, 1, 1)
LAYOUT = Intervals(2, (), SIZE)
Row = tuple[Any, Any, int]


def batches(rows: list[Row], kind: pa.DataType, most: int) -> list[pa.RecordBatch]:
    """Rows (key, value, slice end in ms) in batches of at most so many."""
    cut = [rows[i : i + most] for i in range(0, len(rows), most)]
    return [
        pa.RecordBatch.from_arrays(
            [
                pa.array([key for key, _, _ in some], pa.string()),
                pa.array([value for _, value, _ in some], kind),
                pa.array([end * 1000 for _, _, end in some], pa.int64()).view(pa.timestamp("us")),
            ],
            names=["0", "1", "2"],
        )
        for some in cut
    ]


def random_rows(rng: random.Random, values: list[Any]) -> list[Row]:
    keys = ["a", "b", None]
    return [(rng.choice(keys), rng.choice(values), SLIDE * rng.randrange(1, 40)) for _ in range(rng.randrange(60))]


def changes_of(rows: list[Row], kind: pa.DataType, *, total: bool, chunk: int = 1000) -> list[tuple[Any, ...]]:
    """The changes of rows in any order: local sessions of each chunk, the exchange's order, and what they change."""
    local = pa.Table.from_batches(LocalSessions(LAYOUT, chunk_rows=chunk)(batches(rows, kind, 3)))
    of_rows = list(zip(*(column.to_pylist() for column in local.columns), strict=True))
    order = sorted(range(len(of_rows)), key=lambda i: (*map(repr, of_rows[i][:2]), of_rows[i][2]))
    ordered = local.take(pa.array(order, pa.int64())).combine_chunks()
    changes = DistinctChanges(MergeSessions(LAYOUT, chunk_rows=chunk), total)(ordered.to_batches(max_chunksize=3))
    return [row for batch in changes for row in zip(*(c.to_pylist() for c in batch.columns), strict=True)]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int64(), [-3, 0, 7]),
        (pa.decimal128(12, 2), [Decimal("1.25"), Decimal("-7.50")]),
        (pa.float64(), [float("nan"), 0.5]),
        (pa.list_(pa.int64()), [[1], [1, 2], []]),
    ],
)
def test_changes_add_up_to_the_sets_of_all_windows(kind: pa.DataType, values: list[Any]) -> None:
    rng = random.Random(7)
    total = not (pa.types.is_floating(kind) or pa.types.is_list(kind))
    for _ in range(60):
        rows = random_rows(rng, values)
        if not rows:
            continue
        changes: dict[Any, list[tuple[datetime, int, Any]]] = defaultdict(list)
        for row in changes_of(rows, kind, total=total, chunk=rng.choice([1, 2, 5, 1000])):
            changes[row[0]].append((row[1], row[2], row[3] if total else 0))
        for key in {key for key, _, _ in rows}:
            for end in range(SLIDE, SLIDE * 50, SLIDE):
                inside = {repr(v): v for k, v, at in rows if k == key and end - SIZE < at <= end}
                until = [(n, x) for at, n, x in changes[key] if at <= EPOCH + timedelta(milliseconds=end)]
                assert sum(n for n, _ in until) == len(inside)
                if total:
                    assert sum(x for _, x in until) == sum(inside.values())


def test_the_negative_of_a_value_that_has_none_is_told() -> None:
    with pytest.raises(DataError, match=r"SUM\(DISTINCT\) overflows"):
        changes_of([("a", -(2**63), SLIDE)], pa.int64(), total=True)


def test_a_slice_has_no_row_where_changes_cancel() -> None:
    rows = [("a", 1, SLIDE), ("a", 2, SLIDE + SIZE), ("b", 1, SLIDE)]  # 1 leaves the windows of a where 2 enters
    found = [(at, n) for key, at, n in changes_of(rows, pa.int64(), total=False) if key == "a"]
    first, last = (EPOCH + timedelta(milliseconds=at) for at in (SLIDE, SLIDE + 2 * SIZE))
    assert sorted(found) == [(first, 1), (last, -1)]
