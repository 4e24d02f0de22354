"""What the channels of an operator have reported, for people: `tvfsql state` and the live page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tvfsql.runtime.stream.time.valve import ALL, END_OF_INPUT, InputChannel, Valve


class ChannelState(NamedTuple):
    """What a channel has reported: the number of its input, its partition (None: the input as a whole; *: all
    partitions), its watermark (epoch ms), and its status, which says whether it holds the watermark back."""

    input: int
    partition: str | None
    watermark: int | None
    status: str


def channel_states(valve: Valve) -> Iterator[ChannelState]:
    """The channels of each input. An input without any report has one row too, because windows wait for it."""
    for number, name in enumerate(valve.inputs, 1):
        channels = {known: one for known, one in valve.channels.items() if known.startswith(name)}
        for known, channel in sorted(channels.items()):
            watermark = END_OF_INPUT if channel.ended else channel.watermark
            yield ChannelState(number, known.removeprefix(name) or None, watermark, _status(channel))
        # a report about all channels of the only input is its watermark at once
        of_all = valve.floors.get(name) if name else valve.watermark
        if name in valve.floors or (not channels and of_all is not None):
            yield ChannelState(number, ALL, of_all, "active")
        elif not channels:
            yield ChannelState(number, None, None, "no report yet")


def _status(channel: InputChannel) -> str:
    if channel.ended:
        return "ended"
    if channel.idle:
        return "idle"
    if channel.behind:
        return "catching up"
    return "active" if channel.watermark is not None else "no watermark"
