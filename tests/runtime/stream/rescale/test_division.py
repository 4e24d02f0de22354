"""State in other key groups: a stream that is divided anew between two micro-batches emits the same rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models import firing, streams
from tests.models.chosen_aggregates import NAMES, of_merges
from tests.models.drawn_streams import EVEN, LONG, WINDOWS, micro_batches, several_windows
from tests.models.firing import FiringOperator
from tests.models.sides import INPUTS, TUMBLES, Sides, Together, two_sides
from tests.models.streams import Event, Memory, Operator, ordered
from tests.support import row_streams
from tests.support.examples import examples
from tests.support.row_streams import COLUMNS, RowStream
from tests.support.timers import Memory as TimerMemory
from tvfsql.errors import DataError, UnsupportedError
from tvfsql.plan.checkpoint.manifest import LAYOUT
from tvfsql.plan.over import RANGE, ROWS, Frame
from tvfsql.plan.stream import Firing, StreamContext
from tvfsql.plan.window import Hop, Session, Several, Sliced, Tumble, Window
from tvfsql.runtime.arrow.spark_hash import xxhash64
from tvfsql.runtime.stream.exchange.key_groups import key_group_labels
from tvfsql.runtime.stream.operator.protocol import Operator as RowOperator
from tvfsql.runtime.stream.rescale.division import Division, Part
from tvfsql.runtime.stream.rescale.state_rows import GroupState, SetTimers, read, written
from tvfsql.runtime.stream.rows.deduplicate import FIRST, LAST, KeepRow
from tvfsql.runtime.stream.rows.joins.intervals import IntervalJoin
from tvfsql.runtime.stream.rows.joins.regular import RegularJoin
from tvfsql.runtime.stream.rows.joins.two_sides import PRESERVED
from tvfsql.runtime.stream.rows.joins.versions import TemporalJoin
from tvfsql.runtime.stream.rows.over.operator import OverAggregate
from tvfsql.runtime.stream.rows.ranks.changes import RankChanges
from tvfsql.runtime.stream.rows.ranks.of_windows import Limit
from tvfsql.runtime.stream.rows.ranks.updating import BestRows
from tvfsql.runtime.stream.state import chunk_store
from tvfsql.runtime.stream.state.chunk_index import Kind
from tvfsql.runtime.stream.state.description import Description

NUMBERS = st.sampled_from([(4, 8), (8, 2), (4, 3), (1, 5), (3, 1), (2, 2)])
CUTS = st.integers(0, 12)
ON_SIDES = ("key", "time", "value", "key0", "time0", "value0")  # the columns of both sides of a join
SESSIONS = st.builds(Session, st.integers(1, 30), st.none() | st.integers(1, 60))
FIRINGS = st.builds(Firing, st.none() | st.just(0), st.just(0), st.sampled_from([0, 10, 40]), st.booleans())


def spark_hash(key: str | None) -> int:
    """The hash by which Spark finds the key group of a key."""
    return int(xxhash64([pa.array([key], pa.string())], 1)[0])


@pytest.fixture(autouse=True, scope="module")
def keys_are_hashed_as_spark_does() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (streams, row_streams, firing):
            patch.setattr(module, "key_hash", spark_hash, raising=False)
        yield


def divided(description: Description, numbers: tuple[int, int], states: dict[int, GroupState]) -> dict[int, GroupState]:
    """The states of all key groups, in other key groups, by way of Spark's rows of bytes."""
    division = Division(*numbers, joins=(ON_SIDES,))
    parts: dict[int, list[Part]] = {}
    for label, state in states.items():
        for part in division.split(label, read(written(label, state))):
            parts.setdefault(part.target, []).append(part)
    return {label: read(written(label, division.join(label, of))) for label, of in parts.items()}


def to_state(description: Description, rows: Memory, timers: TimerMemory | None = None) -> GroupState:
    assert rows.kept is not None
    state = GroupState((*rows.kept, description.dump()), dict(rows.chunks))
    if timers is not None:
        state.queues = dict(timers.queues)
        state.timers = [SetTimers(name, number, data) for (name, number), data in timers.chunks.items()]
    return state


def of_state(state: GroupState) -> tuple[Memory, TimerMemory]:
    assert state.index is not None
    timers = TimerMemory(dict(state.queues), {(name, number): data for name, number, data in state.timers})
    return Memory(state.index[:3], dict(state.chunks)), timers


