"""Timers (semantics.md e.1): the rules one by one, against a plain model, and behind pyspark's tester."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.streaming.tws_tester import TwsTester

from tvfsql.runtime.stream import timer_queue
from tvfsql.runtime.stream.timer_queue import TimerQueue
from tvfsql.runtime.stream.timer_rows import Timer, TimerRows, each
from tvfsql.runtime.stream.timers import SparkTimerState, TimerService, TimerServices

KEYS = (pa.string(), pa.float64())


@dataclass
class Memory:
    """State in dictionaries; counts the calls."""

    queues: dict[Any, Any] = field(default_factory=dict)
    chunks: dict[Any, bytes] = field(default_factory=dict)
    calls: int = 0

    def queue(self, name: Any) -> Any:
        self.calls += 1
        return self.queues.get(name)

    def set_queue(self, name: Any, now: int | None, chunks: bytes) -> None:
        self.calls += 1
        self.queues[name] = now, chunks

    def chunk(self, name: Any, number: int) -> bytes:
        self.calls += 1
        return self.chunks[name, number]

    def set_chunk(self, name: Any, number: int, data: bytes) -> None:
        self.calls += 1
        self.chunks[name, number] = data

    def remove_chunk(self, name: Any, number: int) -> None:
        self.calls += 1
        del self.chunks[name, number]


def service(state: Memory | None = None) -> TimerService:
    """A service with keys of one string."""
    return TimerServices(state or Memory()).get("clean-up", [pa.string()])


def fired(advance: Callable[[int, Callable[[Timer], None]], None], time: int) -> list[tuple[Any, ...]]:
    seen: list[tuple[Any, ...]] = []
    advance(time, lambda timer: seen.append((*timer.key, timer.namespace, timer.time)))
    return seen


def test_due_timers_fire_smallest_first_and_once() -> None:
    timers = service()
    for key, time in (("a", 30), ("b", 10), ("a", 20), ("b", 10), ("c", 31)):
        timers.current_key = (key,)
        timers.register_event_time_timer(7, time)
    assert timers.current_watermark() is None
    assert fired(timers.advance_watermark, 9) == []
    assert fired(timers.advance_watermark, 30) == [("b", 7, 10), ("a", 7, 20), ("a", 7, 30)]
    assert fired(timers.advance_watermark, 30) == []
    assert fired(timers.advance_watermark, 2**63 - 1) == [("c", 7, 31)]


def test_the_two_clocks_know_nothing_of_each_other() -> None:
    timers = service()
    timers.current_key = ("a",)
    timers.register_event_time_timer(0, 5)
    timers.register_processing_time_timer(0, 6)
    assert fired(timers.advance_processing_time, 100) == [("a", 0, 6)]
    assert (timers.current_processing_time(), timers.current_watermark()) == (100, None)
    assert fired(timers.advance_watermark, 5) == [("a", 0, 5)]


def test_the_clock_moves_before_callbacks_and_never_back() -> None:
    timers = service()
    timers.current_key = ("a",)
    timers.register_event_time_timer(0, 5)
    seen: list[Any] = []
    timers.advance_watermark(50, lambda timer: seen.append((timers.current_watermark(), timers.current_key)))
    assert seen == [(50, ("a",))]
    timers.register_event_time_timer(0, 40)  # its time has passed: it fires at the next advance, however small
    assert fired(timers.advance_watermark, 20) == [("a", 0, 40)]
    assert timers.current_watermark() == 50


def test_a_namespace_is_part_of_a_timer() -> None:
    timers = service()
    timers.current_key = ("a",)
    for namespace in (1, 2, 3):
        timers.register_event_time_timer(namespace, 5)
    timers.delete_event_time_timer(2, 5)
    timers.delete_event_time_timer(9, 5)  # never set
    assert fired(timers.advance_watermark, 5) == [("a", 1, 5), ("a", 3, 5)]


def test_callbacks_register_and_delete_what_is_due_in_the_same_advance() -> None:
    timers = service()
    for key, time in (("a", 10), ("b", 40), ("c", 30)):
        timers.current_key = (key,)
        timers.register_event_time_timer(0, time)
    seen = []

    def fire(timer: Timer) -> None:
        seen.append((*timer.key, timer.time))
        if timer.key == ("a",) and timer.time < 70:
            timers.register_event_time_timer(0, timer.time + 10)  # 20, 30, ... up to 50 are due
        if timer.key == ("c",):
            timers.current_key = ("b",)
            timers.delete_event_time_timer(0, 40)

    timers.advance_watermark(50, fire)
    assert seen == [("a", 10), ("a", 20), ("c", 30), ("a", 30), ("a", 40), ("a", 50)]
    assert timers.event_time.earliest() == 60


def test_a_timer_that_is_set_again_after_its_deletion_comes_last() -> None:
    timers = service()

    def set_again(timer: Timer) -> None:
        seen.append(timer.key)
        if timer.key == ("a",):
            timers.current_key = ("b",)
            timers.delete_event_time_timer(0, 5)
            timers.register_event_time_timer(0, 5)

    for key in "abc":
        timers.current_key = (key,)
        timers.register_event_time_timer(0, 5)
    seen: list[Any] = []
    timers.advance_watermark(5, set_again)
    assert seen == [("a",), ("c",), ("b",)]


def test_a_callback_must_not_move_its_own_clock() -> None:
    timers = service()
    timers.current_key = ("a",)
    timers.register_event_time_timer(0, 5)
    with pytest.raises(AssertionError, match="must not move the clock"):
        timers.advance_watermark(5, lambda timer: timers.advance_watermark(6, print))


def test_a_name_has_one_service() -> None:
    services = TimerServices(Memory())
    one = services.get("clean-up", [pa.string()])
    assert services.get("clean-up", [pa.string()]) is one
    assert services.get("early", [pa.string()]) is not one
    with pytest.raises(AssertionError, match="clean-up"):
        services.get("clean-up", [pa.int64()])


def test_a_service_without_a_key_says_so() -> None:
    with pytest.raises(AssertionError, match="no key"):
        service().register_event_time_timer(0, 1)


def test_timers_of_all_services_survive_a_restart() -> None:
    state = Memory()
    for name, time in (("clean-up", 5), ("early", 6)):
        services = TimerServices(state)
        timers = services.get(name, [pa.string()])
        timers.current_key = ("a",)
        timers.register_event_time_timer(1, time)
        timers.register_processing_time_timer(2, time)
        assert fired(timers.advance_watermark, 3) == []
        services.flush()
    services = TimerServices(state)
    for name, time in (("clean-up", 5), ("early", 6)):
        timers = services.get(name, [pa.string()])
        assert (timers.current_watermark(), timers.current_processing_time()) == (3, None)
        assert fired(timers.advance_watermark, 10) == [("a", 1, time)]
        assert fired(timers.advance_processing_time, 10) == [("a", 2, time)]
    services.flush()
    assert state.chunks == {}


def test_restoring_parts_takes_all_timers_and_the_smallest_watermark() -> None:
    def part(watermark: int | None, *times: int) -> Memory:
        state = Memory()
        timers = service(state)
        for time in times:
            timers.current_key = (f"k{time}",)
            timers.register_event_time_timer(0, time)
        if watermark is not None:
            timers.advance_watermark(watermark, lambda timer: None)
        timers.flush()
        return state

    parts = part(20, 5, 21), part(10, 8, 11), part(30, 40)
    whole = service()
    whole.restore([service(state) for state in (*parts, Memory())])  # one that was never used has no say
    assert whole.current_watermark() == 10
    assert fired(whole.advance_watermark, 40) == [("k11", 0, 11), ("k21", 0, 21), ("k40", 0, 40)]
    early = service()
    early.restore([service(state) for state in (*parts, part(None, 1))])
    assert early.current_watermark() is None
    with pytest.raises(AssertionError, match="of its own"):
        service(parts[0]).restore([])


def test_many_timers_cost_few_state_calls() -> None:
    """A clean-up timer for each of 5,000 keys a micro-batch, due ten micro-batches later."""
    state, rows = Memory(), TimerRows((pa.int64(),))
    keys = np.arange(5000)
    held = 0
    for batch in range(60):
        state.calls = 0
        queue = TimerQueue(rows, state, ("clean-up", "event_time"))
        queue.register(rows.batch([keys + batch], np.zeros(5000), batch * 1000 + 10_000 + keys % 1000))
        gone = queue.pop(batch * 1000 - 1)
        held += 5000 - gone.num_rows
        queue.flush()
        assert len(queue) == held
        assert state.calls <= 12
        assert gone.num_rows == (5000 if batch > 10 else 0)
    assert max(map(len, state.chunks.values())) < 3 * timer_queue.CHUNK_ROWS * 24


def test_what_comes_and_goes_in_one_micro_batch_never_reaches_the_state() -> None:
    state = Memory()
    timers = service(state)
    timers.current_key = ("a",)
    timers.register_event_time_timer(0, 5)
    timers.delete_event_time_timer(0, 6)
    assert len(fired(timers.advance_watermark, 5)) == 1
    timers.flush()
    assert (state.chunks, state.calls) == ({}, 2)


def test_keys_may_be_of_any_type() -> None:
    kinds = [pa.list_(pa.int64()), pa.struct([("x", pa.decimal128(5, 2))]), pa.binary(), pa.timestamp("us")]
    timers = TimerServices(Memory()).get("any", kinds)
    keys = [([1], {"x": 1}, b"\0", None), (None, {"x": None}, None, 0), ([1], {"x": 1}, b"\0", None)]
    seen = []

    def fire(timer: Timer) -> None:
        timers.register_event_time_timer(0, timer.time + 1)
        timers.current_key = timer.key  # once more the same
        timers.register_event_time_timer(0, timer.time + 1)
        seen.append(timer.time)

    for key in keys:
        timers.current_key = key
        timers.register_event_time_timer(0, 1)
    timers.advance_watermark(3, fire)
    assert seen == [1, 1, 2, 2, 3, 3]
    nothing = TimerServices(Memory()).get("no key", [])
    nothing.current_key = ()
    nothing.register_event_time_timer(4, 1)
    assert list(each(nothing.event_time.pop(1))) == [((), 4, 1)]


# ---- against a plain model


class PlainTimers:
    """e.1 as it reads: a set of timers, looked through for the smallest at each step."""

    def __init__(self) -> None:
        self.timers: dict[str, tuple[int, int, Timer]] = {}
        self.order, self.now = count(), -(2**63)

    def register(self, timer: Timer) -> None:
        self.timers.setdefault(repr(timer), (timer.time, next(self.order), timer))

    def delete(self, timer: Timer) -> None:
        self.timers.pop(repr(timer), None)

    def advance(self, time: int, call: Callable[[Timer], None]) -> None:
        self.now = max(self.now, time)
        while self.timers and (least := min(self.timers.values(), key=lambda entry: entry[:2]))[0] <= self.now:
            del self.timers[repr(least[2])]
            call(least[2])


@dataclass(frozen=True)
class Step:
    kind: str  # register, delete, advance, pop, look or reload
    clock: int = 0
    timers: tuple[Timer, ...] = ()
    time: int = 0
    at_once: bool = False


TIMES = st.integers(0, 12)
KEY = st.sampled_from([("a", 1.5), ("a", float("nan")), (None, None)])
TIMERS = st.builds(Timer, KEY, st.integers(0, 2), TIMES)  # few, so that the same one often comes again
STEPS = st.one_of(
    st.builds(
        Step,
        st.sampled_from(["register", "register", "delete"]),
        st.integers(0, 1),
        st.lists(TIMERS, max_size=9).map(tuple),
        at_once=st.booleans(),
    ),
    st.builds(Step, st.sampled_from(["advance", "pop"]), st.integers(0, 1), time=TIMES),
    st.sampled_from([Step("look"), Step("reload")]),
)
# what a callback does for a timer of this namespace: (delete?, to the other clock?, namespace down, time on)
REACTIONS = st.dictionaries(
    st.integers(1, 2),
    st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(1, 2), st.integers(-2, 5)), max_size=3),
)


class Both:
    """Steps carried out by the service, its state reloaded in between, and by the model."""

    def __init__(self, reactions: dict[int, list[tuple[bool, bool, int, int]]]) -> None:
        self.reactions, self.state = reactions, Memory()
        self.models = PlainTimers(), PlainTimers()
        self.load()

    def load(self) -> None:
        self.services = TimerServices(self.state)
        self.service = self.services.get("all", KEYS)

    def queues(self) -> tuple[TimerQueue, TimerQueue]:
        return self.service.event_time, self.service.processing_time

    def do(self, step: Step) -> tuple[list[Timer], list[Timer]]:
        """What fired, in the service and in the model."""
        real: list[Timer] = []
        plain: list[Timer] = []
        queue, model = self.queues()[step.clock], self.models[step.clock]
        if step.kind == "reload":
            self.services.flush()
            self.load()
        elif step.kind == "advance":
            advance = (self.service.advance_watermark, self.service.advance_processing_time)[step.clock]
            advance(step.time, lambda timer: self.react(timer, step.clock, real))
            model.advance(step.time, lambda timer: self.plain_react(timer, step.clock, plain))
        elif step.kind == "pop":
            real += each(queue.pop(step.time))
            model.advance(step.time, plain.append)
        else:
            deletes = step.kind == "delete"
            if step.at_once:
                (queue.delete if deletes else queue.register)(TimerRows(KEYS).of(step.timers))
            for timer in step.timers:
                (model.delete if deletes else model.register)(timer)
                if not step.at_once:
                    self.service.current_key = timer.key
                    self.one(deletes, step.clock)(timer.namespace, timer.time)
        return real, plain

    def one(self, deletes: bool, clock: int) -> Callable[[int, int], None]:
        service = self.service
        if clock == 0:
            return service.delete_event_time_timer if deletes else service.register_event_time_timer
        return service.delete_processing_time_timer if deletes else service.register_processing_time_timer

    def react(self, timer: Timer, clock: int, seen: list[Timer]) -> None:
        seen.append(timer)
        assert repr(self.service.current_key) == repr(timer.key)
        for deletes, other, down, on in self.reactions.get(timer.namespace, ()):
            self.one(deletes, clock ^ other)(timer.namespace - down, timer.time + on)

    def plain_react(self, timer: Timer, clock: int, seen: list[Timer]) -> None:
        seen.append(timer)
        for deletes, other, down, on in self.reactions.get(timer.namespace, ()):
            model = self.models[clock ^ other]
            (model.delete if deletes else model.register)(Timer(timer.key, timer.namespace - down, timer.time + on))


@settings(max_examples=300)
@given(st.lists(STEPS, max_size=14), REACTIONS, st.integers(1, 5))
def test_the_service_does_what_the_plain_model_does(steps: list[Step], reactions: Any, chunk_rows: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timer_queue, "CHUNK_ROWS", chunk_rows)
        both = Both(reactions)
        for step in (*steps, Step("reload"), Step("advance", 0, time=100), Step("advance", 1, time=100)):
            real, plain = both.do(step)
            assert list(map(repr, real)) == list(map(repr, plain))
            for queue, model in zip(both.queues(), both.models, strict=True):
                assert queue.now == (None if model.now == -(2**63) else model.now)
                if step.kind == "look":
                    assert queue.earliest() == min((entry[0] for entry in model.timers.values()), default=None)
                    assert len(queue) == len(model.timers)


# ---- in a StatefulProcessor, behind pyspark's tester


class Reminders(StatefulProcessor):
    """Reminds of each item when the watermark has passed its time, and again ten later; says when it last looked."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = SparkTimerState.of(handle)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        services = TimerServices(self.state)
        items, looks = services.get("items", [pa.string()]), services.get("looks", [])
        out = []

        def remind(timer: Timer) -> None:
            out.append(Row(group=key[0], item=items.current_key[0], at=timer.time))
            if timer.namespace == 0:
                items.register_event_time_timer(1, timer.time + 10)

        for row in rows:
            if row.item is not None:
                items.current_key = (row.item,)
                items.register_event_time_timer(0, row.time)
            else:
                items.advance_watermark(row.time, remind)
        now = timerValues.getCurrentProcessingTimeInMs()
        looks.advance_processing_time(now, lambda timer: out.append(Row(group=key[0], item=None, at=timer.time)))
        looks.current_key = ()
        looks.register_processing_time_timer(0, now)
        services.flush()
        yield from out

    def close(self) -> None:
        pass


