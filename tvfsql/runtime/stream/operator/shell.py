"""The processor that Spark runs for every stateful operator: between Spark's rows and state, and the `Operator`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from tvfsql.runtime.arrow.batches import from_bytes
from tvfsql.runtime.stream.operator.messages import Report, encoded
from tvfsql.runtime.stream.operator.protocol import KeyGroup, Operator
from tvfsql.runtime.stream.state.chunk_store import State
from tvfsql.runtime.stream.state.description import Description
from tvfsql.runtime.stream.state.spark_state import SparkState
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.state.timers import SparkTimerState
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.control_channel import NOW
from tvfsql.runtime.stream.time.processing_time import by_clock
from tvfsql.runtime.stream.time.valve import IDLE, TRIGGER
from tvfsql.runtime.stream.time.zones import instant_of


class OperatorShell(StatefulProcessor):
    """For each key group: what was sent to it, what its operator emits of that, and a report.

    State: `chunks` maps a `ChunkKey` to an Arrow IPC stream; `index` has the watermark, its channels, the list of
    chunks, and what the operator is (`Description`). Operators that have timers have two more maps for these.
    A call costs 100-200 microseconds: their number depends on the chunks that are touched, never on keys.
    """

    def __init__(self, operator: Operator, description: Description) -> None:
        self.operator, self.description = operator, description

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state: State = SparkState.of(handle, self.description)
        self.timers: TimerState | None = SparkTimerState.of(handle) if self.operator.has_timers else None

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        sent = list(rows)
        now, context = sent[0][NOW], self.operator.context
        group = self.operator.open(self.state, self.timers, now)
        for payloads, messages in by_seq(sent):
            if payloads:
                group.add(payloads)
            if context.proctime:
                messages = by_clock(messages, self.operator.watermark_at(now), context.inputs)
            yield from map(encoded, group.advance(messages))
        yield from map(encoded, group.finish())
        group.flush()
        yield encoded(self._report(group))

    def close(self) -> None:
        pass

    def _report(self, group: KeyGroup) -> Report:
        proctime, counts, store = self.operator.context.proctime, group.counts, group.store
        due = (group.due, self._instant_of_end(group.next_end) if proctime else None)
        return Report(
            rows_in=counts.rows_in,
            late=counts.late,
            late_right=counts.late_right,
            rows_out=counts.rows_out,
            watermark=self._instant(group.watermark),
            output_watermark=self._instant(group.output_watermark),
            newest_end=None if proctime else self._instant_of_end(group.newest_end),
            due=min((time for time in due if time is not None), default=None),
            state_rows=store.rows,
            state_bytes=store.size,
            open_slices=group.open_slices,
        )

    def _instant_of_end(self, end: int | None) -> Any:
        """The instant (epoch ms) that the end of a window is."""
        return None if end is None else self._instant(end - 1) + 1

    def _instant(self, watermark: int | None) -> Any:
        """The first instant (epoch ms) at which the operator has this watermark."""
        zone = self.operator.context.zone
        return instant_of(watermark, zone) if zone and watermark is not None else watermark


def by_seq(rows: Iterable[Row]) -> Iterator[tuple[list[Any], list[ChannelMessage]]]:
    """The payloads and then the messages of each seq, as the local phase sent them. Idle channels come first. A TRIGGER
    ends here: it made the micro-batch happen, and called the operator."""
    sent: dict[int, tuple[list[Any], list[ChannelMessage]]] = defaultdict(lambda: ([], []))
    for row in rows:
        payloads, messages = sent[row["seq"]]
        if row["payload"] is not None:
            payloads.append(from_bytes(row["payload"]))
        elif row["watermark"] != TRIGGER:
            messages.append((row["channel"], row["watermark"]))
    for _, (payloads, messages) in sorted(sent.items()):
        yield payloads, sorted(messages, key=lambda message: message[1] != IDLE)
