"""Plain models of sessions on streams: rows by key in lists, one micro-batch at a time.

Source: semantics.md#sessions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tests.models.streams import Event, Out, results_of
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT


class Model:
    """Keeps rows by key in sets; windows [t, t + gap] that touch form one session. Rows of one micro-batch are judged
    together, by the watermark before them.
    """

    def __init__(self, gap: int, *, adjust: bool = False) -> None:
        self.gap, self.watermark, self.late, self.adjust, self.adjusted = gap, -(2**62), 0, adjust, 0
        self.open: list[list[Event]] = []

    def batch(self, events: Sequence[Event]) -> list[Out]:
        self._rows([event for event in events if event.ts is not None])
        marks = [event.watermark for event in events if event.watermark is not None]
        self.watermark = max([self.watermark, *marks])
        return list(self._fire())

    def one_by_one(self, events: Sequence[Event]) -> list[Out]:
        """With `on-event` watermarks: each row is judged alone, and then its watermark counts."""
        return [row for event in events for row in self.batch([event])]

    def copies(self, events: Sequence[Event]) -> list[Out]:
        """With `on-event` watermarks: each copy of a row is judged alone, and then the row's watermark counts."""
        for event in events:
            self._rows([event] if event.ts is not None else [])
        return self.batch([Event(None, None, events[0].watermark)])

    def _rows(self, rows: Sequence[Event]) -> None:
        sessions = [*([row] for row in rows)]
        fresh: list[list[Event]] = []
        late: list[Event] = []
        for key in {row.key for row in rows}:
            fresh += self._joined([one for one in sessions if one[0].key == key])
        for session in fresh:
            touching = [one for one in self.open if one[0].key == session[0].key and self._touch(one, session)]
            if not touching and self._end(session) - 1 <= self.watermark:
                late += session
                continue
            self.open = [one for one in self.open if one not in touching]
            self.open.append([*session, *(row for one in touching for row in one)])
        if late and self.adjust and self.watermark < END_OF_INPUT:
            self.adjusted += len(late)
            self._rows([replace(row, ts=self.watermark + 1) for row in late])
        else:
            self.late += len(late)

    def _joined(self, sessions: list[list[Event]]) -> list[list[Event]]:
        for one in sessions:
            for other in sessions:
                if one is not other and self._touch(one, other):
                    rest = [each for each in sessions if each is not one and each is not other]
                    return self._joined([*rest, [*one, *other]])
        return sessions

    def _touch(self, one: Sequence[Event], other: Sequence[Event]) -> bool:
        return self._start(one) <= self._end(other) and self._start(other) <= self._end(one)

    def _start(self, session: Sequence[Event]) -> int:
        return min(row.ts or 0 for row in session)

    def _end(self, session: Sequence[Event]) -> int:
        return max(row.ts or 0 for row in session) + self.gap

    def _fire(self) -> Iterator[Out]:
        due = [session for session in self.open if self._end(session) - 1 <= self.watermark]
        self.open = [session for session in self.open if session not in due]
        for session in due:
            values = [value for _, value in sorted((row.ts, row.value) for row in session)]
            yield session[0].key, self._start(session), self._end(session), *results_of(values)


class Cutting:
    """The same with sessions of at most `limit`: keeps rows by key and cuts the sessions anew each time."""

    def __init__(self, gap: int, limit: int) -> None:
        self.gap, self.limit, self.watermark, self.late = gap, limit, -(2**62), 0
        self.open: dict[str | None, list[Event]] = {}

    def batch(self, events: Sequence[Event]) -> list[Out]:
        fresh = [event for event in events if event.ts is not None]
        for key in {row.key for row in fresh}:
            held, new = self.open.get(key, []), [row for row in fresh if row.key == key]
            over = [
                id(row) for session, end in self._cut([*held, *new]) if end - 1 <= self.watermark for row in session
            ]
            in_time = [row for row in new if id(row) not in over]
            self.late += len(new) - len(in_time)
            self.open[key] = [*held, *in_time]
        marks = [event.watermark for event in events if event.watermark is not None]
        self.watermark = max([self.watermark, *marks])
        fired = []
        for key, held in self.open.items():
            for session, end in self._cut(held):
                if end - 1 <= self.watermark:
                    values = [value for _, value in sorted((row.ts or 0, row.value) for row in session)]
                    fired.append((key, session[0].ts, end, *results_of(values)))
                    self.open[key] = [row for row in self.open[key] if not any(row is other for other in session)]
        return fired

    def _cut(self, rows: Sequence[Event]) -> Iterator[tuple[list[Event], int]]:
        session: list[Event] = []
        for row in [*sorted(rows, key=lambda row: row.ts or 0), None]:
            times = [one.ts or 0 for one in session]
            ts = row.ts if row else None
            if session and (ts is None or ts > times[-1] + self.gap or ts >= times[0] + self.limit):
                yield session, min(times[-1] + self.gap, times[0] + self.limit)
                session = []
            if row:
                session.append(row)
