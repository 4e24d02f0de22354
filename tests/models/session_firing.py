"""A plain model of sessions that fire early and late: rows by key in lists, one micro-batch at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.models.firing import NONE, Change, shown
from tests.models.streams import Event, Out, results_of
from tvfsql.plan.stream import Firing
from tvfsql.runtime.stream.time.control_channel import END_OF_INPUT

Bounds = tuple[int, int]


@dataclass(eq=False)
class Row:
    """A row, and whether a result has it."""

    ts: int
    value: int
    fresh: bool = True


@dataclass
class KeyRows:
    """The rows of a key that its sessions consist of, and the sessions as they were emitted last."""

    rows: list[Row] = field(default_factory=list)
    emitted: dict[Bounds, Out] = field(default_factory=dict)


class FiringSessionModel:
    """semantics.md#early-and-late-sessions taken literally."""

    def __init__(self, gap: int, firing: Firing, groups: int = 1) -> None:
        self.gap, self.firing, self.groups = gap, firing, groups
        self.watermark, self.late = NONE, 0
        self.keys: dict[Any, KeyRows] = defaultdict(KeyRows)
        self.since: dict[tuple[str, int], int] = {}  # since when rows of a key group wait

    def changes(self, events: Sequence[Event], now: int) -> list[Change]:
        self._take([event for event in events if event.ts is not None])
        before = self.watermark
        self.watermark = max([before, *(event.watermark for event in events if event.watermark is not None)])
        out: list[Change] = []
        for key, session in [*self._sessions()]:
            end = self._bounds(session)[1]
            if before < end - 1 <= self.watermark or self._closed(end):
                out += self._fire(key, session)
        for key, session in [*self._sessions()]:
            if self._closed(self._bounds(session)[1]):
                of_key = self.keys[key]
                of_key.rows = [row for row in of_key.rows if row not in session]
                of_key.emitted.pop(self._bounds(session))
        for kind, delay in (("late", self.firing.late), ("early", self.firing.early)):
            for group in range(self.groups) if delay is not None else []:
                out += self._waiting(kind, group, delay or 0, now)
        return out

    def _take(self, events: Sequence[Event]) -> None:
        new = []
        for event in events:
            assert event.ts is not None
            new.append(Row(event.ts, event.value))
            self.keys[event.key].rows.append(new[-1])
        for key, session in [*self._sessions()]:
            if self._closed(self._bounds(session)[1]):
                late = [row for row in session if row in new]
                self.late += len(late)
                self.keys[key].rows = [row for row in self.keys[key].rows if row not in late]

    def _waiting(self, kind: str, group: int, delay: int, now: int) -> Iterator[Change]:
        found = [
            (key, session)
            for key, session in self._sessions()
            if any(row.fresh for row in session)
            and self._group(key) == group
            and (self._bounds(session)[1] - 1 > self.watermark) == (kind == "early")
        ]
        if not found:
            self.since.pop((kind, group), None)
        elif now >= self.since.setdefault((kind, group), now) + delay:
            del self.since[kind, group]
            for key, session in found:
                yield from self._fire(key, session)

    def _fire(self, key: Any, session: list[Row]) -> Iterator[Change]:
        if not any(row.fresh for row in session):
            return
        for row in session:
            row.fresh = False
        emitted, (start, end) = self.keys[key].emitted, self._bounds(session)
        values = [value for _, value in sorted((row.ts, row.value) for row in session)]
        now = (key, start, end, *results_of(values))
        before = emitted.pop((start, end), None)
        for bounds in [one for one in emitted if start <= one[0] and one[1] <= end]:
            yield "-D", emitted.pop(bounds)
        emitted[start, end] = now
        if before is None:
            yield "+I", now
        elif shown(before) != shown(now):
            yield "-U", before
            yield "+U", now

    def _sessions(self) -> Iterator[tuple[Any, list[Row]]]:
        for key, of_key in self.keys.items():
            rows = sorted(of_key.rows, key=lambda row: row.ts)
            cuts = [at for at, (one, next_) in enumerate(pairwise(rows), 1) if next_.ts - one.ts > self.gap]
            for start, stop in pairwise([0, *cuts, len(rows)] if rows else []):
                yield key, rows[start:stop]

    def _bounds(self, session: Sequence[Row]) -> Bounds:
        return session[0].ts, session[-1].ts + self.gap

    def _closed(self, end: int) -> bool:
        lateness = 0 if self.watermark == END_OF_INPUT else self.firing.lateness
        return end - 1 + lateness <= self.watermark

    def _group(self, key: Any) -> int:
        return sum(map(ord, key or "")) % self.groups


def folded_sessions(changes: Sequence[Change]) -> list[Out]:
    """The sessions that remain after changes, each of which must fit those before it."""
    left: dict[Any, Out] = {}
    for op, row in changes:
        if op in ("-U", "-D"):
            assert shown(left.pop(row[:3])) == shown(row)
        else:
            assert row[:3] not in left
            left[row[:3]] = row
    return list(left.values())
