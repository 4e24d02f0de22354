"""What firing windows give out, as rows: increments, or changes of what was given out before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tvfsql.plan.window import Sliced
from tvfsql.runtime.kernel import BATCH_ROWS, BEFORE, TIMESTAMP
from tvfsql.runtime.output import OP
from tvfsql.runtime.stream.late import missed
from tvfsql.runtime.stream.slice_rows import SliceRows
from tvfsql.runtime.stream.spans import Span

OPS = pa.array(["+I", "-U", "+U"])


@dataclass(frozen=True)
class GivenWindows:
    """How rows are made of the batches of `FiringWindows`.

    Out: keys, window_start, window_end and partials. Unless `purge` also `before`, a struct of the other partials: what
    the window gave out before in a row that comes, what it gives out now in one that goes; NULL the first time. And
    `$op`, +I the first time, then a row with -U and behind it one with +U.
    """

    window: Sliced
    layout: SliceRows
    purge: bool

    def windows(self, given: Any, first: int | None = None, last: int | None = None) -> Iterator[Any]:
        for start in range(0, given.num_rows, BATCH_ROWS):
            yield self._rows(given.slice(start, BATCH_ROWS))

    def missed(self, late: Any, zone: str) -> Any:
        return missed(Span(self.window), late, zone)

    def _rows(self, given: Any) -> Any:
        span, keys = Span(self.window), self.layout.keys
        names = [name for name, _ in self.layout.merges]
        numbers, of_row = np.unique(self.layout.slices(given), return_inverse=True)
        ends = span.ends(numbers)
        starts = np.array([self.window.window_start(int(end)) for end in ends], dtype=np.int64)
        bounds = [pa.array(ms[of_row] * 1000).view(TIMESTAMP) for ms in (starts, ends)]
        columns = dict(zip(self.layout.names[:keys], given.columns, strict=False))
        columns |= dict(zip(("window_start", "window_end"), bounds, strict=True))
        partials = dict(zip(names, given.columns[keys + 1 :], strict=False))
        if self.purge:
            return pa.RecordBatch.from_pydict(columns | partials)
        before = given.column(BEFORE)
        was = before.is_valid().to_numpy(zero_copy_only=False)
        at = np.repeat(np.arange(len(was)), 1 + was)
        goes = np.append(at[1:] == at[:-1], False)
        now, then = at + len(was) * goes, at + len(was) * ~goes
        both = {name: pa.concat_arrays([partials[name], of]) for name, of in zip(names, before.flatten(), strict=True)}
        others = [both[name].take(pa.array(then)) for name in names]
        rows = {name: column.take(pa.array(at)) for name, column in columns.items()}
        rows |= {name: column.take(pa.array(now)) for name, column in both.items()}
        rows[BEFORE] = pa.StructArray.from_arrays(others, names=names, mask=pa.array(~was[at]))
        rows[OP] = OPS.take(pa.array(np.where(goes, 1, np.where(was[at], 2, 0))))
        return pa.RecordBatch.from_pydict(rows)
