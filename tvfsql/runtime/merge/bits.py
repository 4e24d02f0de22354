"""`bit_and`, `bit_or` and `bit_xor` of integers, which merge bit by bit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tvfsql.runtime.merge.ranges import Blocks, Presence, Ranges
from tvfsql.runtime.merge.scans import Columns, Scanned

OPERATORS = {"bit_and": (np.bitwise_and, -1), "bit_or": (np.bitwise_or, 0), "bit_xor": (np.bitwise_xor, 0)}


class Bits(Scanned):
    """Integers whose bits are combined; the result has their type."""

    def __init__(self, kind: str, column: pa.Array, blocks: Blocks) -> None:
        self.operator, self.least = OPERATORS[kind]
        self.type = column.type
        super().__init__((column.fill_null(self.least).to_numpy(),), blocks)
        self.presence = Presence(column)

    def merge(self, left: Columns, right: Columns) -> Columns:
        return (self.operator(left[0], right[0]),)

    def neutral(self) -> tuple[float, ...]:
        return (self.least,)

    def over(self, ranges: Ranges) -> pa.Array:
        (values,) = self.merged(ranges)
        present = self.presence.over(ranges)
        return pa.array(values, self.type, mask=None if present is None else ~present)
