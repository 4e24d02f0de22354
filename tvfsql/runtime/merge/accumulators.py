"""The merge kind of a user's aggregate: lists of rows, or accumulators that were made of them, to accumulators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.columns import Ints, lists, structs
from tvfsql.runtime.arrow.python_values import python_values
from tvfsql.runtime.merge.ranges import Blocks, Partial, Ranges
from tvfsql.runtime.udf.calls import AggregateFunction

Rows = list[tuple[object, ...]]  # each with the arguments of a call


class Accumulators(Partial):
    """A binary column holds pickled accumulators, a list column the arguments of rows. What comes out is binary.

    A range is put together of what was merged from the start of its block on and from the end of a block back, as
    `Ranges` says. Rows go into one accumulator from one range to the next, so each costs one call.
    """

    def __init__(self, function: AggregateFunction, column: pa.Array, blocks: Blocks) -> None:
        self.function, self.blocks = function, blocks
        packed = pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)
        self.values: Sequence[bytes | Rows | None] = column.to_pylist() if packed else _rows(column)

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
        """As many as the longest range takes: whether accumulators grow with what they hold, only the user knows."""
        if not len(ranges):
            return None
        widest = int(np.argmax(ranges.hi - ranges.lo))
        return np.full(len(ranges), self.over(ranges.part(widest, widest + 1)).nbytes, dtype=np.int64)

    def _prefixes(self, rows: Ints) -> Iterator[tuple[int, bytes | None]]:
        """For each of some rows, in order, what its block holds up to there."""
        block, at, held = -1, 0, None
        for row, start in zip(rows.tolist(), self.blocks.start[rows].tolist(), strict=True):
            if start != block:
                block, at, held = start, start, None
            for value in self.values[at : row + 1]:
                held = self._with(held, value)
            at = row + 1
            yield row, None if held is None else self.function.packed(held)

    def _suffixes(self, rows: Ints) -> Iterator[tuple[int, bytes | None]]:
        """For each of some rows, from the last to the first, what its block holds from there on."""
        ends = np.flatnonzero(self.blocks.last)
        block, at, held = -1, 0, None
        for row, end in zip(rows.tolist(), ends[self.blocks.number[rows]].tolist(), strict=True):
            if end != block:
                block, at, held = end, end, None
            for value in reversed(self.values[row : at + 1]):
                first = self._with(None, value)  # a new one, so that the order of the rows stays
                held = held if first is None else first if held is None else self.function.merged(first, held)
            at = row - 1
            yield row, None if held is None else self.function.packed(held)

    def _with(self, held: object, value: bytes | Rows | None) -> object:
        """An accumulator with one more value: the same, changed. None stands for one into which nothing went."""
        if value is None:
            return held
        if not isinstance(value, bytes):
            return self.function.of_rows(value, held)
        other = self.function.unpacked(value)
        return other if held is None else self.function.merged(held, other)

    def _joined(self, left: bytes | None, right: bytes | None) -> bytes | None:
        if left is None or right is None:
            return left if right is None else right
        both = self.function.merged(self.function.unpacked(left), self.function.unpacked(right))
        return self.function.packed(both)


def _rows(column: pa.Array) -> list[Rows | None]:
    """Lists of structs as lists of tuples; NULL is None."""
    calls = lists(column)
    fields = [python_values(field) for field in structs(calls.flatten()).flatten()]
    rows = list(zip(*fields, strict=True))
    lengths = calls.value_lengths().to_pylist()
    ends = np.cumsum([length or 0 for length in lengths]).tolist()
    return [None if n is None else rows[end - n : end] for n, end in zip(lengths, ends, strict=True)]
