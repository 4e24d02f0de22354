"""The slicing window processor without Spark: the operator's rules, step by step and against a plain model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester
from streams import (
    EMITTED,
    EVEN,
    LAYOUT,
    LONG,
    MERGES,
    SOURCE,
    TYPES,
    WINDOWS,
    Event,
    Memory,
    Model,
    Operator,
    Out,
    at,
    messages,
    micro_batches,
    operator,
    ordered,
    partials,
    rows_of,
    source,
    strategy,
)

from examples import examples
from tvfsql.plan.stream import StreamContext
from tvfsql.plan.window import Cumulate, Hop, Tumble, Window
from tvfsql.runtime.arrow.batches import from_bytes, key_codes, to_bytes
from tvfsql.runtime.merge.kernel import SliceKernel
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels, spark_hash
from tvfsql.runtime.stream.exchange.local_phase import LocalPhase
from tvfsql.runtime.stream.exchange.local_windows import LocalSlices
from tvfsql.runtime.stream.operator.messages import Emit, Fire, Late, Report, decoded, encoded
from tvfsql.runtime.stream.operator.shell import OperatorShell
from tvfsql.runtime.stream.state.chunk_store import Kind
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.time.valve import IDLE
from tvfsql.runtime.stream.windows.slicing_operator import SlicingOperator


def test_the_trace_of_the_hopping_operator() -> None:
    operator = Operator(Hop(1000, 3000))
    rows = [("key2", 3999), ("key2", 3000), ("key1", 20), ("key1", 0), ("key1", 999)]
    rows += [("key2", 1998), ("key2", 1999), ("key2", 1000)]
    assert operator.batch([Event(key, ts) for key, ts in rows]) == []
    assert operator.held == {1: [("key1", 3)], 2: [("key2", 3)], 4: [("key2", 2)]}

    def advance(watermark: int) -> list[tuple[Any, ...]]:
        fired = operator.batch([Event(None, None, watermark)])
        return sorted((key, count, start, end) for key, start, end, count, *_ in fired)

    assert advance(998) == []
    assert advance(999) == [("key1", 3, -2000, 1000)]
    assert advance(1999) == [("key1", 3, -1000, 2000), ("key2", 3, -1000, 2000)]
    assert advance(2999) == [("key1", 3, 0, 3000), ("key2", 3, 0, 3000)]
    assert operator.held == {2: [("key2", 3)], 4: [("key2", 2)]}
    assert advance(3999) == [("key2", 5, 1000, 4000)]
    assert operator.batch([Event("key2", 3500)]) == []
    assert advance(4999) == [("key2", 3, 2000, 5000)]
    assert (operator.batch([Event("key1", 2999)]), operator.late) == ([], 1)
    assert advance(5999) == [("key2", 3, 3000, 6000)]
    assert advance(5000) == []  # never back
    assert (advance(END_OF_INPUT), operator.held, operator.late) == ([], {}, 1)
    assert operator.windows == 8


# ---- lateness, window by window


def counts(operator: Operator, *events: Event) -> list[tuple[int, int, int]]:
    return sorted((start, end, rows) for _, start, end, rows, *_ in operator.batch(events))


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


# ---- channels


def test_the_watermark_is_the_smallest_of_the_channels_that_are_not_idle() -> None:
    operator = Operator(Tumble(1000))
    assert counts(operator, Event("a", 10, 5000, channel="0")) == [(0, 1000, 1)]  # channel 1 never had a row
    assert counts(operator, Event("a", 6000, 1500, channel="1"), Event("a", 6100, 9000, channel="0")) == []
    assert counts(operator, Event("a", 7000, 8999, channel="1")) == [(6000, 7000, 2), (7000, 8000, 1)]
    assert counts(operator, Event("a", 9500, 12_000, channel="0")) == []  # waits for channel 1
    assert counts(operator, Event(None, None, IDLE, channel="1")) == [(9000, 10_000, 1)]
    assert counts(operator, Event("a", 12_500, 10_000, channel="1"), Event("a", 12_600, 13_000, channel="0")) == [
        (12_000, 13_000, 2)
    ]  # channel 1 is behind, and does not count until it has caught up
    assert counts(operator, Event("a", 13_000, 13_500, channel="1"), Event("a", 13_400, 14_500, channel="0")) == []
    assert counts(operator, Event(None, None, IDLE)) == []  # all are idle: the watermark stays
    assert counts(operator, Event(None, None, 13_999, channel=None)) == [(13_000, 14_000, 2)]
    assert operator.late == 0


def test_a_channel_without_a_watermark_holds_the_others_up() -> None:
    operator = Operator(Tumble(1000))
    assert counts(operator, Event("a", 10, 5000, channel="0"), Event("a", 20, None, channel="1")) == []
    assert counts(operator, Event("a", 30, 999, channel="1")) == [(0, 1000, 3)]


def test_on_event_a_later_row_of_the_same_micro_batch_is_late() -> None:
    operator = Operator(Tumble(1000), on_event=True)
    rows = [Event("a", 10), Event("a", 1500, 1500), Event("a", 20), Event("b", 2100, 2100), Event("b", 1999)]
    assert counts(operator, *rows) == [(0, 1000, 1), (1000, 2000, 1)]
    assert operator.late == 2


# ---- against a plain model


@given(WINDOWS | LONG, micro_batches(), st.booleans())
@examples(60)
def test_on_event_every_row_moves_the_watermark(window: Window, batches: list[list[Event]], adjust: bool) -> None:
    operator = Operator(window, groups=2, on_event=True, context=StreamContext(adjust=adjust))
    model = Model(window, adjust=adjust)
    for events in batches:
        expected = [row for event in events for row in model.batch([event])]
        assert ordered(operator.batch(events)) == ordered(expected)
        assert operator.late == model.late


@given(WINDOWS | LONG, micro_batches(), st.integers(1, 4), st.integers(1, 3), st.booleans())
@examples(150)
def test_every_micro_batch_gives_the_rows_of_the_model(
    window: Window, batches: list[list[Event]], groups: int, partitions: int, adjust: bool
) -> None:
    """Each micro-batch starts from serialised state, as after a restart; the model counts row by row."""
    operator = Operator(window, groups, partitions, context=StreamContext(adjust=adjust))
    model = Model(window, adjust=adjust)
    given_out = 0
    for events in batches:
        expected = model.batch(events)
        assert ordered(operator.batch(events)) == ordered(expected)
        assert (operator.late, operator.adjusted) == (model.late, model.adjusted)
        given_out += len(expected)
    assert operator.windows >= given_out if window.emit_only_on_change else operator.windows == given_out
    assert all(not state.chunks for state in operator.states.values())


@given(EVEN | LONG, micro_batches())
@examples(100)
def test_without_late_rows_the_stream_gives_the_rows_of_the_batch_kernel(
    window: Window, batches: list[list[Event]]
) -> None:
    events = [
        Event(event.key, event.ts, None, event.value) for batch in batches for event in batch if event.ts is not None
    ]
    cuts = [events[: len(events) // 2], events[len(events) // 2 :], [Event(None, None, END_OF_INPUT)]]
    operator = Operator(window, groups=2)
    streamed = [row for cut in cuts for row in operator.batch(cut)]
    assert (ordered(streamed), operator.late) == (ordered(by_kernel(window, events)), 0)


def by_kernel(window: Window, events: Sequence[Event]) -> list[Out]:
    """The rows of the batch kernel, which takes the rows as slices of one row each."""
    rows = sorted((str(e.key), window.slice_end(e.ts or 0), e.key, e.ts or 0, e.value) for e in events)
    if not rows:
        return []
    _, ends, keys, times, values = (list(column) for column in zip(*rows, strict=True))
    columns = {
        "$0": pa.array(keys, pa.string()),
        "slice_end": pa.array([at(end) for end in ends], pa.timestamp("us")),
    }
    for (name, _), kind, column in zip(MERGES, TYPES, zip(*map(partials, times, values), strict=True), strict=True):
        columns[name] = pa.array(column, kind)
    kernel = SliceKernel(Span(window).kernel, ("$0",), MERGES, "rows")
    return [row for made in kernel([pa.RecordBatch.from_pydict(columns)]) for row in rows_of(made)]


@given(EVEN | LONG, st.integers(-200, 200))
def test_windows_counted_in_slices_are_those_of_the_plan(window: Window, ts: int) -> None:
    span, end = Span(window), window.slice_end(ts)
    number = span.number(end)
    assert span.end(number) == end
    ends = window.window_ends(end)
    held = [span.end(e) for e in range(span.first(number), span.last(number) + 1, span.stride)]
    assert held == list(ends)
    for window_end in ends:
        opening = span.opening(span.number(window_end))
        assert span.end(opening) - window.slice_size == window.window_start(window_end)
        assert span.latest(span.number(window_end)) == span.number(window_end)
    expired = span.expired(number)
    assert span.last(expired) <= number < span.last(expired + 1)


# ---- state


def test_a_slice_is_one_chunk_of_one_partial_per_key_and_runs_spare_reads() -> None:
    """HOP 1 min/4 h, a micro-batch a minute: a fire reads a few runs, not 240 slices."""
    operator = Operator(Hop(60_000, 240 * 60_000))
    most = 0
    for minute in range(400):
        state = operator.states.setdefault(key_group_labels(1)[0], Memory())
        state.calls = 0
        rows = operator.batch([Event(key, minute * 60_000, minute * 60_000 - 1) for key in "ab"])
        most = max(most, state.calls)
        if minute:
            assert {row[3] for row in rows} == {min(minute, 240)}
    assert len(operator.held) == 240
    assert most < 40
    assert any(key.kind == Kind.SLICE_RUN for key in state.chunks)
    assert len(state.chunks) < 240 * 1.4


def test_chunks_of_a_slice_are_merged_before_they_pile_up() -> None:
    operator = Operator(Tumble(1000))
    for n in range(300):
        operator.batch([Event(f"k{n % 37}", 5), Event("a", 6)])
    (state,) = operator.states.values()
    assert len(state.chunks) < 6
    assert sum(rows for _, rows in operator.held[1]) == 600


def test_what_comes_and_goes_in_one_micro_batch_never_reaches_the_state() -> None:
    operator = Operator(Hop(10, 50))
    operator.batch([Event("a", ts, ts - 5) for ts in range(0, 5000, 10)])
    (state,) = operator.states.values()
    assert state.calls == len(state.chunks) == 6


def test_an_empty_micro_batch_writes_nothing() -> None:
    operator = Operator(Tumble(1000))
    operator.batch([Event("a", 5, 4)])
    (state,) = operator.states.values()
    before, state.calls = state.kept, 0
    operator.batch([])
    assert (state.kept is before, state.calls) == (True, 0)


# ---- pieces


def test_keys_are_the_same_where_group_by_says_so() -> None:
    nan = float("nan")
    floats = pa.array([nan, 1.0, None, nan, 1.0, None])
    structs = pa.array([{"x": 1}, {"x": None}, None, {"x": 1}, {"x": None}, None])
    lists = pa.array([[1], [], None, [1], [], None])
    for column in (floats, structs, lists, pa.nulls(6)):
        codes = key_codes([column], 6).tolist()
        assert codes[:3] == codes[3:]
        assert len(set(codes)) == (1 if pa.types.is_null(column.type) else 3)
    wide = [pa.array(range(5000)) for _ in range(6)]
    assert len(set(key_codes(wide, 5000).tolist())) == 5000


def test_there_is_one_zero_and_one_nan_among_the_keys() -> None:
    layout, nan = SliceRows(1, (("rows", "sum"),)), float("nan")
    columns = {
        "mark": pa.nulls(4, pa.timestamp("us")),
        "control": pa.nulls(4, pa.int64()),
        "channel": pa.nulls(4, pa.string()),
        "group": pa.array([7] * 4, pa.int32()),
        "key": pa.array([0.0, -0.0, nan, -nan]),
        "time": pa.array([at(1)] * 4, pa.timestamp("us")),
        "rows": pa.array([1] * 4, pa.int64()),
    }
    out, _ = LocalPhase(LocalSlices(layout, Tumble(1000)), (7,))([pa.RecordBatch.from_pydict(columns)])
    held = from_bytes(out.column("payload")[0].as_py()).to_pydict()
    assert (repr(held["$0"]), held["rows"]) == ("[0.0, nan]", [2, 2])


def test_labels_of_key_groups_fill_partitions_evenly() -> None:
    assert (spark_hash(0), spark_hash(1)) == (933211791, -559580957)  # SELECT hash(0), hash(1)
    for partitions in (1, 2, 4, 8):
        held = [spark_hash(label) % partitions for label in key_group_labels(8)]
        assert {held.count(partition) for partition in range(partitions)} == {8 // partitions}


# ---- the shell, in pyspark's tester


def test_the_shell_runs_the_operator_over_the_rows_of_spark() -> None:
    window = Hop(1000, 3000)
    shell = OperatorShell(operator(window), Description("GlobalWindowAggregate", ("key",), window))
    tester = TwsTester(shell)
    (label,) = key_group_labels(1)
    out: list[list[Any]] = []
    for events in ([Event("a", 500), Event("b", 1500, 999)], [Event("a", 10), Event(None, None, END_OF_INPUT)]):
        payloads = list(LocalPhase(strategy(window), (label,))([source(events, (label,))]))
        rows = [Row(**row, now=0) for batch in payloads for row in batch.to_pylist()]
        out.append([*messages(tester.test(label, rows))])
    first, second = (
        [row[:4] for message in told[:-1] for made in operator(window).unpack(message) for row in rows_of(made)]
        for told in out
    )
    assert first == [("a", -2000, 1000, 1)]
    assert ordered(second) == [
        ("a", -1000, 2000, 2), ("a", 0, 3000, 2), ("b", -1000, 2000, 1), ("b", 0, 3000, 1), ("b", 1000, 4000, 1)
    ]  # fmt: skip
    report = out[0][-1]
    assert report.newest_end == 4000
    assert (report.rows_in, report.late, report.rows_out, report.watermark) == (2, 0, 1, 999)
    assert (report.state_rows, report.open_slices) == (2, 2)
    kept = (END_OF_INPUT, '{"": [999, false, false]}', b"", shell.description)
    assert tester.peekValueState("index", label) == kept


def test_messages_come_through_spark_as_they_were() -> None:
    rows = LAYOUT.batch([pa.array(["a"])], np.array([4]), [pa.array([None], kind) for kind in TYPES])
    numbers = (1, 2, 0, 4, 3, None, -5, 7, None, 2**62, 0, None)
    sent = [Fire(rows, -1000, 2000), Emit(rows), Late(rows), Report(*numbers)]
    assert [*messages(map(encoded, sent))] == sent
    with pytest.raises(AssertionError, match="unknown kind of message"):
        [*decoded(pa.RecordBatch.from_pylist([{"kind": "Other"}], schema=EMITTED))]


@pytest.mark.parametrize("rows", [1, 5])
def test_a_part_of_a_batch_is_written_alone(rows: int) -> None:
    columns = zip(*(partials(n, n) for n in range(1000)), strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, TYPES, strict=True)]
    whole = LAYOUT.merged([LAYOUT.batch([pa.array(["key"] * 1000)], np.arange(1000), arrays)])
    part = to_bytes(whole.slice(500, rows))
    assert len(part) < 3000
    assert from_bytes(part) == whole.slice(500, rows)
