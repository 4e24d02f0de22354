"""The windows of one key group of a stream: which rows still count, which windows fire, which slices go.

A slice is late if its last window has fired: then its rows are dropped, and counted. If only its first windows
have, its rows count in the later ones: the windows that fired are not given out again. Source: semantics.md b.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tvfsql.plan.window import Cumulate
from tvfsql.runtime.stream.fire import Fire
from tvfsql.runtime.stream.late import LateRows
from tvfsql.runtime.stream.proctime import goes_on
from tvfsql.runtime.stream.runs import Runs
from tvfsql.runtime.stream.said import Message
from tvfsql.runtime.stream.slice_rows import SliceRows
from tvfsql.runtime.stream.spans import Span
from tvfsql.runtime.stream.steps import Steps
from tvfsql.runtime.stream.store import SliceStore


@dataclass
class Counts:
    """What one micro-batch did to a key group."""

    rows_in: int = 0
    late: int = 0
    windows: int = 0


class Windows:
    """The operator: `add` the micro-batch's slices, then `advance` the watermark; the store is written by the caller.

    HOP: a fire reads the slices at both edges of its windows and a few runs of slices between them (`Runs`), not
    all slices of a window. CUMULATE: the slices of a cycle that have fired are merged into one, so a fire reads
    that and the new ones, or with `emit_only_on_change` they are kept apart from the new ones (`Steps`). TUMBLE: a
    window is its slice. By processing time (`proctime`) rows that lie behind the watermark are rows of the first slice
    that is open.
    """

    def __init__(
        self,
        span: Span,
        layout: SliceRows,
        rows: str,
        store: SliceStore,
        late: LateRows[SliceRows] | None = None,
        proctime: bool = False,
    ) -> None:
        self.span, self.layout, self.rows, self.store, self.late = span, layout, rows, store, late
        self.proctime = proctime
        self.missed: list[Any] = []  # late rows, if they are kept (`late`), as `LateRows.of` gives them
        self.runs = Runs(span, store)
        self.steps = Steps(span, store) if span.window.emit_only_on_change else None
        self.counts = Counts()

    def add(self, batches: Sequence[Any]) -> None:
        """Take the slices of a micro-batch; they are judged by the watermark that stood before it."""
        for number, batch in self.in_time(batches, self.fired):
            self.keep(number, batch)

    def in_time(self, batches: Sequence[Any], closed: int | None) -> Iterator[tuple[int, Any]]:
        """The slices that come in a micro-batch, without late ones: those of which no window ends after `closed`."""
        behind = goes_on(self.store.valve.watermark) if self.proctime else None
        if behind is not None:
            opening = self.span.number(behind + 1) + 1
            batches = [self.layout.not_before(batch, opening) for batch in batches]
        fresh = (self.late.wide if self.late else self.layout).merged(batches)
        self.counts.rows_in += self.layout.total(fresh, self.rows)
        for number, batch in self.layout.by_slice(fresh).items():
            last = self.span.last(number)
            if last < number:  # it lies between two windows: late for none, part of none
                continue
            if closed is None or last > closed:
                yield number, self.late.without(batch) if self.late else batch
                continue
            self.counts.late += self.layout.total(batch, self.rows)
            if self.late:
                self.missed.append(self.late.of(batch))

    def keep(self, number: int, batch: Any) -> None:
        """Add rows to a slice."""
        self.store.append((0, number), batch)
        self.runs.add(number, batch)

    def advance(self, messages: Iterable[Message]) -> Fire | None:
        """Hear what the channels say. Gives the windows that fire: a window does at its end - 1 ms."""
        already = self.fired
        for channel, said in messages:
            self.store.valve.say(channel, said)
        self.store.valve.settle()
        fired = self.fired
        if fired is None or fired == already:
            return None
        fire = self._fire(already, fired)
        if fire is not None:
            self.counts.windows += fire.count(self.span, self.layout, self.rows)
        self._expire(fired)
        if self.steps is not None:
            self.steps.expire(self.span.expired(fired))
            self.steps.fold(already, fired)
        elif isinstance(self.span.window, Cumulate):
            self._fold(fired)
        return fire

    def settle(self) -> tuple[()]:
        """Nothing fires but what `advance` gives."""
        return ()

    @property
    def newest(self) -> int | None:
        """The end of the last window that is open, in epoch ms."""
        last = max(map(self.span.last, self.store.slices()), default=None)
        return None if last is None else self.span.end(last)

    @property
    def first_end(self) -> int | None:
        """The end of the next window that fires, in epoch ms."""
        first = min(self.store.slices(), default=None)
        return None if first is None else self.span.end(self._first_open(first, self.fired))

    @property
    def due(self) -> int | None:
        return None

    @property
    def fired(self) -> int | None:
        """All windows that end on this slice or before have fired."""
        watermark = self.store.valve.watermark
        return None if watermark is None else self.span.number(watermark + 1)

    def _fire(self, already: int | None, fired: int) -> Fire | None:
        slices = sorted(self.store.slices())
        if not slices:
            return None
        first = self._first_open(slices[0], already)
        last = self.span.latest(min(fired, self.span.last(slices[-1])))
        if last < first:
            return None
        opening = self.span.opening(first)
        batches = self.runs.read([number for number in slices if opening <= number <= last], first, last)
        if not batches:
            return None
        rows = self.layout.by_key(batches) if self.steps is None else self.steps.fire(batches, already)
        return Fire(rows, self.span.end(first), self.span.end(last))

    def _first_open(self, first: int, fired: int | None) -> int:
        """The end of the first window that has not fired; the slice `first` is the first one with rows."""
        of_rows = self.span.first(first)
        return of_rows if fired is None else max(of_rows, self.span.latest(fired) + self.span.stride)

    def _expire(self, fired: int) -> None:
        """Drop the slices whose last window has fired."""
        expired = self.span.expired(fired)
        for number in [number for number in self.store.slices() if number <= expired]:
            self.store.drop((0, number))
        self.runs.expire(expired)

    def _fold(self, fired: int) -> None:
        """Merge the slices of the open cycle that have fired: later windows only need their sum, so to speak."""
        folded = sorted(number for number in self.store.slices() if number <= fired)
        if len(folded) < 2:
            return
        batches = [batch for number in folded for batch in self.store.read((0, number))]
        merged = self.layout.merged(batches, into=folded[-1])
        for number in folded:
            self.store.drop((0, number))
        self.store.append((0, folded[-1]), merged)
