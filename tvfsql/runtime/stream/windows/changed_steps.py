"""CUMULATE that emits a step only if its result differs from the step before: that one is kept apart.

In the open cycle a key of its own in the store (EMITTED_STEP) has a row per key of the query: the partials of the last
step that was emitted, or would have been, had it differed. Rows that came since stay in their slices until a step has
them. With `emit_only_on_update` late rows wait there until other rows come in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tvfsql.plan.window import Cumulate
from tvfsql.runtime.arrow.batches import joined, key_codes
from tvfsql.runtime.arrow.columns import Mask
from tvfsql.runtime.merge.kernel import EMITTED
from tvfsql.runtime.merge.slice_rows import SLICE, SliceRows
from tvfsql.runtime.stream.state.chunk_store import ChunkStore, Key, Kind
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.windows.slice_tree import slice_key


@dataclass(frozen=True)
class ChangedSteps:
    """The steps of one key group."""

    span: Span
    layout: SliceRows
    store: ChunkStore

    def fire(self, batches: Sequence[pa.RecordBatch], already: int | None) -> pa.RecordBatch:
        """The rows that a fire needs, by key: of `batches` (slices in order) and of the step before, which are flagged
        and come first. Late rows, of slices that end on `already` or before, count from the next step on."""
        fresh = joined(batches)
        if already is not None:
            numbers = np.maximum(self.layout.slices(fresh), already if self._late_rows_wait else already + 1)
            fresh = fresh.set_column(self.layout.keys, SLICE, pa.array(numbers))
        emitted = self._emitted()
        if emitted is not None:
            emitted = emitted.filter(pa.array(self._has_key_of(emitted, fresh)))
        return self.layout.by_key([*([_flagged(emitted, True)] if emitted is not None else []), _flagged(fresh, False)])

    def fold(self, already: int | None, fired: int) -> None:
        """Add the slices up to `fired`, which have been emitted, to the emitted step of their cycle."""
        numbers = sorted(number for number in self.store.numbers(Kind.SLICE) if number <= fired)
        waiting = [number for number in numbers if already is not None and number <= already and self._late_rows_wait]
        fresh = [batch for number in numbers[len(waiting) :] for batch in self.store.read(slice_key(number))]
        if not fresh:
            return
        late = []
        for number in waiting:
            rows = joined(self.store.read(slice_key(number)))
            counts = self._has_key_of(rows, joined(fresh))
            late.append(rows.filter(pa.array(counts)))
            self.store.drop(slice_key(number))
            if not counts.all():
                self.store.append(slice_key(number), rows.filter(pa.array(~counts)))
        for number in numbers[len(waiting) :]:
            self.store.drop(slice_key(number))
        emitted, key = self._emitted(), Key(Kind.EMITTED_STEP, self.span.opening(fired))
        parts = [*([emitted] if emitted is not None else []), *late, *fresh]
        self.store.replace(key, self.layout.merged(parts, into=key.number))

    def expire(self, expired: int) -> None:
        """Drop the emitted step of a cycle whose last window has fired."""
        for key in self.store.keys(Kind.EMITTED_STEP):
            if key.number <= expired:
                self.store.drop(key)

    @property
    def _late_rows_wait(self) -> bool:
        return isinstance(self.span.window, Cumulate) and self.span.window.emit_only_on_update

    def _emitted(self) -> pa.RecordBatch | None:
        """The rows of the step before; None if the cycle has emitted none. There is one open cycle at most."""
        batches = [batch for key in self.store.keys(Kind.EMITTED_STEP) for batch in self.store.read(key)]
        return joined(batches) if batches else None

    def _has_key_of(self, rows: pa.RecordBatch, others: pa.RecordBatch) -> Mask:
        """Of which rows the key is one of the other rows'."""
        keys = range(self.layout.keys)
        both = [pa.concat_arrays([rows.column(key), others.column(key)]) for key in keys]
        codes = key_codes(both, rows.num_rows + others.num_rows)
        found: Mask = np.isin(codes[: rows.num_rows], codes[rows.num_rows :])
        return found


def _flagged(batch: pa.RecordBatch, emitted: bool) -> pa.RecordBatch:
    return batch.append_column(EMITTED, pa.array(np.full(batch.num_rows, emitted)))
