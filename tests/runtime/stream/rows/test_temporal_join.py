"""The temporal join of two streams: step by step, and against a plain model."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.drawn_streams import micro_batches
from tests.models.streams import Event, ordered
from tests.support.examples import SOAK, examples
from tests.support.row_streams import COLUMNS, Row, RowStream
from tvfsql.runtime.stream.rows.joins.versions import TemporalJoin
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

END = Event(None, None, END_OF_INPUT)
NOTHING = (None,) * COLUMNS
KEY, TIME, VALUE = range(COLUMNS)
MINUTE, DAY = 60_000, 86_400_000
DAYS = 3 if SOAK else 1


def joining(kind: str, slot: int = 10_000, bucket_rows: int = 1000, null_safe: bool = False) -> TemporalJoin:
    return TemporalJoin(
        (COLUMNS,) * 2, ((KEY,),) * 2, (TIME,) * 2, kind, (null_safe,), (VALUE,), slot=slot, bucket_rows=bucket_rows
    )


def of_changes(kind: str, slot: int = 10_000, bucket_rows: int = 1000) -> TemporalJoin:
    """A join with changes, whose value is their sign: -1 ends a version."""
    return replace(joining(kind, slot, bucket_rows), ties=(), sign=VALUE)


def mark(time: int) -> Event:
    return Event(None, None, time)


def test_the_worked_example_of_the_module() -> None:
    stream = RowStream(joining("left", slot=10))
    assert stream.batch([mark(90)], [mark(90)]) == []
    assert stream.batch([Event("EUR", 105)], [Event("EUR", 100, value=114), Event("EUR", 110, value=116)]) == []
    assert stream.batch([Event("EUR", 112), Event("USD", 112)], []) == []
    assert stream.batch([mark(107)], [mark(107)]) == [("EUR", 105, 1, "EUR", 100, 114)]
    assert stream.batch([Event("EUR", 109)], [Event("EUR", 106, value=115)]) == []
    assert (stream.newest, stream.held, stream.late) == (113, 5, 0)  # three orders; rate 115 replaces 114
    assert ordered(stream.batch([mark(115)], [mark(115)])) == ordered(
        [("EUR", 109, 1, "EUR", 106, 115), ("EUR", 112, 1, "EUR", 110, 116), ("USD", 112, 1, *NOTHING)]
    )
    assert (stream.output_watermark, stream.newest, stream.held) == (115, None, 1)
    assert (stream.batch([Event("EUR", 114)], []), stream.late) == ([], 1)
    assert stream.batch([END], [END]) == []
    assert stream.empty


def test_a_row_has_the_version_of_its_own_time_and_of_several_the_greatest() -> None:
    versions = [Event("a", 100, value=3), Event("a", 100, value=5), Event("a", 100, value=4), Event("a", 101, value=1)]
    for cut in range(len(versions)):
        stream = RowStream(joining("inner"))
        assert stream.batch([Event("a", 99), Event("a", 100)], versions[:cut]) == []
        assert stream.batch([END], [*versions[cut:], END]) == [("a", 100, 1, "a", 100, 5)]
        assert stream.empty


def test_the_smaller_watermark_counts() -> None:
    stream = RowStream(joining("inner"))
    assert stream.batch([Event("a", 100)], [Event("a", 50, 50)]) == []
    assert stream.batch([mark(200)], [mark(99)]) == []
    assert stream.batch([], [mark(100)]) == [("a", 100, 1, "a", 50, 1)]


def test_null_has_no_version_unless_null_equals_null() -> None:
    rows = [Event(None, 100), END], [Event(None, 90), END]
    assert RowStream(joining("inner")).batch(*rows) == []
    assert RowStream(joining("left")).batch(*rows) == [(None, 100, 1, *NOTHING)]
    assert RowStream(joining("inner", null_safe=True)).batch(*rows) == [(None, 100, 1, None, 90, 1)]
    waiting = RowStream(joining("inner"))
    waiting.batch([], [Event(None, 90), Event(None, 95)])
    assert waiting.held == 0


def test_a_delete_ends_a_version() -> None:
    deleted = Event("a", 200, value=-1)
    for kind, missing in (("left", [("a", 250, 1, *NOTHING)]), ("inner", [])):
        stream = RowStream(of_changes(kind))
        rows = [Event("a", at) for at in (150, 250, 350)]
        stream.batch(rows, [Event("a", 100), deleted, Event("a", 300)])
        found = [("a", 150, 1, "a", 100, 1), *missing, ("a", 350, 1, "a", 300, 1)]
        assert ordered(stream.batch([END], [END])) == ordered(found)
        assert stream.empty


def test_of_changes_of_one_time_the_last_to_arrive_counts() -> None:
    for signs, there in (((1, -1), False), ((-1, 1), True), ((1, -1, 1), True), ((-1, 1, -1), False)):
        versions = [Event("a", 100, value=sign) for sign in signs]
        for cut in range(len(versions) + 1):
            stream = RowStream(of_changes("inner"))
            stream.batch([Event("a", 100)], versions[:cut])
            found = stream.batch([END], [*versions[cut:], END])
            assert found == ([("a", 100, 1, "a", 100, 1)] if there else []), (signs, cut)


def test_a_late_version_before_a_delete_does_not_count_after_it() -> None:
    stream = RowStream(of_changes("left"))
    stream.batch([], [Event("a", 100), Event("a", 200, value=-1)])
    assert stream.batch([mark(300)], [mark(300)]) == []
    assert stream.batch([Event("a", 350), END], [Event("a", 150), END]) == [("a", 350, 1, *NOTHING)]


@pytest.mark.parametrize("kind", ["inner", "left"])
@examples(100)
@given(
    left=micro_batches(),
    right=micro_batches(),
    bucket_rows=st.sampled_from([1, 3, 1000]),
    groups=st.sampled_from([1, 3]),
    signs=st.randoms(use_true_random=False),
)
def test_random_changes(
    kind: str, left: list[list[Event]], right: list[list[Event]], bucket_rows: int, groups: int, signs: random.Random
) -> None:
    """As `test_random_streams`, with deletes among the versions; of one time the last to arrive counts."""
    changes = [[replace(each, value=signs.choice([1, 1, -1])) for each in batch] for batch in right]
    longer = max(len(left), len(changes))
    batches = [
        ((left[:-1] + [[]] * longer)[i], (changes[:-1] + [[]] * longer)[i]) if i < longer - 1 else ([END], [END])
        for i in range(longer)
    ]
    stream = RowStream(of_changes(kind, bucket_rows=bucket_rows), groups)
    for sides, (expected, _) in zip(batches, model(batches, kind, changes=True), strict=True):
        assert ordered(stream.batch(*sides)) == ordered(expected)
    assert stream.empty


def model(
    batches: Sequence[tuple[list[Event], list[Event]]], kind: str, *, changes: bool = False
) -> Iterator[tuple[list[Row], int]]:
    """What each micro-batch emits, and how many rows were late so far: all versions that ever came are kept."""
    waiting: list[Event] = []
    versions: list[Event] = []
    marks: list[int | None] = [None, None]
    watermark: int | None = None
    late = 0
    for batch in batches:
        for row in batch[0]:
            if row.ts is not None and watermark is not None and row.ts <= watermark:
                late += 1
            elif row.ts is not None:
                waiting.append(row)
        versions += [row for row in batch[1] if row.ts is not None]
        for side, events in enumerate(batch):
            every = [event.watermark for event in events if event.watermark is not None]
            known = marks[side]
            marks[side] = max([*every, *([known] if known is not None else [])], default=None)
        if all(one is not None for one in marks):
            moved = min(one for one in marks if one is not None)
            watermark = moved if watermark is None else max(moved, watermark)
        due = [row for row in waiting if watermark is not None and row.ts <= watermark]
        waiting = [row for row in waiting if row not in due]
        found: list[Row] = []
        for row in due:
            of_key = [one for one in versions if one.key == row.key is not None and one.ts <= row.ts]
            best = max(of_key, key=lambda one: (one.ts, one.value), default=None)
            if changes:
                best = max(reversed(of_key), key=lambda one: one.ts or 0, default=None)
                best = best if best is not None and best.value == 1 else None
            if best is not None:
                found.append((row.key, row.ts, row.value, best.key, best.ts, best.value))
            elif kind == "left":
                found.append((row.key, row.ts, row.value, *NOTHING))
        yield found, late


@pytest.mark.parametrize("kind", ["inner", "left"])
@examples(100)
@given(
    left=micro_batches(),
    right=micro_batches(),
    slot=st.sampled_from([1, 7, 1000]),
    bucket_rows=st.sampled_from([1, 3, 1000]),
    groups=st.sampled_from([1, 3]),
    partitions=st.sampled_from([1, 2]),
)
def test_random_streams(
    kind: str,
    left: list[list[Event]],
    right: list[list[Event]],
    slot: int,
    bucket_rows: int,
    groups: int,
    partitions: int,
) -> None:
    """Rows and versions out of order, in any micro-batches; each micro-batch starts from the state of the one before.
    Late versions count for later rows only."""
    longer = max(len(left), len(right))
    batches = [
        ((left[:-1] + [[]] * longer)[i], (right[:-1] + [[]] * longer)[i]) if i < longer - 1 else ([END], [END])
        for i in range(longer)
    ]
    stream = RowStream(joining(kind, slot, bucket_rows), groups, partitions)
    for sides, (expected, late) in zip(batches, model(batches, kind), strict=True):
        before = stream.output_watermark
        found = stream.batch(*sides)
        assert ordered(found) == ordered(expected)
        assert stream.late == late
        if before is not None:
            assert all(row[TIME] > before for row in found), "late above"
    assert stream.empty


def test_state_is_bounded_over_days() -> None:
    """A rate and an order per minute and currency for a day (three in `make soak`): the state holds the minutes up to
    the watermark, and a version per currency."""
    stream = RowStream(joining("inner"))
    keys = [f"k{i}" for i in range(3)]
    given_out, most = 0, 0
    for minute in range(0, DAYS * 24 * 60, 10):
        now = minute * MINUTE
        rows = [Event(key, now + i * MINUTE, now - MINUTE) for key in keys for i in range(10)]
        given_out += len(stream.batch(rows, rows))
        most = max(most, stream.held)
    given_out += len(stream.batch([END], [END]))
    assert given_out == DAYS * 24 * 60 * len(keys)
    assert most <= 2 * 11 * len(keys) + 2 * len(keys)
    assert stream.empty
