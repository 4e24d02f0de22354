"""Timers (semantics.md#timers) against a plain model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.timers import Memory
from tvfsql.runtime.stream.state import timer_queue
from tvfsql.runtime.stream.state.timer_queue import TimerQueue
from tvfsql.runtime.stream.state.timer_rows import Timer, TimerRows, each
from tvfsql.runtime.stream.state.timers import TimerServices

KEYS = (pa.string(), pa.float64())


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


@examples(300)
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
