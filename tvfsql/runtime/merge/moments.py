"""Merges of sums of powers of deviations, by the formulas of Pebay (2008), which do not cancel digits as sums of powers
do.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import pyarrow as pa

from tvfsql.runtime.arrow.columns import structs
from tvfsql.runtime.merge.ranges import Blocks, Presence, Ranges
from tvfsql.runtime.merge.scans import Columns, Scanned


class Deviations(Scanned):
    """A struct with the number of rows `n` (bigint), and `fields` (double)."""

    fields: tuple[str, ...]

    def __init__(self, column: pa.Array, blocks: Blocks) -> None:
        parts = structs(column)
        self.type = parts.type
        values = dict(zip((field.name for field in self.type), parts.flatten(), strict=True))
        super().__init__(tuple(values[name].fill_null(0).to_numpy() for name in ("n", *self.fields)), blocks)
        self.presence = Presence(column)

    @abstractmethod
    def added(self, left: Columns, right: Columns) -> Columns:
        """The merge of two sides that both have rows, without `n`."""

    def merge(self, left: Columns, right: Columns) -> Columns:
        # if one side is empty, the result is the other one, even if that is infinite
        from_left, from_right = right[0] == 0, left[0] == 0
        merged = self.added(left, right)
        sides = zip(left[1:], right[1:], merged, strict=True)
        chosen = (np.where(from_left, one, np.where(from_right, other, both)) for one, other, both in sides)
        return (left[0] + right[0], *chosen)

    def neutral(self) -> tuple[float, ...]:
        return (0, *(0.0 for _ in self.fields))

    def over(self, ranges: Ranges) -> pa.Array:
        by_name = dict(zip(("n", *self.fields), self.merged(ranges), strict=True))
        present = self.presence.over(ranges)
        mask = None if present is None else pa.array(~present)
        fields = list(self.type)
        return pa.StructArray.from_arrays([pa.array(by_name[f.name]) for f in fields], fields=fields, mask=mask)


class FourMoments(Deviations):
    """`moments4`: mean, and the sums of the 2nd, 3rd and 4th powers of deviations from it."""

    fields = ("mean", "m2", "m3", "m4")

    def added(self, left: Columns, right: Columns) -> Columns:
        (n1, mean1, second1, third1, fourth1), (n2, mean2, second2, third2, fourth2) = left, right
        n = np.maximum(n1 + n2, 1).astype(np.float64)
        one, other, delta = n1 / n, n2 / n, mean2 - mean1
        of_both = delta * delta * n1 * other  # delta ** 2 * n1 * n2 / n
        second = second1 + second2 + of_both
        third = third1 + third2 + of_both * delta * (one - other) + 3 * delta * (one * second2 - other * second1)
        fourth = (
            fourth1
            + fourth2
            + of_both * delta * delta * (one * one - one * other + other * other)
            + 6 * delta * delta * (one * one * second2 + other * other * second1)
            + 4 * delta * (one * third2 - other * third1)
        )
        return mean1 + delta * other, second, third, fourth


class CoMoments(Deviations):
    """`comoments`: the means of a and b, and the sums of the products of their deviations: aa, bb, ab."""

    fields = ("a", "b", "aa", "bb", "ab")

    def added(self, left: Columns, right: Columns) -> Columns:
        (n1, a1, b1, aa1, bb1, ab1), (n2, a2, b2, aa2, bb2, ab2) = left, right
        other = n2 / np.maximum(n1 + n2, 1)
        a, b, weight = a2 - a1, b2 - b1, n1 * other
        return (
            a1 + a * other,
            b1 + b * other,
            aa1 + aa2 + a * a * weight,
            bb1 + bb2 + b * b * weight,
            ab1 + ab2 + a * b * weight,
        )
