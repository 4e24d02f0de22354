"""The conditions of DEFINE: whether a variable may take the next row of each path.

The aggregates among them are totals that paths carry along.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tvfsql.errors import DataError
from tvfsql.plan.patterns import ALL, Condition, Pattern
from tvfsql.runtime.arrow.columns import Ints, Mask
from tvfsql.runtime.patterns.paths import Bounds, Numbers, Paths, Rows, ranges_of


class Conditions:
    """The conditions of a pattern over some rows. `carries`: there are aggregates among them."""

    def __init__(self, pattern: Pattern, rows: Rows) -> None:
        self.pattern, self.rows = pattern, rows
        self.masks: dict[int, Mask | None] = {}
        self.values = [self._values(column) for _, _, column in pattern.aggregates]
        self.false_after: dict[int, Ints] = {}

    @property
    def carries(self) -> bool:
        return bool(self.values)

    def run_ends(self, variable: int) -> Ints:
        """For each row that meets the condition of a variable the next one that does not."""
        if variable not in self.false_after:
            mask = self.mask(variable)
            numbers = np.arange(len(self.rows), dtype=np.int64)
            ends = np.where(mask, len(self.rows), numbers) if mask is not None else np.full_like(numbers, len(numbers))
            self.false_after[variable] = np.minimum.accumulate(ends[::-1])[::-1]
        return self.false_after[variable]

    def mask(self, variable: int) -> Mask | None:
        """Which rows meet a condition that only looks at the row; None: all do."""
        if variable not in self.masks:
            condition = self.pattern.conditions[variable]
            self.masks[variable] = None if condition is None else _truth(self.rows.column(str(condition[1])))
        return self.masks[variable]

    def holds(self, variable: int, paths: Paths, of: Ints) -> Mask:
        """Whether a variable may take the next row of each path."""
        condition = self.pattern.conditions[variable]
        numbers = paths.next_rows[of]
        if condition is None:
            return np.ones(len(of), dtype=np.bool_)
        if of_row(condition):
            mask = self.mask(variable)
            assert mask is not None
            return mask[numbers]
        bounds = paths.bounds[:, of].copy()
        bounds[variable + 1 :] = numbers + 1
        return _truth(self._value(condition, variable, bounds, numbers, paths, of))

    def _value(
        self, condition: Condition, variable: int, bounds: Bounds, numbers: Ints, paths: Paths, of: Ints
    ) -> pa.Array:
        """The value of a condition for rows that a variable may take; `bounds` are those after it has."""
        match condition:
            case ("row", str(name)):
                return _wide(self.rows.column(name).take(pa.array(numbers)))
            case ("at", int(where), bool(first), int(offset), str(name)):
                low, high = ranges_of(bounds, where)
                at = low + offset if first else high - 1 - offset
                there = (at >= low) & (at < high)
                return _wide(self.rows.column(name).take(pa.array(np.where(there, at, 0), mask=~there)))
            case ("aggregate", int(number)):
                total = self.added(number, variable, paths.totals[number], of, numbers)
                return self._result(number, total)
            case ("literal", value):
                return pa.array([value] * len(of))
            case (str(operator), *parts):
                values = [self._value(part, variable, bounds, numbers, paths, of) for part in parts]  # type: ignore[arg-type]
                return COMPUTED[operator](*values)
        raise AssertionError(condition)

    # ---- aggregates ----------------------------------------------------------------------------------

    def _values(self, name: str) -> tuple[Numbers, Mask] | None:
        """The values of an argument as numbers, and which of them are not NULL; None: each row counts."""
        if not name:
            return None
        column = self.rows.column(name)
        known = pc.is_valid(column).to_numpy(zero_copy_only=False)
        if pa.types.is_decimal(column.type):
            scale = column.type.scale
            return np.array([0 if x is None else int(x.scaleb(scale)) for x in column.to_pylist()], dtype=object), known
        if pa.types.is_floating(column.type):
            return column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64), known
        if pa.types.is_integer(column.type):
            return column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64), known
        return np.zeros(len(column), dtype=np.int64), known  # COUNT of anything

    def zeros(self, paths: int) -> tuple[tuple[Numbers, Ints], ...]:
        return tuple(
            (
                np.zeros(paths, dtype=np.int64 if of is None else of[0].dtype),
                np.zeros(paths, dtype=np.int64),
            )
            for of in self.values
        )

    def added(
        self, number: int, variable: int, totals: tuple[Numbers, Ints], chosen: Ints, numbers: Ints
    ) -> tuple[Numbers, Ints]:
        """The totals of an aggregate after a variable took the rows `numbers`."""
        function, of, _ = self.pattern.aggregates[number]
        total, count = totals[0][chosen], totals[1][chosen]
        if of not in (variable, ALL):
            return total, count
        found = self.values[number]
        if found is None:
            return total, count + 1
        value, known = found[0][numbers], found[1][numbers]
        if function in ("MIN", "MAX"):
            better = value < total if function == "MIN" else value > total
            total = np.where(known & (better | (count == 0)), value, total)
        elif function != "COUNT":
            new = np.where(known, total + value, total)
            if new.dtype == np.int64 and (((total ^ new) & (value ^ new)) < 0).any():
                raise DataError(f"{function} in DEFINE overflows BIGINT", hint="CAST the argument AS DOUBLE")
            total = new
        return total, count + known

    def with_totals(self, paths: Paths) -> Paths:
        """Paths that were written, with the totals of their aggregates: those of their rows, in order."""
        if not self.values:
            return Paths(paths.states, paths.bounds)
        totals = list(self.zeros(len(paths)))
        for variable in range(len(self.pattern.variables)):
            low, high = paths.bounds[variable], paths.bounds[variable + 1]
            at = low.copy()
            while (open_ := np.flatnonzero(at < high)).size:
                for i in range(len(totals)):
                    new = self.added(i, variable, totals[i], open_, at[open_])
                    for old, part in zip(totals[i], new, strict=True):
                        old[open_] = part
                at[open_] += 1
        return Paths(paths.states, paths.bounds, tuple(totals))

    def _result(self, number: int, totals: tuple[Numbers, Ints]) -> pa.Array:
        """The values of an aggregate."""
        function, _, name = self.pattern.aggregates[number]
        total, count = totals
        if function == "COUNT":
            return pa.array(count)
        kind = self.rows.column(name).type
        none = count == 0
        some = np.maximum(count, 1)
        if pa.types.is_decimal(kind):
            scale = max(6, kind.scale) if function == "AVG" else kind.scale
            if function == "AVG":
                more = 10 ** (scale - kind.scale)
                total = np.array(
                    [_half_up(int(a) * more, int(b)) for a, b in zip(total, some, strict=True)], dtype=object
                )
            made = [None if gone else Decimal(int(x)).scaleb(-scale) for x, gone in zip(total, none, strict=True)]
            return pa.array(made, pa.decimal256(38, scale))
        if function == "AVG":
            total = total / some if total.dtype == np.float64 else np.sign(total) * (np.abs(total) // some)
        return pa.array(total, mask=none)


def _wide(values: pa.Array) -> pa.Array:
    """Decimals with room for the digits of what is computed of them."""
    kind = values.type
    return values.cast(pa.decimal256(kind.precision, kind.scale)) if pa.types.is_decimal(kind) else values


def _half_up(dividend: int, divisor: int) -> int:
    whole, rest = divmod(abs(dividend), divisor)
    return (1 if dividend >= 0 else -1) * (whole + (2 * rest >= divisor))


def of_row(condition: Condition | None) -> bool:
    """Whether a condition is a column that was computed of each row alone, or nothing."""
    return condition is None or condition[0] == "row"


def _truth(values: pa.Array) -> Mask:
    """TRUE as True, FALSE and NULL as False."""
    found: Mask = values.fill_null(False).to_numpy(zero_copy_only=False)
    return found.astype(np.bool_)


COMPUTED: dict[str, Callable[..., pa.Array]] = {
    "and": pc.and_kleene,
    "or": pc.or_kleene,
    "not": pc.invert,
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
    "+": pc.add,
    "-": pc.subtract,
    "*": pc.multiply,
    "/": pc.divide,
    "neg": pc.negate,
    "abs": pc.abs,
    "null": pc.is_null,
    "double": lambda value: value.cast(pa.float64()),
}
