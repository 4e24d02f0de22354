"""OVER aggregates of a stream against the plain definition, over random streams; each micro-batch is a restart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.drawn_streams import micro_batches
from tests.models.streams import Event
from tests.support.examples import examples
from tests.support.row_streams import COLUMNS, Row, RowStream
from tvfsql.plan.aggregate.chosen_values import Counted, Quantiles, result_of
from tvfsql.plan.over import RANGE, ROWS, Frame
from tvfsql.plan.stream import StreamContext
from tvfsql.runtime.stream.exchange.rows_by_key import HASH
from tvfsql.runtime.stream.rows.over.operator import OverAggregate
from tvfsql.runtime.stream.state.chunk_index import Kind
from tvfsql.runtime.stream.state.memory import MemoryState
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

END = Event(None, None, END_OF_INPUT)
FRAMES = [
    Frame(ROWS, None),
    Frame(RANGE, None),
    *(Frame(ROWS, rows) for rows in (0, 1, 4)),
    *(Frame(RANGE, ms) for ms in (0, 3, 20, 60, 350, 1000)),  # those of 50 slots and more are wide
    Frame(ROWS, 2, 2),
    *(Frame(ROWS, *rows) for rows in ((0, -1), (2, -3), (None, -2), (-1, -1), (-2, -3), (4, 2), (None, 2))),
    *(Frame(RANGE, *ms) for ms in ((0, -3), (20, -20), (0, -350), (500, -500), (-5, -10), (-100, -900), (30, 10))),
]
MERGED: dict[str, Any] = {
    "sum": sum,
    "min": min,
    "max": max,
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
}


def over(*parts: tuple[Frame, str], retention: int = 0, slot: int = 10_000, **more: Any) -> OverAggregate:
    """The first frame reads the value. The others read their columns, which `RowStream` does not have."""
    ((frame, kind),) = parts
    return OverAggregate(COLUMNS, (0,), 1, ((frame, ((2, "value", kind),)),), retention, StreamContext(), slot, **more)


def test_the_sum_of_the_last_two_rows_of_each_key() -> None:
    stream = RowStream(over((Frame(ROWS, 1), "sum")), arrival=True)
    first = [Event("a", 100, 90, 1), Event("b", 100, 90, 7), Event("a", 100, 90, 2), Event("a", 150, 120, 3)]
    assert stream.batch(first) == [("a", 100, 1), ("b", 100, 7), ("a", 100, 3)]
    assert (stream.output_watermark, stream.newest, stream.held) == (120, 151, 3)
    assert stream.batch([Event("a", 220, 200, 4), Event("a", 119, None, 9)]) == [("a", 150, 5)]
    assert stream.batch([END]) == [("a", 220, 7)]
    assert (stream.late, stream.empty) == (1, True)


def test_a_key_without_rows_for_longer_than_the_retention_starts_anew() -> None:
    stream = RowStream(over((Frame(ROWS, None), "sum"), retention=50), arrival=True)
    assert stream.batch([Event("a", 0, 0, 1), Event("a", 50, 50, 2)]) == [("a", 0, 1), ("a", 50, 3)]
    assert stream.batch([Event("a", 101, 101, 4)]) == [("a", 101, 4)]
    assert stream.batch([Event("b", 1000, 1000, 5)]) == [("b", 1000, 5)]
    assert stream.held == 1, "a is forgotten"
    assert stream.batch([END]) == []
    assert stream.empty


def test_in_processing_time_rows_leave_in_their_micro_batch_in_order_of_arrival() -> None:
    """Their time is that of the micro-batch, and does not go back when the clock does. The watermarks of event time,
    and the end of a run, change nothing."""

    def rows(now: int, *events: tuple[str, int]) -> list[Event]:
        return [Event(key, now, None, value) for key, value in events]

    def stream(frame: Frame, **more: Any) -> RowStream:
        operator = replace(over((frame, "sum"), **more), context=StreamContext(proctime=True))
        return RowStream(operator, arrival=True)

    two, recent, forgotten = stream(Frame(ROWS, 1)), stream(Frame(RANGE, 10)), stream(Frame(ROWS, None), retention=10)
    found = []
    for now, *events in ((100, ("a", 1), ("b", 7), ("a", 2)), (90, ("a", 4)), (111, ("a", 8)), (123, ("b", 1))):
        of_batch = []
        for each in (two, recent, forgotten):
            each.now = int(now)
            of_batch.append([row[2] for row in each.batch(rows(int(now), *events))])
        found.append(of_batch)
    assert found == [
        [[1, 7, 3], [3, 7, 3], [1, 7, 3]],
        [[6], [7], [7]],
        [[12], [8], [8]],
        [[8], [1], [1]],
    ]
    assert [each.late for each in (two, recent, forgotten)] == [0, 0, 0]


def model(
    batches: Sequence[Sequence[Event]], frame: Frame, kind: str, retention: int, partitions: int
) -> Iterator[tuple[list[Row], int]]:
    """What each micro-batch emits, and how many rows were late so far."""
    watermark, late = -(2**62), 0
    waiting: list[Row] = []
    gone: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    held: list[tuple[Any, int]] = []  # the key and the place of rows that wait for rows that follow
    for events in batches:
        standing = watermark
        for event in (event for part in range(partitions) for event in events[part::partitions]):
            if event.ts is not None and event.ts <= standing:
                late += 1
            elif event.ts is not None:
                waiting.append((event.key, event.ts, event.value))
            watermark = max(watermark, event.watermark if event.watermark is not None else watermark)
        due = sorted((row for row in waiting if row[1] <= watermark), key=lambda row: row[1])
        waiting = [row for row in waiting if row[1] > watermark]
        for key, time, value in due:
            held.append((key, len(gone[key])))
            gone[key].append((time, value))
        leaving = [each for each in held if leaves(gone[each[0]], each[1], frame, retention, standing, watermark)]
        held = [each for each in held if each not in leaving]
        yield [(key, gone[key][at][0], of(gone[key], at, frame, kind, retention)) for key, at in leaving], late


def leaves(rows: list[tuple[int, int]], at: int, frame: Frame, retention: int, before: int, watermark: int) -> bool:
    """Whether the row `at` leaves, at the latest, in a micro-batch that moves the watermark from `before` to
    `watermark`."""
    if watermark >= END_OF_INPUT:
        return True
    if frame.unit == RANGE:
        return rows[at][0] + frame.following <= watermark
    last = last_of_run(rows, at, retention)
    if at + frame.following <= last or last < len(rows) - 1:
        return True
    step = max(1, retention // 4)
    looked = retention and (before < -(2**61) or before // step != watermark // step)
    return bool(looked and rows[last][0] + retention <= watermark)


def last_of_run(rows: list[tuple[int, int]], at: int, retention: int) -> int:
    while at + 1 < len(rows) and not (retention and rows[at + 1][0] - rows[at][0] > retention):
        at += 1
    return at


def of(rows: list[tuple[int, int]], at: int, frame: Frame, kind: str, retention: int) -> Any:
    """The result beside the row `at`."""
    time, start = rows[at][0], at
    by_key = frame.unit == ROWS or frame.start is None
    while start > 0 and not (by_key and retention and rows[start][0] - rows[start - 1][0] > retention):
        start -= 1
    if frame.unit == ROWS:
        first = start if frame.start is None else max(start, at - frame.start)
        behind = min(at - frame.end, last_of_run(rows, at, retention)) + 1
        values = [value for _, value in rows[first : max(first, behind)]]
    else:
        least = -(2**62) if frame.start is None else time - frame.start
        stop = last_of_run(rows, at, 0 if frame.start is not None else retention) + 1
        values = [value for when, value in rows[start:stop] if least <= when <= time - frame.end]
    return MERGED[kind](values) if values else None


@examples(60)
@given(
    batches=micro_batches(),
    frame=st.sampled_from(FRAMES),
    kind=st.sampled_from([*MERGED]),
    retention=st.sampled_from([0, 0, 7, 25]),
    groups=st.sampled_from([1, 3]),
    partitions=st.sampled_from([1, 2]),
    slot=st.sampled_from([1, 7, 1000]),
    bucket_rows=st.sampled_from([1, 4, 1000]),
    chunk_rows=st.sampled_from([1, 3, 1000]),
)
def test_random_streams(
    batches: list[list[Event]],
    frame: Frame,
    kind: str,
    retention: int,
    groups: int,
    partitions: int,
    slot: int,
    bucket_rows: int,
    chunk_rows: int,
) -> None:
    kind = "first" if frame.start == frame.end else kind  # LAG and LEAD
    operator = over((frame, kind), retention=retention, slot=slot, bucket_rows=bucket_rows, chunk_rows=chunk_rows)
    stream = RowStream(operator, groups, partitions, arrival=True)
    left, emitted_until = list[Row](), -(2**62)
    for events, (expected, late) in zip(batches, model(batches, frame, kind, retention, partitions), strict=True):
        found = stream.batch(events)
        ordered = groups == 1 and not (frame.unit == ROWS and frame.following)
        assert found == expected if ordered else sorted(found, key=str) == sorted(expected, key=str)
        assert stream.late == late
        left += found
        if stream.output_watermark is not None:
            assert all(time > emitted_until for _, time, _ in found), "rows leave before the output watermark passes"
            emitted_until = stream.output_watermark
    assert stream.empty
    assert len(left) + stream.late == sum(event.ts is not None for events in batches for event in events)


MOMENTS = pa.struct([("n", pa.int64()), ("mean", pa.float64()), ("m2", pa.float64())])
WIDE = Frame(RANGE, 5_000)


def doubles(rows: int, keys: int) -> pa.RecordBatch:
    """Time, key, value, its moments, number, hash."""
    draw = np.random.default_rng(rows)
    times = np.cumsum(draw.integers(0, 40_000, rows))
    values = draw.normal(0, 1e6, rows)
    moments = pa.StructArray.from_arrays(
        [pa.array(np.ones(rows, dtype=np.int64)), pa.array(values), pa.array(np.zeros(rows))], fields=[*MOMENTS]
    )
    key = draw.integers(0, keys, rows)
    columns = [pa.array(times).cast(pa.timestamp("us")), pa.array(key), pa.array(values), moments]
    columns += [pa.array(np.arange(rows)), pa.array(key * 7)]
    return pa.RecordBatch.from_arrays(columns, names=[*map(str, range(5)), HASH])


def of_doubles(rows: pa.RecordBatch, micro_batches: int) -> tuple[list[Any], int]:
    """Sums and moments of a wide frame, in so many micro-batches; and the most rows in state."""
    operator = OverAggregate(4, (1,), 0, ((WIDE, ((2, "x", "sum"), (3, "m", "moments"))),), slot=100)
    state, found, held = MemoryState(), [], 0
    size = -(-rows.num_rows // micro_batches)
    for start in range(0, rows.num_rows, size):
        group, part = operator.open(state, None, 0), rows.slice(start, size)
        group.add([part])
        last = (start + size) >= rows.num_rows
        now = END_OF_INPUT if last else int(part.column(0)[-1].cast(pa.int64()).as_py()) // 1000 - 1
        for emitted in group.advance([("a", now)]):
            found += zip(*(emitted.rows.column(i).to_pylist() for i in (2, 3)), strict=True)
        held = max(held, sum(map(group.store.rows_of, group.store.keys(Kind.FRAME))))
        group.flush()
    return found, held


@pytest.mark.parametrize("keys", [1, 3, 40])
def test_floats_of_a_wide_frame_do_not_depend_on_micro_batches(keys: int) -> None:
    rows = doubles(2_000, keys)
    expected, _ = of_doubles(rows, 1)
    for number in (2, 7, 100):
        assert of_doubles(rows, number)[0] == expected, number
    times, values = rows.column(0).cast(pa.int64()).to_numpy(), rows.column(2).to_numpy()
    key = rows.column(1).to_numpy()
    for at in range(0, 2_000, 13):
        frame = values[(times >= times[at] - 5_000_000) & (times <= times[at]) & (key == key[at])]
        total, moments = expected[at]
        assert total == pytest.approx(frame.sum(), rel=1e-9, abs=1e-3)
        assert moments["n"] == len(frame)
        assert moments["m2"] == pytest.approx(frame.var() * len(frame), rel=1e-9, abs=1e-3)


LIST, BAG = pa.list_(pa.int64()), pa.list_(pa.struct([("x", pa.int64()), ("n", pa.int64())]))
QUARTILES = Quantiles((0.25, 0.5), (0.9,), results=True)
KINDS: dict[Any, tuple[pa.DataType, Callable[[int], Any], Callable[[list[int]], Any]]] = {
    "sum": (pa.int64(), int, sum),
    "max": (pa.int64(), int, max),
    "last": (pa.int64(), int, lambda values: values[-1]),
    "concat": (LIST, lambda x: [x], list),
    "distinct": (LIST, lambda x: [x], lambda values: [*dict.fromkeys(values)]),
    Counted(total=True): (LIST, lambda x: [x], lambda values: {"n": len({*values}), "total": sum({*values})}),
    QUARTILES: (BAG, lambda x: [{"x": x, "n": 1}], lambda values: quantiles(values)),
}


def quantiles(values: list[int]) -> dict[str, float]:
    ranked = np.array(sorted(values), dtype=np.float64)
    of = {result_of(p): float(np.quantile(ranked, p)) for p in (0.25, 0.5)}
    return of | {result_of(0.9, discrete=True): float(ranked[max(0, -(-9 * len(ranked) // 10) - 1)])}


@examples(40)
@given(
    frames=st.lists(st.tuples(st.sampled_from(FRAMES), st.sampled_from([*KINDS])), min_size=1, max_size=4),
    rows=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 2), st.integers(-3, 3)), min_size=1, max_size=40),
    cuts=st.sets(st.integers(1, 39), max_size=6),
    behind=st.sampled_from([1, 30]),
    slot=st.sampled_from([1, 5]),
)
def test_several_frames_of_one_operator(
    frames: list[tuple[Frame, Any]], rows: list[tuple[int, int, int]], cuts: set[int], behind: int, slot: int
) -> None:
    """Each row leaves once, with the results of all its frames, whatever they wait for."""
    times = np.cumsum([gap for gap, _, _ in rows]).tolist()
    keys, values = [key for _, key, _ in rows], [value for _, _, value in rows]
    partials = [pa.array([KINDS[kind][1](value) for value in values], KINDS[kind][0]) for _, kind in frames]
    columns = [pa.array(range(len(rows))), pa.array(keys), pa.array(times, pa.timestamp("ms")).cast(pa.timestamp("us"))]
    columns += [*partials, pa.array(range(len(rows))), pa.array([key * 7 for key in keys])]
    batch = pa.RecordBatch.from_arrays(columns, names=[*map(str, range(len(columns) - 1)), HASH])
    parts = tuple((frame, ((3 + i, "x", kind),)) for i, (frame, kind) in enumerate(frames))
    operator = OverAggregate(3 + len(frames), (1,), 2, parts, slot=slot)
    state, found = MemoryState(), dict[int, tuple[Any, ...]]()
    bounds = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    for start, stop in pairwise(bounds):
        group = operator.open(state, None, 0)
        group.add([batch.slice(start, stop - start)])
        now = END_OF_INPUT if stop == len(rows) else times[stop] - behind
        for emitted in group.advance([("a", now)]):
            for one in zip(*(column.to_pylist() for column in emitted.rows.columns), strict=True):
                assert one[0] not in found
                found[one[0]] = one[3:]
        group.flush()
    assert not state.chunks
    for key in {*keys}:
        places = [at for at, each in enumerate(keys) if each == key]
        of_key = [(times[at], values[at]) for at in places]
        for number, at in enumerate(places):
            expected = [within(of_key, number, frame) for frame, _ in frames]
            assert tuple(map(without_empty, found.pop(at))) == tuple(
                KINDS[kind][2](values) if values else None for (_, kind), values in zip(frames, expected, strict=True)
            )
    assert not found


def without_empty(result: Any) -> Any:
    """None for what a result is finished from, if that is without values."""
    empty = isinstance(result, dict) and (result.get("n") == 0 or {*result.values()} == {None})
    return None if empty else result


def within(rows: list[tuple[int, int]], at: int, frame: Frame) -> list[int]:
    """The values of a frame, without a retention."""
    if frame.unit == ROWS:
        first = 0 if frame.start is None else max(0, at - frame.start)
        return [value for _, value in rows[first : max(first, at + 1 - frame.end)]]
    time = rows[at][0]
    least = -(2**62) if frame.start is None else time - frame.start
    return [value for when, value in rows if least <= when <= time - frame.end]
