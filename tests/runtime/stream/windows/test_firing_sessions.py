"""Sessions that fire early and late, without Spark: step by step, then against a plain model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.models.drawn_streams import micro_batches
from tests.models.firing import FiringOperator
from tests.models.session_firing import FiringSessionModel, folded_sessions
from tests.models.session_models import Model
from tests.models.streams import Event
from tests.support.examples import examples
from tvfsql.plan.stream import Firing
from tvfsql.plan.window import Session
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

END = Event(None, None, END_OF_INPUT)
LABEL = 0
GAPS = st.sampled_from([1, 2, 5, 9, 25, 80])
FIRINGS = st.builds(
    Firing, st.sampled_from([None, 0, 0, 30]), st.sampled_from([0, 0, 20]), st.sampled_from([0, 5, 40, 1000])
)


def counts(operator: FiringOperator, now: int, *events: Event) -> list[tuple[str, int, int, int]]:
    return [(op, start, end, rows) for op, (_, start, end, rows, *_) in operator.changes(events, now)]


def test_a_session_that_grows_replaces_itself() -> None:
    operator = FiringOperator(Session(10), firing=Firing(early=0))
    assert counts(operator, 0, Event("a", 0)) == [("+I", 0, 10, 1)]
    assert counts(operator, 0, Event("a", 4)) == [("-D", 0, 10, 1), ("+I", 0, 14, 2)]
    assert counts(operator, 0, Event("a", 2, value=3)) == [("-U", 0, 14, 2), ("+U", 0, 14, 3)], "the same bounds"
    assert operator.newest == 14
    assert counts(operator, 0, END) == []
    assert all(not state.chunks for state in operator.states.values())


def test_sessions_that_merge_are_both_removed() -> None:
    operator = FiringOperator(Session(10), firing=Firing(early=0))
    assert counts(operator, 0, Event("a", 0), Event("a", 15)) == [("+I", 0, 10, 1), ("+I", 15, 25, 1)]
    assert counts(operator, 0, Event("a", 8)) == [("-D", 0, 10, 1), ("-D", 15, 25, 1), ("+I", 0, 25, 3)]


def test_a_late_row_extends_a_session_that_was_emitted() -> None:
    operator = FiringOperator(Session(10), firing=Firing(lateness=20))
    assert counts(operator, 0, Event("a", 0, 9)) == [("+I", 0, 10, 1)]
    assert counts(operator, 0, Event("a", -5)) == [("-D", 0, 10, 1), ("+I", -5, 10, 2)]
    assert counts(operator, 0, Event("a", 7)) == [], "it is open again"
    assert counts(operator, 0, Event(None, None, 16)) == [("-D", -5, 10, 2), ("+I", -5, 17, 3)]
    assert counts(operator, 0, Event("a", -5, 36)) == [("-U", -5, 17, 3), ("+U", -5, 17, 4)], "then it closes"
    assert counts(operator, 0, Event("a", 0)) == []
    assert operator.late == 1
    assert all(not state.chunks for state in operator.states.values())


def test_early_results_come_a_delay_after_the_first_row() -> None:
    operator = FiringOperator(Session(10), firing=Firing(early=30))
    label = next(iter(operator.due), None)
    assert label is None
    assert counts(operator, 100, Event("a", 0)) == []
    assert [*operator.due.values()] == [130]
    assert counts(operator, 129, Event("a", 30)) == []
    assert counts(operator, 130) == [("+I", 0, 10, 1), ("+I", 30, 40, 1)]
    assert [*operator.due.values()] == [None]
    assert counts(operator, 140, Event("a", 1, 39)) == [("-D", 0, 10, 1), ("+I", 0, 11, 2)]


def test_late_rows_are_gathered() -> None:
    operator = FiringOperator(Session(10), firing=Firing(late=50, lateness=1000))
    assert counts(operator, 0, Event("a", 0, 9)) == [("+I", 0, 10, 1)]
    assert counts(operator, 100, Event("a", -5)) == []
    assert counts(operator, 149, Event("a", -7)) == []
    assert counts(operator, 150) == [("-D", 0, 10, 1), ("+I", -7, 10, 3)]


@examples(200)
@given(GAPS, FIRINGS, micro_batches(), st.integers(1, 3), st.integers(1, 3), st.lists(st.integers(0, 30), min_size=9))
def test_random_streams_give_the_changes_of_the_model(
    gap: int, firing: Firing, batches: list[list[Event]], groups: int, partitions: int, steps: list[int]
) -> None:
    firing = Firing(firing.early, min(firing.late, firing.lateness), firing.lateness)
    operator = FiringOperator(Session(gap), groups, partitions, firing=firing)
    model = FiringSessionModel(gap, firing, groups)
    every, now = [], 0
    for at, events in enumerate([*batches, [END]]):
        now += steps[at % len(steps)]
        found = operator.changes(events, now)
        assert sorted(map(repr, found)) == sorted(map(repr, model.changes(events, now)))
        assert operator.late == model.late
        dues = [due for due in operator.due.values() if due is not None]
        assert sorted(dues) == sorted(since + delay(firing, kind) for (kind, _), since in model.since.items())
        every += found
    left = folded_sessions(every)
    if not model.late:
        rows = [Event(event.key, event.ts, None, event.value) for events in batches for event in events]
        assert sorted(map(repr, left)) == sorted(map(repr, Model(gap).batch([*rows, END])))
    assert all(not state.chunks for state in operator.states.values())


def delay(firing: Firing, kind: str) -> int:
    return firing.late if kind == "late" else firing.early or 0