def divide_windows(operator: Operator, description: Description, numbers: tuple[int, int]) -> None:
    known = {label: to_state(description, state) for label, state in operator.states.items() if state.kept}
    operator.states = {label: of_state(state)[0] for label, state in divided(description, numbers, known).items()}
    operator.groups = numbers[1]


@given(WINDOWS | LONG | SESSIONS | several_windows(), micro_batches(), NUMBERS, CUTS, st.booleans())
@examples(40)
def test_windows_go_on(
    window: Window, batches: list[list[Event]], numbers: tuple[int, int], cut: int, adjust: bool
) -> None:
    context = StreamContext(adjust=adjust and not isinstance(window, Several))
    description = Description("GlobalWindowAggregate", ("key",), window)
    one, other = Operator(window, numbers[0], context=context), Operator(window, 1, context=context)
    for number, events in enumerate(batches):
        if number == cut:
            divide_windows(one, description, numbers)
        assert ordered(one.batch(events)) == ordered(other.batch(events))
        assert (one.late, one.adjusted) == (other.late, other.adjusted)
    assert all(not state.chunks for state in one.states.values())


@given(TUMBLES, two_sides(), NUMBERS, CUTS)
@examples(20)
def test_windows_of_both_sides_of_a_join_go_on(
    window: Sliced, batches: list[Sides], numbers: tuple[int, int], cut: int
) -> None:
    description = Description("GlobalWindowAggregate", ("key",), window, inputs=INPUTS)
    one, other = Together(window, numbers[0]), Together(window, 1)
    for number, sides in enumerate(batches):
        if number == cut:
            divide_windows(one, description, numbers)
        assert ordered(one.of_sides(sides)) == ordered(other.of_sides(sides))
        assert one.late == other.late
    assert all(not state.chunks for state in one.states.values())


@given(EVEN, FIRINGS, micro_batches(), NUMBERS, CUTS)
@examples(30)
def test_windows_that_fire_early_and_late_go_on(
    window: Sliced, firing: Firing, batches: list[list[Event]], numbers: tuple[int, int], cut: int
) -> None:
    if getattr(window, "emit_only_on_change", False):
        return  # these do not fire early
    description = Description("GlobalWindowAggregate", ("key",), window)
    one, other = FiringOperator(window, numbers[0], firing=firing), FiringOperator(window, 1, firing=firing)
    for number, events in enumerate(batches):
        if number == cut:
            divide_windows(one, description, numbers)
        assert ordered(one.changes(events, number)) == ordered(other.changes(events, number))
        assert one.late == other.late


def row_operators() -> st.SearchStrategy[tuple[str, RowOperator]]:
    bounds = st.tuples(st.integers(-40, 20), st.integers(0, 60)).map(lambda of: (of[0] * 1000, (of[0] + of[1]) * 1000))
    two, keys, times = (COLUMNS,) * 2, ((0,), (0,)), (1, 1)

    def joined(between: tuple[int, int], kind: str) -> RowOperator:
        return IntervalJoin(two, keys, times, between, kind, (False,), least_slot=10)

    kept = st.builds(KeepRow, st.just(COLUMNS), st.just((0,)), st.just(1), st.sampled_from([FIRST, LAST]))
    kept = st.builds(lambda row, ttl: replace(row, retention=ttl, bucket_rows=2), kept, st.sampled_from([0, 15]))
    versions = st.sampled_from(["inner", "left"])
    versions = versions.map(lambda kind: TemporalJoin(two, keys, times, kind, (False,), slot=10, bucket_rows=2))
    return st.one_of(
        st.tuples(st.just("Deduplicate"), kept),
        st.tuples(st.just("TemporalJoin"), versions),
        st.tuples(st.just("IntervalJoin"), st.builds(joined, bounds, st.sampled_from([*PRESERVED]))),
    )


@given(row_operators(), micro_batches(), micro_batches(), NUMBERS, CUTS)
@examples(60)
def test_rows_go_on(
    named: tuple[str, RowOperator],
    left: list[list[Event]],
    right: list[list[Event]],
    numbers: tuple[int, int],
    cut: int,
) -> None:
    name, operator = named
    two = name != "Deduplicate"
    description = Description(name, ("key = key0",) if two else ("key",), inputs=("1/", "2/") if two else ("",))
    one, other = RowStream(operator, numbers[0]), RowStream(operator, 1)
    right = [*right, *[[]] * len(left)]
    for number, events in enumerate(left):
        sides: Sequence[Sequence[Event]] = (events, right[number]) if two else (events,)
        if number == len(left) - 1 and two:
            sides = (events, [Event(None, None, END) for END in [streams.END_OF_INPUT]])
        if number == cut:
            divide_rows(one, description, numbers)
        assert ordered(one.batch(*sides)) == ordered(other.batch(*sides))
        assert (one.late, one.output_watermark) == (other.late, other.output_watermark)
    assert one.empty


