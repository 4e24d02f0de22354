"""Sessions of a stream without Spark: lateness and firing step by step, then a plain model of semantics.md b.4."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import Event, Operator, Out, micro_batches, ordered, results_of

from tvfsql.plan.window import Session
from tvfsql.runtime.stream.control import END_OF_INPUT

GAPS = st.sampled_from([1, 2, 5, 9, 25, 80])


class Model:
    """Rows by key in sets; windows [t, t + gap] that touch are one session. Rows that come together are judged
    together, by the watermark before them."""

    def __init__(self, gap: int) -> None:
        self.gap, self.watermark, self.late = gap, -(2**62), 0
        self.open: list[list[Event]] = []

    def batch(self, events: Sequence[Event]) -> list[Out]:
        self._rows([event for event in events if event.ts is not None])
        marks = [event.watermark for event in events if event.watermark is not None]
        self.watermark = max([self.watermark, *marks])
        return list(self._fire())

    def one_by_one(self, events: Sequence[Event]) -> list[Out]:
        """The watermark moves behind the row that brings it; rows between two moves are judged together."""
        fired, together = [], []
        for event in events:
            together.append(event)
            if event.watermark is not None and event.watermark > self.watermark:
                fired += self.batch(together)
                together = []
        return fired + self.batch(together)

    def _rows(self, rows: Sequence[Event]) -> None:
        sessions = [*([row] for row in rows)]
        fresh: list[list[Event]] = []
        for key in {row.key for row in rows}:
            fresh += self._joined([one for one in sessions if one[0].key == key])
        for session in fresh:
            touching = [one for one in self.open if one[0].key == session[0].key and self._touch(one, session)]
            if not touching and self._end(session) - 1 <= self.watermark:
                self.late += len(session)
                continue
            self.open = [one for one in self.open if one not in touching]
            self.open.append([*session, *(row for one in touching for row in one)])

    def _joined(self, sessions: list[list[Event]]) -> list[list[Event]]:
        for one in sessions:
            for other in sessions:
                if one is not other and self._touch(one, other):
                    rest = [each for each in sessions if each is not one and each is not other]
                    return self._joined([*rest, [*one, *other]])
        return sessions

    def _touch(self, one: Sequence[Event], other: Sequence[Event]) -> bool:
        return self._start(one) <= self._end(other) and self._start(other) <= self._end(one)

    def _start(self, session: Sequence[Event]) -> int:
        return min(row.ts or 0 for row in session)

    def _end(self, session: Sequence[Event]) -> int:
        return max(row.ts or 0 for row in session) + self.gap

    def _fire(self) -> Iterator[Out]:
        due = [session for session in self.open if self._end(session) - 1 <= self.watermark]
        self.open = [session for session in self.open if session not in due]
        for session in due:
            values = [value for _, value in sorted((row.ts, row.value) for row in session)]
            yield session[0].key, self._start(session), self._end(session), *results_of(values)


class Cutting:
    """The same where no session is longer than `limit`: rows by key, sessions cut anew each time."""

    def __init__(self, gap: int, limit: int) -> None:
        self.gap, self.limit, self.watermark, self.late = gap, limit, -(2**62), 0
        self.open: dict[str | None, list[Event]] = {}

    def batch(self, events: Sequence[Event]) -> list[Out]:
        fresh = [event for event in events if event.ts is not None]
        for key in {row.key for row in fresh}:
            held, new = self.open.get(key, []), [row for row in fresh if row.key == key]
            over = [
                id(row) for session, end in self._cut([*held, *new]) if end - 1 <= self.watermark for row in session
            ]
            in_time = [row for row in new if id(row) not in over]
            self.late += len(new) - len(in_time)
            self.open[key] = [*held, *in_time]
        marks = [event.watermark for event in events if event.watermark is not None]
        self.watermark = max([self.watermark, *marks])
        fired = []
        for key, held in self.open.items():
            for session, end in self._cut(held):
                if end - 1 <= self.watermark:
                    values = [value for _, value in sorted((row.ts or 0, row.value) for row in session)]
                    fired.append((key, session[0].ts, end, *results_of(values)))
                    self.open[key] = [row for row in self.open[key] if not any(row is other for other in session)]
        return fired

    def _cut(self, rows: Sequence[Event]) -> Iterator[tuple[list[Event], int]]:
        session: list[Event] = []
        for row in [*sorted(rows, key=lambda row: row.ts or 0), None]:
            times = [one.ts or 0 for one in session]
            ts = row.ts if row else None
            if session and (ts is None or ts > times[-1] + self.gap or ts >= times[0] + self.limit):
                yield session, min(times[-1] + self.gap, times[0] + self.limit)
                session = []
            if row:
                session.append(row)


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


@settings(max_examples=150)
@given(GAPS, micro_batches(), st.integers(1, 3), st.integers(1, 3))
def test_random_streams_give_the_rows_of_the_model(
    gap: int, batches: list[list[Event]], groups: int, partitions: int
) -> None:
    operator, model = Operator(Session(gap), groups, partitions), Model(gap)
    for events in batches:
        assert ordered(operator.batch(events)) == ordered(model.batch(events))
        assert operator.late == model.late
    assert not any(state.chunks for state in operator.states.values())


@settings(max_examples=150)
@given(GAPS, micro_batches(), st.integers(1, 3))
def test_random_streams_with_watermarks_on_event(gap: int, batches: list[list[Event]], groups: int) -> None:
    operator, model = Operator(Session(gap), groups, on_event=True), Model(gap)
    for events in batches:
        assert ordered(operator.batch(events)) == ordered(model.one_by_one(events))
        assert operator.late == model.late


def test_a_long_session_is_cut_from_its_first_row_on_and_fires_at_the_cut() -> None:
    operator = Operator(Session(10, 25))
    rows = [Event("a", ts) for ts in (40, 8, 32, 16, 24, 0)]
    assert counts(operator, *rows, Event(None, None, 23)) == []
    assert counts(operator, Event(None, None, 24)) == [(0, 25, 4)]
    assert counts(operator, Event("a", 50)) == []
    assert counts(operator, Event(None, None, END_OF_INPUT)) == [(32, 57, 3)]


@settings(max_examples=150)
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
