"""Timers in a StatefulProcessor, behind pyspark's tester."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.streaming.tws_tester import TwsTester

from tvfsql.runtime.stream.state.spark_state import SparkTimerState
from tvfsql.runtime.stream.state.timer_rows import Timer
from tvfsql.runtime.stream.state.timers import TimerServices


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
