"""Timers (semantics.md#timers): the rules one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.support.timers import Memory, service
from tvfsql.runtime.stream.state import timer_queue
from tvfsql.runtime.stream.state.timer_queue import TimerQueue
from tvfsql.runtime.stream.state.timer_rows import Timer, TimerRows, each
from tvfsql.runtime.stream.state.timers import TimerServices


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
        assert state.calls <= 20
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
