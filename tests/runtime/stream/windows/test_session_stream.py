"""Sessions of a stream without Spark: lateness and firing step by step, then against plain models."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.drawn_streams import copied_batches, micro_batches
from tests.models.session_models import Cutting, Model
from tests.models.streams import Event, Operator, Out, ordered
from tests.support.examples import examples
from tvfsql.plan.stream import StreamContext
from tvfsql.plan.window import Session
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.time.valve import Valve

GAPS = st.sampled_from([1, 2, 5, 9, 25, 80])


def counts(operator: Operator, *events: Event) -> list[tuple[int, int, int]]:
    return sorted((start, end, rows) for _, start, end, rows, *_ in operator.batch(events))


def test_a_session_ends_the_gap_after_its_last_row() -> None:
    operator = Operator(Session(10))
    assert counts(operator, Event("a", 0, -1), Event("a", 10), Event("b", 3)) == []
    assert counts(operator, Event(None, None, 11)) == []
    assert counts(operator, Event(None, None, 12)) == [(3, 13, 1)]
    assert counts(operator, Event(None, None, 18)) == []
    assert counts(operator, Event(None, None, 19)) == [(0, 20, 2)]
    assert (operator.late, operator.windows) == (0, 2)


def test_a_late_row_that_reaches_an_open_session_is_kept() -> None:
    operator = Operator(Session(10))
    assert counts(operator, Event("a", 20, 25)) == []
    assert counts(operator, Event("a", 12), Event("a", 3), Event("b", 12)) == []
    assert operator.late == 1, "the row of b is alone and was due at 21"
    assert counts(operator, Event(None, None, END_OF_INPUT)) == [(3, 30, 3)]


def test_a_row_behind_a_session_that_has_fired_is_late() -> None:
    operator = Operator(Session(10))
    assert counts(operator, Event("a", 20, 29)) == [(20, 30, 1)]
    assert counts(operator, Event("a", 15), Event("a", 19), Event("a", 29)) == []
    assert operator.late == 0, "rows of one micro-batch are judged together: 19 and 29 are exactly the gap apart"
    operator = Operator(Session(10))
    assert counts(operator, Event("a", 20, 29)) == [(20, 30, 1)]
    assert counts(operator, Event("a", 15), Event("a", 19)) == []
    assert counts(operator, Event(None, None, END_OF_INPUT)) == []
    assert operator.late == 2


def test_two_sessions_become_one_where_a_row_comes_between_them() -> None:
    operator = Operator(Session(10))
    assert counts(operator, Event("a", 0, 5), Event("a", 18)) == []
    assert counts(operator, Event("a", 9)) == []
    assert counts(operator, Event(None, None, 27)) == [(0, 28, 3)]


def test_with_watermarks_on_event_a_session_fires_before_the_next_row_behind_it() -> None:
    events = [Event("a", 0), Event("b", 30, 29), Event("a", 10), Event("a", 25)]
    assert counts(Operator(Session(10)), *events) == [(0, 20, 2)]
    operator = Operator(Session(10), on_event=True)
    assert counts(operator, *events) == [(0, 10, 1)]
    assert operator.late == 1
    assert counts(operator, Event(None, None, END_OF_INPUT)) == [(25, 35, 1), (30, 40, 1)]


@examples(150)
@given(GAPS, micro_batches(), st.integers(1, 3), st.integers(1, 3))
def test_random_streams_give_the_rows_of_the_model(
    gap: int, batches: list[list[Event]], groups: int, partitions: int
) -> None:
    operator, model = Operator(Session(gap), groups, partitions), Model(gap)
    for events in batches:
        assert ordered(operator.batch(events)) == ordered(model.batch(events))
        assert operator.late == model.late
    assert not any(state.chunks for state in operator.states.values())


@examples(100)
@given(GAPS, micro_batches(), st.integers(1, 3), st.booleans())
def test_adjusted_rows_are_rows_of_the_first_millisecond_after_the_watermark(
    gap: int, batches: list[list[Event]], groups: int, on_event: bool
) -> None:
    """The lists of values go by the rows' own times, which the model forgets."""
    operator = Operator(Session(gap), groups, on_event=on_event, context=StreamContext(adjust=True))
    model = Model(gap, adjust=True)
    for events in batches:
        expected = model.one_by_one(events) if on_event else model.batch(events)
        assert ordered(map(without_lists, operator.batch(events))) == ordered(map(without_lists, expected))
        assert (operator.late, operator.adjusted) == (model.late, model.adjusted)


def without_lists(row: Out) -> Out:
    *rest, _, different, _, net = row
    return (*rest, different, net)


