"""Idle sources: channels from which nothing has come for so long that windows must not wait for them.

The clock of the driver decides, once, and says so through the control channel, so that a micro-batch that is run
again decides the same. Source: semantics.md#idle-channels.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Source:
    """A table that a stream reads. Its channels are idle after `timeout` ms without rows; 0: never.

    If Kafka partitions are its channels, their names are `table/partition`, or `table/topic-partition` for several
    topics (`by_topic`). `cleaned`: Spark deletes its files after it has read them. `snapshot`: rows may come all the
    time, so a bounded run reads those that are there when it starts; of files it reads all that it finds.
    """

    table: str
    timeout: int = 0
    by_topic: bool = False
    cleaned: bool = False
    snapshot: bool = False


@dataclass
class SourceChannel:
    source: Source
    rows_at: float  # when it had rows, or was first heard of
    idle: bool = False


class Idleness:
    """The channels of a stream that runs. Times are seconds of the driver's clock."""

    def __init__(self, sources: Sequence[Source], now: float) -> None:
        self.sources = sources
        # of each source one, until its partitions are known
        self.channels = {source.table: SourceChannel(source, now) for source in sources}

    @property
    def all_idle(self) -> bool:
        return all(channel.idle for channel in self.channels.values())

    def micro_batch(self, reports: Sequence[Mapping[str, Any]], started: float, ended: float) -> list[str]:
        """What a progress report says of the sources, in their order. Gives the channels that turn idle by it:
        those without rows had none when the micro-batch started."""
        if len(reports) != len(self.sources):  # a registered DataFrame may have several: rows of one are rows of all
            rows = sum(report["numInputRows"] for report in reports)
            reports = [{"numInputRows": rows, "startOffset": None, "endOffset": None}] * len(self.sources)
        idle = []
        for source, report in zip(self.sources, reports, strict=True):
            for name, rows in _channels(source, report):
                if rows:
                    self.channels[name] = SourceChannel(source, ended)
                    continue
                of_table = self.channels.get(source.table, SourceChannel(source, ended))
                known = self.channels.get(name) or replace(of_table)
                self.channels[name] = known
                if _turns(known, started):
                    idle.append(name)
            if any(name.startswith(f"{source.table}/") for name in self.channels):
                self.channels.pop(source.table, None)
        return idle

    def nothing(self, now: float) -> list[str]:
        """No channel has rows now. Gives those that turn idle by it."""
        return [name for name, channel in self.channels.items() if _turns(channel, now)]


def _turns(channel: SourceChannel, now: float) -> bool:
    timeout = channel.source.timeout
    if channel.idle or not timeout or (now - channel.rows_at) * 1000 < timeout:
        return False
    channel.idle = True
    return True


def _channels(source: Source, report: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """The channels of a source and whether they had rows in a micro-batch."""
    before, after = (_offsets(report[name]) for name in ("startOffset", "endOffset"))
    if not after:
        yield source.table, report["numInputRows"] > 0
    for (topic, partition), offset in after.items():
        of_topic = f"{topic}-" if source.by_topic else ""
        yield f"{source.table}/{of_topic}{partition}", offset > before.get((topic, partition), 0)


def _offsets(report: object) -> dict[tuple[str, str], int]:
    """Offsets by topic and partition, where the source has such: {"topic": {"0": 12, "1": 7}}."""
    topics = json.loads(report) if isinstance(report, str) and report.startswith("{") else report
    if not isinstance(topics, dict) or not all(isinstance(each, dict) for each in topics.values()):
        return {}
    return {(topic, partition): offset for topic, each in topics.items() for partition, offset in each.items()}
