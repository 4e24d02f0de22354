"""Timers: an operator asks to be called for a key when a clock reaches a time. Source: semantics.md#timers.

There are two clocks with a queue each: event time, which the watermark advances, and processing time, which is the time
of the micro-batch. So a repeated micro-batch fires the same timers. Timers are part of a key group's state.

Timers can be used one by one as in Flink (`register_event_time_timer`, `advance_watermark` with a callback), or many at
once (`event_time.register`, `event_time.pop`). Both use the same queue.
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
        """The service of that name, created on first use. `keys` are the Arrow types of its key columns."""
        service = self.services.setdefault(name, TimerService(name, TimerRows(tuple(keys)), self.state))
        if service.rows.keys != tuple(keys):
            raise AssertionError(f"timer service {name} has keys of {service.rows.keys}, not {keys}")
        return service

    def flush(self, *, clock_alone: bool = True) -> None:
        """Write the changes to state, once at the end of the micro-batch. `clock_alone`: as in `TimerQueue.flush`."""
        for service in self.services.values():
            service.flush(clock_alone=clock_alone)


class TimerService:
    """Timers of (key, namespace, time) on two clocks. A window operator uses the end of a window as the namespace.

    `current_key` is the key of the methods for single timers. The operator sets it for the current row, and the service
    sets it before each callback.
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
        """The watermark in epoch ms; None before the first one."""
        return self.event_time.now

    def current_processing_time(self) -> int | None:
        """The time of the last `advance_processing_time`, in epoch ms; None before the first one."""
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
        """Move the watermark, never back. Then fire each event-time timer with a time <= it, in order of time.

        A timer is removed before its callback. Timers that callbacks register fire in the same advance if they are due.
        """
        self.event_time.advance(time, self._with_key(on_event_time))

    def advance_processing_time(self, time: int, on_processing_time: Callable[[Timer], None]) -> None:
        """The same for the processing-time clock. `time` is the micro-batch's time, not the worker's."""
        self.processing_time.advance(time, self._with_key(on_processing_time))

    def restore(self, parts: Sequence[TimerService]) -> None:
        """Start a new service from the parts of an earlier one: all their timers, and the smallest of their clocks."""
        self.event_time.restore([part.event_time for part in parts])
        self.processing_time.restore([part.processing_time for part in parts])

    def flush(self, *, clock_alone: bool = True) -> None:
        for queue in self.queues.values():
            queue.flush(clock_alone=clock_alone)

    def _timer(self, namespace: int, time: int) -> Timer:
        return Timer(self.current_key, int(namespace), int(time))

    def queue(self, proctime: bool) -> TimerQueue:
        """The timers on the clock of an operator: processing time if `proctime`, else event time."""
        return self.processing_time if proctime else self.event_time

    def _queue(self, clock: str) -> TimerQueue:
        """The queue of a clock, read on first use, so that an unused clock costs no state call."""
        if clock not in self.queues:
            self.queues[clock] = TimerQueue(self.rows, self.state, (self.name, clock))
        return self.queues[clock]

    def _with_key(self, call: Callable[[Timer], None]) -> Callable[[Timer], None]:
        def fire(timer: Timer) -> None:
            self._key = timer.key
            call(timer)

        return fire
