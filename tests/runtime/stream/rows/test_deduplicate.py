"""The first and the last row of each key of a stream: step by step, and against a plain model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.drawn_streams import micro_batches
from tests.models.streams import Event, ordered
from tests.support.examples import SOAK, examples
from tests.support.row_streams import COLUMNS, Row, RowStream
from tvfsql.runtime.stream.rows.deduplicate import FIRST, LAST, KeepRow
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

END = Event(None, None, END_OF_INPUT)
DAY = 86_400_000
DAYS = 30 if SOAK else 6


def keeping(keep: str, retention: int = 0, bucket_rows: int = 16_384) -> KeepRow:
    down = keep == LAST
    return KeepRow(COLUMNS, (0,), 1, keep, ((2, down, not down),), retention, bucket_rows=bucket_rows)


def test_the_first_row_of_a_key_is_final_when_the_watermark_passes_it() -> None:
    stream = RowStream(keeping(FIRST))
    assert stream.batch([Event("a", 500, 100, 1), Event("a", 300, 100, 2)]) == []
    assert stream.batch([Event("a", 200, 199, 3), Event("b", 250, 199, 4)]) == []
    assert stream.batch([Event("a", 900, 200, 5)]) == [("a", 200, 3)]
    assert stream.output_watermark == 200
    assert stream.batch([Event("a", 150, 1000, 6), Event("b", 201, None, 7)]) == [("b", 201, 7)]
    assert (stream.late, stream.empty) == (1, False)
    assert stream.batch([END]) == []
    assert stream.empty


def test_by_arrival_first_rows_come_at_once_whatever_their_time() -> None:
    """As by processing time, but the watermarks of event time go on to the operators above."""
    stream = RowStream(KeepRow(COLUMNS, (0,), 1, FIRST, ((1, False, True),), by_arrival=True))
    assert stream.batch([Event("a", 500, None, 1), Event("a", 300, None, 2)]) == [("a", 300, 2)]
    assert stream.output_watermark is None
    assert stream.batch([Event("a", 100, 400, 3), Event("b", 200, 400, 4)]) == [("b", 200, 4)]
    assert (stream.output_watermark, stream.newest) == (400, None)
    assert stream.batch([Event("c", 50, 900, 5), Event("b", 1, None, 6)]) == [("c", 50, 5)]  # a window would be late
    assert (stream.late, stream.empty) == (0, False)
    assert stream.batch([Event("a", 901, None, 7), Event("d", 902, None, 8), END]) == [("d", 902, 8)]
    assert (stream.output_watermark, stream.empty) == (END_OF_INPUT, True)


def test_the_last_row_of_a_key_comes_when_the_key_was_quiet_for_the_retention() -> None:
    stream = RowStream(keeping(LAST, 1000))
    assert stream.batch([Event("a", 500, 400, 1), Event("a", 700, 400, 2), Event("b", 100, 400, 3)]) == []
    assert stream.batch([Event("a", 1500, 1400, 4)]) == [("b", 100, 3)]
    assert stream.output_watermark == 400
    assert stream.batch([Event("c", 2499, 2499, 5)]) == []
    assert stream.batch([Event("c", 2500, 2500, 6)]) == [("a", 1500, 4)]
    assert stream.batch([Event("a", 2600, None, 7)]) == []
    assert ordered(stream.batch([END])) == [("a", 2600, 7), ("c", 2500, 6)]
    assert stream.empty


def test_without_retention_last_rows_come_at_the_end_of_the_input() -> None:
    stream = RowStream(keeping(LAST))
    assert stream.batch([Event("a", 500, 400, 1), Event("a", 10**9, 10**9, 2), Event("b", 500, None, 9)]) == []
    assert stream.output_watermark is None
    assert ordered(stream.batch([END])) == [("a", 10**9, 2), ("b", 500, 9)]
    assert (stream.output_watermark, stream.empty) == (END_OF_INPUT, True)


def test_rows_of_one_time_go_by_value() -> None:
    events = [Event("a", 500, None, value) for value in (5, 2, 9)]
    assert RowStream(keeping(FIRST)).batch([*events, END]) == [("a", 500, 2)]
    assert RowStream(keeping(LAST)).batch([*events, END]) == [("a", 500, 9)]


def test_the_newest_first_row_that_waits_is_known_for_sources_that_turn_idle() -> None:
    stream = RowStream(keeping(FIRST, 1000))
    stream.batch([Event("a", 500, 100), Event("b", 700, 100)])
    assert stream.newest == 701
    assert ordered(stream.batch([Event(None, None, stream.newest - 1)])) == [("a", 500, 1), ("b", 700, 1)]
    assert stream.newest is None
    stream = RowStream(keeping(LAST, 1000))
    stream.batch([Event("a", 500, 100)])
    assert stream.newest is None  # a retention is no reason to move event time on


def test_a_key_that_was_forgotten_counts_as_new() -> None:
    stream = RowStream(keeping(FIRST, 1000))
    assert stream.batch([Event("a", 0, 0, 1)]) == [("a", 0, 1)]
    assert stream.batch([Event("a", 1000, 1000, 2)]) == []  # it keeps the key awake
    assert stream.batch([Event("a", 2000, 1999, 3), Event("a", 3001, None, 4)]) == []
    assert ordered(stream.batch([Event("b", 3001, 3001, 5)])) == [("a", 3001, 4), ("b", 3001, 5)]


def test_with_watermarks_on_event_a_row_is_late_by_the_row_before_it() -> None:
    stream = RowStream(keeping(FIRST), on_event=True)
    rows = [Event("a", 10, 10, 1), Event("b", 20, 20, 2), Event("b", 15, 15, 3), Event("c", 20, 20, 4)]
    assert stream.batch([*rows, END]) == [("a", 10, 1), ("b", 20, 2)]
    assert stream.late == 2


def model(
    batches: Sequence[Sequence[Event]], keep: str, retention: int, on_event: bool
) -> Iterator[tuple[list[Row], int]]:
    """What each micro-batch emits, and how many rows were late so far: all rows that were in time, in sessions."""
    watermark, late = -(2**62), 0
    in_time: dict[object, list[tuple[int, int]]] = defaultdict(list)
    marks = []
    for events in batches:
        standing = watermark
        for event in events:
            if event.ts is not None and event.ts <= standing:
                late += 1
            elif event.ts is not None:
                in_time[event.key].append((event.ts, event.value))
            watermark = max(watermark, event.watermark if event.watermark is not None else watermark)
            standing = watermark if on_event else standing
        marks.append((watermark, late))
    before = -(2**62)
    sessions = [(key, one) for key, rows in in_time.items() for one in split(sorted(rows), retention)]
    for watermark, late in marks:
        found = []
        for key, rows in sessions:
            row = rows[0] if keep == FIRST else rows[-1]
            final = row[0] if keep == FIRST else row[0] + retention if retention else END_OF_INPUT
            if before < final <= watermark:
                found.append((key, *row))
        yield found, late
        before = watermark


def split(rows: list[tuple[int, int]], retention: int) -> Iterator[list[tuple[int, int]]]:
    held: list[tuple[int, int]] = []
    for row in rows:
        if held and retention and row[0] - held[-1][0] > retention:
            yield held
            held = []
        held.append(row)
    yield held


@pytest.mark.parametrize("keep", [FIRST, LAST])
@examples(50)
@given(
    batches=micro_batches(),
    retention=st.sampled_from([0, 1, 7, 25, 60]),
    groups=st.sampled_from([1, 3]),
    partitions=st.sampled_from([1, 2]),
    bucket_rows=st.sampled_from([1, 4, 1000]),
)
def test_random_streams(
    keep: str, batches: list[list[Event]], retention: int, groups: int, partitions: int, bucket_rows: int
) -> None:
    stream = RowStream(keeping(keep, retention, bucket_rows=bucket_rows), groups, partitions)
    for events, (expected, late) in zip(batches, model(batches, keep, retention, False), strict=True):
        before = stream.output_watermark
        found = stream.batch(events)
        assert ordered(found) == ordered(expected)
        assert stream.late == late
        if before is not None:
            assert all(row[1] > before for row in found), "late for the operators above"
    assert stream.empty


@pytest.mark.parametrize("keep", [FIRST, LAST])
@examples(25)
@given(batches=micro_batches(), retention=st.sampled_from([0, 7, 25]))
def test_random_streams_by_event(keep: str, batches: list[list[Event]], retention: int) -> None:
    stream = RowStream(keeping(keep, retention), on_event=True)
    for events, (expected, late) in zip(batches, model(batches, keep, retention, True), strict=True):
        assert ordered(stream.batch(events)) == ordered(expected)
        assert stream.late == late
    assert stream.empty


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.parametrize("keep", [FIRST, LAST])
def test_state_is_bounded_over_days(keep: str) -> None:
    """New keys every hour, for six days (30 in `make soak`): with a retention of a day the state holds about a day of
    them."""
    stream = RowStream(keeping(keep, DAY, 64), groups=2)
    given_out, most, calls = 0, 0, 0
    for hour in range(24 * DAYS):
        now = hour * 3_600_000
        rows = [Event(f"k{hour}-{i}", now + i, now - 60_000, i) for i in range(20)]
        given_out += len(stream.batch(rows))
        most = max(most, stream.held)
    calls = sum(group.rows.calls for group in stream.state.values())
    assert most <= 20 * 26
    assert calls < 24 * DAYS * 2 * 60
    given_out += len(stream.batch([END]))
    assert given_out == 20 * 24 * DAYS
    assert stream.empty
