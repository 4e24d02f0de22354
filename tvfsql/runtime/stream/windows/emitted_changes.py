"""The rows that firing windows emit: increments, or changes of earlier results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tvfsql.plan.tables.internal_columns import BEFORE, OP
from tvfsql.plan.window import Sliced
from tvfsql.runtime.arrow.columns import structs
from tvfsql.runtime.merge.kernel import BATCH_ROWS, TIMESTAMP
from tvfsql.runtime.merge.slice_rows import SliceRows
from tvfsql.runtime.stream.time.slice_clock import Span

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
        before = structs(emitted.column(BEFORE))
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