def divide_rows(stream: RowStream, description: Description, numbers: tuple[int, int]) -> None:
    known = {
        label: to_state(description, group.rows, group.timers)
        for label, group in stream.state.items()
        if group.rows.kept
    }
    stream.state.clear()
    for label, state in divided(description, numbers, known).items():
        stream.state[label] = row_streams.Group(*of_state(state))
    stream.groups = numbers[1]


OVER_FRAMES = [Frame(ROWS, 2), Frame(ROWS, None, -2), Frame(ROWS, -1, -1), Frame(RANGE, 5, -20), Frame(RANGE, 50)]


@given(st.sampled_from(OVER_FRAMES), st.sampled_from([0, 15]), micro_batches(), NUMBERS, CUTS)
@examples(40)
def test_over_goes_on(
    frame: Frame, retention: int, batches: list[list[Event]], numbers: tuple[int, int], cut: int
) -> None:
    parts = ((frame, ((2, "value", "first" if frame.start == frame.end else "sum"),)),)
    operator = OverAggregate(COLUMNS, (0,), 1, parts, retention, slot=1, bucket_rows=2)
    description = Description("OverAggregate", ("key",), inputs=("",))
    one, other = RowStream(operator, numbers[0], arrival=True), RowStream(operator, 1, arrival=True)
    for number, events in enumerate(batches):
        if number == cut:
            divide_rows(one, description, numbers)
        assert ordered(one.batch(events)) == ordered(other.batch(events))
        assert (one.late, one.output_watermark) == (other.late, other.output_watermark)
    assert one.empty


@given(micro_batches(), NUMBERS, CUTS)
@examples(30)
def test_best_rows_go_on(batches: list[list[Event]], numbers: tuple[int, int], cut: int) -> None:
    limit = Limit("row_number", (0,), ((2, True, False), (1, False, True)), 1, 2)
    changes = RankChanges((0,), (0, 1, 2), True, by_rank=True)
    operator = BestRows(COLUMNS, limit, 1, changes, context=StreamContext(proctime=True), bucket_rows=2)
    one, other = RowStream(operator, numbers[0]), RowStream(operator, 1)
    for number, events in enumerate(batches):
        if number == cut:
            divide_rows(one, Description("TopN", ("key",)), numbers)
        assert ordered(one.batch(events)) == ordered(other.batch(events))
    assert one.held == other.held


@given(micro_batches(), micro_batches(), st.sampled_from([*PRESERVED]), NUMBERS, CUTS)
@examples(60)
def test_regular_joins_go_on(
    left: list[list[Event]], right: list[list[Event]], kind: str, numbers: tuple[int, int], cut: int
) -> None:
    context = StreamContext(inputs=("1/", "2/"), proctime=True)
    two, keys = (COLUMNS,) * 2, ((0,), (0,))
    operator = RegularJoin(two, keys, (False,), kind, (False, False), (10**9, 10**9), context, bucket_rows=2)
    one, other = RowStream(operator, numbers[0]), RowStream(operator, 1)
    for number, sides in enumerate(zip_longest(left, right, fillvalue=[])):
        if number == cut:
            divide_rows(one, Description("RegularJoin", ("key = key0",), inputs=("1/", "2/")), numbers)
        assert ordered(one.batch(*sides)) == ordered(other.batch(*sides))
    assert one.held == other.held


def busy(window: Window, groups: int) -> dict[int, GroupState]:
    description = Description("GlobalWindowAggregate", ("key",), window)
    operator = Operator(window, groups)
    operator.batch([Event(key, at, 0) for key in "abcdefgh" for at in range(1, 60)])
    return {label: to_state(description, state) for label, state in operator.states.items()}


