"""Values as numbers: in order, or, where that is faster, only distinct.

The order is Spark's: NaN is the largest number, strings and binaries compare by bytes, structs by fields and arrays by
elements, with NULL first. Values are equal as in GROUP BY.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.runtime.arrow.columns import (
    Ints,
    Mask,
    counts_as_int64,
    fit_int64,
    flags,
    from_integers,
    from_words,
    integers,
    lengths,
    lists,
    presence,
    words,
)


class Scale:
    """Values as codes 0 .. top in order: their distance from the smallest value."""

    def __init__(self, values: Ints, least: int, top: int, kind: pa.DataType) -> None:
        self.codes = values - least
        self.least, self.top, self.kind = least, top, kind

    def decode(self, codes: Ints, present: Mask | None) -> pa.Array:
        values = codes + self.least
        if pa.types.is_decimal(self.kind):
            return from_words(values, values >> 63, self.kind, present)
        return from_integers(values, self.kind, present)


class Ranked:
    """Values as codes 0 .. top in order: their rank among the distinct values."""

    def __init__(self, codes: Ints, values: pa.Array) -> None:
        self.codes, self.values, self.top = codes, values, max(len(values) - 1, 0)

    def decode(self, codes: Ints, present: Mask | None) -> pa.Array:
        return self.values.take(pa.array(codes, mask=None if present is None else ~present))


def scale(column: pa.Array, blocks: int) -> Scale | Ranked:
    """Codes for the values of a column, small enough that the codes of `blocks` blocks fit above each other in an
    int64. The code of a NULL is arbitrary."""
    values: Ints | None = None
    if counts_as_int64(column.type):
        values = integers(column)
    elif pa.types.is_decimal(column.type):
        low, high = words(column)
        values = low if fit_int64(low, high) else None
    if values is not None and len(values):
        least, greatest = int(values.min()), int(values.max())
        if blocks * (greatest - least + 2) < 2**62:  # otherwise the lifted codes would overflow
            return Scale(values, least, greatest - least, column.type)
    if pa.types.is_floating(column.type):
        different, codes = np.unique(column.fill_null(0.0).to_numpy(), return_inverse=True)  # one NaN, at the end
        return Ranked(codes.astype(np.int64), pa.array(different, type=column.type))
    if pa.types.is_nested(column.type):
        _, first, codes = np.unique(_nested(column), return_index=True, return_inverse=True)
        return Ranked(codes.astype(np.int64), column.take(pa.array(first)))
    return _ranked(column)


def places(column: pa.Array) -> tuple[Ints, int]:
    """Numbers from 1 up in the order of the values, 0 for NULL; and the largest number plus one."""
    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=np.int64), 1
    of_values = scale(column, 1)
    present = presence(column)
    return np.where(True if present is None else present, of_values.codes + 1, 0), of_values.top + 2


def codes(column: pa.Array) -> tuple[Ints, int]:
    """A number from 0 up for each distinct value, including NULL; and a bound that all numbers are below."""
    if pa.types.is_nested(column.type) or pa.types.is_floating(column.type):
        return places(column)
    if counts_as_int64(column.type) and len(column):
        values, present = integers(column), presence(column)
        least, top = int(values.min()), int(values.max()) - int(values.min()) + 1
        if top <= 4 * len(column):  # dense enough: needs no table of the values
            near = values - least
            return (near, top) if present is None else (np.where(present, near, top), top + 1)
    coded = column.dictionary_encode()
    top = len(coded.dictionary) + 1
    return coded.indices.fill_null(top - 1).to_numpy().astype(np.int64), top


def combined(parts: Sequence[tuple[Ints, int]], rows: int) -> Ints:
    """Several numbers per row combined into one, in the same order: the first number is the most significant. `parts`
    are columns of numbers from 0 up, each with its largest number plus one."""
    if not parts:
        return np.zeros(rows, dtype=np.int64)
    whole, size = parts[0]
    for numbers, top in parts[1:]:
        if size * top >= 2**62:
            (whole, size), (numbers, top) = _dense(whole), _dense(numbers)
        whole, size = whole * top + numbers, size * top
    return whole


def _dense(numbers: Ints) -> tuple[Ints, int]:
    different, codes = np.unique(numbers, return_inverse=True)
    return codes.astype(np.int64), len(different)


def _ranked(column: pa.Array) -> Ranked:
    coded = column.dictionary_encode()
    order = pc.array_sort_indices(coded.dictionary)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order.to_numpy()] = np.arange(len(order))
    codes = coded.indices.fill_null(0).to_numpy()
    return Ranked(rank[codes] if len(order) else codes.astype(np.int64), coded.dictionary.take(order))


def _nested(column: pa.Array) -> Ints:
    """Structs, lists or maps as numbers in order; NULL comes first. A map is the list of its entries."""
    valid = flags(column.is_valid())
    if pa.types.is_map(column.type):
        maps: Any = column
        entries = pa.StructArray.from_arrays([maps.keys, maps.items], names=["key", "value"])
        column = pa.ListArray.from_arrays(maps.offsets, entries)
    if isinstance(column, pa.StructArray):
        return combined([(valid.astype(np.int64), 2), *(places(field) for field in column.flatten())], len(column))
    values = lists(column)
    elements = places(values.flatten())[0].tolist()
    ends = np.cumsum(lengths(values)).tolist()
    keys = [(there, *elements[start:end]) for there, start, end in zip(valid.tolist(), [0, *ends], ends, strict=False)]
    number = {key: i for i, key in enumerate(sorted(set(keys)))}
    return np.array([number[key] for key in keys], dtype=np.int64)
