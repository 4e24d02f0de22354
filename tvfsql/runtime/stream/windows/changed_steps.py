"""CUMULATE that emits a step only if its result differs from the previous step's, which is kept separately.

The open cycle has a key of its own in the store (EMITTED_STEP), with a row per key of the query: the partials of the
previous step, whether it was emitted or suppressed as unchanged. Newer rows stay in their slices until a step includes
them. With `emit_only_on_update`, late rows wait in slices until other rows come in time.
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
from tvfsql.runtime.stream.state.chunk_index import Key, Kind
from tvfsql.runtime.stream.state.chunk_store import ChunkStore
from tvfsql.runtime.stream.time.slice_clock import Span
from tvfsql.runtime.stream.windows.slice_tree import slice_key

FAN = 4  # the emitted step is rewritten with the rows that a step changes if it has at most so many times the rows


@dataclass(frozen=True)
class ChangedSteps:
    """The steps of one key group."""

    span: Span
    layout: SliceRows
    store: ChunkStore

    def fire(self, batches: Sequence[pa.RecordBatch], already: int | None) -> pa.RecordBatch:
        """The rows of a fire by key: those of the previous step, which are flagged and come first, and those of
        `batches` (slices in order). Late rows, in slices that end at or before `already`, count from the next step
        on."""
        fresh = joined(batches)
        if already is not None:
            numbers = np.maximum(self.layout.slices(fresh), already if self._late_rows_wait else already + 1)
            fresh = fresh.set_column(self.layout.keys, SLICE, pa.array(numbers))
        emitted = self._emitted()
        if emitted is not None:
            emitted = emitted.filter(pa.array(self._has_key_of(emitted, fresh)))
        return self.layout.by_key([*([_flagged(emitted, True)] if emitted is not None else []), _flagged(fresh, False)])

    def fold(self, already: int | None, fired: int) -> None:
        """Merge the slices up to `fired`, which have been emitted, into the emitted step of their cycle."""
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
        if emitted is not None:
            emitted = emitted.filter(pa.array(self._has_key_of(emitted, joined(fresh))))
        parts = [*([emitted] if emitted is not None else []), *late, *fresh]
        self.store.append(key, self.layout.merged(parts, into=key.number), self._newest, FAN)

    def expire(self, expired: int) -> None:
        """Drop the emitted step of a cycle whose last window has fired."""
        for key in self.store.keys(Kind.EMITTED_STEP):
            if key.number <= expired:
                self.store.drop(key)

    @property
    def _late_rows_wait(self) -> bool:
        return isinstance(self.span.window, Cumulate) and self.span.window.emit_only_on_update

    def _emitted(self) -> pa.RecordBatch | None:
        """The rows of the previous step; None if the cycle has no step yet. At most one cycle is open."""
        batches = [batch for key in self.store.keys(Kind.EMITTED_STEP) for batch in self.store.read(key)]
        return self.layout.newest(batches) if batches else None

    def _newest(self, batches: Sequence[pa.RecordBatch], every: bool) -> pa.RecordBatch:
        return self.layout.newest(batches)

    def _has_key_of(self, rows: pa.RecordBatch, others: pa.RecordBatch) -> Mask:
        """Which rows have a key that is also in `others`."""
        keys = range(self.layout.keys)
        both = [pa.concat_arrays([rows.column(key), others.column(key)]) for key in keys]
        codes = key_codes(both, rows.num_rows + others.num_rows)
        found: Mask = np.isin(codes[: rows.num_rows], codes[rows.num_rows :])
        return found


def _flagged(batch: pa.RecordBatch, emitted: bool) -> pa.RecordBatch:
    return batch.append_column(EMITTED, pa.array(np.full(batch.num_rows, emitted)))