def test_a_processor_keeps_its_timers_over_a_restart() -> None:
    def items(*rows: tuple[str | None, int]) -> list[Row]:
        return [Row(item=item, time=time) for item, time in rows]

    def shown(rows: list[Row]) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in rows]

    before = TwsTester(Reminders(), timeMode="ProcessingTime")
    before.setProcessingTime(100)
    assert before.test(1, items(("pen", 5), ("ink", 3), ("pen", 5))) == []
    assert before.test(2, items(("cup", 4))) == []
    before.setProcessingTime(200)
    assert shown(before.test(1, items((None, 5)))) == [(1, "ink", 3), (1, "pen", 5), (1, None, 100)]

    after = TwsTester(Reminders(), timeMode="ProcessingTime")
    for name in ("timer_queues", "timers"):
        for group in (1, 2):
            after.updateMapState(name, group, before.peekMapState(name, group))
    after.setProcessingTime(300)
    assert shown(after.test(1, items((None, 14), (None, 20)))) == [(1, "ink", 13), (1, "pen", 15), (1, None, 200)]
    assert shown(after.test(2, items((None, 14)))) == [(2, "cup", 4), (2, "cup", 14), (2, None, 100)]
    ((service_name, clock, _),) = after.peekMapState("timers", 1)
    assert (service_name, clock) == ("looks", "processing_time")
