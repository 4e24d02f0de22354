"""Operations on Arrow batches, whatever their columns mean: serialization, concatenation, keys as numbers, row
order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.arrow.order import codes, combined

RADIX_ROWS = 5_000  # fewer rows are sorted as they are


def to_bytes(batch: pa.RecordBatch, *, compressed: bool = False) -> bytes:
    """A batch as an Arrow IPC stream. A slice of a larger batch is written without the rest."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4" if compressed else None, use_threads=False)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def from_bytes(data: bytes) -> pa.RecordBatch:
    """The batch in an Arrow IPC stream, compressed or not."""
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return reader.read_next_batch()


def with_nulls(column: pa.Array) -> pa.Array:
    """The column, cast so that its type allows NULL everywhere.

    Spark infers in every micro-batch again which parts may be NULL (a UNION with an empty side is simplified), and
    batches of several micro-batches are concatenated.
    """
    kind = _with_nulls(column.type)
    return column if column.type == kind else column.cast(kind)


def _with_nulls(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(part.name, _with_nulls(part.type)) for part in kind])
    if pa.types.is_list(kind):
        return pa.list_(pa.field(kind.value_field.name, _with_nulls(kind.value_type)))
    return kind


def joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def key_codes(columns: Sequence[pa.Array], rows: int) -> Ints:
    """A number for the key of each row, equal for keys that GROUP BY treats as equal."""
    return combined([codes(column) for column in columns], rows)


def sort_order(majors: Sequence[Ints]) -> Ints:
    """The positions of the rows in sorted order, by the first array of numbers, then by the next. The sort is
    stable."""
    whole, size = None, 1
    for numbers in majors:
        least, greatest = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
        size *= greatest - least + 1
        if size >= 2**62:
            return np.lexsort(tuple(reversed(majors)))
        part = numbers - least if least else numbers
        whole = part if whole is None else whole * (greatest - least + 1) + part
    return _stable_order(whole, size) if whole is not None else np.zeros(0, dtype=np.int64)


def _stable_order(numbers: Ints, top: int) -> Ints:
    """The positions of numbers from 0 up to, but not including, `top` in sorted order; the sort is stable.

    NumPy sorts 16-bit numbers by radix, in a twentieth of the time that it takes for others. So does this, 16 bits at a
    time from the lowest on, unless the numbers are few or in order already.
    """
    if len(numbers) < RADIX_ROWS or not (numbers[1:] < numbers[:-1]).any():
        return np.argsort(numbers, kind="stable")
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    for shift in range(16, (top - 1).bit_length(), 16):
        digits = (numbers >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    return order


def changes_in(numbers: Ints) -> Mask:
    """Where a number differs from the previous one. True for the first."""
    found = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=found[1:])
    return found
