"""Turns a fire into windows. This happens after the processor, with the kernel of batch, in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.plan.window import TumbleMonths
from tvfsql.runtime.arrow.columns import Mask, changes
from tvfsql.runtime.merge.kernel import TIMESTAMP, SliceKernel
from tvfsql.runtime.merge.slice_rows import SLICE, SliceRows
from tvfsql.runtime.merge.window_ends import reach
from tvfsql.runtime.stream.operator.messages import Fire
from tvfsql.runtime.stream.time.slice_clock import Span


@dataclass(frozen=True)
class FiredWindows:
    """Makes windows from the slices of a fire. The partial `rows` counts rows.

    With `emit_only_on_change`, the last column of the slices flags rows that were emitted before (`ChangedSteps`).
    """

    span: Span
    layout: SliceRows
    rows: str

    def count(self, fire: Fire) -> int:
        """The number of windows that a fire emits: those with data; with `emit_only_on_change`, with new data."""
        new_key = np.zeros(fire.slices.num_rows, dtype=np.bool_)
        new_key[0] = True
        for column in fire.slices.columns[: self.layout.keys]:
            new_key |= changes(column)
        rows = fire.slices.column(self.rows)
        filled: Mask = pc.fill_null(pc.greater(rows, 0), False).to_numpy(zero_copy_only=False)
        ends = self.span.kernel_time(self.layout.slices(fire.slices))
        return int(reach(self.span.kernel, ends, new_key, filled, self._between(fire)).counts.sum())

    def windows(self, fire: Fire, *, mergeable: bool = False) -> Iterator[pa.RecordBatch]:
        """Batches of keys, window_start, window_end and merged partials, `mergeable` or with what results need."""
        span, layout = self.span, self.layout
        at = fire.slices.schema.names.index(SLICE)
        micros = span.kernel_time(layout.slices(fire.slices)) * 1000
        timed = fire.slices.set_column(at, SLICE, pa.array(micros).view(TIMESTAMP))
        keys = tuple(layout.names[: layout.keys])
        emitted = span.window.emit_only_on_change
        between = self._between(fire)
        kernel = SliceKernel(
            span.kernel, keys, layout.merges, self.rows, ends=between, emitted=emitted, mergeable=mergeable
        )
        for made in kernel([timed]):
            yield self._on_calendar(made) if isinstance(span.window, TumbleMonths) else made

    def _between(self, fire: Fire) -> tuple[int, int]:
        """The first and the last window end on the kernel's clock."""
        numbers = [self.span.number(fire.first_end), self.span.number(fire.last_end)]
        first, last = self.span.kernel_time(np.array(numbers))
        return int(first), int(last)

    def _on_calendar(self, made: pa.RecordBatch) -> pa.RecordBatch:
        """The windows, with start and end converted from the kernel's clock to times."""
        for name in ("window_start", "window_end"):
            at = made.schema.names.index(name)
            ms = made.column(at).view(pa.int64()).to_numpy() // 1000
            made = made.set_column(at, name, pa.array(self.span.of_kernel_time(ms) * 1000).view(TIMESTAMP))
        return made
