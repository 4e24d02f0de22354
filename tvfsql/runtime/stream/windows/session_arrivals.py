"""Which rows of sessions are late with `on-event` watermarks: each row is judged by the sessions that are open when it
arrives, so micro-batches do not matter. Source: semantics.md#sessions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import joined, key_codes
from tvfsql.runtime.arrow.columns import Mask
from tvfsql.runtime.merge.session_merge import Intervals

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
