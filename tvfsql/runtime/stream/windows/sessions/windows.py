"""The sessions of one key group of a stream: which rows join an open session, which sessions fire, which rows are late.

State contains open sessions as intervals that may not be merged yet. The rows of a micro-batch are added, and the
intervals of a bucket of keys are merged when a session there is due: when the watermark reaches its end - 1 ms. A row
is late if the session that it forms with other new rows and with open sessions was due before the micro-batch. A row
that reaches an open session is never late, because that session was not due. With `on_event` each row is judged alone,
in order of arrival. With `adjust` late rows count as rows of the first millisecond after the watermark. Source:
semantics.md#sessions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from tvfsql.plan.stream import StreamContext
from tvfsql.runtime.arrow.batches import PIECE_ROWS, joined, key_codes
from tvfsql.runtime.arrow.columns import Mask
from tvfsql.runtime.merge.session_merge import Intervals
from tvfsql.runtime.stream.exchange.late_rows import LATES, LateRows
from tvfsql.runtime.stream.operator.messages import Emit, Late
from tvfsql.runtime.stream.operator.protocol import KeyGroup
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.processing_time import goes_on
from tvfsql.runtime.stream.windows.sessions.open_sessions import OpenSessions


class SessionWindows(KeyGroup):
    """Emits closed sessions as intervals.

    In processing time (`proctime`), rows at or before the watermark count as rows of the first millisecond after it.
    """

    def __init__(self, context: StreamContext, rows: str, sessions: OpenSessions) -> None:
        super().__init__(context, sessions.store)
        self.layout, self.rows, self.sessions = sessions.layout, rows, sessions
        self.late = LateRows(self.layout) if context.late else None
        self.late_sessions: list[pa.RecordBatch] = []

    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        closing, before = self.closing, goes_on(self.watermark)
        if self.context.proctime and before is not None:
            payloads = [self.layout.not_before(batch, before + 1) for batch in payloads]
        layout = (self.late.wide if self.late else self.layout).kept
        in_order = self.context.on_event
        fresh = joined(payloads) if in_order else layout.merged(payloads)
        self.counts.rows_in += self._total(fresh)
        if closing is not None and self.layout.first_end(fresh) - 1 <= closing:
            adjusted = before + 1 if self.context.adjust and before is not None else None
            opened = self.near(fresh.filter(pa.array(self.layout.least_ends(fresh) - 1 <= closing)))
            if in_order:
                kept = in_time(self.layout, fresh, opened, closing, adjusted)
            else:
                kept = self.layout.session_ends([fresh, *opened])[: fresh.num_rows] - 1 > closing
            late, fresh = fresh.filter(pa.array(~kept)), fresh.filter(pa.array(kept))
            if adjusted is not None:
                self.counts.adjusted += self._total(late)
                fresh = joined([fresh, self.layout.not_before(late, adjusted)])
            else:
                self.counts.late += self._total(late)
                if self.late and late.num_rows:
                    self.late_sessions.append(late.select([*self.layout.names[self.layout.keys :][:2], LATES]))
        if fresh.num_rows:
            merged = layout.merged([fresh])
            self.sessions.add(self.late.without(merged) if self.late else merged)

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Emit]:
        watermark = self.store.valve.advance(messages)
        if watermark is None:
            return
        waiting: list[pa.RecordBatch] = []
        for number, intervals in [*self.sessions.due(watermark)]:
            closed = self._closed(number, self.layout.kept.merged(intervals), watermark)
            waiting += [closed] if closed.num_rows else []
            if sum(batch.num_rows for batch in waiting) > PIECE_ROWS:
                yield self._emit(waiting)
                waiting = []
        if waiting:
            yield self._emit(waiting)

    def _closed(self, number: int, opened: pa.RecordBatch, watermark: int) -> pa.RecordBatch:
        """Take the sessions that have ended out of a bucket with these intervals."""
        whole = self.layout.limit is None  # intervals are whole sessions, not rows of one time
        ends = self.layout.ends(opened) if whole else self.layout.session_ends([opened])
        due = ends - 1 <= watermark
        self.sessions.close(number, opened, due, ends)
        closed = opened.filter(pa.array(due))
        return closed if whole or not closed.num_rows else self.layout.merged([closed])

    def _emit(self, closed: Sequence[pa.RecordBatch]) -> Emit:
        rows = joined(closed)
        self.counts.rows_out += rows.num_rows
        self.counts.fired(int(self.layout.ends(rows).min()))
        return Emit(rows)

    def finish(self) -> Iterator[Emit | Late]:
        if self.late_sessions:
            yield Late(pa.concat_batches(self.late_sessions))

    @property
    def newest_end(self) -> int | None:
        return self.sessions.last_end

    @property
    def next_end(self) -> int | None:
        """The end of the first open session, as of now; None: no session is open."""
        if self.layout.limit is None or self.sessions.first_end is None:
            return self.sessions.first_end
        return int(self.layout.session_ends(self.sessions.read()).min())

    @property
    def closing(self) -> int | None:
        """The watermark at which sessions stop accepting rows; None before the first watermark."""
        return self.watermark

    def near(self, intervals: pa.RecordBatch) -> list[pa.RecordBatch]:
        """All sessions in state with the keys of the given intervals, and maybe others."""
        return self.sessions.near(intervals)

    def _total(self, batch: pa.RecordBatch) -> int:
        return int(batch.column(self.rows).sum().as_py() or 0) if batch.num_rows else 0


# Which rows of sessions are late with `on-event` watermarks: each row is judged by the sessions that are open when it
# arrives, so micro-batches do not matter. Source: semantics.md#sessions.


Interval = tuple[int, int]  # the first and the last row of a session, in epoch microseconds


def in_time(
    layout: Intervals, rows: pa.RecordBatch, opened: Sequence[pa.RecordBatch], watermark: int, adjusted: int | None
) -> Mask:
    """Which rows are in time, for single rows in order of arrival and the intervals of open sessions.

    A row is late if the session that it forms with open sessions has ended by the watermark (epoch ms). It then opens
    no session, or with `adjusted` one at that time (epoch ms).
    """
    found = layout.ends(rows) - 1 > watermark
    late_alone = np.flatnonzero(~found)
    if not len(late_alone):
        return found
    every = joined([each.select(layout.names[: layout.keys + 2]) for each in (rows, *opened)])
    codes = key_codes(every.columns[: layout.keys], every.num_rows)
    concerned = np.isin(codes, codes[late_alone])
    starts, lasts = layout.starts(every), layout.lasts(every)
    sessions: dict[int, _Sessions] = {}
    count = rows.num_rows
    for at in _places(concerned[count:], count):
        sessions.setdefault(codes[at], _Sessions(layout)).add(int(starts[at]), int(lasts[at]))
    for at in _places(concerned[:count]):
        of_key, time = sessions.setdefault(codes[at], _Sessions(layout)), int(starts[at])
        found[at] = found[at] or of_key.end_with(time) // 1000 - 1 > watermark
        if found[at]:
            of_key.add(time, time)
        elif adjusted is not None:
            of_key.add(adjusted * 1000, adjusted * 1000)
    return found


class _Sessions:
    """The open sessions of a key. With a maximum duration each time of a row is kept, as sessions may be cut anew."""

    def __init__(self, layout: Intervals) -> None:
        self.gap = layout.gap * 1000
        self.limit = None if layout.limit is None else layout.limit * 1000
        self.intervals: list[Interval] = []

    def add(self, start: int, last: int) -> None:
        """Add an interval, and merge those that it joins."""
        if self.limit is None:
            near = self._near(start, last)
            self.intervals = [one for one in self.intervals if one not in near]
            start, last = min([start, *(one[0] for one in near)]), max([last, *(one[1] for one in near)])
        self.intervals.append((start, last))

    def end_with(self, time: int) -> int:
        """The end of the session that a row of this time would be in, in epoch microseconds."""
        if self.limit is None:
            return max([time, *(last for _, last in self._near(time, time))]) + self.gap
        begin, *others = sorted([time, *(start for start, _ in self.intervals)])
        last = begin
        for each in others:
            if each > last + self.gap or each >= begin + self.limit:
                if begin <= time < each:
                    break
                begin = each
            last = each
        return min(last + self.gap, begin + self.limit)

    def _near(self, start: int, last: int) -> list[Interval]:
        return [one for one in self.intervals if one[0] <= last + self.gap and start <= one[1] + self.gap]


def _places(chosen: Mask, first: int = 0) -> Sequence[int]:
    places: list[int] = (np.flatnonzero(chosen) + first).tolist()
    return places
