"""The windows of one key group of a stream: which rows count, which windows fire, which slices are dropped.

A slice is late if its last window has fired: its rows are dropped and counted. If only its first windows have fired,
its rows count in the later ones, and fired windows are not emitted again. With `adjust` late rows count in the first
open slice instead. Source: semantics.md#late-rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pyarrow as pa

from tvfsql.plan.stream import StreamContext
from tvfsql.plan.tables.internal_columns import BEFORE, OP
from tvfsql.plan.window import Cumulate, Sliced
from tvfsql.runtime.arrow.columns import structs
from tvfsql.runtime.merge.kernel import BATCH_ROWS, TIMESTAMP
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.exchange.late_rows import LateRows
from tvfsql.runtime.stream.operator.messages import Emit, Fire, Late
from tvfsql.runtime.stream.operator.protocol import MOST_OPEN, KeyGroup
from tvfsql.runtime.stream.state.chunk_index import Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore
from tvfsql.runtime.stream.time.channel_messages import ChannelMessage
from tvfsql.runtime.stream.time.processing_time import goes_on
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.windows.changed_steps import ChangedSteps
from tvfsql.runtime.stream.windows.window_slices import WindowSlices


class SlicingWindows(KeyGroup):
    """Windows made of slices, which fire at their end.

    TUMBLE: a window is its slice. HOP: a fire reads the slices at both edges of its windows and a few runs of slices
    between them (`SliceTree`), not every slice. CUMULATE: the fired slices of a cycle are merged into one, so a fire
    reads that one and the new slices. With `emit_only_on_change` both are kept apart (`ChangedSteps`). In processing
    time (`proctime`), rows at or before the watermark count in the first open slice.
    """

    def __init__(self, context: StreamContext, span: Span, layout: SliceRows, rows: str, store: ChunkStore) -> None:
        super().__init__(context, store)
        self.span, self.layout, self.rows = span, layout, rows
        self.late = LateRows(layout) if context.late else None
        self.late_slices: list[pa.RecordBatch] = []
        self.slices = WindowSlices(span, layout, rows, store)
        self.fired_windows, self.tree = self.slices.fired_windows, self.slices.tree
        self.steps = ChangedSteps(span, layout, store) if span.window.emit_only_on_change else None

    def add(self, payloads: Sequence[pa.RecordBatch]) -> None:
        for number, batch in self.in_time(payloads, self.fired):
            self.tree.add(number, batch)

    def in_time(self, payloads: Sequence[pa.RecordBatch], closed: int | None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The slices of payloads, without late ones: those whose windows all end at or before `closed`. With `adjust`
        these come too, as rows of the first slice whose windows are all open."""
        passed = goes_on(self.watermark)
        opening = None if passed is None else self.span.number(passed + 1) + 1
        if self.context.proctime and opening is not None:
            payloads = [self.layout.not_before(batch, opening) for batch in payloads]
        fresh = (self.late.wide if self.late else self.layout).merged(payloads)
        self.counts.rows_in += self.layout.total(fresh, self.rows)
        for number, batch in self.layout.by_slice(fresh).items():
            last = self.span.last(number)
            if last < number:  # the slice lies between two windows, so it is in none
                continue
            if closed is None or last > closed:
                yield number, self.late.without(batch) if self.late else batch
                continue
            if self.context.adjust and opening is not None:
                number = max(opening, self.span.opening(self.span.first(opening)))  # not between two windows
                self.counts.adjusted += self.layout.total(batch, self.rows)
                yield number, self.layout.not_before(batch, number)
                continue
            self.counts.late += self.layout.total(batch, self.rows)
            if self.late:
                self.late_slices.append(self.late.of_slices(batch))

    def advance(self, messages: Iterable[ChannelMessage]) -> Iterator[Fire]:
        """Advance the watermark and fire the windows. A window fires at its end - 1 ms."""
        already = self.fired
        self.store.valve.advance(messages)
        fired = self.fired
        if fired is None or fired == already:
            return
        fire = self._fire(already, fired)
        if fire is not None and (windows := self.fired_windows.count(fire)):
            self.counts.rows_out += windows
            self.counts.fired(fire.first_end)
        self.tree.expire(self.span.expired(fired))
        if self.steps is not None:
            self.steps.expire(self.span.expired(fired))
            self.steps.fold(already, fired)
        elif isinstance(self.span.window, Cumulate):
            self.slices.fold(fired)
        if fire is not None:
            yield fire

    def finish(self) -> Iterator[Emit | Late]:
        if self.late_slices:
            yield Late(pa.concat_batches(self.late_slices))

    @property
    def newest_end(self) -> int | None:
        last = max(map(self.span.last, self.store.numbers(Kind.SLICE)), default=None)
        return None if last is None else self.span.end(last)

    @property
    def next_end(self) -> int | None:
        first = min(self.store.numbers(Kind.SLICE), default=None)
        return None if first is None else self.span.end(self.slices.first_open(first, self.fired))

    @property
    def open_ends(self) -> list[int]:
        slices = sorted(self.store.numbers(Kind.SLICE))
        return [*islice(self.span.open(slices, self.fired), MOST_OPEN + 1)]

    @property
    def open_slices(self) -> int:
        return sum(1 for _ in self.store.numbers(Kind.SLICE))

    @property
    def fired(self) -> int | None:
        """The last slice up to which windows have fired: all windows that end there or before. None: no watermark."""
        return None if self.watermark is None else self.span.number(self.watermark + 1)

    def _fire(self, already: int | None, fired: int) -> Fire | None:
        due = self.slices.due(already, fired)
        if due is None:
            return None
        return self.slices.fire(due, None if self.steps is None else self.steps.fire(due.rows, already))


