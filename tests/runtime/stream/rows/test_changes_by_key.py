"""Changes of one micro-batch by the key of a table: what comes counts, whatever the order."""

from __future__ import annotations

from itertools import permutations

import pyarrow as pa

from tvfsql.runtime.stream.rows.changes_by_key import ChangesByKey

Change = tuple[str, int | None, str]
REMAINING: set[Change] = {("+I", 1, "bob"), ("-D", 2, "ann"), ("+U", 3, "cid"), ("+I", None, "dan")}
CHANGES: list[Change] = [*REMAINING, ("-D", 1, "ann"), ("-U", 3, "ann")]
NAMES = ["$op", "id", "name"]


def batch(rows: list[Change]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else [[], [], []]
    types = (pa.string(), pa.int64(), pa.string())
    return pa.RecordBatch.from_arrays([pa.array(each, kind) for each, kind in zip(columns, types, strict=True)], NAMES)


def rows_of(batches: list[pa.RecordBatch]) -> list[Change]:
    return [tuple(row.values()) for each in batches for row in each.to_pylist()]


def test_of_each_key_what_comes_remains_or_one_that_goes() -> None:
    remaining = ChangesByKey((1,), 0, None)
    for changes in permutations(CHANGES):
        cut = len(changes) // 2
        found = rows_of([*remaining([batch([*changes[:cut]]), batch([*changes[cut:]])])])
        assert {*found} == REMAINING and len(found) == len(REMAINING)


def test_no_rows_and_control_rows() -> None:
    assert rows_of([*ChangesByKey((1,), 0, None)([])]) == []
    assert rows_of([*ChangesByKey((1,), 0, None)([batch([])])]) == []
    control: list[Change] = [("c1", 1, "x"), ("c2", 1, "y")]
    of_both = [
        each.append_column("$control", pa.array([mark] * each.num_rows, pa.string()))
        for each, mark in ((batch(CHANGES), None), (batch(control), "end"))
    ]
    found = [row[:3] for row in rows_of([*ChangesByKey((1,), 0, 3)(of_both)])]
    assert {*found} == {*control, *REMAINING} and len(found) == len(control) + len(REMAINING)
