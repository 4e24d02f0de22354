"""Operators in processing time: event time whose watermark is the clock, whatever channels report.

A row's time is the time of its micro-batch, so no row is late. If a clock goes back, the operator's time does not: new
rows then get its latest time. Source: semantics.md#processing-time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.time.valve import ALL
from tvfsql.runtime.stream.time.zones import wall_watermarks


def by_clock(messages: Iterable[ChannelMessage], watermark: int, inputs: Sequence[str]) -> list[ChannelMessage]:
    """The channel messages of a processing-time operator: this watermark (epoch ms) for all its `inputs`.

    The operator ignores what channels report, except for the end of the input. A table that has ended fires no window:
    the clock goes on.
    """
    of = {ALL if channel is None else channel for channel, watermark in messages if watermark == END_OF_INPUT}
    ended = all(any(channel == ALL or channel.startswith(name) for channel in of) for name in inputs)
    return [(f"{name}{ALL}", END_OF_INPUT if ended else watermark) for name in inputs]


def passed(now: int, zone: str = "") -> int:
    """The watermark of windows at time `now` (epoch ms): the millisecond before it, on the wall clock of `zone` if
    given."""
    return int(wall_watermarks(np.array([now - 1]), zone)[0]) if zone else now - 1


def goes_on(watermark: int | None) -> int | None:
    """The operator's watermark (epoch ms), which no new row may be before. None: there is no watermark yet, or the
    input has ended, so that rows of a later run are late."""
    return None if watermark is None or watermark >= END_OF_INPUT else watermark
