"""One micro-batch of a key group: connects Spark's rows to the `Operator`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from pyspark.sql import Row

from tvfsql.plan.stream import StreamContext
from tvfsql.plan.tables.internal_columns import LATE
from tvfsql.runtime.arrow.batches import from_bytes
from tvfsql.runtime.stream.operator.messages import PassedLate, Report, encoded
from tvfsql.runtime.stream.operator.protocol import KeyGroup, Operator
from tvfsql.runtime.stream.state.chunk_store import State
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.channel_states import channel_states
from tvfsql.runtime.stream.time.control_channel import NOW
from tvfsql.runtime.stream.time.processing_time import by_clock
from tvfsql.runtime.stream.time.valve import TRIGGER, Valve, is_idle
from tvfsql.runtime.stream.time.zones import instant_of


def micro_batch(
    operator: Operator, state: State, timers: TimerState | None, sent: Sequence[Row], number: int | None = None
) -> Iterator[Row]:
    """What the operator emits for the messages to a key group (at least one), followed by a report. `number`: that of
    the micro-batch; None: unknown."""
    now, context = sent[0][NOW], operator.context
    group = operator.open(state, timers, now)
    group.store.valve.micro_batch = number
    for row in sent:
        if row["channel"] == LATE:
            yield from encoded(PassedLate(from_bytes(row["payload"])))
    for payloads, messages in by_seq(row for row in sent if row["channel"] != LATE):
        if payloads:
            group.add(payloads)
        if context.proctime:
            messages = by_clock(messages, operator.watermark_at(now), context.inputs)
        yield from chain.from_iterable(map(encoded, group.advance(messages)))
    yield from chain.from_iterable(map(encoded, group.finish()))
    group.flush()
    yield from encoded(_report(group, context))


def by_seq(rows: Iterable[Row]) -> Iterator[tuple[list[Any], list[ChannelMessage]]]:
    """For each seq, in order, its payloads and its channel messages. Idle channels come first.

    TRIGGER messages are dropped: causing the micro-batch, and thus this call of the operator, was their only purpose.
    """
    sent: dict[int, tuple[list[Any], list[ChannelMessage]]] = defaultdict(lambda: ([], []))
    for row in rows:
        payloads, messages = sent[row["seq"]]
        if row["payload"] is not None:
            payloads.append(from_bytes(row["payload"]))
        elif row["watermark"] != TRIGGER:
            messages.append((row["channel"], row["watermark"]))
    for _, (payloads, messages) in sorted(sent.items()):
        yield payloads, sorted(messages, key=lambda message: not is_idle(message[1]))


def _report(group: KeyGroup, context: StreamContext) -> Report:
    proctime, counts, store, zone = context.proctime, group.counts, group.store, context.zone
    due = (group.due, _instant_of_end(group.next_end, zone) if proctime else None)
    return Report(
        rows_in=counts.rows_in,
        late=counts.late,
        late_right=counts.late_right,
        late_versions=counts.late_versions,
        adjusted=counts.adjusted,
        rows_out=counts.rows_out,
        watermark=_instant(group.watermark, zone),
        output_watermark=_instant(group.output_watermark, zone),
        newest_end=None if proctime else _instant_of_end(group.newest_end, zone),
        fired_end=_instant_of_end(counts.fired_end, zone),
        due=min((time for time in due if time is not None), default=None),
        state_rows=store.rows,
        state_bytes=store.size,
        open_slices=group.open_slices,
        channels=None if proctime else _channels(store.valve, zone),
        zone=zone or None,
        open_ends=group.open_ends,
        next_end=None if proctime else _instant_of_end(group.next_end, zone),
    )


def _channels(valve: Valve, zone: str) -> str:
    return json.dumps([one._replace(watermark=_instant(one.watermark, zone)) for one in channel_states(valve)])


def _instant_of_end(end: int | None, zone: str) -> int | None:
    """The instant (epoch ms) at which a window ends."""
    last = None if end is None else _instant(end - 1, zone)
    return None if last is None else last + 1


def _instant(watermark: int | None, zone: str) -> int | None:
    """The first instant (epoch ms) at which the operator has this watermark."""
    return instant_of(watermark, zone) if zone and watermark is not None else watermark
