"""Windows of a stream that give out results before their end, and again for rows that come late.

Everything is made of increments: a row per key and window, of the rows that came since the window fired last. Rows
that open windows have not given out yet lie in slices, as those of `Windows` do; an early fire empties them. A row
that is late for some windows and in time for others lies in a slice for these, and in LATE for those. To purge
is to give out the increments; to accumulate is to add them to what was given out last, which GIVEN remembers
to the letter: sums of floating-point numbers that are worked out anew may differ. Source: semantics.md e.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tvfsql.plan.firing import Firing
from tvfsql.runtime.columns import Ints
from tvfsql.runtime.kernel import BEFORE
from tvfsql.runtime.stream.control import END_OF_INPUT
from tvfsql.runtime.stream.fire import Fire
from tvfsql.runtime.stream.said import Message
from tvfsql.runtime.stream.slice_rows import joined, key_codes
from tvfsql.runtime.stream.windows import Windows

# Levels of entries in the store. LATE: rows that came when windows up to the entry's number had fired. GIVEN: what
# was given out last of the window that ends on the number. The others are marks: since when rows wait for a fire.
LATE, GIVEN, EARLY_SINCE, LATE_SINCE = -1, -2, -3, -4
FIRE_ROWS = 500_000  # about so many rows are made at a time


@dataclass(frozen=True)
class Given:
    """Rows that leave a key group: the keys, `$slice` (the number of the window's end), partials and, unless they are
    increments, a struct of the partials given out before, NULL the first time."""

    rows: Any
    first = last = 0  # a fire of slices says here which windows are to be made


class FiringWindows:
    """The operator: `add` and `advance` as `Windows` has them; what fires in a micro-batch comes out of `settle`, once
    per key and window. `now` is the processing time of the micro-batch in epoch ms; a delay runs from the first row
    that a key group has not given out.
    """

    def __init__(self, windows: Windows, firing: Firing, now: int) -> None:
        self.windows, self.firing, self.now = windows, firing, now
        self.span, self.layout, self.store = windows.span, windows.layout, windows.store
        self.counts, self.missed = windows.counts, windows.missed
        self.fires: list[Fire] = []
        self.due: int | None = None

    def add(self, batches: Sequence[Any]) -> None:
        """Take the slices of a micro-batch; they are judged by the watermark that stood before it, window by window."""
        fired, closed = self.windows.fired, self._closed
        for number, batch in self.windows.in_time(batches, closed):
            last = self.span.last(number)
            if fired is None or last > fired:
                self.windows.keep(number, batch)
            if fired is not None:
                ended = self.span.latest(min(fired, last))
                if ended >= self.span.first(number) and (closed is None or ended > closed):
                    self.store.append((LATE, fired), batch)

    def advance(self, messages: Iterable[Message]) -> None:
        """Hear what the channels say. Windows fire that end, and those that close with late rows."""
        before = self._closed
        fire = self.windows.advance(messages)
        closed = self._closed
        self.fires += [fire] if fire else []
        if closed is not None and closed != before:
            self.fires += self._late_rows(before, closed)
            self._drop(entry for entry in self._entries(LATE) if entry[1] <= closed)

    def settle(self) -> Iterator[Given]:
        """What the micro-batch gives out; rows that came late and open windows fire if it is time."""
        fired, early = self.windows.fired, self.firing.early
        if self._is_due(LATE_SINCE, self.firing.late, waiting=bool(self._entries(LATE))):
            assert fired is not None
            self.fires += self._late_rows(self._closed, fired)
            self._drop(self._entries(LATE))
        if early is not None and self._is_due(EARLY_SINCE, early, waiting=any(True for _ in self.store.slices())):
            self.fires.append(self._open())
            self._drop(entry for entry in self.store.entries if entry[0] >= 0)
        self.counts.windows = 0
        for fresh in self._increments(self.fires):
            self.counts.windows += fresh.num_rows
            yield Given(fresh if self.firing.purge else self._accumulated(fresh))
        closed = self._closed
        self._drop(entry for entry in self._entries(GIVEN) if closed is not None and entry[1] <= closed)

    @property
    def newest(self) -> int | None:
        """The end of the last window that is open, in epoch ms."""
        fired = self.windows.fired
        given = [self.span.end(number) for _, number in self._entries(GIVEN) if fired is None or number > fired]
        return max([*given, *([] if self.windows.newest is None else [self.windows.newest])], default=None)

    @property
    def first_end(self) -> int | None:
        """The end of the next window that fires with rows that it has not given out, in epoch ms."""
        return self.windows.first_end

    @property
    def _closed(self) -> int | None:
        """All windows that end on this slice or before take no more rows."""
        watermark = self.store.valve.watermark
        if watermark is None:
            return None
        lateness = 0 if watermark == END_OF_INPUT else self.firing.lateness
        return self.span.number(watermark + 1 - lateness)

    def _open(self) -> Fire:
        """All rows in slices, and the windows that have not fired."""
        slices = sorted(self.store.slices())
        fired = self.windows.fired
        first = self.span.first(slices[0])
        if fired is not None:
            first = max(first, self.span.latest(fired) + self.span.stride)
        rows = self.layout.by_key([batch for number in slices for batch in self.store.read((0, number))])
        return Fire(rows, self.span.end(first), self.span.end(self.span.last(slices[-1])))

    def _late_rows(self, closed: int | None, upto: int) -> list[Fire]:
        """The rows that came late, and of the windows up to a number those that may have them."""
        found = []
        for level, fired in self._entries(LATE):
            rows = self.layout.by_key(self.store.read((level, fired)))
            first = self.span.first(int(self.layout.slices(rows).min()))
            if closed is not None:
                first = max(first, self.span.latest(closed) + self.span.stride)
            last = self.span.latest(min(fired, upto))
            if first <= last:
                found.append(Fire(rows, self.span.end(first), self.span.end(last)))
        return found

    def _increments(self, fires: Sequence[Fire]) -> Iterator[Any]:
        """A row per key and window, out of all the fires."""
        if not fires:
            return
        rows = sum(fire.count(self.span, self.layout, self.windows.rows) for fire in fires)
        first = self.span.number(min(fire.first for fire in fires))
        last = self.span.number(max(fire.last for fire in fires))
        pieces = min(last - first, rows // FIRE_ROWS) + 1
        for piece in range(pieces):
            ends = [self.span.end(first + (last + 1 - first) * at // pieces) for at in (piece, piece + 1)]
            parts = (
                Fire(fire.rows, max(fire.first, ends[0]), min(fire.last, ends[1] - 1))
                for fire in fires
                if fire.first < ends[1] and ends[0] <= fire.last
            )
            made = [
                self._numbered(batch)
                for part in parts
                for batch in part.windows(self.span, self.layout, self.windows.rows)
            ]
            if made:
                yield self.layout.merged(made)

    def _numbered(self, made: Any) -> Any:
        """Windows that the kernel made, with the number of their end."""
        micros: Ints = made.column("window_end").view(pa.int64()).to_numpy()
        columns = [column for name, column in zip(made.schema.names, made.columns, strict=True) if name not in BOUNDS]
        keys = self.layout.keys
        return self.layout.batch(columns[:keys], self.span.numbers(micros // 1000), columns[keys:])

    def _accumulated(self, fresh: Any) -> Any:
        """Increments added to what was given out before, which is remembered while their window may change."""
        windows = np.unique(self.layout.slices(fresh)).tolist()
        held = [batch for number in windows for batch in self.store.read((GIVEN, number))]
        before = joined(held) if held else fresh.slice(0, 0)
        old, new = self._codes(before, fresh)
        touched = np.isin(old, new)
        changed = before.filter(pa.array(touched))
        now = self.layout.merged([changed, fresh])
        kept = self.layout.by_slice(before.filter(pa.array(~touched)))
        for number, batch in self.layout.by_slice(now).items():
            if self._closed is None or number > self._closed:
                self.store.replace((GIVEN, number), joined([kept[number], batch]) if number in kept else batch)
        old, new = self._codes(changed, now)
        order = np.argsort(new)
        at = np.full(now.num_rows, -1)
        at[order[np.searchsorted(new[order], old)]] = np.arange(changed.num_rows)
        partials = changed.take(pa.array(at, mask=at < 0)).columns[self.layout.keys + 1 :]
        names = [name for name, _ in self.layout.merges]
        return now.append_column(BEFORE, pa.StructArray.from_arrays(partials, names=names, mask=pa.array(at < 0)))

    def _codes(self, one: Any, other: Any) -> tuple[Ints, Ints]:
        """Numbers for the rows of two batches: the same for the same key and window."""
        both = [pa.concat_arrays([one.column(place), other.column(place)]) for place in range(self.layout.keys + 1)]
        codes = key_codes(both, one.num_rows + other.num_rows)
        return codes[: one.num_rows], codes[one.num_rows :]

    def _is_due(self, since: int, delay: int, *, waiting: bool) -> bool:
        """Whether rows that are waiting have waited long enough: since a mark in the store, or else from now on."""
        marks = [*self._entries(since)]
        start = marks[0][1] if marks else self.now
        if waiting and self.now < start + delay:
            self.store.mark((since, start))
            self.due = start + delay if self.due is None else min(start + delay, self.due)
            return False
        self._drop(marks)
        return waiting

    def _entries(self, level: int) -> list[tuple[int, int]]:
        return sorted(entry for entry in self.store.entries if entry[0] == level)

    def _drop(self, entries: Iterable[tuple[int, int]]) -> None:
        for entry in list(entries):
            self.store.drop(entry)


BOUNDS = ("window_start", "window_end")