def test_a_row_in_a_key_group_that_is_not_its_own_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_store, "SMALL_ROWS", -1)  # so that each chunk is an entry of its own
    states = busy(Tumble(100), 4)
    one, other, strange = next(
        (key, a, b) for a in states for b in states for key in states[a].chunks if a != b and key in states[b].chunks
    )
    states[strange].chunks[one] = states[other].chunks[one]
    with pytest.raises(DataError, match="belongs to another one by its key"):
        divided(Description("GlobalWindowAggregate", ("key",), Tumble(100)), (4, 8), states)


def test_without_keys_there_is_one_key_group_whatever_the_number() -> None:
    window = Tumble(100)
    description = Description("GlobalWindowAggregate", (), window)
    (state,) = busy(window, 1).values()
    assert state.index is not None
    state.index = (*state.index[:3], description.dump())
    (label,) = key_group_labels(1)
    after = divided(description, (4, 8), {label: state})
    assert [*after] == [label]
    assert after[label].chunks == state.chunks


def test_key_groups_that_differ_in_their_watermark_are_not_joined() -> None:
    states = busy(Tumble(100), 2)
    first = next(iter(states.values()))
    assert first.index is not None
    first.index = (7, *first.index[1:])
    with pytest.raises(DataError, match="different watermarks"):
        divided(Description("GlobalWindowAggregate", ("key",), Tumble(100)), (2, 3), states)


def test_a_key_group_may_have_the_description_of_an_earlier_query() -> None:
    """It has had nothing to write since the query changed. An earlier release wrote it."""
    window = Tumble(100)
    states = busy(window, 4)
    first = next(iter(states.values()))
    assert first.index is not None
    old = json.loads(Description("GlobalWindowAggregate", ("name",), window).dump()) | {"layout": LAYOUT}
    first.index = (*first.index[:3], json.dumps(old))
    description = Description("GlobalWindowAggregate", ("key",), window)
    after = divided(description, (4, 3), states)
    assert {state.index and state.index[3] for state in after.values()} == {description.dump()}


@given(EVEN | SESSIONS, micro_batches(), NUMBERS, CUTS, CUTS)
@examples(30)
def test_windows_of_a_query_that_has_changed_its_aggregates_go_on(
    window: Window, batches: list[list[Event]], numbers: tuple[int, int], change: int, cut: int
) -> None:
    """One aggregate is added, and one dropped."""
    if getattr(window, "emit_only_on_change", False):
        return  # these cannot change
    description = Description("GlobalWindowAggregate", ("key",), window)
    one, other = Operator(window, numbers[0]), Operator(window, 1)
    places = [name for name in streams.operator(window).layout.names if name not in NAMES]
    for number, events in enumerate(batches):
        own = NAMES[:3] if number < change else [*NAMES[:2], *NAMES[3:]]
        for each in (one, other):
            each.made, each.given = of_merges(window, own), lambda batch, own=own: batch.select([*places, *own])
        if number == cut:
            divide_windows(one, description, numbers)
        assert ordered(one.batch(events)) == ordered(other.batch(events))


def test_runs_of_slices_are_made_again() -> None:
    """One key group has runs. Rows of another one came into the same slices later, so it has none."""
    description = Description("GlobalWindowAggregate", ("key",), Hop(1, 60))
    one, other = Operator(Hop(1, 60), 4), Operator(Hop(1, 60), 1)
    for operator in (one, other):
        operator.batch([Event("a", at, 70) for at in range(1, 90)])
        operator.batch([Event(None, None, 72)])
        operator.batch([Event(key, at) for key in "bcdefgh" for at in (40, 50)])
    kinds = [{key.kind for key in state.unpacked} for state in one.states.values()]
    assert {Kind.SLICE} in kinds
    assert {Kind.SLICE, Kind.SLICE_RUN} in kinds
    divide_windows(one, description, (4, 1))
    end = [Event(None, None, 74)]
    assert ordered(one.batch(end)) == ordered(other.batch(end))


def test_a_join_that_the_manifest_does_not_have_is_refused() -> None:
    stream = RowStream(IntervalJoin((COLUMNS,) * 2, ((0,), (0,)), (1, 1), (0, 50_000), "inner", (False,)), 2)
    stream.batch([Event("a", 100)], [])
    description = Description("IntervalJoin", ("shop = shop0",), inputs=("1/", "2/"))
    states = {label: to_state(description, group.rows, group.timers) for label, group in stream.state.items()}
    with pytest.raises(UnsupportedError, match="no join ON shop = shop0"):
        divided(description, (2, 3), {label: state for label, state in states.items() if state.chunks})
