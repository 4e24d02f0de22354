"""The door between Arrow columns and numpy arrays: everything that knows how a type is laid out in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def presence(column: Any) -> Mask | None:
    """Which values are not NULL; None if all are there, which spares the usual case any work."""
    if column.null_count == 0:
        return None
    mask: Mask = column.is_valid().to_numpy(zero_copy_only=False)
    return mask


def counts_as_int64(kind: Any) -> bool:
    """Whether the type is an int64 or less underneath: integers, booleans, dates, times."""
    return bool(
        pa.types.is_signed_integer(kind)
        or pa.types.is_boolean(kind)
        or (pa.types.is_temporal(kind) and not pa.types.is_interval(kind))
    )


def integers(column: Any) -> Ints:
    """The int64 under a column for which `counts_as_int64` holds; 0 where it is NULL."""
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif pa.types.is_temporal(kind):
        column = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if column.null_count:
        column = column.fill_null(0)
    values: Ints = column.to_numpy().astype(np.int64, copy=False)
    return values


def from_integers(values: Ints, kind: Any, present: Mask | None = None) -> Any:
    """A column of an integer-like type out of its int64 values."""
    mask = None if present is None else ~present
    if pa.types.is_boolean(kind):
        return pa.array(values.astype(np.bool_), mask=mask)
    if pa.types.is_temporal(kind):
        raw = pa.int32() if kind.bit_width == 32 else pa.int64()
        return from_integers(values, raw, present).view(kind)
    return pa.array(values.astype(kind.to_pandas_dtype(), copy=False), mask=mask, type=kind)


def words(column: Any) -> tuple[Ints, Ints]:
    """The low and the high 64 bits of a decimal128 column; 0 where it is NULL."""
    data = np.frombuffer(column.buffers()[1], dtype=np.int64).reshape(-1, 2)
    data = data[column.offset : column.offset + len(column)]
    low, high = data[:, 0], data[:, 1]
    present = presence(column)
    if present is not None:
        low, high = np.where(present, low, 0), np.where(present, high, 0)
    return low, high


def fit_int64(low: Ints, high: Ints) -> bool:
    """Whether every 128-bit number is a 64-bit one with its sign carried on."""
    return bool((high == low >> 63).all())


def from_words(low: Ints, high: Ints, kind: Any, present: Mask | None = None) -> Any:
    """A decimal128 column out of its low and high 64 bits."""
    data = np.empty((len(low), 2), dtype=np.int64)
    data[:, 0], data[:, 1] = low, high
    valid = None if present is None else pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(kind, len(low), [valid, pa.py_buffer(data)])


def normal(column: Any) -> Any:
    """-0.0 as 0.0 and one NaN, which GROUP BY takes for the same."""
    if not pa.types.is_floating(column.type):
        return column
    nan, zero = (pa.scalar(value, column.type) for value in (float("nan"), 0.0))
    return pc.if_else(pc.is_nan(column), nan, pc.add(column, zero))


def changes(column: Any) -> Mask:
    """Where a value differs from the one before it, as GROUP BY tells them apart. The first one does not."""
    found = np.zeros(len(column), dtype=np.bool_)
    if len(column) > 1:
        found[1:] = differs(column[:-1], column[1:])
    return found


def differs(left: Any, right: Any) -> Mask:
    """Row by row, whether two columns of one type hold different values, as GROUP BY tells them apart.

    NULL equals NULL and NaN equals NaN. Structs differ where a field does, lists where the lengths or an
    element do.
    """
    if pa.types.is_null(left.type):
        return np.zeros(len(left), dtype=np.bool_)
    here: Mask = left.is_valid().to_numpy(zero_copy_only=False)
    there: Mask = right.is_valid().to_numpy(zero_copy_only=False)
    both = here & there
    found: Mask
    if pa.types.is_struct(left.type):
        found = np.zeros(len(left), dtype=np.bool_)
        for ours, theirs in zip(left.flatten(), right.flatten(), strict=True):
            found |= differs(ours, theirs)
    elif pa.types.is_list(left.type) or pa.types.is_large_list(left.type):
        found = _lists_differ(left, right, both)
    else:
        found = pc.not_equal(left, right).fill_null(False).to_numpy(zero_copy_only=False)
        if pa.types.is_floating(left.type):
            nan = pc.is_nan(left).fill_null(False), pc.is_nan(right).fill_null(False)
            found = found & ~pc.and_(*nan).to_numpy(zero_copy_only=False)
    unlike: Mask = (found & both) | (here != there)
    return unlike


def _lists_differ(left: Any, right: Any, both: Mask) -> Mask:
    lengths: Ints = left.value_lengths().fill_null(0).to_numpy().astype(np.int64)
    others: Ints = right.value_lengths().fill_null(0).to_numpy().astype(np.int64)
    found: Mask = lengths != others
    alike = both & ~found
    keep = pa.array(alike)
    elements = differs(left.filter(keep).flatten(), right.filter(keep).flatten())
    row_of_element = np.repeat(np.flatnonzero(alike), lengths[alike])
    found[row_of_element[elements]] = True
    return found
