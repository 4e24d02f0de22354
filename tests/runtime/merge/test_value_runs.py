"""Runs of distinct values against sets: the changes added up give the size and the sum of a set per window."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from tvfsql.errors import DataError
from tvfsql.runtime.merge.value_runs import Unrepeated, ValueRuns

SLIDE, SIZE = 10, 50  # ms
EPOCH = datetime(1970, 1, 1)
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
    rows = [(rng.choice(keys), rng.choice(values), SLIDE * rng.randrange(1, 40)) for _ in range(rng.randrange(60))]
    return sorted(rows, key=lambda row: (row[0] or "", values.index(row[1]), row[2]))


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
        chunk = rng.choice([1, 2, 5, 1000])
        runs = ValueRuns(1, SIZE, total, chunk_rows=chunk)
        once = list(Unrepeated(chunk_rows=chunk)(batches(rows, kind, rng.choice([1, 3, 1000]))))
        assert {repr(row) for batch in once for row in batch.to_pylist()} == {
            repr(row) for batch in batches(rows, kind, 1000) for row in batch.to_pylist()
        }
        changes: dict[Any, list[tuple[datetime, int, Any]]] = defaultdict(list)
        for batch in runs(batches(rows, kind, rng.choice([1, 3, 1000]))):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                changes[row[0]].append((row[1], row[2], row[3] if total else 0))
        for key in {key for key, _, _ in rows}:
            for end in range(SLIDE, SLIDE * 50, SLIDE):
                inside = {repr(v): v for k, v, at in rows if k == key and end - SIZE < at <= end}
                until = [(n, x) for at, n, x in changes[key] if at <= EPOCH + timedelta(milliseconds=end)]
                assert sum(n for n, _ in until) == len(inside)
                if total:
                    assert sum(x for _, x in until) == sum(inside.values())


def test_the_negative_of_a_value_that_has_none_is_told() -> None:
    rows = [("a", -(2**63), SLIDE)]
    with pytest.raises(DataError, match=r"SUM\(DISTINCT\) overflows"):
        list(ValueRuns(1, SIZE, total=True)(batches(rows, pa.int64(), 1)))


def test_repetitions_are_dropped_where_there_are_many() -> None:
    rows = [("a", 1, SLIDE)] * 100
    assert sum(batch.num_rows for batch in Unrepeated()(batches(rows, pa.int64(), 10))) == 1
