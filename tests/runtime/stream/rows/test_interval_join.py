"""The interval join of two streams: step by step, and against a plain model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.drawn_streams import micro_batches
from tests.models.streams import Event, Memory, ordered
from tests.support.examples import SOAK, examples
from tests.support.row_streams import COLUMNS, Row, RowStream
from tests.support.timers import Memory as TimerMemory
from tvfsql.plan.joins import OF_LEFT
from tvfsql.runtime.arrow.batches import PIECE_BYTES
from tvfsql.runtime.stream.rows.joins.intervals import IntervalJoin
from tvfsql.runtime.stream.rows.joins.two_sides import PRESERVED
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

END = Event(None, None, END_OF_INPUT)
MINUTE, DAY = 60_000, 86_400_000
DAYS = 3 if SOAK else 1
NOTHING = (None,) * COLUMNS


def joining(kind: str, low: int, high: int, slot: int = 10_000, null_safe: bool = False) -> IntervalJoin:
    return IntervalJoin(
        (COLUMNS,) * 2, ((0,), (0,)), (1, 1), (low * 1000, high * 1000), kind, (null_safe,), least_slot=slot
    )


def test_a_pair_comes_with_its_later_row() -> None:
    stream = RowStream(joining("inner", -10, 20))
    assert stream.batch([Event("a", 100, 50)], []) == []
    assert stream.batch([], [Event("a", 110, 50), Event("a", 111, 50), Event("b", 100)]) == [("a", 100, 1, "a", 110, 1)]
    assert stream.batch([Event("a", 130), Event("b", 121)], []) == [
        ("a", 130, 1, "a", 110, 1),
        ("a", 130, 1, "a", 111, 1),
    ]
    assert stream.output_watermark == 30
    assert stream.late == 0


def test_rows_without_a_partner_come_when_none_can_come_any_more() -> None:
    stream = RowStream(joining("full", -10, 20))
    assert stream.batch([Event("a", 100, 50)], [Event("b", 100, 50)]) == []
    assert stream.batch([Event(None, None, 109)], [Event(None, None, 200)]) == []  # the smaller one counts
    assert stream.batch([Event(None, None, 110)], []) == [("a", 100, 1, *NOTHING)]
    assert stream.batch([Event(None, None, 119)], []) == []
    assert stream.batch([Event("b", 120, 120)], []) == [("b", 120, 1, "b", 100, 1)]
    assert stream.batch([END], [END]) == []
    assert stream.empty


def test_the_worked_example_of_the_module() -> None:
    stream = RowStream(joining("left", -40, 0, slot=10))
    assert stream.batch([Event("a", 100, 90)], [Event(None, None, 90)]) == []
    assert stream.batch([], [Event("a", 120)]) == [("a", 100, 1, "a", 120, 1)]
    assert (stream.batch([Event("a", 60)], []), stream.late) == ([], 1)
    assert stream.batch([Event("b", 130, 125)], [Event(None, None, 125)]) == []
    assert stream.batch([Event(None, None, 129)], [Event(None, None, 129)]) == []
    assert stream.held == 3  # the orders, and that one has had a partner; the shipment is gone
    assert stream.batch([Event(None, None, 170)], [Event(None, None, 170)]) == [("b", 130, 1, *NOTHING)]
    assert (stream.output_watermark, stream.empty) == (130, True)


def test_a_row_with_a_partner_comes_once_and_one_without_when_none_can_come() -> None:
    """No reply within 20 ms, and a reply within 20 ms."""
    semi, anti = RowStream(joining("semi", -20, 0)), RowStream(joining("anti", -20, 0))
    for stream, given_at_once, given_later in ((semi, [("a", 100, 1), ("a", 100, 1)], []), (anti, [], [("b", 105, 1)])):
        assert stream.batch([Event("a", 100, 90), Event("a", 100), Event("b", 105)], [Event(None, None, 90)]) == []
        assert stream.batch([], [Event("a", 120), Event("b", 104), Event("b", 126)]) == given_at_once
        assert stream.batch([], [Event("a", 110)]) == []
        assert stream.batch([Event(None, None, 124)], [Event(None, None, 124)]) == []
        assert stream.batch([Event(None, None, 125)], [Event(None, None, 125)]) == given_later
        assert stream.output_watermark == 105
        assert (stream.batch([END], [END]), stream.empty) == ([], True)


def test_late_rows_are_dropped_and_counted() -> None:
    stream = RowStream(joining("full", -10, 20))
    assert stream.batch([Event("a", 100, 100)], [Event("a", 95, 100)]) == [("a", 100, 1, "a", 95, 1)]
    assert stream.batch([Event("a", 100)], [Event("a", 99), Event("a", 101)]) == [("a", 100, 1, "a", 101, 1)]
    assert stream.late == 2
    assert stream.batch([END], [END]) == []


def test_null_is_no_partner_of_null_unless_that_is_asked_for() -> None:
    rows = [Event(None, 100), END], [Event(None, 100), END]
    assert RowStream(joining("inner", 0, 0)).batch(*rows) == []
    assert RowStream(joining("inner", 0, 0, null_safe=True)).batch(*rows) == [(None, 100, 1) * 2]
    expected = [(None, 100, 1, *NOTHING), (*NOTHING, None, 100, 1)]
    assert ordered(RowStream(joining("full", 0, 0)).batch(*rows)) == ordered(expected)


@dataclass
class Side:
    watermark: int | None = None
    rows: list[tuple[Event, int]] = field(default_factory=list)  # with the micro-batch in which they came
    late: int = 0


def model(
    batches: Sequence[tuple[list[Event], list[Event]]], kind: str, low: int, high: int
) -> Iterator[tuple[list[Row], int]]:
    """What each micro-batch emits, and how many rows were late so far."""
    sides = (Side(), Side())
    met: set[tuple[int, int]] = set()
    given: set[tuple[int, int]] = set()
    watermark: int | None = None
    for number, batch in enumerate(batches):
        for side, events in zip(sides, batch, strict=True):
            for event in events:
                if event.ts is not None and watermark is not None and event.ts <= watermark:
                    side.late += 1
                elif event.ts is not None:
                    side.rows.append((event, number))
                if event.watermark is not None:
                    last = event.watermark if side.watermark is None else side.watermark
                    side.watermark = max(event.watermark, last)
        found = list[tuple[Any, ...]]()
        for i, (left, when) in enumerate(sides[0].rows):
            for j, (right, then) in enumerate(sides[1].rows):
                near = low <= left.ts - right.ts <= high
                if left.key == right.key and left.key is not None and near:
                    if kind == "semi" and (0, i) not in met:
                        found.append((left.key, left.ts, left.value))
                    met |= {(0, i), (1, j)}
                    if kind not in OF_LEFT and number in (when, then):
                        found.append((left.key, left.ts, left.value, right.key, right.ts, right.value))
        marks = [side.watermark for side in sides if side.watermark is not None]
        moved = min(marks) if len(marks) == 2 else None
        if moved is not None and (watermark is None or moved > watermark):
            watermark = moved
            for of in PRESERVED[kind]:
                for i, (row, _) in enumerate(sides[of].rows):
                    over = row.ts + (-low, high)[of] <= moved
                    if over and (of, i) not in met | given:
                        given.add((of, i))
                        own = (row.key, row.ts, row.value)
                        found.append(own if kind == "anti" else (*own, *NOTHING) if of == 0 else (*NOTHING, *own))
        yield found, sides[0].late + sides[1].late


@pytest.mark.parametrize("kind", PRESERVED)
@examples(50)
@given(
    left=micro_batches(),
    right=micro_batches(),
    low=st.sampled_from([-30, -5, 0, 7]),
    wide=st.sampled_from([0, 1, 12, 40]),
    slot=st.sampled_from([1, 7, 1000]),
    groups=st.sampled_from([1, 3]),
    partitions=st.sampled_from([1, 2]),
)
def test_random_streams(
    kind: str,
    left: list[list[Event]],
    right: list[list[Event]],
    low: int,
    wide: int,
    slot: int,
    groups: int,
    partitions: int,
) -> None:
    longer = max(len(left), len(right))
    batches = [
        ((left[:-1] + [[]] * longer)[i], (right[:-1] + [[]] * longer)[i]) if i < longer - 1 else ([END], [END])
        for i in range(longer)
    ]
    stream = RowStream(joining(kind, low, low + wide, slot), groups, partitions)
    for sides, (expected, late) in zip(batches, model(batches, kind, low, low + wide), strict=True):
        before = stream.output_watermark
        found = stream.batch(*sides)
        assert ordered(found) == ordered(expected)
        assert stream.late == late
        if before is not None:
            assert all(time is None or time > before for row in found for time in row[1::COLUMNS]), "late above"
    assert stream.empty


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.parametrize("kind", ["inner", "full"])
def test_state_is_bounded_over_days(kind: str) -> None:
    """Rows every minute for a day (three in `make soak`), bounds of an hour: the state holds about an hour of both
    sides, and in an outer join a mark for each row that has a partner."""
    stream = RowStream(joining(kind, -60 * MINUTE, 0))
    given_out, most = 0, 0
    for minute in range(0, DAYS * 24 * 60, 5):
        now = minute * MINUTE
        left = [Event(f"k{minute + i}", now + i * MINUTE, now - MINUTE) for i in range(5)]
        right = [Event(f"k{minute + i - 30}", now + i * MINUTE, now - MINUTE) for i in range(5)]
        given_out += len(stream.batch(left, right))
        most = max(most, stream.held)
    given_out += len(stream.batch([END], [END]))
    pairs = DAYS * 24 * 60 - 30
    assert given_out == (pairs if kind == "inner" else pairs + 60)
    assert most <= (90 if kind == "inner" else 120)
    assert stream.empty


def test_the_pairs_of_a_hot_key_leave_in_pieces() -> None:
    """6,000 x 6,000 rows of one key were one message of 1.15 GB. Here some rows have a long text, too."""
    count, state, timers = 1_500, Memory(), TimerMemory()
    operator = IntervalJoin((3, 3), ((0,), (0,)), (1, 1), (-DAY * 1000, DAY * 1000), "full", (False,))
    group = operator.open(state, timers, 0)

    def side(number: int) -> pa.RecordBatch:
        columns = {
            "0": pa.array([1] * count),
            "1": pa.array(range(count)).view(pa.timestamp("us")),
            "2": pa.array(["x" * (20_000 if row == 7 else 20) for row in range(count)]),
            "$hash": pa.array([5] * count),
        }
        return pa.RecordBatch.from_pydict(columns).replace_schema_metadata({"side": f"{number}/"})

    group.add([side(1), side(2)])
    sizes = [emitted.rows.nbytes for emitted in group.advance([])]
    assert group.counts.rows_out == count * count
    assert max(sizes) <= PIECE_BYTES * 1.1
    group.flush()
    assert max(map(len, state.chunks.values())) < PIECE_BYTES
