"""CUMULATE that gives out a step only if it differs from the one before: what that one held is kept apart.

In the open cycle an entry of its own (GIVEN) holds a row per key: the partials of the last step that was given out,
or would have been, had it differed. Rows that came since stay in their slices until a step has them. With
`emit_only_on_update` late rows wait there until other rows come in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tvfsql.plan.window import Cumulate
from tvfsql.runtime.columns import Mask
from tvfsql.runtime.kernel import GIVEN
from tvfsql.runtime.stream.slice_rows import SLICE, joined, key_codes
from tvfsql.runtime.stream.spans import Span
from tvfsql.runtime.stream.store import SliceStore

LEVEL = 1  # of the entry; its number is the first slice of the cycle


@dataclass(frozen=True)
class Steps:
    """The steps of one key group."""

    span: Span
    store: SliceStore

    def fire(self, batches: Sequence[Any], already: int | None) -> Any:
        """The rows that a fire needs, by key: of `batches` (slices in order) and of the step before, which are marked
        and come first. Late rows, of slices that end on `already` or before, count from the next step on."""
        fresh = joined(batches)
        if already is not None:
            layout = self.store.layout
            numbers = np.maximum(layout.slices(fresh), already if self._late_rows_wait else already + 1)
            fresh = fresh.set_column(layout.keys, SLICE, pa.array(numbers))
        given = self._given()
        if given is not None:
            given = given.filter(pa.array(self._has_key_of(given, fresh)))
        return self.store.layout.by_key([*([_marked(given, True)] if given is not None else []), _marked(fresh, False)])

    def fold(self, already: int | None, fired: int) -> None:
        """Add the slices up to `fired`, which have been given out, to what is kept of their cycle."""
        numbers = sorted(number for number in self.store.slices() if number <= fired)
        waiting = [number for number in numbers if already is not None and number <= already and self._late_rows_wait]
        fresh = [batch for number in numbers[len(waiting) :] for batch in self.store.read((0, number))]
        if not fresh:
            return
        late = []
        for number in waiting:
            rows = joined(self.store.read((0, number)))
            counts = self._has_key_of(rows, joined(fresh))
            late.append(rows.filter(pa.array(counts)))
            self.store.drop((0, number))
            if not counts.all():
                self.store.append((0, number), rows.filter(pa.array(~counts)))
        for number in numbers[len(waiting) :]:
            self.store.drop((0, number))
        given, opening = self._given(), self.span.opening(fired)
        parts = [*([given] if given is not None else []), *late, *fresh]
        merged = self.store.layout.merged(parts, into=opening)
        if given is not None:
            self.store.drop((LEVEL, opening))
        self.store.append((LEVEL, opening), merged)

    def expire(self, expired: int) -> None:
        """Drop what is kept of a cycle whose last window has fired."""
        for level, number in [entry for entry in self.store.entries if entry[0] == LEVEL]:
            if number <= expired:
                self.store.drop((level, number))

    @property
    def _late_rows_wait(self) -> bool:
        return isinstance(self.span.window, Cumulate) and self.span.window.emit_only_on_update

    def _given(self) -> Any:
        """The rows of the step before; None if the cycle has given out none. There is one open cycle at most."""
        batches = [batch for entry in self.store.entries if entry[0] == LEVEL for batch in self.store.read(entry)]
        return joined(batches) if batches else None

    def _has_key_of(self, rows: Any, others: Any) -> Mask:
        """Of which rows the key is one of the other rows'."""
        keys = range(self.store.layout.keys)
        both = [pa.concat_arrays([rows.column(key), others.column(key)]) for key in keys]
        codes = key_codes(both, rows.num_rows + others.num_rows)
        found: Mask = np.isin(codes[: rows.num_rows], codes[rows.num_rows :])
        return found


def _marked(batch: Any, given: bool) -> Any:
    return batch.append_column(GIVEN, pa.array(np.full(batch.num_rows, given)))
