"""Rows of slices in Arrow: what travels from the local to the global phase, and what is in state.

A batch has the key columns (`$0`, `$1`, ...), `$slice` (int64, the number of the slice's end) and the partials under
their own names. Several rows may have the same key and slice: their partials are merged when they are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.batches import changes_in, joined, key_codes, sort_order
from tvfsql.runtime.arrow.columns import Ints
from tvfsql.runtime.merge.partials import Merge, has_results, prepare
from tvfsql.runtime.merge.ranges import Blocks, Ranges

SLICE = "$slice"


@dataclass(frozen=True)
class SliceRows:
    """Makes and merges such batches: `keys` key columns, and pairs (partial column, merge kind)."""

    keys: int
    merges: tuple[tuple[str, Merge], ...]

    @property
    def names(self) -> list[str]:
        return [*(f"${k}" for k in range(self.keys)), SLICE, *(name for name, _ in self.merges)]

    def batch(self, keys: Sequence[pa.Array], slices: Ints, partials: Sequence[pa.Array]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([*keys, pa.array(slices), *partials], self.names)

    def slices(self, batch: pa.RecordBatch) -> Ints:
        numbers: Ints = batch.column(self.keys).to_numpy()
        return numbers

    def not_before(self, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """The rows, with those of earlier slices moved to the slice `first`."""
        return batch.set_column(self.keys, SLICE, pa.array(np.maximum(self.slices(batch), first)))

    def total(self, batch: pa.RecordBatch, name: str) -> int:
        """The sum of an integer partial."""
        return int(batch.column(name).sum().as_py() or 0) if batch.num_rows else 0

    def merged(self, batches: Sequence[pa.RecordBatch], *, into: int | None = None) -> pa.RecordBatch:
        """One row per key and slice, in the order of slices; with `into`, one row per key, in that slice.

        Rows of a key are merged in the order of slices, and within a slice in their given order.
        """
        batch = joined(batches)
        slices, codes = self.slices(batch), key_codes(batch.columns[: self.keys], batch.num_rows)
        order = sort_order([codes, slices] if into is not None else [slices, codes])
        first = changes_in(codes[order])
        if into is None:
            first |= changes_in(slices[order])
        ranges = Ranges.of_blocks(Blocks(first))
        starts = ranges.lo
        at, heads = pa.array(order), pa.array(order[starts])
        keys = [column.take(heads) for column in batch.columns[: self.keys]]
        partials = [
            prepare(kind, name, batch.column(name).take(at), ranges.blocks).over(ranges) for name, kind in self.merges
        ]
        numbers = slices[order[starts]] if into is None else np.full(len(starts), into, dtype=np.int64)
        return self.batch(keys, numbers, partials)

    def results(self, merged: pa.RecordBatch) -> pa.RecordBatch:
        """Merged rows, with what results need of their partials."""
        blocks = Blocks(np.ones(merged.num_rows, dtype=np.bool_))
        rows = Ranges.of_blocks(blocks)
        made = [
            prepare(kind, name, column, blocks).of_rows(rows) if has_results(kind) else column
            for (name, kind), column in zip(self.merges, merged.columns[self.keys + 1 :], strict=True)
        ]
        return self.batch(merged.columns[: self.keys], self.slices(merged), made)

    def newest(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """The last row of each key and slice."""
        if len(batches) == 1:
            return batches[0]
        batch = joined(batches)
        codes = key_codes([*batch.columns[: self.keys + 1]], batch.num_rows)
        order = sort_order([codes])
        last = np.append(codes[order][1:] != codes[order][:-1], True)
        return batch.take(pa.array(np.sort(order[last])))

    def by_key(self, batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """All rows, grouped by key and sorted by slice within a key, as the batch kernel expects them."""
        batch = joined(batches)
        codes = key_codes(batch.columns[: self.keys], batch.num_rows)
        return batch.take(pa.array(sort_order([codes, self.slices(batch)])))

    def by_slice(self, batch: pa.RecordBatch) -> dict[int, pa.RecordBatch]:
        """A batch that is sorted by slice, split into its slices."""
        slices = self.slices(batch)
        cuts = [*np.flatnonzero(changes_in(slices)).tolist(), len(slices)]
        return {int(slices[a]): batch.slice(a, b - a) for a, b in pairwise(cuts)}
