"""The watermark of an operator with several input channels: what time it is for each of them.

What a channel can be: it has rows, it is idle, or its table has ended. Idle and ended channels hold nobody back. An
operator whose inputs have all ended is at the end of time; while some are only idle it waits. Source:
semantics.md#channels.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

# In place of a watermark:
IDLE = -(2**63)  # the channel is idle until it has rows again; `idle_since` says by which micro-batch
TRIGGER = IDLE + 1  # no watermark moves, but operators that wait for a time are called
END_OF_INPUT = 2**63 - 1  # time ends: every window fires
ENDED = END_OF_INPUT - 1  # the table of the channel has been read to its end
_SINCE = IDLE + 3
_NO_DATE = -(2**62)
ALL = "*"  # after the name of an input: all its channels
FIRST = "1/"  # after the name of an input that is a union: its first side


def idle_since(micro_batch: int) -> int:
    """IDLE, as of the end of a micro-batch (-1: none has ended yet). Rows that come in a later one speak against it."""
    return _SINCE + micro_batch


def is_idle(watermark: int | None) -> bool:
    """Whether a message says that a channel is idle."""
    return watermark is not None and watermark < _NO_DATE and watermark != TRIGGER


@dataclass
class InputChannel:
    """What a channel has reported: its watermark, and whether it is idle.

    `watermark` is None if it has rows, but no watermark yet, and ENDED if its table has ended. A channel that was idle,
    or had ended, and has rows again is `behind` until it has caught up with the operator. It does not count until then.
    `reported`: the last micro-batch in which it had rows; None: unknown.
    """

    watermark: int | None = None
    idle: bool = False
    behind: bool = False
    reported: int | None = None

    def dump(self) -> list[int | bool | None]:
        known = [self.watermark, self.idle, self.behind]
        return known if self.reported is None else [*known, self.reported]

    @property
    def ended(self) -> bool:
        return self.watermark is not None and self.watermark >= ENDED

    def catch_up(self, watermark: int | None) -> None:
        """Let it count again, once it has reached the watermark of the operator."""
        if watermark is None or (self.watermark is not None and self.watermark >= watermark):
            self.behind = False

    @property
    def counts(self) -> bool:
        """Whether it holds the watermark back."""
        return not self.idle and not self.behind and not self.ended

    def turns_idle(self, since: int) -> bool:
        """Whether this message of `idle_since` holds: the channel has had no rows after that micro-batch."""
        return since == IDLE or self.reported is None or self.reported <= since - _SINCE

    def has_rows(self, watermark: int | None, micro_batch: int | None) -> None:
        """Take the watermark of a channel that has rows; None: they have none."""
        if self.idle or self.watermark == ENDED:
            self.idle, self.behind = False, True
            self.watermark = None if self.watermark == ENDED else self.watermark
        self.reported = micro_batch
        if watermark is not None and (self.watermark is None or watermark > self.watermark):
            self.watermark = watermark


@dataclass
class Valve:
    """Combines the watermarks of an operator's channels: their minimum, which never goes back.

    Idle channels and those that are `behind` do not count. Times are epoch ms. The names of channels start with the
    name of their input: "" for a single input, else "1/", "2/" ... The valve waits for each input from the start, but
    for a channel only from its first row on. So a partition that never had rows does not hold the watermark back. While
    all channels are idle, the watermark stays where it is, unless every input has a watermark for all its channels
    (`floors`). `micro_batch`: the number of the one that is running; None: unknown.

    With `by_input` each input has a watermark of its own (`floors`), as the valve of an operator over it alone would
    have; the operator's is the least of them, and waits for an input whose channels are all idle.
    """

    watermark: int | None = None
    channels: dict[str, InputChannel] = field(default_factory=dict)
    inputs: Sequence[str] = ("",)
    floors: dict[str, int] = field(default_factory=dict)
    micro_batch: int | None = None
    by_input: bool = False

    def receive(self, channel: str | None, watermark: int | None) -> None:
        """Take a message: a channel's watermark, IDLE, ENDED, or None, which means that the channel has rows.

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
        if watermark is not None and is_idle(watermark):
            known.idle = known.idle or known.turns_idle(watermark)
        elif watermark == ENDED:
            known.watermark, known.idle, known.behind = ENDED, False, False
        else:
            known.has_rows(watermark, self.micro_batch)

    def advance(self, messages: Iterable[tuple[str | None, int | None]]) -> int | None:
        """Take messages (channel, watermark). Returns the operator's watermark after them."""
        for channel, watermark in messages:
            self.receive(channel, watermark)
        return self.settle()

    def settle(self) -> int | None:
        """Recompute the operator's watermark. Returns it; None: there is none yet."""
        if self.by_input:
            return self._settle_by_input()
        for channel in self.channels.values():
            channel.catch_up(self.watermark)
        live = [name for name in self.inputs if not self._has_ended(name)]
        if not live:
            self._raise(END_OF_INPUT)
            return self.watermark
        counting = [self._of_input(name) for name in live if self._counts(name)]
        known = [watermark for watermark in counting or map(self.floors.get, live) if watermark is not None]
        if len(known) == len(counting or live):
            self._raise(min(known))
        return self.watermark

    def _settle_by_input(self) -> int | None:
        for name in self.inputs:
            of_input = {known: one for known, one in self.channels.items() if known.startswith(name)}
            own = Valve(self.floors.get(name), of_input, (name,)).settle()
            if own is not None:
                self.floors[name] = own
        known = [self.floors[name] for name in self.inputs if name in self.floors]
        if len(known) == len(self.inputs):
            self._raise(min(known))
        return self.watermark

    def _has_ended(self, name: str) -> bool:
        """Whether an input has ended: each channel of it, or the input as a whole."""
        of_input = self._of(name)
        return self.floors.get(name, 0) >= ENDED or (bool(of_input) and all(channel.ended for channel in of_input))

    def _counts(self, name: str) -> bool:
        """Whether an input counts: no channel of it is known yet, or one holds the watermark back."""
        of_input = self._of(name)
        return not of_input or any(channel.counts for channel in of_input)

    def _of_input(self, name: str) -> int | None:
        """The watermark of an input; None: there is none yet."""
        counting = [channel.watermark for channel in self._of(name) if channel.counts]
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
        if watermark is not None and is_idle(watermark):
            if not self._of(name):
                self.channels[name] = InputChannel()
            for channel in self._of(name):
                channel.idle = channel.idle or channel.turns_idle(watermark)
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
        return json.dumps({name: one.dump() for name, one in every})

    @classmethod
    def load(
        cls, watermark: int | None, channels: str, inputs: Sequence[str] = ("",), *, by_input: bool = False
    ) -> Valve:
        every = {
            name: InputChannel(*parts)
            for known, parts in json.loads(channels).items()
            if (name := _named(known, inputs)) is not None
        }
        floors = {name.removesuffix(ALL): one.watermark or 0 for name, one in every.items() if name.endswith(ALL)}
        known = {name: one for name, one in every.items() if not name.endswith(ALL)}
        return cls(watermark, known, inputs, floors, by_input=by_input)


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
