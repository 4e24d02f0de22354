"""Conversions between Arrow columns and numpy arrays: everything that depends on a type's memory layout."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]
ListColumn = pa.ListArray | pa.LargeListArray


def lists(column: pa.Array) -> ListColumn:
    """The same column, checked to be of lists. Raises AssertionError."""
    if not isinstance(column, ListColumn):
        raise AssertionError(f"a column of {column.type}, not of lists")
    return column


def lengths(column: ListColumn) -> Ints:
    """The number of elements of each list; 0 for NULL."""
    return integers(column.value_lengths())


def structs(column: pa.Array) -> pa.StructArray:
    """The same column, checked to be of structs. Raises AssertionError."""
    if not isinstance(column, pa.StructArray):
        raise AssertionError(f"a column of {column.type}, not of structs")
    return column


def presence(column: pa.Array) -> Mask | None:
    """Which values are not NULL. None if all values are present, so the common case costs nothing."""
    if column.null_count == 0:
        return None
    return flags(column.is_valid())


def flags(column: pa.Array) -> Mask:
    """The column as booleans; NULL becomes False."""
    known = column.fill_null(False) if column.null_count else column
    return known.to_numpy(zero_copy_only=False)


def counts_as_int64(kind: pa.DataType) -> bool:
    """Whether the type is stored as an int64 or a smaller integer: integers, booleans, dates, times."""
    return (
        pa.types.is_signed_integer(kind)
        or pa.types.is_boolean(kind)
        or (pa.types.is_temporal(kind) and not pa.types.is_interval(kind))
    )


def integers(column: pa.Array) -> Ints:
    """The int64 values of a column for which `counts_as_int64` holds; 0 for NULL."""
    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif pa.types.is_temporal(kind):
        column = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if column.null_count:
        column = column.fill_null(0)
    return column.to_numpy().astype(np.int64, copy=False)


def from_integers(values: Ints, kind: pa.DataType, present: Mask | None = None) -> pa.Array:
    """A column of an integer-like type from its int64 values."""
    mask = None if present is None else ~present
    if pa.types.is_boolean(kind):
        return pa.array(values.astype(np.bool_), mask=mask)
    if pa.types.is_temporal(kind):
        raw = pa.int32() if kind.bit_width == 32 else pa.int64()
        return from_integers(values, raw, present).view(kind)
    return pa.array(values.astype(kind.to_pandas_dtype(), copy=False), mask=mask, type=kind)


def words(column: pa.Array) -> tuple[Ints, Ints]:
    """The low and the high 64 bits of a decimal128 column; 0 for NULL."""
    data = np.frombuffer(column.buffers()[1], dtype=np.int64).reshape(-1, 2)
    data = data[column.offset : column.offset + len(column)]
    low, high = data[:, 0], data[:, 1]
    present = presence(column)
    if present is not None:
        low, high = np.where(present, low, 0), np.where(present, high, 0)
    return low, high


def fit_int64(low: Ints, high: Ints) -> bool:
    """Whether every 128-bit number fits into 64 bits."""
    return bool((high == low >> 63).all())


def from_words(low: Ints, high: Ints, kind: pa.DataType, present: Mask | None = None) -> pa.Array:
    """A decimal128 column from its low and high 64 bits."""
    data = np.empty((len(low), 2), dtype=np.int64)
    data[:, 0], data[:, 1] = low, high
    valid = None if present is None else pa.py_buffer(np.packbits(present, bitorder="little"))
    return pa.Array.from_buffers(kind, len(low), [valid, pa.py_buffer(data)])


def normal(column: pa.Array) -> pa.Array:
    """The column with -0.0 as 0.0 and with a single NaN, because GROUP BY treats these as equal."""
    if not pa.types.is_floating(column.type):
        return column
    nan, zero = (pa.scalar(value, column.type) for value in (float("nan"), 0.0))
    return pc.if_else(pc.is_nan(column), nan, pc.add(column, zero))


def changes(column: pa.Array) -> Mask:
    """Where a value differs from the previous one, compared as in GROUP BY. False for the first."""
    found = np.zeros(len(column), dtype=np.bool_)
    if len(column) > 1:
        found[1:] = differs(column[:-1], column[1:])
    return found


def differs(left: pa.Array, right: pa.Array) -> Mask:
    """Row by row, whether two columns of one type have different values, compared as in GROUP BY.

    NULL equals NULL and NaN equals NaN. Structs differ if a field differs, lists if their lengths or an element differ.
    """
    if pa.types.is_null(left.type):
        return np.zeros(len(left), dtype=np.bool_)
    here, there = flags(left.is_valid()), flags(right.is_valid())
    both = here & there
    if isinstance(left, pa.StructArray):
        found = np.zeros(len(left), dtype=np.bool_)
        for ours, theirs in zip(left.flatten(), structs(right).flatten(), strict=True):
            found |= differs(ours, theirs)
    elif isinstance(left, ListColumn):
        found = _lists_differ(left, lists(right), both)
    else:
        found = flags(pc.not_equal(left, right))
        if pa.types.is_floating(left.type):
            found = found & ~(flags(pc.is_nan(left)) & flags(pc.is_nan(right)))
    unlike: Mask = (found & both) | (here != there)
    return unlike


def _lists_differ(left: ListColumn, right: ListColumn, both: Mask) -> Mask:
    counts = lengths(left)
    found: Mask = counts != lengths(right)
    alike = both & ~found
    keep = pa.array(alike)
    elements = differs(left.filter(keep).flatten(), right.filter(keep).flatten())
    row_of_element = np.repeat(np.flatnonzero(alike), counts[alike])
    found[row_of_element[elements]] = True
    return found
