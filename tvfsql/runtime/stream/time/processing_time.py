"""Operators that go by processing time: event time whose watermark is the clock, whatever channels report.

A row lies at the time of the micro-batch that brought it, and no row is late. Should a clock go back, the operator
stays where it was: rows then count as rows of its latest time. Source: semantics.md#processing-time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT
from tvfsql.runtime.stream.time.valve import ALL
from tvfsql.runtime.stream.time.zones import wall_watermarks


def by_clock(messages: Iterable[ChannelMessage], watermark: int, inputs: Sequence[str]) -> list[ChannelMessage]:
    """What an operator with these `inputs` hears in a micro-batch: the same watermark (epoch ms) of all channels. Of
    what the channels report the end of the input counts alone."""
    ended = any(watermark == END_OF_INPUT for _, watermark in messages)
    return [(f"{name}{ALL}", END_OF_INPUT if ended else watermark) for name in inputs]


def passed(now: int, zone: str = "") -> int:
    """The watermark of windows at a time: the ms before it, on the wall clock of `zone` if there is one."""
    return int(wall_watermarks(np.array([now - 1]), zone)[0]) if zone else now - 1


def goes_on(watermark: int | None) -> int | None:
    """The watermark that rows which come now lie behind; None if there is none yet, or if the input had ended, and rows
    that come in a later run are late."""
    return None if watermark is None or watermark >= END_OF_INPUT else watermark
