"""Groups without a window: what a micro-batch emits, what the state keeps, and when it forgets."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from tests.models.streams import Memory
from tvfsql.plan.aggregate.chosen_values import Counted
from tvfsql.plan.stream import Firing, StreamContext
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.windows.endless import EndlessOperator

LAYOUT = SliceRows(1, (("rows", "sum"), ("total", "sum"), ("different", Counted(total=True))))
TYPES = (pa.string(), pa.int64(), pa.int64(), pa.int64(), pa.list_(pa.int64()))


def rows_of(values: list[tuple[str | None, int]]) -> pa.RecordBatch:
    """Partials of single rows, as the local phase sends them."""
    columns: tuple[list[Any], ...] = ([], [], [], [], [])
    for key, value in values:
        for column, part in zip(columns, (key, 1, 1, value, [value] if value < 4 else None), strict=True):
            column.append(part)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, kind) for column, kind in zip(columns, TYPES, strict=True)], names=LAYOUT.names
    )


def emitted(operator: EndlessOperator, state: Memory, values: list[tuple[str | None, int]], now: int) -> list[Any]:
    """The rows of a micro-batch at the time `now`."""
    group = operator.open(state, None, now)
    for value in values:
        group.add([rows_of([value])])
    found = [row for message in group.finish() for batch in operator.unpack(message) for row in batch.to_pylist()]
    group.flush()
    return found


def result(row: Any) -> tuple[Any, ...]:
    return row["rows"], row["total"], row["different"]["n"], row["different"]["total"]


@pytest.mark.parametrize("bucket_rows", [4, 16_384])
def test_folded_changes_are_the_groups_after_each_micro_batch(bucket_rows: int) -> None:
    draw, context = random.Random(7), StreamContext(firing=Firing(0), proctime=True)
    operator, state = EndlessOperator(LAYOUT, "rows", context, bucket_rows=bucket_rows), Memory()
    every: list[tuple[str | None, int]] = []
    folded: Counter[tuple[Any, ...]] = Counter()
    kinds: Counter[str] = Counter()
    for now in range(25):
        values = [(draw.choice([None, *map(str, range(40))]), draw.randrange(5)) for _ in range(draw.randrange(30))]
        every += values
        touched = {key for key, _ in values}
        changes = emitted(operator, state, values, now)
        assert {row["$0"] for row in changes} == touched, "only the groups that had rows"
        for row in changes:
            kinds[row["$op"]] += 1
            folded[row["$0"], *result(row)] += -1 if row["$op"] == "-U" else 1
        expected = {
            (key, len(mine), sum(mine), len(less := {value for value in mine if value < 4}), sum(less))
            for key in {key for key, _ in every}
            if (mine := [value for each, value in every if each == key])
        }
        assert +folded == Counter(expected)
    assert kinds["-U"] == kinds["+U"] > 100


def test_each_change_has_the_result_beside_it() -> None:
    operator, state = EndlessOperator(LAYOUT, "rows", StreamContext(firing=Firing(0))), Memory()
    (first,) = emitted(operator, state, [("a", 1)], 0)
    assert (first["$op"], first["before"]) == ("+I", None)
    before, after = emitted(operator, state, [("a", 2), ("a", 2)], 1)
    assert (before["$op"], before["total"], before["before"]["total"]) == ("-U", 1, 5)
    assert (after["$op"], after["total"], after["before"]["total"]) == ("+U", 5, 1)


def test_a_group_without_aggregates_comes_once() -> None:
    operator, state = EndlessOperator(SliceRows(1, (("rows", "sum"),)), "rows"), Memory()
    given: list[list[tuple[str | None, int]]] = [[("a", 1), ("a", 2)], [("b", 1), ("a", 1)], [("b", 1)]]
    found = []
    for now, values in enumerate(given):
        group = operator.open(state, None, now)
        group.add([rows_of(values).select(["$0", "$slice", "rows"])])
        found.append([row["$0"] for message in group.finish() for row in message.rows.to_pylist()])
        group.flush()
    assert found == [["a"], ["b"], []]


def test_an_idle_group_is_forgotten_and_its_state_goes() -> None:
    context = StreamContext(firing=Firing(0))
    operator, state = EndlessOperator(LAYOUT, "rows", context, retention=100), Memory()
    emitted(operator, state, [("a", 1), ("b", 1)], 0)
    assert [row["$op"] for row in emitted(operator, state, [("a", 1)], 99)] == ["-U", "+U"]
    assert [(row["$op"], row["total"]) for row in emitted(operator, state, [("b", 5)], 100)] == [("+I", 5)]
    emitted(operator, state, [("c", 1)], 199)
    assert operator.open(state, None, 199).store.rows == 3
    emitted(operator, state, [("c", 1)], 250)
    assert operator.open(state, None, 250).buckets.count <= 2, "a and b were idle"
