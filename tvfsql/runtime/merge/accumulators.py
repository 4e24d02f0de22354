"""The merge kind of Python aggregates: merges lists of rows, or accumulators made from them, into accumulators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.columns import Ints, lists, structs
from tvfsql.runtime.arrow.shown_values import python_values
from tvfsql.runtime.merge.ranges import Blocks, Partial, Ranges
from tvfsql.runtime.udf import AggregateFunction

Rows = list[tuple[object, ...]]  # each row is the arguments of a call


class Mergeable(Protocol):
    """How accumulators are merged, written and read."""

    def merged(self, accumulator: Any, other: Any) -> Any:
        """The first accumulator, with the other one merged into it."""

    def packed(self, accumulator: Any) -> bytes: ...

    def unpacked(self, state: bytes) -> Any: ...


class Accumulators(Partial):
    """Merged accumulators of a Python aggregate.

    The input is a binary column of pickled accumulators, or a list column of rows. The output is binary. A range
    consists of the end of a block and the start of the next, as in `Ranges`, each merged once. Rows are added to one
    accumulator from range to range, so each row costs one call.
    """

    def __init__(self, function: AggregateFunction, column: pa.Array, blocks: Blocks) -> None:
        self.function: Mergeable = function
        self.aggregate, self.blocks = function, blocks
        packed = pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)
        self.values: Sequence[Any] = column.to_pylist() if packed else _rows(column)

    def over(self, ranges: Ranges) -> pa.Array:
        none = len(self.blocks)
        prefixes = dict(self._prefixes(np.unique(ranges.prefix[ranges.prefix < none])))
        if ranges.suffix is None:
            merged = [prefixes[row] for row in ranges.prefix.tolist()]
        else:
            suffixes = dict(self._suffixes(np.unique(ranges.suffix[ranges.suffix < none])[::-1]))
            pairs = zip(ranges.suffix.tolist(), ranges.prefix.tolist(), strict=True)
            merged = [self._joined(suffixes.get(left), prefixes.get(right)) for left, right in pairs]
        return pa.array(merged, pa.binary())

    def bytes_over(self, ranges: Ranges) -> Ints | None:
        """The size of the longest range for all ranges: only the user knows whether accumulators grow with their
        content."""
        if not len(ranges):
            return None
        widest = int(np.argmax(ranges.hi - ranges.lo))
        return np.full(len(ranges), self.over(ranges.part(widest, widest + 1)).nbytes, dtype=np.int64)

    def _prefixes(self, rows: Ints) -> Iterator[tuple[int, bytes | None]]:
        """For some rows, in order: the accumulator from the start of the row's block up to the row."""
        block, at, accumulator = -1, 0, None
        for row, start in zip(rows.tolist(), self.blocks.start[rows].tolist(), strict=True):
            if start != block:
                block, at, accumulator = start, start, None
            for value in self.values[at : row + 1]:
                accumulator = self._with(accumulator, value)
            at = row + 1
            yield row, None if accumulator is None else self.function.packed(accumulator)

    def _suffixes(self, rows: Ints) -> Iterator[tuple[int, bytes | None]]:
        """For some rows, from last to first: the accumulator from the row to the end of its block."""
        ends = np.flatnonzero(self.blocks.last)
        block, at, accumulator = -1, 0, None
        for row, end in zip(rows.tolist(), ends[self.blocks.number[rows]].tolist(), strict=True):
            if end != block:
                block, at, accumulator = end, end, None
            for value in reversed(self.values[row : at + 1]):
                first = self._with(None, value)  # a new one, to keep the order of the rows
                if first is not None:
                    accumulator = first if accumulator is None else self.function.merged(first, accumulator)
            at = row - 1
            yield row, None if accumulator is None else self.function.packed(accumulator)

    def _with(self, accumulator: object, value: bytes | Rows | None) -> object:
        """An accumulator with one more value. It is modified in place. None stands for an accumulator without rows."""
        if value is None:
            return accumulator
        if not isinstance(value, bytes):
            return self._of_rows(value, accumulator)
        other = self.function.unpacked(value)
        return other if accumulator is None else self.function.merged(accumulator, other)

    def _of_rows(self, value: Rows, accumulator: object) -> object:
        """An accumulator with the rows of one value more."""
        return self.aggregate.of_rows(value, accumulator)

    def _joined(self, left: bytes | None, right: bytes | None) -> bytes | None:
        if left is None or right is None:
            return left if right is None else right
        both = self.function.merged(self.function.unpacked(left), self.function.unpacked(right))
        return self.function.packed(both)


def _rows(column: pa.Array) -> list[Rows | None]:
    """Lists of structs as lists of tuples; NULL becomes None."""
    calls = lists(column)
    fields = [python_values(field) for field in structs(calls.flatten()).flatten()]
    rows = list(zip(*fields, strict=True))
    lengths = calls.value_lengths().to_pylist()
    ends = np.cumsum([length or 0 for length in lengths]).tolist()
    return [None if n is None else rows[end - n : end] for n, end in zip(lengths, ends, strict=True)]
