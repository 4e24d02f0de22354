"""Windows that go by processing time: the processors of streams under clocks of all kinds, against plain models."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models import session_models, streams
from tests.models.drawn_streams import EVEN, LONG, MONTHS, several_windows
from tests.models.streams import Event, Out, ordered
from tests.support.examples import examples
from tests.support.proctime import A_TRIGGER, END, Row, Stream, clocks
from tvfsql.plan.stream import Firing
from tvfsql.plan.window import Cumulate, Hop, Session, Several, Sliced, Tumble, Window


def counts(rows: Sequence[Out]) -> list[tuple[Any, ...]]:
    return sorted((row[0], row[1], row[2], row[3]) for row in rows)


# ---- step by step


def test_a_window_fires_in_the_first_micro_batch_at_its_end_or_later() -> None:
    stream = Stream(Tumble(1000))
    assert stream.rows(100, [("a", 1), ("b", 1)]) == []
    assert stream.due == 1000
    assert stream.rows(999, [("a", 1)]) == []
    assert counts(stream.rows(1000, [("a", 1)])) == [("a", 0, 1000, 2), ("b", 0, 1000, 1)]
    assert stream.due == 2000
    assert counts(stream.batch(2345, [A_TRIGGER])) == [("a", 1000, 2000, 1)]
    assert (stream.due, stream.late) == (None, 0)


def test_each_window_of_a_row_has_a_time_at_which_it_is_due() -> None:
    for window, dues in ((Hop(1000, 3000), [1000, 2000, 3000]), (Cumulate(1000, 3000), [1000, 2000, 3000])):
        stream = Stream(window)
        assert stream.rows(500, [("a", 1)]) == []
        found = []
        while stream.due is not None:
            found.append(stream.due)
            assert len(stream.batch(stream.due, [A_TRIGGER])) == 1
        assert found == dues


def test_a_session_is_due_when_its_gap_has_passed() -> None:
    stream = Stream(Session(1000))
    assert stream.rows(500, [("a", 1)]) == []
    assert stream.rows(900, [("b", 1)]) == []
    assert stream.due == 1500
    assert stream.rows(1500, [("a", 1)]) == []  # just in time
    assert stream.due == 1900
    assert counts(stream.batch(1900, [A_TRIGGER])) == [("b", 900, 1900, 1)]
    assert counts(stream.batch(2500, [A_TRIGGER])) == [("a", 500, 2500, 2)]
    assert stream.due is None


def test_a_session_with_a_longest_duration_is_due_then() -> None:
    stream = Stream(Session(1000, 1500))
    for now in (0, 800, 1400, 2000):
        rows = stream.rows(now, [("a", 1)])
        assert counts(rows) == ([("a", 0, 1500, 3)] if now == 2000 else [])
    assert stream.due == 3000
    assert counts(stream.batch(3000, [A_TRIGGER])) == [("a", 2000, 3000, 1)]


def test_nothing_that_channels_say_moves_the_clock_but_the_end_of_the_input() -> None:
    stream = Stream(Tumble(1000), inputs=("1/", "2/"))
    assert stream.rows(100, [("a", 1)], channel="1/0") == []
    assert stream.batch(200, [Event(None, None, 10**9, channel="1/*"), Event(None, None, 10**9, channel="2/*")]) == []
    assert counts(stream.rows(1000, [("b", 1)], channel="1/0")) == [("a", 0, 1000, 1)]  # not waiting for the other side
    assert counts(stream.batch(1001, [END])) == [("b", 1000, 2000, 1)]
    assert stream.rows(1002, [("a", 1)], channel="1/0") == []
    assert (stream.late, stream.due) == (1, None)


def test_a_clock_that_goes_back_loses_no_row() -> None:
    for window, expected in (
        (Tumble(1000), (5000, 6000)),
        (Session(1000), (5400, 6400)),
        (Hop(1000, 2000), (4000, 6000)),
    ):
        stream = Stream(window)
        stream.rows(5400, [("a", 1)])
        fired = [*stream.rows(700, [("a", 1)]), *stream.rows(3000, [("b", 1)])]
        assert stream.due == expected[1]
        fired += stream.batch(10_000, [A_TRIGGER])
        assert ("a", *expected, 2) in counts(fired) and ("b", *expected, 1) in counts(fired)
        assert stream.late == 0


@pytest.mark.parametrize(
    ("zone", "days"), [("America/Los_Angeles", ((3, 13), (11, 6))), ("Europe/Paris", ((3, 27), (10, 30)))]
)
def test_windows_lie_on_the_wall_clock_when_it_changes(zone: str, days: tuple[tuple[int, int], ...]) -> None:
    """A row every half hour from the day before summer time begins, and from the day before it ends."""
    for month, day in days:
        stream = Stream(Tumble(3_600_000), zone=zone)
        start = int(datetime(2021, month, day, 12, 1, tzinfo=UTC).timestamp() * 1000)
        expected: dict[int, int] = {}
        fired: list[Out] = []
        for now in range(start, start + 86_400_000, 1_800_000):
            local = datetime.fromtimestamp(now / 1000, ZoneInfo(zone)).replace(tzinfo=UTC)
            hour = int(local.timestamp()) // 3600 * 3_600_000
            expected[hour] = expected.get(hour, 0) + 1
            while stream.due is not None and stream.due <= now:
                due, some = stream.due, stream.batch(stream.due, [A_TRIGGER])
                assert some and stream.due != due
                fired += some
            fired += stream.rows(now, [("a", 1)])
        fired += stream.batch(now, [END])
        assert counts(fired) == sorted(("a", hour, hour + 3_600_000, n) for hour, n in expected.items())
        assert {*expected.values()} == ({2} if month == 3 else {2, 4})


def test_early_results_and_the_end_of_a_window_are_both_due() -> None:
    stream = Stream(Tumble(1000), firing=Firing(early=300, purge=True))
    assert stream.rows(100, [("a", 1)]) == []
    assert stream.due == 400
    assert counts(stream.batch(400, [A_TRIGGER])) == [("a", 0, 1000, 1)]
    assert stream.due is None, "all rows have been given out"
    assert stream.rows(800, [("a", 1), ("b", 1)]) == []
    assert stream.due == 1000
    assert counts(stream.batch(1000, [A_TRIGGER])) == [("a", 0, 1000, 1), ("b", 0, 1000, 1)]
    assert stream.due is None


# ---- against plain models


def of_any_order(rows: Sequence[Out]) -> list[Out]:
    """Without FIRST_VALUE and ARRAY_AGG, which go by the times that the rows show."""
    return ordered([row[:7] + row[8:9] + row[10:] for row in rows])


def plain(window: Window) -> bool:
    return not (isinstance(window, Cumulate) and (window.emit_only_on_update or window.emit_only_on_change))


def check(
    stream: Stream,
    model: streams.Model | streams.Models | session_models.Model,
    batches: Sequence[tuple[int, list[Row] | None]],
) -> None:
    """Every micro-batch gives the rows of the model, also when it is run again; then the next one is due."""
    clock: int | None = None  # the latest time that the operator has heard of
    for now, rows in batches:
        called = rows is None or bool(rows)
        if called:
            clock = now if clock is None else max(clock, now)
        before = deepcopy(stream.states)
        given_out = stream.batch(now, [A_TRIGGER]) if rows is None else stream.rows(now, rows)
        again = Stream(stream.window, stream.groups, states=before)
        assert ordered(again.batch(now, [A_TRIGGER]) if rows is None else again.rows(now, rows)) == ordered(given_out)
        mark = [Event(None, None, clock - 1)] if called and clock is not None else []
        expected = model.batch([*(Event(key, clock, None, value) for key, value in rows or []), *mark])
        assert of_any_order(given_out) == of_any_order(expected)
        if called and stream.due is not None and clock is not None:
            assert stream.due > clock
            assert deepcopy(stream).batch(stream.due - 1, [A_TRIGGER]) == []
    assert of_any_order(stream.batch(0, [END])) == of_any_order(model.batch([END]))
    assert (stream.late, model.late, stream.due) == (0, 0, None)
    assert all(not state.chunks for state in stream.states.values())


@given(several_windows(), clocks(), st.integers(1, 3))
@examples(40)
def test_several_windows_hold_what_came_while_they_were_open(
    several: Several, batches: list[tuple[int, list[Row] | None]], groups: int
) -> None:
    check(Stream(several, groups), streams.Models(several), batches)


@given((EVEN | MONTHS | LONG).filter(plain), clocks(), st.integers(1, 3))
@examples(80)
def test_windows_hold_what_came_while_they_were_open(
    window: Sliced, batches: list[tuple[int, list[Row] | None]], groups: int
) -> None:
    check(Stream(window, groups), streams.Model(window), batches)


@given(st.sampled_from([1, 2, 5, 9, 25, 80]), clocks(), st.integers(1, 3))
@examples(60)
def test_sessions_hold_what_came_without_a_gap(
    gap: int, batches: list[tuple[int, list[Row] | None]], groups: int
) -> None:
    check(Stream(Session(gap), groups), session_models.Model(gap), batches)


@given((EVEN | MONTHS | LONG).filter(plain), clocks(), st.sampled_from([0, 5, 40]))
@examples(40)
def test_increments_of_windows_that_fire_early_add_up(
    window: Sliced, batches: list[tuple[int, list[Row] | None]], early: int
) -> None:
    stream, at_end = Stream(window, firing=Firing(early=early, purge=True)), Stream(window)
    sums: dict[tuple[Any, ...], list[int]] = {}
    for now, rows in [*batches, (0, [])]:
        events = [END] if (now, rows) == (0, []) else [A_TRIGGER] if rows is None else None
        for row in stream.rows(now, rows or []) if events is None else stream.batch(now, events):
            so_far = sums.setdefault(row[:3], [0, 0])
            so_far[:] = so_far[0] + row[3], so_far[1] + row[4]
        for row in at_end.rows(now, rows or []) if events is None else at_end.batch(now, events):
            assert sums.pop(row[:3]) == [*row[3:5]], "a window has not given out all that it had when it ended"
    assert not sums
    assert all(not state.chunks for state in stream.states.values())
