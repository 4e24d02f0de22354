"""The slicing window processor without Spark: a trace, against a plain model, and its state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.models.drawn_streams import EVEN, LONG, WINDOWS, copied_batches, micro_batches
from tests.models.streams import MERGES, TYPES, Event, Memory, Model, Operator, Out, at, ordered, partials, rows_of
from tests.support.examples import examples
from tvfsql.plan.stream import StreamContext
from tvfsql.plan.window import Hop, Sliced, Tumble, TumbleMonths
from tvfsql.runtime.merge.kernel import SliceKernel
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.operator.protocol import MOST_OPEN
from tvfsql.runtime.stream.state.chunk_index import Kind
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.time.slice_clock import Span


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


@given(WINDOWS | LONG, micro_batches(), st.booleans())
@examples(60)
def test_on_event_every_row_moves_the_watermark(window: Sliced, batches: list[list[Event]], adjust: bool) -> None:
    operator = Operator(window, groups=2, on_event=True, context=StreamContext(adjust=adjust))
    model = Model(window, adjust=adjust)
    for events in batches:
        expected = [row for event in events for row in model.batch([event])]
        assert ordered(operator.batch(events)) == ordered(expected)
        assert operator.late == model.late


@given(WINDOWS | LONG, copied_batches())
@examples(60)
def test_on_event_the_watermark_of_a_row_follows_its_last_copy(
    window: Sliced, batches: list[list[list[Event]]]
) -> None:
    operator, model = Operator(window, groups=2, on_event=True), Model(window)
    for rows in batches:
        expected = [row for copies in rows for row in model.batch(copies)]
        assert ordered(operator.batch([event for copies in rows for event in copies])) == ordered(expected)
        assert operator.late == model.late


@given(WINDOWS | LONG, micro_batches(), st.integers(1, 4), st.integers(1, 3), st.booleans())
@examples(150)
def test_every_micro_batch_gives_the_rows_of_the_model(
    window: Sliced, batches: list[list[Event]], groups: int, partitions: int, adjust: bool
) -> None:
    """Each micro-batch starts from serialised state, as after a restart; the model counts row by row."""
    operator = Operator(window, groups, partitions, context=StreamContext(adjust=adjust))
    model = Model(window, adjust=adjust)
    given_out = 0
    for events in batches:
        expected = model.batch(events)
        assert ordered(operator.batch(events)) == ordered(expected)
        assert (operator.late, operator.adjusted) == (model.late, model.adjusted)
        if not isinstance(window, TumbleMonths) and not window.emit_only_on_change:  # such steps may not come out
            span = Span(window)
            found = {span.end(end) for ends in operator.open_ends.values() for end in ends}
            assert found == {end for _, end in model.open} or len(found) > MOST_OPEN
        given_out += len(expected)
    assert operator.windows >= given_out if window.emit_only_on_change else operator.windows == given_out
    assert all(not state.chunks for state in operator.states.values())


@given(EVEN | LONG, micro_batches())
@examples(100)
def test_without_late_rows_the_stream_gives_the_rows_of_the_batch_kernel(
    window: Sliced, batches: list[list[Event]]
) -> None:
    events = [
        Event(event.key, event.ts, None, event.value) for batch in batches for event in batch if event.ts is not None
    ]
    cuts = [events[: len(events) // 2], events[len(events) // 2 :], [Event(None, None, END_OF_INPUT)]]
    operator = Operator(window, groups=2)
    streamed = [row for cut in cuts for row in operator.batch(cut)]
    assert (ordered(streamed), operator.late) == (ordered(by_kernel(window, events)), 0)


def by_kernel(window: Sliced, events: Sequence[Event]) -> list[Out]:
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
def test_windows_counted_in_slices_are_those_of_the_plan(window: Sliced, ts: int) -> None:
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
    assert any(key.kind == Kind.SLICE_RUN for key in state.unpacked)
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
    assert state.calls == len(state.chunks) == 1
    assert len(state.unpacked) == 6


def test_an_empty_micro_batch_writes_nothing() -> None:
    operator = Operator(Tumble(1000))
    operator.batch([Event("a", 5, 4)])
    (state,) = operator.states.values()
    before, state.calls = state.kept, 0
    operator.batch([])
    assert (state.kept is before, state.calls) == (True, 0)
