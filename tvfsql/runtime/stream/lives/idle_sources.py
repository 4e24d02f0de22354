"""Idle sources: channels without rows for so long that windows no longer wait for them.

The driver's clock decides once, and the decision goes through the control channel. So a repeated micro-batch decides
the same. Source: semantics.md#idle-channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tvfsql.runtime.host.spark_versions import reported_offset

if TYPE_CHECKING:
    from tvfsql.runtime.stream.progress.counts import TableReport


@dataclass(frozen=True)
class Source:
    """A table that a stream reads. Its channels become idle after `timeout` ms without rows; 0: never.

    If its channels are Kafka partitions, they are named `table/partition`, or `table/topic-partition` if it reads
    several topics (`by_topic`). `cleaned`: Spark deletes the files after it has read them. `snapshot`: new rows may
    arrive at any time, so a bounded run reads only what exists when it starts. Of files, a bounded run reads all that
    it finds. `in_order`: Spark lists its files one by one, in order of name. `ends`: the table ends, beside others that
    do not.
    """

    table: str
    timeout: int = 0
    by_topic: bool = False
    cleaned: bool = False
    snapshot: bool = False
    in_order: bool = False
    ends: bool = False


@dataclass
class SourceChannel:
    source: Source
    rows_at: float  # when it last had rows, or when it became known
    idle: bool = False


class Idleness:
    """The channels of a running stream. Times are seconds on the driver's clock."""

    def __init__(self, sources: Sequence[Source], now: float) -> None:
        self.sources = sources
        # one per source until its partitions are known
        self.channels = {source.table: SourceChannel(source, now) for source in sources}

    @property
    def all_idle(self) -> bool:
        return all(channel.idle for channel in self.channels.values())

    def is_idle(self, name: str) -> bool:
        """Whether a channel is idle now: rows may have come since it became so."""
        return name in self.channels and self.channels[name].idle

    def micro_batch(self, reports: Sequence[TableReport], started: float, ended: float) -> list[str]:
        """Update the channels from a progress report, one entry per source, in order. Returns the channels that become
        idle: those that had no rows in the micro-batch, and whose timeout had passed when it started."""
        if len(reports) != len(self.sources):  # a registered DataFrame may read several: rows in one count for all
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
        """Record that no channel has rows now. Returns the channels that become idle."""
        return [name for name, channel in self.channels.items() if _turns(channel, now)]


def _turns(channel: SourceChannel, now: float) -> bool:
    """Mark a channel as idle if its timeout has passed at `now`. Returns whether it became idle."""
    timeout = channel.source.timeout
    if channel.idle or not timeout or (now - channel.rows_at) * 1000 < timeout:
        return False
    channel.idle = True
    return True


def _channels(source: Source, report: TableReport) -> Iterator[tuple[str, bool]]:
    """The channels of a source and whether they had rows in a micro-batch."""
    before, after = (_offsets(report[name]) for name in ("startOffset", "endOffset"))
    if not after:
        yield source.table, report["numInputRows"] > 0
    for (topic, partition), offset in after.items():
        of_topic = f"{topic}-" if source.by_topic else ""
        yield f"{source.table}/{of_topic}{partition}", offset > before.get((topic, partition), 0)


def _offsets(report: object) -> dict[tuple[str, str], int]:
    """Offsets by (topic, partition), if the source reports them: {"topic": {"0": 12, "1": 7}}. Otherwise empty."""
    topics = reported_offset(report)
    if not isinstance(topics, dict) or not all(isinstance(each, dict) for each in topics.values()):
        return {}
    return {(topic, partition): offset for topic, each in topics.items() for partition, offset in each.items()}