@examples(150)
@given(GAPS, micro_batches(), st.integers(1, 3))
def test_random_streams_with_watermarks_on_event(gap: int, batches: list[list[Event]], groups: int) -> None:
    operator, model = Operator(Session(gap), groups, on_event=True), Model(gap)
    for events in batches:
        assert ordered(operator.batch(events)) == ordered(model.one_by_one(events))
        assert operator.late == model.late


@examples(60)
@given(GAPS, copied_batches(), st.integers(1, 3))
def test_on_event_the_watermark_of_a_row_follows_its_last_copy(
    gap: int, batches: list[list[list[Event]]], groups: int
) -> None:
    operator, model = Operator(Session(gap), groups, on_event=True), Model(gap)
    for rows in batches:
        expected = [row for copies in rows for row in model.copies(copies)]
        assert ordered(operator.batch([event for copies in rows for event in copies])) == ordered(expected)
        assert operator.late == model.late


@examples(100)
@given(GAPS, st.randoms(use_true_random=False), st.integers(1, 3))
def test_random_streams_of_several_channels_on_event(gap: int, draw: random.Random, groups: int) -> None:
    """A row is judged by the watermark just before it, also if that came from a channel without rows in this batch.
    Channels may be known before, or appear with their first row."""
    operator, model, valve, now = Operator(Session(gap), groups, on_event=True), Model(gap), Valve(), 0
    known = draw.choice(["", "0", "012"])
    batches = [[Event("a", -1000, -1000, channel=channel) for channel in known]]
    for _ in range(draw.randint(1, 5)):
        events = []
        for _ in range(draw.randint(0, 9)):
            now += draw.randint(0, 12)
            ts = now - draw.choice([0, 0, 1, 5, 20, 60])
            events.append(Event(draw.choice("ab"), ts, draw.choice([None, ts, now - 1]), 1, draw.choice("012")))
        batches.append(events)
    for events in [*batches, [Event(None, None, END_OF_INPUT)]]:
        expected = []
        for event in events:
            expected += model.batch([replace(event, watermark=None)] if event.ts is not None else [])
            watermark = valve.advance([(event.channel, event.watermark)])
            expected += model.batch([Event(None, None, watermark)])
        assert ordered(operator.batch(events)) == ordered(expected)
        assert operator.late == model.late


def test_a_long_session_is_cut_from_its_first_row_on_and_fires_at_the_cut() -> None:
    operator = Operator(Session(10, 25))
    rows = [Event("a", ts) for ts in (40, 8, 32, 16, 24, 0)]
    assert counts(operator, *rows, Event(None, None, 23)) == []
    assert counts(operator, Event(None, None, 24)) == [(0, 25, 4)]
    assert counts(operator, Event("a", 50)) == []
    assert counts(operator, Event(None, None, END_OF_INPUT)) == [(32, 57, 3)]


@examples(150)
@given(GAPS, st.integers(1, 60), micro_batches(), st.integers(1, 3), st.integers(1, 3))
def test_random_streams_of_sessions_with_a_maximum_duration(
    gap: int, more: int, batches: list[list[Event]], groups: int, partitions: int
) -> None:
    operator, model = Operator(Session(gap, gap + more), groups, partitions), Cutting(gap, gap + more)
    for events in batches:
        assert ordered(operator.batch(events)) == ordered(model.batch(events))
        assert operator.late == model.late


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_in_a_micro_batch_does_not_matter(seed: int) -> None:
    rng = random.Random(seed)
    events = [Event(rng.choice("ab"), rng.randrange(300), None, rng.randrange(5)) for _ in range(60)]
    ends: list[list[Out]] = []
    for _ in range(2):
        rng.shuffle(events)
        operator = Operator(Session(4), groups=2, partitions=2)
        operator.batch([Event(None, None, 100)])
        ends.append(ordered(operator.batch([*events, Event(None, None, END_OF_INPUT)])))
    assert ends[0] == ends[1]


def test_state_calls_do_not_depend_on_keys() -> None:
    def calls(keys: int) -> Any:
        operator = Operator(Session(1000))
        for second in range(20):
            operator.batch([Event(f"k{key}", second * 100 + key % 100, second * 100 - 500) for key in range(keys)])
        return max(state.calls for state in operator.states.values())

    assert calls(200) <= calls(20) + 20


@examples(100)
@given(GAPS, st.integers(1, 60), micro_batches(), st.integers(1, 3))
def test_random_streams_on_event_with_a_maximum_duration(
    gap: int, more: int, batches: list[list[Event]], groups: int
) -> None:
    operator, model = Operator(Session(gap, gap + more), groups, on_event=True), Cutting(gap, gap + more)
    for events in batches:
        expected = [row for event in events for row in model.batch([event])]
        assert ordered(operator.batch(events)) == ordered(expected)
        assert operator.late == model.late
