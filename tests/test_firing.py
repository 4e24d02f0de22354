"""Early and late firing without Spark: the operator's rules, step by step and against a plain model."""

from __future__ import annotations

from firing import FiringModel, FiringOperator
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import LONG, MONTHS, OFFSETS, Event, hops, micro_batches, ordered

from tvfsql.plan.firing import Firing
from tvfsql.plan.window import Cumulate, Sliced, Tumble

CUMULATES = st.builds(
    lambda step, steps, offset: Cumulate(step, step * steps, offset), st.integers(1, 9), st.integers(1, 12), OFFSETS
)
WINDOWS = st.one_of(st.builds(Tumble, st.integers(1, 30), OFFSETS), hops(), CUMULATES, MONTHS, LONG)
DELAYS = st.sampled_from([0, 0, 5, 20])
FIRINGS = st.builds(Firing, st.none() | DELAYS, DELAYS, st.sampled_from([0, 10, 40, 1000]), st.booleans())
TICKS = st.lists(st.integers(0, 15), min_size=20, max_size=20)


@given(WINDOWS, FIRINGS, micro_batches(), TICKS, st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=60)
def test_every_micro_batch_gives_the_changes_of_the_model(
    window: Sliced, firing: Firing, batches: list[list[Event]], ticks: list[int], groups: int, partitions: int
) -> None:
    """Each micro-batch starts from serialised state, as after a restart; the model counts row by row."""
    operator = FiringOperator(window, groups, partitions, firing=firing)
    model = FiringModel(window, firing, groups)
    now = 0
    for events, tick in zip(batches, ticks, strict=False):
        now += tick
        changes, expected = operator.changes(events, now), model.changes(events, now)
        assert ordered(changes) == ordered(expected)
        assert operator.late == model.late
        due = [None if since is None else since for since in model.dues(now)]
        assert min((at for at in operator.due.values() if at is not None), default=None) == min(due, default=None)
    assert all(not state.chunks for state in operator.states.values())