# The rows that firing windows emit: increments, or changes of earlier results.


OPS = ("+I", "-U", "+U")  # not an Arrow array: pyarrow would import pandas with this module


@dataclass(frozen=True)
class WindowChanges:
    """Turns what `FiringWindows` emit into rows.

    Out: keys, window_start, window_end and partials. Unless `purge`, also `before` and `$op`. `$op` is +I for the first
    result of a window; an update is a row with -U, followed by one with +U. `before` is a struct of the partials of the
    update's other row: -U has the new ones, +U the retracted ones. It is NULL in the first result.
    """

    window: Sliced
    layout: SliceRows
    purge: bool

    def rows(self, emitted: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        for start in range(0, emitted.num_rows, BATCH_ROWS):
            yield self._rows(emitted.slice(start, BATCH_ROWS))

    def _rows(self, emitted: pa.RecordBatch) -> pa.RecordBatch:
        span, keys = Span(self.window), self.layout.keys
        names = [name for name, _ in self.layout.merges]
        numbers, of_row = np.unique(self.layout.slices(emitted), return_inverse=True)
        ends = span.ends(numbers)
        starts = np.array([self.window.window_start(int(end)) for end in ends], dtype=np.int64)
        bounds = [pa.array(ms[of_row] * 1000).view(TIMESTAMP) for ms in (starts, ends)]
        columns = dict(zip(self.layout.names[:keys], emitted.columns, strict=False))
        columns |= dict(zip(("window_start", "window_end"), bounds, strict=True))
        partials = dict(zip(names, emitted.columns[keys + 1 :], strict=False))
        if self.purge:
            return pa.RecordBatch.from_pydict(columns | partials)
        return with_operations(columns, partials, emitted.column(BEFORE))


def with_operations(
    columns: Mapping[str, pa.Array], partials: Mapping[str, pa.Array], replaced: pa.Array
) -> pa.RecordBatch:
    """The changes of results: `columns`, `partials`, `before` and `$op`. `replaced` has structs of the partials that a
    result replaces, or NULL."""
    before, names = structs(replaced), [*partials]
    was = before.is_valid().to_numpy(zero_copy_only=False)
    at = np.repeat(np.arange(len(was)), 1 + was)
    goes = np.append(at[1:] == at[:-1], False)
    now, then = at + len(was) * goes, at + len(was) * ~goes
    both = {name: pa.concat_arrays([partials[name], of]) for name, of in zip(names, before.flatten(), strict=True)}
    others = [both[name].take(pa.array(then)) for name in names]
    rows = {name: column.take(pa.array(at)) for name, column in columns.items()}
    rows |= {name: column.take(pa.array(now)) for name, column in both.items()}
    rows[BEFORE] = pa.StructArray.from_arrays(others, names=names, mask=pa.array(~was[at]))
    rows[OP] = pa.array(OPS).take(pa.array(np.where(goes, 1, np.where(was[at], 2, 0))))
    return pa.RecordBatch.from_pydict(rows)
