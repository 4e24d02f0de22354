"""What leaves a key group when its watermark moves: slices, and between which ends their windows are given out.

The windows themselves are made after the state operator, by the batch kernel, in batches of bounded size. So
what goes through the operator is one row per key and slice, whatever size/slide is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.plan.window import TumbleMonths
from tvfsql.runtime.columns import Mask, changes
from tvfsql.runtime.kernel import TIMESTAMP, SliceKernel
from tvfsql.runtime.reach import reach
from tvfsql.runtime.stream.slice_rows import SLICE, SliceRows
from tvfsql.runtime.stream.spans import Span


@dataclass(frozen=True)
class Fire:
    """Slices by key, and the windows to be made of them: those that end in [first, last], in epoch ms.

    With `emit_only_on_change` a last column marks the rows that were given out before (`Steps`)."""

    rows: Any
    first: int
    last: int

    def count(self, span: Span, layout: SliceRows, rows: str) -> int:
        """How many windows those are: those with data; with `emit_only_on_change`, with new data."""
        new_key = np.zeros(self.rows.num_rows, dtype=np.bool_)
        new_key[0] = True
        for column in self.rows.columns[: layout.keys]:
            new_key |= changes(column)
        filled: Mask = pc.fill_null(pc.greater(self.rows.column(rows), 0), False).to_numpy(zero_copy_only=False)
        ends = span.kernel_time(layout.slices(self.rows))
        return int(reach(span.kernel, ends, new_key, filled, self._between(span)).counts.sum())

    def windows(self, span: Span, layout: SliceRows, rows: str) -> Iterator[Any]:
        """Keys, window_start, window_end and merged partials, as batches."""
        at = self.rows.schema.get_field_index(SLICE)
        micros = span.kernel_time(layout.slices(self.rows)) * 1000
        timed = self.rows.set_column(at, SLICE, pa.array(micros).view(TIMESTAMP))
        keys = tuple(layout.names[: layout.keys])
        given = span.window.emit_only_on_change
        kernel = SliceKernel(span.kernel, keys, layout.merges, rows, ends=self._between(span), given=given)
        for made in kernel([timed]):
            yield _on_calendar(made, span) if isinstance(span.window, TumbleMonths) else made

    def _between(self, span: Span) -> tuple[int, int]:
        """The first and the last end on the clock of the kernel."""
        first, last = span.kernel_time(np.array([span.number(self.first), span.number(self.last)]))
        return int(first), int(last)


def _on_calendar(made: Any, span: Span) -> Any:
    """Windows whose start and end the kernel counted, with their times."""
    for name in ("window_start", "window_end"):
        at = made.schema.get_field_index(name)
        ms = made.column(at).view(pa.int64()).to_numpy() // 1000
        made = made.set_column(at, name, pa.array(span.of_kernel_time(ms) * 1000).view(TIMESTAMP))
    return made
