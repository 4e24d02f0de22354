"""Several windows over the same rows in one operator: one state, and each window fires at its own end.

A row is late or not for each window by itself, and counts once as late for each window that it missed. Source:
semantics.md#late-rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tvfsql.plan.stream import ONE_INPUT, StreamContext
from tvfsql.plan.window import Several
from tvfsql.runtime.merge.several_windows import with_name
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.exchange.late_rows import LATES, LateRows, missed_windows
from tvfsql.runtime.stream.operator.messages import Emit, Fire, Late
from tvfsql.runtime.stream.operator.protocol import MOST_OPEN, KeyGroup, Operator
from tvfsql.runtime.stream.state.chunk_index import Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, State
from tvfsql.runtime.stream.state.timer_queue import TimerState
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.processing_time import goes_on, passed
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.windows.fire import FiredWindows
from tvfsql.runtime.stream.windows.places import slices_of
from tvfsql.runtime.stream.windows.window_slices import WindowSlices

WINDOW = "window"  # the column of late rows with the name of the window that they missed


class Kept(NamedTuple):
    """The slices of a window that have rows, in order, and the last slice that has ended."""

    span: Span
    slices: list[int]
    fired: int | None

    @property
    def open(self) -> Iterator[int]:
        """The slices that open windows end on."""
        return self.span.open(self.slices, self.fired)


class SeveralWindows(KeyGroup):
    """The windows of one key group. The first of its places has the slices in which rows come."""

    def __init__(
        self, context: StreamContext, several: Several, layout: SliceRows, rows: str, store: ChunkStore
    ) -> None:
        super().__init__(context, store)
        self.layout, self.rows_of = layout, rows
        self.places = slices_of(several, layout, rows, store)
        self.late = LateRows(layout) if context.late else None
        self.late_slices: list[pa.RecordBatch] = []
        self.kept: list[Kept] | None = None

    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        self.kept = None
        first, opens = self.places[0], goes_on(self.watermark)
        if self.context.proctime and opens is not None:
            payloads = [self.layout.not_before(batch, first.span.number(opens + 1) + 1) for batch in payloads]
        fresh = (self.late.wide if self.late else self.layout).merged(payloads)
        self.counts.rows_in += self.layout.total(fresh, self.rows_of)
        for number, batch in self.layout.by_slice(fresh).items():
            end = first.span.end(number)
            first.add(end, self.late.without(batch) if self.late else batch, self.watermark)
            for window in self._missed(end):
                self.counts.late += self.layout.total(batch, self.rows_of)
                if self.late:
                    self.late_slices.append(self._late_rows(window, end, batch))

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Fire]:
        """Advance the watermark and fire the windows of all places, those of the shortest slices first."""
        already, self.kept = self.watermark, None
        self.store.valve.advance(messages)
        watermark = self.watermark
        if watermark is None or watermark == already:
            return
        for place in self.places:
            for window, fire in place.advance(already, watermark):
                if windows := window.fired_windows.count(fire):
                    self.counts.rows_out += windows
                    self.counts.fired(fire.first_end)
                yield fire

    def finish(self) -> Iterator[Emit | Late]:
        for late in self.late_slices:
            yield Late(late)

    @property
    def newest_end(self) -> int | None:
        ends = (each.span.end(max(map(each.span.last, each.slices))) for each in self._kept() if each.slices)
        return max(ends, default=None)

    @property
    def next_end(self) -> int | None:
        ends = (each.span.end(end) for each in self._kept() for end in islice(each.open, 1))
        return min(ends, default=None)

    @property
    def open_ends(self) -> list[int]:
        """By the number of the window's end and that of its function."""
        kept = self._kept()
        found = (end * len(kept) + at for at, each in enumerate(kept) for end in islice(each.open, MOST_OPEN + 1))
        return [*islice(found, MOST_OPEN + 1)]

    @property
    def open_slices(self) -> int:
        return sum(1 for _ in self.store.numbers(Kind.SLICE))

    def _kept(self) -> list[Kept]:
        """What is kept for each window, also in shorter slices."""
        if self.kept is None:
            places = ((place, sorted(place.rows(self.watermark)), place.fired(self.watermark)) for place in self.places)
            self.kept = [Kept(of.span, slices, fired) for place, slices, fired in places for of in place.windows]
        return self.kept

    def _missed(self, end: int) -> Iterator[WindowSlices]:
        """The windows for which the slice of the first place that ends at `end` is late."""
        for place in self.places if self.watermark is not None else ():
            number, fired = place.number(end), place.fired(self.watermark)
            for window in place.windows:
                if fired is not None and window.span.last(number) <= fired:
                    yield window

    def _late_rows(self, window: WindowSlices, end: int, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of a late slice of the first place, as `unpack_late` takes them."""
        number = np.full(batch.num_rows, window.span.number(end - 1) + 1, dtype=np.int64)
        names = pa.repeat(pa.scalar(window.name, pa.string()), batch.num_rows)
        return pa.RecordBatch.from_arrays(
            [pa.array(number), batch.column(LATES), names], names=["slice", "rows", WINDOW]
        )


@dataclass(frozen=True)
class SeveralOperator(Operator):
    """Several windows over the same rows. `rows` is the partial of `layout` that counts rows. `lacking` has the
    partials that rows in state may lack."""

    windows: Several
    layout: SliceRows
    rows: str
    context: StreamContext = ONE_INPUT
    lacking: Mapping[str, pa.Array] = field(default_factory=dict)

    def open(self, state: State, timers: TimerState | None, now: int) -> SeveralWindows:
        columns = self.layout.names
        store = ChunkStore(state, self.layout.merged, self.context.inputs, columns=columns, lacking=self.lacking)
        return SeveralWindows(self.context, self.windows, self.layout, self.rows, store)

    def watermark_at(self, now: int) -> int:
        return passed(now, self.context.zone)

    def unpack(self, emitted: Fire | Emit) -> Iterator[pa.RecordBatch]:
        """Keys, the name of the window, window_start, window_end and merged partials."""
        assert isinstance(emitted, Fire), emitted
        for made in FiredWindows(self._span(emitted.window), self.layout, self.rows).windows(emitted):
            yield with_name(made, emitted.window, self.layout.keys)

    def unpack_late(self, late: Late) -> pa.StructArray:
        name = late.rows.column(WINDOW)[0].as_py()
        return missed_windows(self._span(name), late.rows, self.context.zone, name)

    def _span(self, name: str) -> Span:
        return Span(dict(self.windows.windows)[name])
