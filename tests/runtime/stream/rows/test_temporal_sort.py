"""The sort of a stream by event time: step by step, and against a plain model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.drawn_streams import micro_batches
from tests.models.streams import Event
from tests.support.examples import examples
from tests.support.row_streams import COLUMNS, Row, RowStream
from tvfsql.runtime.stream.rows.temporal_sort import TemporalSort
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

END = Event(None, None, END_OF_INPUT)
BY_VALUE = ((2, True, True),)


def sorting(
    *keys: tuple[int, bool, bool], slot: int = 10_000, on_event: bool = False, partitions: int = 1
) -> RowStream:
    return RowStream(TemporalSort(COLUMNS, 1, keys, slot=slot), 1, partitions, on_event, arrival=True)


def test_a_row_leaves_when_the_watermark_has_passed_it() -> None:
    stream = sorting()
    assert stream.batch([Event("a", 500, 100, 1), Event("b", 300, 100, 2), Event("c", 90, None, 3)]) == [("c", 90, 3)]
    assert (stream.output_watermark, stream.newest) == (100, 501)
    assert stream.batch([Event("d", 200, 299, 4), Event("e", 90, None, 5)]) == [("d", 200, 4)]
    assert stream.late == 1
    assert stream.batch([Event("f", 301, 400, 6), Event("g", 700, None, 7)]) == [("b", 300, 2), ("f", 301, 6)]
    assert stream.batch([END]) == [("a", 500, 1), ("g", 700, 7)]
    assert (stream.late, stream.empty, stream.newest) == (1, True, None)


def test_rows_of_one_time_go_by_the_other_keys_and_then_by_arrival() -> None:
    events = [Event("a", 5, None, 1), Event("b", 5, None, 3), Event("c", 4, None, 2), Event("d", 5, None, 1)]
    later = [Event("e", 5, None, 3), Event("f", 5, None, 2), END]
    plain, by_value = sorting(), sorting(*BY_VALUE)
    assert plain.batch(events) == by_value.batch(events) == []
    assert [key for key, _, _ in plain.batch(later)] == ["c", "a", "b", "d", "e", "f"]
    assert [key for key, _, _ in by_value.batch(later)] == ["c", "b", "e", "f", "a", "d"]


def model(
    batches: Sequence[Sequence[Event]], down: bool, on_event: bool, partitions: int
) -> Iterator[tuple[list[Row], int]]:
    """What each micro-batch emits, and how many rows were late so far."""
    watermark, late = -(2**62), 0
    waiting: list[Row] = []
    for events in batches:
        standing = watermark
        for event in (event for part in range(partitions) for event in events[part::partitions]):
            if event.ts is not None and event.ts <= standing:
                late += 1
            elif event.ts is not None:
                waiting.append((event.key, event.ts, event.value))
            watermark = max(watermark, event.watermark if event.watermark is not None else watermark)
            standing = watermark if on_event else standing
        due = [row for row in waiting if row[1] <= watermark]
        waiting = [row for row in waiting if row[1] > watermark]
        yield sorted(due, key=lambda row: (row[1], -row[2] if down else 0)), late


@pytest.mark.parametrize("on_event", [False, True])
@examples(60)
@given(
    batches=micro_batches(),
    down=st.booleans(),
    slot=st.sampled_from([1, 7, 1000]),
    partitions=st.sampled_from([1, 2]),
)
def test_random_streams(on_event: bool, batches: list[list[Event]], down: bool, slot: int, partitions: int) -> None:
    """State is reloaded for each micro-batch, so each border of micro-batches is a restart."""
    partitions = 1 if on_event else partitions
    stream = sorting(*(BY_VALUE if down else ()), slot=slot, on_event=on_event, partitions=partitions)
    for events, (expected, late) in zip(batches, model(batches, down, on_event, partitions), strict=True):
        assert stream.batch(events) == expected
        assert stream.late == late
    assert stream.empty
