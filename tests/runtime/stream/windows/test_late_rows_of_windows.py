"""Late rows of tumbling, hopping and cumulating windows, step by step."""

from __future__ import annotations

import pyarrow as pa

from tests.models.streams import (
    LAYOUT,
    MERGES,
    SOURCE,
    Event,
    Memory,
    Operator,
    at,
    counts,
    source,
)
from tvfsql.plan.stream import StreamContext
from tvfsql.plan.window import Cumulate, Hop, Tumble
from tvfsql.runtime.arrow.batches import from_bytes
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.exchange.local_phase import LocalPhase
from tvfsql.runtime.stream.exchange.local_windows import LocalSlices
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.windows.slicing_operator import SlicingOperator


def test_a_late_row_of_a_tumbling_window_is_dropped_and_counted() -> None:
    operator = Operator(Tumble(1000))
    assert counts(operator, Event("a", 10), Event("a", 1500, 999)) == [(0, 1000, 1)]
    assert counts(operator, Event("a", 999), Event("a", 1000), Event("b", 5)) == []
    assert operator.late == 2
    assert counts(operator, Event(None, None, END_OF_INPUT)) == [(1000, 2000, 2)]
    assert counts(operator, Event("a", 10**12), Event(None, None, END_OF_INPUT)) == []  # the input has ended
    assert operator.late == 3


def test_rows_are_judged_by_the_watermark_before_their_micro_batch() -> None:
    operator = Operator(Tumble(1000))
    assert counts(operator, Event("a", 5000, 4000), Event("a", 10)) == [(0, 1000, 1)]
    assert operator.late == 0


def test_an_adjusted_row_counts_in_the_first_open_window() -> None:
    operator = Operator(Tumble(1000), context=StreamContext(adjust=True))
    assert counts(operator, Event("a", 10), Event("a", 1500, 2400)) == [(0, 1000, 1), (1000, 2000, 1)]
    assert counts(operator, Event("a", 10), Event("a", 1999), Event("b", 2000)) == []
    assert (operator.late, operator.adjusted) == (0, 2)
    assert counts(operator, Event(None, None, END_OF_INPUT)) == [(2000, 3000, 1), (2000, 3000, 2)]
    assert counts(operator, Event("a", 10**12), Event(None, None, END_OF_INPUT)) == []  # the input has ended
    assert (operator.late, operator.adjusted) == (1, 2)


def test_a_row_that_some_open_window_still_takes_is_not_adjusted() -> None:
    operator = Operator(Hop(1000, 3000), context=StreamContext(adjust=True))
    assert counts(operator, Event("a", 500, 1999)) == [(-2000, 1000, 1), (-1000, 2000, 1)]
    assert counts(operator, Event("a", 900), Event("b", -100)) == []
    assert operator.adjusted == 1
    assert counts(operator, Event(None, None, 2999)) == [(0, 3000, 1), (0, 3000, 2)]
    assert counts(operator, Event(None, None, END_OF_INPUT)) == [(1000, 4000, 1), (2000, 5000, 1)]


def test_a_late_row_of_a_hopping_window_counts_in_the_windows_still_open() -> None:
    operator = Operator(Hop(1000, 3000))
    assert counts(operator, Event("a", 500, 1999)) == [(-2000, 1000, 1), (-1000, 2000, 1)]
    assert counts(operator, Event("a", 900), Event("b", 100)) == []
    assert counts(operator, Event(None, None, 2999)) == [(0, 3000, 1), (0, 3000, 2)]
    assert operator.late == 0


def test_a_late_row_of_a_cumulating_window_counts_in_later_windows_only() -> None:
    operator = Operator(Cumulate(1000, 4000))
    assert counts(operator, Event("a", 500, 1999)) == [(0, 1000, 1), (0, 2000, 1)]
    assert counts(operator, Event("a", 100), Event("b", 200)) == []
    assert counts(operator, Event(None, None, 2999)) == [(0, 3000, 1), (0, 3000, 2)]
    assert counts(operator, Event(None, None, 3999), Event("a", 3500)) == [(0, 4000, 1), (0, 4000, 3)]
    assert operator.held == {}
    assert counts(operator, Event("a", 3999), Event("a", 4000)) == []
    assert operator.late == 1


