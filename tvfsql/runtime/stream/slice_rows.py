"""Rows of slices as Arrow: what travels from the local to the global phase, and what the state holds.

A batch has the key columns (`$0`, `$1`, ...), `$slice` (int64, the number of the slice's end) and the partials
under their own names. Any number of rows may hold the same key and slice: their partials are merged when they
are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from tvfsql.runtime.columns import Ints, Mask
from tvfsql.runtime.order import codes, combined
from tvfsql.runtime.partials import Merge, prepare
from tvfsql.runtime.ranges import Blocks, Ranges

SLICE = "$slice"


@dataclass(frozen=True)
class SliceRows:
    """How such batches are made and merged: `keys` key columns, and pairs (partial column, merge kind)."""

    keys: int
    merges: tuple[tuple[str, Merge], ...]

    @property
    def names(self) -> list[str]:
        return [*(f"${k}" for k in range(self.keys)), SLICE, *(name for name, _ in self.merges)]

    def batch(self, keys: Sequence[Any], slices: Ints, partials: Sequence[Any]) -> Any:
        return pa.RecordBatch.from_arrays([*keys, pa.array(slices), *partials], self.names)

    def slices(self, batch: Any) -> Ints:
        numbers: Ints = batch.column(self.keys).to_numpy()
        return numbers

    def not_before(self, batch: Any, first: int) -> Any:
        """The rows, those of earlier slices in the slice `first`."""
        return batch.set_column(self.keys, SLICE, pa.array(np.maximum(self.slices(batch), first)))

    def total(self, batch: Any, name: str) -> int:
        """The sum of an integer partial."""
        return int(batch.column(name).sum().as_py() or 0) if batch.num_rows else 0

    def merged(self, batches: Sequence[Any], *, into: int | None = None) -> Any:
        """One row per key and slice, in the order of the slices; with `into`, one per key, of that slice.

        Rows of one key are merged in the order of their slices, and within a slice in the order in which they come.
        """
        batch = joined(batches)
        slices, codes = self.slices(batch), key_codes(batch.columns[: self.keys], batch.num_rows)
        order = sort_order([codes, slices] if into is not None else [slices, codes])
        first = changes_in(codes[order])
        if into is None:
            first |= changes_in(slices[order])
        starts = np.flatnonzero(first)
        ranges = Ranges(Blocks(first), starts, np.append(starts[1:], len(order)), starts, anchored=True)
        at, heads = pa.array(order), pa.array(order[starts])
        keys = [column.take(heads) for column in batch.columns[: self.keys]]
        partials = [
            prepare(kind, name, batch.column(name).take(at), ranges.blocks).over(ranges) for name, kind in self.merges
        ]
        numbers = slices[order[starts]] if into is None else np.full(len(starts), into, dtype=np.int64)
        return self.batch(keys, numbers, partials)

    def by_key(self, batches: Sequence[Any]) -> Any:
        """All rows, those of a key together and in the order of their slices: as the batch kernel wants them."""
        batch = joined(batches)
        codes = key_codes(batch.columns[: self.keys], batch.num_rows)
        return batch.take(pa.array(sort_order([codes, self.slices(batch)])))

    def by_slice(self, batch: Any) -> dict[int, Any]:
        """A batch in the order of its slices, cut into them."""
        slices = self.slices(batch)
        cuts = [*np.flatnonzero(changes_in(slices)).tolist(), len(slices)]
        return {int(slices[a]): batch.slice(a, b - a) for a, b in pairwise(cuts)}


def to_bytes(batch: Any) -> bytes:
    """A batch as an Arrow IPC stream; a part of a larger one is written without the rest."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def from_bytes(data: bytes) -> Any:
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_next_batch()


def with_nulls(column: Any) -> Any:
    """The column, whose type says that anything in it may be NULL. Spark works out anew in every micro-batch what may
    be (a UNION of which a side is empty is no UNION), and batches of all of them are put together."""
    kind = _with_nulls(column.type)
    return column if column.type == kind else column.cast(kind)


def _with_nulls(kind: Any) -> Any:
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(part.name, _with_nulls(part.type)) for part in kind])
    if pa.types.is_list(kind):
        return pa.list_(pa.field(kind.value_field.name, _with_nulls(kind.value_type)))
    return kind


def joined(batches: Sequence[Any]) -> Any:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def key_codes(columns: Sequence[Any], rows: int) -> Ints:
    """For each row a number that stands for its key: the same for keys that GROUP BY takes for the same."""
    return combined([codes(column) for column in columns], rows)


def sort_order(majors: Sequence[Ints]) -> Ints:
    """The rows in the order of the numbers, the first ones first; ties stay in their order."""
    whole, size = None, 1
    for numbers in majors:
        least, greatest = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
        size *= greatest - least + 1
        if size >= 2**62:
            return np.lexsort(tuple(reversed(majors)))
        part = numbers - least
        whole = part if whole is None else whole * (greatest - least + 1) + part
    return np.argsort(whole, kind="stable") if whole is not None else np.zeros(0, dtype=np.int64)


def changes_in(numbers: Ints) -> Mask:
    """Where a number differs from the one before it; the first one does."""
    found = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=found[1:])
    return found
