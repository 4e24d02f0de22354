"""Top-N of Arrow batches, without Spark: many batches give what one gives."""

from __future__ import annotations

import random
from itertools import groupby

import pyarrow as pa
import pytest

from tvfsql.runtime.arrow import batches as arrow_batches
from tvfsql.runtime.stream.rows.ranks import of_windows as rank
from tvfsql.runtime.stream.rows.ranks.of_windows import Limit, TopN

FUNCTIONS = ("row_number", "rank", "dense_rank")


def batches(seed: int, count: int, rows: int) -> list[pa.RecordBatch]:
    """A window, a value that ties or is NULL, a number for each row, and `$control` in the first row of each batch."""
    draw = random.Random(seed)
    return [
        pa.RecordBatch.from_pydict(
            {
                "window": pa.array([draw.choice([10, 20, 30]) for _ in range(rows)]),
                "value": pa.array([draw.choice(["a", "b", None, "c"]) for _ in range(rows)]),
                "row": pa.array([draw.randrange(10**6) for _ in range(rows)]),
                "control": pa.array([i, *[None] * (rows - 1)], pa.int64()),
            }
        )
        for i in range(count)
    ]


def ranked(rows: list[tuple[int, str | None, int]], function: str, first: int, last: int) -> set[tuple[object, ...]]:
    """The same in plain Python: by value descending with NULLs first, then by row."""
    found = set[tuple[object, ...]]()
    ordered = sorted(rows, key=lambda row: (row[0], row[1] is not None, -ord(row[1] or "a"), row[2]))
    for _, members in groupby(ordered, key=lambda row: row[0]):
        values: list[str | None] = []
        for row in members:
            values.append(row[1])
            place = {
                "row_number": len(values),
                "rank": values.index(row[1]) + 1,
                "dense_rank": len(set(values)),
            }[function]
            if first <= place <= last:
                found.add((*row, place))
    return found


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("chunk", [5, 1000])
def test_chunks_change_no_rank_and_control_rows_pass(
    function: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rank, "CHUNK_ROWS", chunk)
    monkeypatch.setattr(arrow_batches, "PIECE_ROWS", 7)
    given = batches(seed=1, count=12, rows=20)
    limit = Limit(function, (0,), ((1, True, True), (2, False, True)), 1, 4)
    out = list(TopN(limit, 3, 2, ranked=True)(given))
    assert all(batch.num_rows <= 7 for batch in out)
    rows = [tuple(row.values()) for batch in out for row in batch.to_pylist()]
    assert [row[3] for row in rows if row[3] is not None] == list(range(12))
    assert all(row[4] is None for row in rows if row[3] is not None)
    plain = [(w, v, r) for batch in given for w, v, r, c in zip(*batch.to_pydict().values(), strict=True) if c is None]
    found = {(*row[:3], row[4]) for row in rows if row[3] is None}
    assert found == ranked(plain, function, 2, 4)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_first_limit_in_each_partition_loses_no_row(function: str) -> None:
    given = batches(seed=2, count=6, rows=30)
    limit = Limit(function, (0,), ((1, False, False), (2, True, False)), 1, 3)
    whole = list(TopN(limit, None, 1, ranked=True)(given))
    parts = [batch for part in (given[:2], given[2:3], given[3:]) for batch in TopN(limit, None)(part)]
    assert pa.Table.from_batches(TopN(limit, None, 1, ranked=True)(parts)) == pa.Table.from_batches(whole)


def test_nothing_in_nothing_out() -> None:
    limit = Limit("rank", (0,), ((1, False, True),), 1, 3)
    assert list(TopN(limit, None, ranked=True)([])) == []
    assert list(TopN(limit, 3, ranked=True)([batches(3, 1, 5)[0].slice(0, 0)])) == []


def test_without_partitions_and_limit_all_rows_come_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank, "CHUNK_ROWS", 7)
    given = batches(seed=4, count=9, rows=11)
    limit = Limit("row_number", (), ((0, False, True), (1, True, False), (2, False, True)), 3, rank.ALL)
    found = [row for batch in TopN(limit, 3)(given) for row in batch.to_pylist() if row["control"] is None]
    rows = [row for batch in given for row in batch.to_pylist() if row["control"] is None]
    assert found == sorted(
        rows, key=lambda row: (row["window"], row["value"] is None, -ord(row["value"] or "a"), row["row"])
    )