def test_emit_only_on_update_fires_only_steps_that_got_rows_in_time() -> None:
    operator = Operator(Cumulate(1000, 4000, emit_only_on_update=True))
    assert counts(operator, Event("a", 500, 1999)) == [(0, 1000, 1)]
    assert counts(operator, Event("a", 100), Event(None, None, 2999)) == []  # late: counts later, fires nothing
    assert counts(operator, Event("a", 3000), Event(None, None, END_OF_INPUT)) == [(0, 4000, 3)]


def test_steps_come_out_only_if_the_shown_results_have_changed() -> None:
    """Rows of value 0 change the number of rows and the list of values, but not the sum and the largest value."""
    operator = Operator(Cumulate(1000, 6000, emit_only_on_change=True))
    assert counts(operator, Event("a", 500), Event("a", 2500, 2999, 0), Event("b", 1500)) == [
        (0, 1000, 1), (0, 2000, 1)
    ]  # fmt: skip
    assert counts(operator, Event("a", 100, None, 0), Event("a", 3500, 3999, 0)) == []
    assert counts(operator, Event("a", 200), Event(None, None, 4999)) == [(0, 5000, 5)]  # late, and a change
    assert counts(operator, Event("b", 5500, None, -1), Event(None, None, END_OF_INPUT)) == [(0, 6000, 2)]
    assert (operator.held, operator.late) == ({}, 0)
    assert all(not state.chunks for state in operator.states.values())


def test_a_late_change_comes_out_with_the_next_step_that_may() -> None:
    operator = Operator(Cumulate(1000, 6000, emit_only_on_update=True, emit_only_on_change=True))
    assert counts(operator, Event("a", 500, 1999)) == [(0, 1000, 1)]
    assert counts(operator, Event("a", 100), Event(None, None, 2999)) == []  # late: counts later, fires nothing
    assert counts(operator, Event("b", 3500), Event("a", 4500, 4999, 0)) == [(0, 4000, 1), (0, 5000, 3)]
    assert counts(operator, Event("a", 5500, None, 0), Event(None, None, END_OF_INPUT)) == []


def test_a_cycle_keeps_one_partial_per_key_for_what_has_fired() -> None:
    operator = Operator(Cumulate(1000, 86_400_000))
    for step in range(20):
        operator.batch([Event(key, step * 1000, step * 1000 - 1) for key in "ab"])
    assert operator.held == {19: [("a", 19), ("b", 19)], 20: [("a", 1), ("b", 1)]}


def test_rows_between_two_windows_are_in_none_and_are_not_late() -> None:
    operator = Operator(Hop(10_000, 2000))
    assert counts(operator, Event("a", 5000), Event("a", 1000), Event(None, None, END_OF_INPUT)) == [(0, 2000, 1)]
    assert (operator.late, operator.held) == (0, {})


def test_a_query_without_keys_has_one_row_a_window() -> None:
    layout, state = SliceRows(0, (("rows", "sum"),)), Memory()
    columns = {
        "mark": pa.nulls(3, pa.timestamp("us")),
        "control": pa.nulls(3, pa.int64()),
        "channel": pa.nulls(3, pa.string()),
        "group": pa.array([0] * 3, pa.int32()),
        "time": pa.array([at(ts) for ts in (5, 1500, 7)], pa.timestamp("us")),
        "rows": pa.array([1] * 3, pa.int64()),
    }
    out, _ = LocalPhase(LocalSlices(layout, Tumble(1000)), (0,))([pa.RecordBatch.from_pydict(columns)])
    operator = SlicingOperator(Tumble(1000), layout, "rows")
    windows = operator.open(state, None, 0)
    windows.add([from_bytes(out.column("payload")[0].as_py())])
    (fire,) = windows.advance([(None, END_OF_INPUT)])
    made = list(operator.unpack(fire))
    assert [rows for batch in made for rows in batch.column("rows").to_pylist()] == [2, 1]


def test_filtered_rows_bring_their_watermark_and_nothing_else() -> None:
    operator = Operator(Tumble(1000))
    filtered = source([Event("a", 5000, 4000)], (0,)).to_pydict()
    filtered |= {"key": [None], "time": [None], **{name: [None] for name, _ in MERGES}}
    (out,) = LocalPhase(LocalSlices(LAYOUT, Tumble(1000)), (0,))([pa.RecordBatch.from_pydict(filtered, schema=SOURCE)])
    assert out.to_pylist() == [{"key_group": 0, "seq": 0, "channel": "", "watermark": 4000, "payload": None}]
    assert operator.batch([]) == []
