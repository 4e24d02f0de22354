"""Timers: an operator asks to be called for a key when a clock has come to a time. Source: semantics.md#timers.

Two clocks, two queues: event time, moved by the watermark, and processing time, moved by what the micro-batch says
the time is, so that a micro-batch that is run again fires the same timers. Timers are state of a key group.

One by one, as Flink has it (`register_event_time_timer`, `advance_watermark` with a callback), or many at once
(`event_time.register`, `event_time.pop`): both are the same queue.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from tvfsql.runtime.stream.state.timer_queue import TimerQueue, TimerState
from tvfsql.runtime.stream.state.timer_rows import Key, Timer, TimerRows

EVENT_TIME, PROCESSING_TIME = "event_time", "processing_time"


class TimerServices:
    """The timer services of one operator, by name, for one key group during one micro-batch."""

    def __init__(self, state: TimerState) -> None:
        self.state = state
        self.services: dict[str, TimerService] = {}

    def get(self, name: str, keys: Sequence[pa.DataType]) -> TimerService:
        """The service of that name, the same one for the same name. `keys`: the Arrow types of its key's columns."""
        service = self.services.setdefault(name, TimerService(name, TimerRows(tuple(keys)), self.state))
        if service.rows.keys != tuple(keys):
            raise AssertionError(f"timer service {name} has keys of {service.rows.keys}, not {keys}")
        return service

    def flush(self) -> None:
        """Write what has changed: once, at the end of the micro-batch."""
        for service in self.services.values():
            service.flush()


class TimerService:
    """Timers of (key, namespace, time) on two clocks. The namespace of a window operator is its window's end.

    `current_key` is the key that the methods for one timer are about: set by the operator for the row at hand, and by
    the service before each callback.
    """

    def __init__(self, name: str, rows: TimerRows, state: TimerState) -> None:
        self.name, self.rows, self.state = name, rows, state
        self.queues: dict[str, TimerQueue] = {}
        self._key: Key | None = None

    @property
    def event_time(self) -> TimerQueue:
        return self._queue(EVENT_TIME)

    @property
    def processing_time(self) -> TimerQueue:
        return self._queue(PROCESSING_TIME)

    @property
    def current_key(self) -> Key:
        if self._key is None:
            raise AssertionError(f"timer service {self.name}: no key has been set")
        return self._key

    @current_key.setter
    def current_key(self, values: Sequence[object]) -> None:
        self._key = self.rows.key(values)

    def current_watermark(self) -> int | None:
        """Epoch ms; None before the first watermark."""
        return self.event_time.now

    def current_processing_time(self) -> int | None:
        """Epoch ms, as the last `advance_processing_time` said; None before the first."""
        return self.processing_time.now

    def register_event_time_timer(self, namespace: int, time: int) -> None:
        self.event_time.register_one(self._timer(namespace, time))

    def delete_event_time_timer(self, namespace: int, time: int) -> None:
        self.event_time.delete_one(self._timer(namespace, time))

    def register_processing_time_timer(self, namespace: int, time: int) -> None:
        self.processing_time.register_one(self._timer(namespace, time))

    def delete_processing_time_timer(self, namespace: int, time: int) -> None:
        self.processing_time.delete_one(self._timer(namespace, time))

    def advance_watermark(self, time: int, on_event_time: Callable[[Timer], None]) -> None:
        """Move the watermark, never back; then fire each event-time timer with a time <= it, the smallest first.

        A timer is gone before its callback. What callbacks register fires in this advance too if it is due.
        """
        self.event_time.advance(time, self._with_key(on_event_time))

    def advance_processing_time(self, time: int, on_processing_time: Callable[[Timer], None]) -> None:
        """The same on the other clock; `time` is the micro-batch's, not the worker's."""
        self.processing_time.advance(time, self._with_key(on_processing_time))

    def restore(self, parts: Sequence[TimerService]) -> None:
        """Start a new service from the parts of an earlier one: all their timers, the smallest of their watermarks."""
        self.event_time.restore([part.event_time for part in parts])
        self.processing_time.restore([part.processing_time for part in parts])

    def flush(self) -> None:
        for queue in self.queues.values():
            queue.flush()

    def _timer(self, namespace: int, time: int) -> Timer:
        return Timer(self.current_key, int(namespace), int(time))

    def queue(self, proctime: bool) -> TimerQueue:
        """The timers of an operator that goes by one of the clocks."""
        return self.processing_time if proctime else self.event_time

    def _queue(self, clock: str) -> TimerQueue:
        """A clock that is never asked for costs no state call."""
        if clock not in self.queues:
            self.queues[clock] = TimerQueue(self.rows, self.state, (self.name, clock))
        return self.queues[clock]

    def _with_key(self, call: Callable[[Timer], None]) -> Callable[[Timer], None]:
        def fire(timer: Timer) -> None:
            self._key = timer.key
            call(timer)

        return fire
