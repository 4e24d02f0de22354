"""The watermark of an operator with several input channels. Source: semantics.md e.2, alignment and idle sources."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

IDLE = -(2**63)  # what a channel says instead of a watermark: nothing comes from it until it has rows again


@dataclass
class Channel:
    """What a channel has said: its watermark (None: it has rows and said none yet), and where it stands.

    One that comes back from being idle is `behind` until it has caught up: till then it does not count.
    """

    watermark: int | None = None
    idle: bool = False
    behind: bool = False


@dataclass
class Valve:
    """The smallest watermark of the channels that are neither idle nor behind; it never goes back.

    Times are epoch ms. Channels are known from their first row on, so one that never had any holds nothing up. While
    all are idle the watermark stays where it is.
    """

    watermark: int | None = None
    channels: dict[str, Channel] = field(default_factory=dict)

    def say(self, channel: str | None, watermark: int | None) -> None:
        """A channel's watermark, IDLE, or None: it has rows. Channel None: the watermark is that of all, and counts
        at once. Channel "": the source as a whole, which means each of its partitions if it has some."""
        if channel is None:
            if watermark == IDLE:
                for known in self.channels.values():
                    known.idle = True
            elif watermark is not None:
                self._raise(watermark)
            return
        partitions = [name for name in self.channels if name]
        if channel == "" and partitions and watermark is not None:  # said of a table whose partitions are channels
            for name in partitions:
                self.say(name, watermark)
            return
        known = self.channels.setdefault(channel, Channel())
        if watermark == IDLE:
            known.idle = True
            return
        if known.idle:
            known.idle, known.behind = False, True
        if watermark is not None and (known.watermark is None or watermark > known.watermark):
            known.watermark = watermark

    def settle(self) -> int | None:
        """The operator's watermark after what was said."""
        for channel in self.channels.values():
            if self.watermark is None or (channel.watermark is not None and channel.watermark >= self.watermark):
                channel.behind = False
        said = [channel.watermark for channel in self.channels.values() if not channel.idle and not channel.behind]
        known = [watermark for watermark in said if watermark is not None]
        if known and len(known) == len(said):
            self._raise(min(known))
        return self.watermark

    def _raise(self, watermark: int) -> None:
        if self.watermark is None or watermark > self.watermark:
            self.watermark = watermark

    def dump(self) -> str:
        """The channels as text, for the state."""
        return json.dumps({name: [one.watermark, one.idle, one.behind] for name, one in sorted(self.channels.items())})

    @classmethod
    def load(cls, watermark: int | None, channels: str) -> Valve:
        return cls(watermark, {name: Channel(*parts) for name, parts in json.loads(channels).items()})
