"""Operators that keep rows by key, by processing time: first and last rows, interval joins, whatever clocks do."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.streams import Event, ordered
from tests.support.examples import examples
from tests.support.proctime import A_TRIGGER, END, clocks
from tests.support.proctime import Row as Pair
from tests.support.row_streams import COLUMNS, Row, RowStream
from tvfsql.plan.stream import StreamContext
from tvfsql.runtime.stream.rows.deduplicate import FIRST, LAST, KeepRow
from tvfsql.runtime.stream.rows.joins.intervals import IntervalJoin

PROCTIME = StreamContext(proctime=True)


def keeping(keep: str, retention: int = 0) -> RowStream:
    down = keep == LAST
    return RowStream(KeepRow(COLUMNS, (0,), 1, keep, ((2, down, not down),), retention, PROCTIME))


def joining(kind: str = "inner") -> RowStream:
    spec = IntervalJoin(
        (COLUMNS,) * 2,
        ((0,), (0,)),
        (1, 1),
        (-100_000, 0),
        kind,
        (False,),
        StreamContext(inputs=("1/", "2/"), proctime=True),
    )
    return RowStream(spec)


def come(stream: RowStream, now: int, *sides: str) -> list[Row]:
    """A micro-batch with a row for each letter, which is its key; without any, a tick."""
    stream.now = now
    given = [[Event(key, now, None, i) for i, key in enumerate(side)] for side in sides]
    return ordered(stream.batch(*given) if any(given) else stream.batch(*([A_TRIGGER] for _ in sides)))


def test_a_first_row_comes_out_in_its_own_micro_batch() -> None:
    stream = keeping(FIRST, 1000)
    assert come(stream, 500, "aba") == [("a", 500, 0), ("b", 500, 1)]
    assert stream.due is None
    assert come(stream, 1000, "a") == []
    assert come(stream, 1501, "ab") == [("b", 1501, 1)]  # quiet for longer than a second
    assert come(stream, 600, "bc") == [("c", 600, 1)]  # the clock went back
    assert (stream.late, stream.held) == (0, 3)


def test_a_last_row_is_due_when_its_key_has_been_quiet() -> None:
    stream = keeping(LAST, 1000)
    assert come(stream, 500, "ab") == []
    assert come(stream, 900, "a") == []
    assert stream.due == 1500
    assert come(stream, 1500, "") == [("b", 500, 1)]
    assert stream.due == 1900
    assert come(stream, 1900, "") == [("a", 900, 0)]
    assert (stream.due, stream.empty) == (None, True)


def test_pairs_and_rows_without_a_partner() -> None:
    stream = joining("left")
    assert come(stream, 500, "ab", "") == []
    assert stream.due == 600
    assert come(stream, 550, "", "a") == [("a", 500, 0, "a", 550, 0)]
    assert come(stream, 600, "", "") == [("b", 500, 1, None, None, None)]
    assert come(stream, 300, "c", "") == []  # the clock went back
    assert come(stream, 310, "", "c") == [("c", 300, 0, "c", 310, 0)]
    assert stream.late == 0
    assert joining().due is None


# ---- against plain models


@given(clocks(), st.sampled_from([0, 5, 40]), st.integers(1, 3))
@examples(60)
def test_the_first_row_of_each_key_after_it_was_quiet(
    batches: list[tuple[int, list[Pair] | None]], retention: int, groups: int
) -> None:
    stream, seen, clock = keeping(FIRST, retention), dict[Any, int](), None
    stream.groups = groups
    for now, rows in batches:
        stream.now = now
        given_out = stream.batch([A_TRIGGER] if rows is None else [Event(k, now, None, v) for k, v in rows])
        if rows is None or rows:
            clock = now if clock is None else max(clock, now)
        expected = []
        for key, value in sorted(rows or [], key=lambda row: row[1]):
            if key not in seen or (retention and clock - seen[key] > retention):
                expected.append((key, now, value))
            seen[key] = clock
        assert ordered(given_out) == ordered(expected)
    assert (stream.batch([END]), stream.late, stream.empty) == ([], 0, True)


@pytest.mark.parametrize("retention", [1, 15, 60])
@given(clocks())
@examples(40)
def test_the_last_row_of_each_key_once_it_is_quiet(
    retention: int, batches: list[tuple[int, list[Pair] | None]]
) -> None:
    stream, clock = keeping(LAST, retention), -(10**9)
    held: dict[Any, tuple[int, int, int]] = {}  # when its key had rows, by the operator's clock; time and value
    for now, rows in batches:
        stream.now = now
        before = deepcopy(stream)
        events = [A_TRIGGER] if rows is None else [Event(k, now, None, v) for k, v in rows]
        given_out = stream.batch(events)
        assert before.batch(events) == given_out, "another result when it is run again"
        if not events:
            continue
        clock = max(clock, now)
        gone = [(key, *row) for key, (at, *row) in held.items() if clock - at > retention]
        for key, value in sorted(rows or [], key=lambda row: row[1]):
            if key in held and clock - held[key][0] <= retention and held[key][0] == clock and held[key][2] >= value:
                held[key] = (clock, *held[key][1:])
            else:
                held[key] = (clock, now, value)
        gone += [(key, *row) for key, (at, *row) in held.items() if clock - at == retention]
        held = {key: row for key, row in held.items() if clock - row[0] < retention}
        assert ordered(given_out) == ordered(gone)
        assert stream.due is None or stream.due > clock
    assert ordered(stream.batch([END])) == ordered((key, *row) for key, (_, *row) in held.items())
    assert (stream.late, stream.empty) == (0, True)
