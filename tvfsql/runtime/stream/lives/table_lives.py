"""The life of each table of a running stream: it is read, its channels are idle since a micro-batch, or it has ended.

This module alone decides on idle channels and ends, without Spark: it is given what progress reports say and what time
it is, and returns messages for the control channel. A message that cannot be taken back rests on what Spark says that
it has read, never on a clock. Source: docs/streams.md#runs-ends-and-lulls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tvfsql.plan.synthetic.tables import NEXT_ROW, ROWS
from tvfsql.runtime.host.spark_versions import reported_offset
from tvfsql.runtime.stream.lives.idle_sources import Idleness, Source
from tvfsql.runtime.stream.time.valve import END_OF_INPUT, ENDED, idle_since

if TYPE_CHECKING:
    from tvfsql.runtime.stream.progress.counts import TableReport

TOPICS = "KafkaV2["  # how a progress report describes them
Message = tuple[str | None, int]  # for a table or a channel (None: for all), what `Valve.receive` takes


def is_read(report: TableReport, at_rest: bool) -> bool:
    """Whether Spark has read all rows of a table that there are, by the report of a micro-batch that it has planned
    itself. `at_rest`: after the report it has looked for rows, and found none of any table.

    Spark asks each source for its latest offset whenever it plans a micro-batch. Files have none after the last one
    that has been read. A generated table with a rate, or a topic with a limit, may be at rest before its end.
    """
    start, end = reported_offset(report.get("startOffset")), reported_offset(report.get("endOffset"))
    if isinstance(end, dict) and ROWS in end:
        return bool(end[NEXT_ROW] >= end[ROWS])
    if str(report.get("description", "")).startswith(TOPICS):
        return end is not None and end == reported_offset(report.get("latestOffset"))
    return at_rest or start == end


@dataclass
class TableLives:
    """The tables of one run of a stream.

    `closes`: the run ends when all tables have been read, and then time ends. Otherwise the tables with `ends` end one
    by one, beside others without end. `planned`: the last micro-batch that an earlier run has planned (-1: none); its
    report is not a proof, because Spark has looked for rows before this run. `announced`: an earlier run has announced
    the end. Times are seconds on a clock that never goes back.
    """

    sources: Sequence[Source]
    now: float
    closes: bool = False
    planned: int = -1
    announced: bool = False
    seen: int | None = None  # the last micro-batch that has ended
    ended: set[str] = field(default_factory=set)  # the tables whose end has been announced
    before: int = -2  # the last micro-batch that had ended when the end of all was announced
    turned: dict[str, int] = field(default_factory=dict)  # channels that have become idle, since which micro-batch

    def __post_init__(self) -> None:
        self.idleness = Idleness(self.sources, self.now)

    @property
    def all_idle(self) -> bool:
        """Whether all tables that have not ended are idle, of which there is at least one."""
        channels = self.idleness.channels.values()
        live = [channel for channel in channels if channel.source.table not in self.ended]
        return bool(live) and all(channel.idle for channel in live)

    def micro_batch(self, number: int, reports: Sequence[TableReport], started: float, ended: float) -> None:
        """Take the report of a micro-batch: one for each table, in order. `started` is not later than its start, and
        `ended` not earlier than its end."""
        self.seen = number
        self.turned |= dict.fromkeys(self.idleness.micro_batch(reports, started, ended), number)

    def look(self, number: int | None, reports: Sequence[TableReport], at_rest: bool, now: float) -> list[Message]:
        """What is to be announced now. `reports` are those of the tables in Spark's last report, `number` is that of
        its micro-batch; None: Spark has made no report yet. `at_rest`: since then Spark has found nothing new."""
        if at_rest:
            self.turned |= dict.fromkeys(self.idleness.nothing(now), self.planned if self.seen is None else self.seen)
        messages: list[Message] = [
            (name, idle_since(micro_batch))
            for name, micro_batch in self.turned.items()
            if self.idleness.is_idle(name) and self._table(name) not in self.ended
        ]
        self.turned = {}
        if number is None or (number <= self.planned and not at_rest):
            return messages
        read = [is_read(report, at_rest) for report in reports]
        if self.closes:
            if all(read) and not self.announced:
                self.announced, self.before = True, -1 if self.seen is None else self.seen
                messages.append((None, END_OF_INPUT))
            return messages
        if len(reports) == len(self.sources):
            for source, table_is_read in zip(self.sources, read, strict=True):
                if source.ends and table_is_read and source.table not in self.ended:
                    self.ended.add(source.table)
                    messages.append((source.table, ENDED))
        return messages

    def has_ended(self, reports: Sequence[TableReport], at_rest: bool) -> bool:
        """Whether the query has processed the end of all tables and can stop."""
        all_read = all(is_read(report, at_rest) for report in reports)
        # micro-batch `before + 1` may have begun before the announcement, `before + 2` has not
        last = -1 if self.seen is None else self.seen
        return self.announced and all_read and last > self.before + (0 if at_rest else 1)

    def _table(self, channel: str) -> str:
        """The table of a channel."""
        known = self.idleness.channels.get(channel)
        return known.source.table if known is not None else channel
