"""The watermark of an operator with several input channels. Source: semantics.md#channels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

IDLE = -(2**63)  # in place of a watermark: the channel is idle until it has rows again
TRIGGER = IDLE + 1  # in place of a watermark: no watermark moves, but operators that wait for a time are called
ALL = "*"  # after the name of an input: all its channels
FIRST = "1/"  # after the name of an input that is a union: its first side


@dataclass
class InputChannel:
    """What a channel has reported: its watermark, and whether it is idle.

    `watermark` is None if it has rows, but no watermark yet. A channel that was idle is `behind` until it has caught up
    with the operator. It does not count until then.
    """

    watermark: int | None = None
    idle: bool = False
    behind: bool = False


@dataclass
class Valve:
    """Combines the watermarks of an operator's channels: their minimum, which never goes back.

    Idle channels and those that are `behind` do not count. Times are epoch ms. The names of channels start with the
    name of their input: "" for a single input, else "1/", "2/" ... The valve waits for each input from the start, but
    for a channel only from its first row on. So a partition that never had rows does not hold the watermark back. While
    all channels are idle, the watermark stays where it is, unless every input has a watermark for all its channels
    (`floors`).
    """

    watermark: int | None = None
    channels: dict[str, InputChannel] = field(default_factory=dict)
    inputs: Sequence[str] = ("",)
    floors: dict[str, int] = field(default_factory=dict)

    def receive(self, channel: str | None, watermark: int | None) -> None:
        """Take a message: a channel's watermark, IDLE, or None, which means that the channel has rows.

        If `channel` is the name of an input, the message is for the input as a whole, or for each of its partitions
        once these are known. With ALL after the name (or None, for a single input) it is a watermark for all channels,
        and counts at once.
        """
        channel = ALL if channel is None else channel
        if channel.endswith(ALL):
            self._receive_of_all(channel.removesuffix(ALL), watermark)
            return
        partitions = self._partitions(channel)
        if partitions and watermark is not None:
            for name in partitions:
                self.receive(name, watermark)
            return
        for name in self.inputs:  # partitions replace the report of the input as a whole
            if channel != name and channel.startswith(name):
                self.channels.pop(name, None)
        known = self.channels.setdefault(channel, InputChannel())
        if watermark == IDLE:
            known.idle = True
            return
        if known.idle:
            known.idle, known.behind = False, True
        if watermark is not None and (known.watermark is None or watermark > known.watermark):
            known.watermark = watermark

    def advance(self, messages: Iterable[tuple[str | None, int | None]]) -> int | None:
        """Take messages (channel, watermark). Returns the operator's watermark after them."""
        for channel, watermark in messages:
            self.receive(channel, watermark)
        return self.settle()

    def settle(self) -> int | None:
        """Recompute the operator's watermark. Returns it; None: there is none yet."""
        for channel in self.channels.values():
            if self.watermark is None or (channel.watermark is not None and channel.watermark >= self.watermark):
                channel.behind = False
        counting = [self._of_input(name) for name in self.inputs if self._counts(name)]
        known = [watermark for watermark in counting or map(self.floors.get, self.inputs) if watermark is not None]
        if len(known) == len(counting or self.inputs):
            self._raise(min(known))
        return self.watermark

    def _counts(self, name: str) -> bool:
        """Whether an input counts: no channel of it is known yet, or one is neither idle nor behind."""
        of_input = self._of(name)
        return not of_input or any(not channel.idle and not channel.behind for channel in of_input)

    def _of_input(self, name: str) -> int | None:
        """The watermark of an input; None: there is none yet."""
        counting = [channel.watermark for channel in self._of(name) if not channel.idle and not channel.behind]
        known = [watermark for watermark in counting if watermark is not None]
        least = min(known) if known and len(known) == len(counting) else None
        floor = self.floors.get(name)
        return floor if least is None else least if floor is None else max(least, floor)

    def _of(self, name: str) -> list[InputChannel]:
        return [channel for known, channel in self.channels.items() if known.startswith(name)]

    def _partitions(self, name: str) -> list[str]:
        """The channels of an input, except the one of the input as a whole."""
        found = [known for known in self.channels if known != name and known.startswith(name)]
        return found if name in self.inputs else []

    def _receive_of_all(self, name: str, watermark: int | None) -> None:
        if watermark == IDLE:
            if not self._of(name):
                self.channels[name] = InputChannel()
            for channel in self._of(name):
                channel.idle = True
        elif watermark is not None and not name:
            self._raise(watermark)
        elif watermark is not None:
            self.floors[name] = max(watermark, self.floors.get(name, watermark))

    def _raise(self, watermark: int) -> None:
        if self.watermark is None or watermark > self.watermark:
            self.watermark = watermark

    def dump(self) -> str:
        """The channels as JSON, for the state."""
        floors = {name + ALL: InputChannel(watermark) for name, watermark in self.floors.items()}
        every = sorted((self.channels | floors).items())
        return json.dumps({name: [one.watermark, one.idle, one.behind] for name, one in every})

    @classmethod
    def load(cls, watermark: int | None, channels: str, inputs: Sequence[str] = ("",)) -> Valve:
        every = {
            name: InputChannel(*parts)
            for known, parts in json.loads(channels).items()
            if (name := _named(known, inputs)) is not None
        }
        floors = {name.removesuffix(ALL): one.watermark or 0 for name, one in every.items() if name.endswith(ALL)}
        return cls(watermark, {name: one for name, one in every.items() if not name.endswith(ALL)}, inputs, floors)


def _named(channel: str, inputs: Sequence[str]) -> str | None:
    """The name of a channel in state, of an operator with these inputs now; None: no input has it. An input that was
    not a union has become its first side if the query has added others.
    """
    before, _, own = channel.rpartition("/")
    name = f"{before}/" if before else ""
    longest = max(map(len, inputs))
    while len(name) <= longest:
        if name in inputs:
            return f"{name}{own}"
        name += FIRST
    return None
