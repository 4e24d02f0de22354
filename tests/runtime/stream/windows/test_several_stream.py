"""Several windows in one operator against the model of each of them alone: rows, late rows, restarts, what is open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.drawn_streams import copied_batches, micro_batches, several_windows
from tests.models.streams import Event, Models, Operator, ordered
from tests.support.examples import examples
from tvfsql.plan.window import Cumulate, Hop, Several, Tumble, as_json, from_json
from tvfsql.runtime.stream.inspect.state_reader import Snapshot, TimerSnapshot, key_group_state
from tvfsql.runtime.stream.operator.protocol import MOST_OPEN
from tvfsql.runtime.stream.state.chunk_index import Kind
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.windows.places import places_of


@given(several_windows(), micro_batches(), st.integers(1, 4), st.integers(1, 3))
@examples(200)
def test_every_micro_batch_gives_the_rows_of_each_window_alone(
    several: Several, batches: list[list[Event]], groups: int, partitions: int
) -> None:
    """Each micro-batch starts from serialised state, as after a restart; the models count row by row."""
    operator, models, given_out = Operator(several, groups, partitions), Models(several), 0
    for events in batches:
        expected = models.batch(events)
        assert ordered(operator.batch(events)) == ordered(expected)
        assert operator.late == models.late
        found = {end for ends in operator.open_ends.values() for end in ends}
        assert len(found) == models.open.total() or len(found) > MOST_OPEN
        given_out += len(expected)
    assert operator.windows == given_out
    assert all(not state.chunks for state in operator.states.values())


@given(several_windows(), micro_batches())
@examples(60)
def test_on_event_every_row_moves_the_watermark(several: Several, batches: list[list[Event]]) -> None:
    operator, models = Operator(several, groups=2, on_event=True), Models(several)
    for events in batches:
        expected = [row for event in events for row in models.batch([event])]
        assert ordered(operator.batch(events)) == ordered(expected)
        assert operator.late == models.late


@given(several_windows(), copied_batches())
@examples(40)
def test_on_event_the_watermark_of_a_row_follows_its_last_copy(
    several: Several, batches: list[list[list[Event]]]
) -> None:
    operator, models = Operator(several, groups=2, on_event=True), Models(several)
    for rows in batches:
        expected = [row for copies in rows for row in models.batch(copies)]
        assert ordered(operator.batch([event for copies in rows for event in copies])) == ordered(expected)
        assert operator.late == models.late


@given(several_windows(), micro_batches())
@examples(60)
def test_open_windows_are_those_that_come_out_at_the_end_of_the_input(
    several: Several, batches: list[list[Event]]
) -> None:
    operator = Operator(several, groups=2)
    for events in batches[:-1]:
        operator.batch(events)
    found = {
        (each.start, each.end, each.name)
        for memory in operator.states.values()
        for each in key_group_state(
            Description("", ("key",), several), Snapshot(dict(memory.chunks), memory.kept), TimerSnapshot({})
        ).windows
    }
    assert found == {(start, end, row[-1]) for row in operator.batch(batches[-1]) for start, end in [row[1:3]]}


MINUTE, HOUR = 60_000, 3_600_000
FOUR = Several.of(
    {
        "minute": Tumble(MINUTE),
        "whole": Tumble(HOUR),
        "last": Hop(MINUTE, HOUR),
        "day": Cumulate(MINUTE, 24 * HOUR),
        "two": Tumble(2 * HOUR),
    }
)


def test_hours_are_made_of_minutes_and_two_hours_of_hours() -> None:
    places = places_of(FOUR)
    assert [([name for name, _ in place.windows], place.above) for place in places] == [
        (["minute", "last"], None),
        (["day"], 0),
        (["whole"], 0),
        (["two"], 2),
    ]


def test_a_micro_batch_writes_new_rows_once() -> None:
    operator = Operator(FOUR)
    operator.batch([Event("a", 30_000, 40_000), Event("b", 90_000, 40_000)])
    (state,) = operator.states.values()
    assert sorted((key.kind, key.number, key.level) for key in state.unpacked) == [
        (Kind.SLICE, 1, 0),
        (Kind.SLICE, 2, 0),
    ]
    operator.batch([Event(None, None, 59_999)])
    assert sorted((key.kind, key.number, key.level) for key in state.unpacked) == [
        (Kind.SLICE, 1, 0),
        (Kind.SLICE, 1, 64),
        (Kind.SLICE, 1, 128),
        (Kind.SLICE, 2, 0),
    ]


def test_a_row_is_late_for_some_windows_and_in_time_for_others() -> None:
    operator = Operator(FOUR)
    operator.batch([Event("a", 30_000, 2 * MINUTE)])
    assert (operator.batch([Event("a", 45_000)]), operator.late) == ([], 1)  # for the minute alone
    fired = operator.batch([Event(None, None, END_OF_INPUT)])
    counts = {(row[-1], row[2]): row[3] for row in fired}
    assert (counts["whole", HOUR], counts["two", 2 * HOUR], counts["last", HOUR], counts["day", 24 * HOUR]) == (2,) * 4
    assert ("minute", MINUTE) not in counts


@pytest.mark.parametrize("window", [FOUR, Tumble(5, 2), Hop(1, 3)])
def test_windows_are_read_from_json_as_they_were_written(window: Several | Tumble | Hop) -> None:
    assert from_json(as_json(window)) == window
