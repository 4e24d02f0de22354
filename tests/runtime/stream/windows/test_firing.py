"""Early and late firing without Spark: the operator's rules, step by step and against a plain model."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.drawn_streams import LONG, MONTHS, OFFSETS, hops, micro_batches
from tests.models.firing import Change, FiringModel, FiringOperator, busy_and_idle_channels, changes_of, folded, shown
from tests.models.streams import LAYOUT, Event, Memory, Operator, Out, ms, operator, ordered, source
from tests.support.examples import examples
from tvfsql.plan.stream import Firing, StreamContext
from tvfsql.plan.window import Cumulate, Hop, Sliced, Tumble
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.time.valve import ALL
from tvfsql.runtime.stream.windows import early_late as of_firing
from tvfsql.runtime.stream.windows.slicing_operator import SlicingOperator

CUMULATES = st.builds(
    lambda step, steps, offset: Cumulate(step, step * steps, offset), st.integers(1, 9), st.integers(1, 12), OFFSETS
)
WINDOWS = st.one_of(st.builds(Tumble, st.integers(1, 30), OFFSETS), hops(), CUMULATES, MONTHS, LONG)
DELAYS = st.sampled_from([0, 0, 5, 20])
FIRINGS = st.builds(Firing, st.none() | DELAYS, DELAYS, st.sampled_from([0, 10, 40, 1000]), st.booleans())
TICKS = st.lists(st.integers(0, 15), min_size=20, max_size=20)
END = Event(None, None, END_OF_INPUT)
(LABEL,) = key_group_labels(1)


# ---- step by step


def counts(operator: FiringOperator, now: int, *events: Event) -> list[tuple[Any, ...]]:
    """Changes as (op, key, window_end, rows)."""
    return [(op, row[0], row[2], row[3]) for op, row in operator.changes(events, now)]


def test_late_rows_update_what_their_window_gave_out() -> None:
    operator = FiringOperator(Tumble(1000), firing=Firing(lateness=2000))
    assert counts(operator, 0, Event("a", 5), Event("b", 6), Event("a", 1500, 999)) == [
        ("+I", "a", 1000, 1), ("+I", "b", 1000, 1)
    ]  # fmt: skip
    assert counts(operator, 0, Event("a", 7), Event("c", 8)) == [
        ("-U", "a", 1000, 1), ("+U", "a", 1000, 2), ("+I", "c", 1000, 1)
    ]  # fmt: skip
    assert counts(operator, 0, Event("a", 9, None, 0)) == [], "sum and maximum are the same"
    assert counts(operator, 0, Event("b", 9, 2998)) == [
        ("-U", "b", 1000, 1), ("+U", "b", 1000, 2), ("+I", "a", 2000, 1)
    ]  # fmt: skip
    assert counts(operator, 0, Event("a", 9), Event(None, None, 2999)) == [("-U", "a", 1000, 3), ("+U", "a", 1000, 4)]
    assert counts(operator, 0, Event("a", 9)) == []
    assert (operator.late, operator.newest) == (1, None), "the window was closed at its end - 1 ms + 2 s"
    assert counts(operator, 0, END) == []
    assert all(not state.chunks for state in operator.states.values())


def test_a_row_of_hop_is_late_for_some_windows_and_in_time_for_others() -> None:
    operator = FiringOperator(Hop(1000, 3000), firing=Firing(lateness=500))
    assert counts(operator, 0, Event("a", 500, 2300)) == [("+I", "a", 1000, 1), ("+I", "a", 2000, 1)]
    assert counts(operator, 0, Event("a", 600)) == [("-U", "a", 2000, 1), ("+U", "a", 2000, 2)], "1000 is closed"
    assert counts(operator, 0, Event(None, None, 2999)) == [("+I", "a", 3000, 2)]
    assert operator.late == 0


def test_early_results_come_a_delay_after_the_first_row() -> None:
    operator = FiringOperator(Tumble(1000), firing=Firing(early=30))
    assert (counts(operator, 100, Event("a", 5)), operator.due) == ([], {LABEL: 130})
    assert (counts(operator, 129, Event("b", 1500)), operator.due) == ([], {LABEL: 130})
    assert counts(operator, 130) == [("+I", "a", 1000, 1), ("+I", "b", 2000, 1)]
    assert operator.due == {LABEL: None}
    assert (counts(operator, 140, Event("a", 6)), operator.due) == ([], {LABEL: 170})
    assert counts(operator, 150, Event("b", 1500, 999)) == [("-U", "a", 1000, 1), ("+U", "a", 1000, 2)]
    assert operator.due == {LABEL: 170}, "for the row of b"
    assert counts(operator, 170, Event(None, None, 1999)) == [("-U", "b", 2000, 1), ("+U", "b", 2000, 2)]
    assert operator.due == {LABEL: None}
    assert all(not state.chunks for state in operator.states.values())


def test_early_results_of_every_micro_batch() -> None:
    operator = FiringOperator(Cumulate(1000, 3000), firing=Firing(early=0))
    assert counts(operator, 0, Event("a", 1500)) == [("+I", "a", 2000, 1), ("+I", "a", 3000, 1)]
    assert counts(operator, 0, Event("a", 2500, 1999)) == [("-U", "a", 3000, 1), ("+U", "a", 3000, 2)]
    assert operator.newest == 3000, "it is to end, though its rows have been given out"
    assert counts(operator, 0, END) == [], "all has been given out"


def test_late_rows_are_gathered_and_given_out_together() -> None:
    operator = FiringOperator(Tumble(1000), firing=Firing(late=50, lateness=10_000))
    assert len(counts(operator, 0, Event("a", 5), Event("a", 1005, 1999))) == 2
    assert (counts(operator, 100, Event("a", 6)), operator.due) == ([], {LABEL: 150})
    assert counts(operator, 140, Event("a", 7), Event("b", 1008)) == []
    assert counts(operator, 150) == [("-U", "a", 1000, 1), ("+U", "a", 1000, 3), ("+I", "b", 2000, 1)]
    assert counts(operator, 160, Event("b", 1)) == []
    assert counts(operator, 170, Event(None, None, 10_998)) == []
    assert counts(operator, 180, Event(None, None, 10_999)) == [("+I", "b", 1000, 1)], "its window closes"


def test_purging_gives_out_increments() -> None:
    operator = FiringOperator(Hop(1000, 2000), firing=Firing(early=0, lateness=1000, purge=True))
    assert counts(operator, 0, Event("a", 5)) == [("", "a", 1000, 1), ("", "a", 2000, 1)]
    assert counts(operator, 0, Event("a", 6, 999), Event("b", 1500)) == [
        ("", "a", 1000, 1), ("", "a", 2000, 1), ("", "b", 2000, 1), ("", "b", 3000, 1)
    ]  # fmt: skip
    assert counts(operator, 0, Event("a", 7)) == [("", "a", 1000, 1), ("", "a", 2000, 1)]
    assert counts(operator, 0, END) == []


def test_within_a_micro_batch_a_window_fires_once() -> None:
    operator = FiringOperator(Tumble(1000), on_event=True, firing=Firing(early=0, lateness=5000))
    rows = [Event("a", 10), Event("a", 1500, 1500), Event("a", 20), Event("b", 2100, 2100), Event("a", 30)]
    assert counts(operator, 0, *rows) == [("+I", "a", 1000, 3), ("+I", "a", 2000, 1), ("+I", "b", 3000, 1)]


def test_windows_of_processing_time_fire_early_too() -> None:
    state, given_out = Memory(), []
    for now in (500, 900, 950, 1100, 6100):
        of = operator(Tumble(1000), StreamContext(firing=Firing(early=300, lateness=5000), proctime=True))
        windows = of.open(state, None, now)
        if now < 1000:
            row = source([Event("a", now)], (LABEL,)).columns
            windows.add([LAYOUT.merged([LAYOUT.batch(row[4:5], np.array([1]), row[6:])])])
        fired = [*windows.advance([(ALL, now - 1)]), *windows.finish()]
        changes = [each for message in fired for rows in of.unpack(message) for each in changes_of(rows)]
        given_out.append([(op, row[2], row[3]) for op, row in changes])
        windows.flush()
    assert given_out == [[], [("+I", 1000, 2)], [], [("-U", 1000, 2), ("+U", 1000, 3)], []]
    assert not state.chunks


def test_the_state_calls_depend_on_windows_not_on_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    operator = FiringOperator(Tumble(1000), firing=Firing(early=0, lateness=5000))
    calls = []
    for keys in (3, 300):
        events = [Event(f"k{n}", ts) for n in range(keys) for ts in (5, 1005)]
        operator.changes([*events, Event("a", 5)], 0)
        (state,) = operator.states.values()
        state.calls = 0
        operator.changes(events, 1)
        calls.append(state.calls)
    assert calls == [4, 4], "a read and a write of each window"


def test_windows_are_made_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [Event(key, ts, None, ts) for key in "abc" for ts in range(0, 100, 7)]
    whole = FiringOperator(Hop(10, 50), firing=Firing(lateness=5)).changes([*events, END], 0)
    monkeypatch.setattr(of_firing, "FIRE_ROWS", 5)
    operator = FiringOperator(Hop(10, 50), firing=Firing(lateness=5))
    assert ordered(operator.changes([*events, END], 0)) == ordered(whole)
    assert operator.windows == len(whole) > 40


def test_changes_are_by_all_keys_and_take_back_floating_point_sums_to_the_letter() -> None:
    layout, state, window = SliceRows(2, (("rows", "sum"), ("total", "sum"))), Memory(), Hop(10, 30)
    of = SlicingOperator(window, layout, "rows", StreamContext(firing=Firing(early=0, lateness=2**40)))
    draw = random.Random(1)
    left: Counter[Any] = Counter()
    total: dict[Any, float] = defaultdict(float)
    for step in range(30):
        windows = of.open(state, None, step)
        rows = [(draw.randrange(3), draw.randrange(3), draw.randrange(9), draw.random()) for _ in range(6)]
        for a, b, slice_, value in rows:
            for end in range(slice_, slice_ + 3):
                total[a, b, end * 10] += value
        ones, twos, slices, values = zip(*rows, strict=True)
        windows.add(
            [layout.batch([pa.array(ones), pa.array(twos)], np.array(slices), [pa.array([1] * 6), pa.array(values)])]
        )
        fired = [*windows.advance([("", step * 5)]), *windows.finish()]
        changes = [row for message in fired for rows in of.unpack(message) for row in rows.to_pylist()]
        windows.flush()
        assert {row["$op"] for row in changes} <= {"+I", "-U", "+U"}
        for row in changes:
            key = row["$0"], row["$1"], ms(row["window_end"]), row["total"]
            left[key] += -1 if row["$op"] == "-U" else 1
            assert left[key] >= 0
    assert {key[:3]: pytest.approx(key[3]) for key, number in left.items() if number} == total


def test_late_rows_whose_windows_have_closed_wait_for_no_fire() -> None:
    operator = FiringOperator(Hop(1, 10), firing=Firing(late=5, lateness=40))
    assert operator.changes([Event("a", 0, -10)], 0) == []
    assert [row[2] for _, row in operator.changes([Event("a", -58, 1)], 0)] == [-48, *range(1, 3)]
    assert {*operator.due.values()} == {None}


# ---- against a plain model


@given(WINDOWS, FIRINGS, micro_batches() | busy_and_idle_channels(), TICKS, st.integers(1, 3), st.integers(1, 3))
@examples(80)
def test_every_micro_batch_gives_the_changes_of_the_model(
    window: Sliced, firing: Firing, batches: list[list[Event]], ticks: list[int], groups: int, partitions: int
) -> None:
    """Each micro-batch starts from serialised state, as after a restart; the model counts row by row."""
    operator = FiringOperator(window, groups, partitions, firing=firing)
    model = FiringModel(window, firing, groups)
    now = 0
    for events, tick in zip(batches, ticks, strict=False):
        now += tick
        assert ordered(operator.changes(events, now)) == ordered(model.changes(events, now))
        assert operator.late == model.late
        due = min((at for at in operator.due.values() if at is not None), default=None)
        assert due == min(model.dues(), default=None)
    assert all(not state.chunks for state in operator.states.values())


@given(WINDOWS, FIRINGS, micro_batches(), TICKS)
@examples(15)
def test_changes_folded_are_increments_added_up_and_the_rows_of_plain_windows(
    window: Sliced, firing: Firing, batches: list[list[Event]], ticks: list[int]
) -> None:
    """Lateness allows every row, so that none is dropped; plain windows get all rows before any watermark."""
    patient = replace(firing, lateness=2**70)
    given_out: dict[bool, list[Change]] = {}
    for purge in (False, True):
        operator = FiringOperator(window, 2, firing=replace(patient, purge=purge))
        clock = [sum(ticks[: i + 1]) for i in range(len(batches))]
        given_out[purge] = [
            change for events, now in zip(batches, clock, strict=True) for change in operator.changes(events, now)
        ]
        assert operator.late == 0
        assert all(not state.chunks for state in operator.states.values())
    rows = [replace(event, watermark=None) for batch in batches for event in batch if event.ts is not None]
    plain = Operator(window).batch([*rows, END])
    assert ordered(map(shown, folded(given_out[False]))) == ordered(map(shown, plain))
    assert ordered(added_up(given_out[True])) == ordered(map(shown, plain))


def added_up(increments: Sequence[Change]) -> list[Out]:
    """Sums are added, and the largest of the largest values is taken."""
    parts: dict[Out, list[Out]] = defaultdict(list)
    for _, row in increments:
        parts[row[:3]].append(row[4:6])
    return [(*key, sum(total for total, _ in of), max(most for _, most in of)) for key, of in parts.items()]


# ---- retention


@pytest.mark.slow
@pytest.mark.parametrize("purge", [False, True])
def test_the_state_of_simulated_days_is_bounded(purge: bool) -> None:
    hour, day = 3_600_000, 86_400_000
    operator = FiringOperator(Hop(hour, 6 * hour), firing=Firing(5, 5, 3 * hour, purge))
    most: dict[int, int] = {}
    for now, ts in enumerate(range(0, 4 * day, hour)):
        rows = [Event(key, ts - late * hour, ts - hour) for key in "ab" for late in (0, 2, 4)]
        operator.changes(rows, now)
        of_day = ts // day
        most[of_day] = max(most.get(of_day, 0), sum(len(state.chunks) for state in operator.states.values()))
    assert most[0] == most[1] == most[2] == most[3] < 30
    operator.changes([END], 10**6)
    assert all(not state.chunks for state in operator.states.values())
