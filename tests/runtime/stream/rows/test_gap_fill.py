"""Windows without rows of a stream against the plain definition, over random streams; each micro-batch is a restart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.models.drawn_streams import micro_batches
from tests.models.streams import Event
from tests.support.examples import examples
from tests.support.row_streams import COLUMNS, RowStream
from tvfsql.runtime.stream.rows.gap_fill import FillGaps
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

END = Event(None, None, END_OF_INPUT)
Filled = tuple[Any, int, int, int, Any]  # key, time, value of the row before, windows since then, value on the line


def gaps(step: int, retention: int, *, linear: bool = False, **more: Any) -> FillGaps:
    return FillGaps(COLUMNS, (0,), 1, step, retention, (2,) if linear else (), **more)


def each(rows: Sequence[tuple[Any, ...]], step: int) -> Iterator[Filled]:
    """A row for each window that a row of the operator stands for."""
    for key, time, value, first, last, *following in rows:
        for at in range(first, last + 1):
            line = None
            if following and following[0] is not None:
                line = value + (following[1] - value) * at / following[0]
            yield key, time + at * step, value, at, value if at == 0 and following else line


def test_a_key_goes_on_without_rows_until_the_retention_passes() -> None:
    stream = RowStream(gaps(10, 30), arrival=True)
    assert stream.batch([Event("a", 9, 9, 1), Event("b", 9, 9, 2)]) == [("a", 9, 1, 0, 0), ("b", 9, 2, 0, 0)]
    assert stream.batch([Event("a", 39, 28, 3)]) == [("a", 9, 1, 1, 1), ("b", 9, 2, 1, 1)], "the windows that end at 20"
    assert stream.batch([Event(None, None, 39)]) == [
        ("a", 9, 1, 2, 2),
        ("a", 39, 3, 0, 0),
        ("b", 9, 2, 2, 3),
    ]
    assert stream.held == 1, "b has ended"
    assert stream.output_watermark == 39
    assert stream.batch([END]) == [("a", 39, 3, 1, 3)]
    assert stream.empty


def test_on_a_line_windows_leave_when_the_next_one_with_rows_is_known() -> None:
    stream = RowStream(gaps(10, 20, linear=True), arrival=True)
    assert stream.batch([Event("a", 9, 9, 1)]) == []
    assert stream.output_watermark == -11
    assert stream.batch([Event("a", 39, 29, 4)]) == [("a", 9, 1, 0, 0, None, None)]
    assert stream.batch([Event(None, None, 59)]) == [("a", 9, 1, 1, 2, 3, 4), ("a", 39, 4, 0, 0, None, None)]
    assert stream.batch([END]) == [("a", 39, 4, 1, 2, None, None)]
    assert stream.empty


def model(batches: Sequence[Sequence[Event]], operator: FillGaps) -> Iterator[set[Filled]]:
    """What each micro-batch emits."""
    step, most, rows, watermark, done = operator.step, operator.reach // operator.step, {}, -(2**62), -(2**62)
    for events in batches:
        rows |= {(event.key, event.ts): event.value for event in events if event.ts is not None}
        watermark = max([watermark, *(event.watermark for event in events if event.watermark is not None)])
        now = watermark if watermark >= END_OF_INPUT else watermark - operator.delay
        found: set[Filled] = set()
        for (key, time), value in rows.items():
            later = sorted(t for k, t in rows if k == key and t > time)
            until = (later[0] - time) // step if later else most + 1
            for at in range(min(most + 1, until)):
                if done < time + at * step <= now:
                    line = None
                    if operator.linear and later and until <= most + 1:
                        line = value + (rows[key, later[0]] - value) * at / until
                    found.add((key, time + at * step, value, at, value if at == 0 and operator.linear else line))
        done = now
        yield found


@examples(80)
@given(
    batches=micro_batches(),
    step=st.sampled_from([1, 3, 10]),
    most=st.sampled_from([1, 2, 7]),
    linear=st.booleans(),
    groups=st.sampled_from([1, 3]),
    slot=st.sampled_from([1, 7, 1000]),
    bucket_rows=st.sampled_from([1, 4, 1000]),
)
def test_random_streams(
    batches: list[list[Event]], step: int, most: int, linear: bool, groups: int, slot: int, bucket_rows: int
) -> None:
    operator = gaps(step, most * step, linear=linear, slot=slot, bucket_rows=bucket_rows)
    stream = RowStream(operator, groups, arrival=True)
    windows = [*of_windows(batches, step)]
    for events, expected in zip(windows, model(windows, operator), strict=True):
        found = [*each(stream.batch(events), step)]
        assert set(found) == expected
        assert len(found) == len(expected)
    assert stream.late == 0
    assert stream.empty


def of_windows(batches: Sequence[Sequence[Event]], step: int) -> Iterator[list[Event]]:
    """The events as results of windows: one for each key and window, which the watermark has not passed."""
    seen, watermark = set(), -(2**62)
    for events in batches:
        made = []
        for event in events:
            ts = None if event.ts is None else event.ts - event.ts % step + step - 1
            if ts is not None and ((event.key, ts) in seen or ts <= watermark):
                ts = None
            seen.add((event.key, ts))
            made.append(replace(event, ts=ts))
        watermark = max([watermark, *(event.watermark for event in events if event.watermark is not None)])
        yield made


# ---- rows on a grid --------------------------------------------------------------------------------


def grid(step: int, limit: int, *, linear: bool = False, goes_on: bool = False, **more: Any) -> FillGaps:
    columns = (1, 2) if linear else ()
    return FillGaps(COLUMNS, (0,), 1, step, limit, columns, step, grid=True, between=not goes_on, ties=(2,), **more)


def on_grid(rows: Sequence[tuple[Any, ...]], step: int) -> Iterator[tuple[Any, ...]]:
    """(key, time, value of the row before, value on the line) for each row that a row of the operator stands for; the
    last one is None without LINEAR, and for a row of the input its value."""
    for key, time, value, first, last, *following in rows:
        for number in range(first, last + 1):
            made = time if number == 0 else time - time % step + number * step
            line = None
            if following and number == 0:
                line = value
            elif following and following[0] is not None:
                line = value + (following[2] - value) * (made - time) / (following[1] - time)
            yield key, made, value, line


def test_a_row_fills_the_gap_before_it() -> None:
    stream = RowStream(grid(10, 40), arrival=True)
    assert stream.batch([Event("a", 5, 4, 1), Event("b", 10, 4, 2)]) == []
    assert stream.output_watermark == -36
    assert stream.batch([Event("a", 33, 20, 3)]) == [("a", 5, 1, 0, 0), ("b", 10, 2, 0, 0)]
    assert stream.batch([Event("b", 51, 35, 4)]) == [("a", 5, 1, 1, 2), ("a", 33, 3, 0, 0)]
    assert stream.batch([END]) == [("b", 51, 4, 0, 0)], "b had none for longer than 40"
    assert stream.empty


def test_a_grid_can_go_on_until_the_limit_has_passed() -> None:
    stream = RowStream(grid(10, 20, goes_on=True), arrival=True)
    assert stream.batch([Event("a", 5, 5, 1)]) == [("a", 5, 1, 0, 0)]
    assert stream.output_watermark == -4
    assert stream.batch([Event(None, None, 18)]) == []
    assert stream.batch([Event(None, None, 19)]) == [("a", 5, 1, 1, 1)]
    assert stream.batch([Event("a", 41, 41, 2)]) == [("a", 5, 1, 2, 2), ("a", 41, 2, 0, 0)]
    assert stream.batch([END]) == [("a", 41, 2, 1, 2)]
    assert stream.empty


def grid_model(rows: set[tuple[Any, int, int, int]], operator: FillGaps) -> list[tuple[Any, ...]]:
    """The rows on the grid of rows (key, time, value, number)."""
    step, limit = operator.step, operator.retention
    found: list[tuple[Any, ...]] = []
    for key in {key for key, *_ in rows}:
        own = sorted((time, value) for k, time, value, _ in rows if k == key)
        for i, (time, value) in enumerate(own):
            line: float | None = value if operator.linear else None
            found.append((key, time, value, line))
            following = own[i + 1] if i + 1 < len(own) else None
            near = following is not None and following[0] - time <= limit
            if operator.between and not near:
                continue
            end = following[0] - following[0] % step if following else time + limit + 1
            for added in range(time - time % step + step, end, step):
                if operator.between or added <= time + limit:
                    if operator.linear and near:
                        line = value + (following[1] - value) * (added - time) / (following[0] - time)
                    found.append((key, added, value, line if near else None))
    return found


@examples(120)
@given(
    batches=micro_batches(),
    step=st.sampled_from([1, 3, 10]),
    most=st.sampled_from([1, 2.5, 7]),
    linear=st.booleans(),
    goes_on=st.booleans(),
    groups=st.sampled_from([1, 3]),
    slot=st.sampled_from([1, 7, 1000]),
    bucket_rows=st.sampled_from([1, 4, 1000]),
)
def test_random_streams_on_a_grid(
    batches: list[list[Event]],
    step: int,
    most: float,
    linear: bool,
    goes_on: bool,
    groups: int,
    slot: int,
    bucket_rows: int,
) -> None:
    operator = grid(step, int(most * step), linear=linear, goes_on=goes_on, slot=slot, bucket_rows=bucket_rows)
    stream = RowStream(operator, groups, arrival=True)
    rows: set[tuple[Any, int, int, int]] = set()
    found: list[tuple[Any, ...]] = []
    late, watermark = 0, -(2**62)
    for events in (*batches, [END]):
        passed = stream.output_watermark
        made = [*on_grid(stream.batch(events), step)]
        assert all(passed is None or time > passed for _, time, *_ in made), "no row is late for operators above"
        found += made
        for event in events:
            if event.ts is not None:
                late += event.ts <= watermark
                if event.ts > watermark:
                    rows.add((event.key, event.ts, event.value, len(rows)))
        watermark = max([watermark, *(event.watermark for event in events if event.watermark is not None)])
    assert sorted(found, key=str) == sorted(grid_model(rows, operator), key=str)
    assert stream.late == late
    assert stream.empty
