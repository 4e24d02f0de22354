"""The columns that an operator computes of groups of rows: aggregate calls, and the partials that slices keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tvfsql.errors import Span
from tvfsql.plan.aggregate.chosen_values import ChosenValues, Frequent, Quantiles
from tvfsql.plan.aggregate.function import MergeKind
from tvfsql.plan.aggregate.sketches import Kll, Sketch
from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.values.types import UNKNOWN, SqlType
from tvfsql.plan.values.user_function import UserFunction


@dataclass(frozen=True)
class AggCall:
    """An aggregate call. `function` names a row of plan.aggregate.table, a function that only Spark knows, or `user`.
    `time` is the event time that orders the rows for FIRST_VALUE, LAST_VALUE and the lists. Of the rows that $ROWS
    collects, only those within the limit `top` are needed. Of the values of a percentile or a mode, those
    that are `chosen` are needed; of a sketch it says how it merges, of MIN_BY and MAX_BY which rows are kept. The last
    arguments of a list order it, in the directions `order` (`Order.direction`).
    """

    name: str
    function: str
    arguments: tuple[Scalar, ...]
    distinct: bool = False
    filter: Scalar | None = None
    time: str | None = None
    type: SqlType = field(default=UNKNOWN, compare=False)
    user: UserFunction | None = None
    top: TopRows | None = None
    chosen: ChosenValues | Sketch | TopRows | None = None
    order: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def columns(self) -> frozenset[str]:
        """The input columns that it reads."""
        scalars = (*self.arguments, *((self.filter,) if self.filter else ()))
        read = frozenset(column for scalar in scalars for column in scalar.columns)
        return read | {self.time} if self.time else read

    def over(self, computed: Mapping[str, Scalar]) -> AggCall:
        """Return the call with its columns replaced by expressions. The event time must become a column."""
        time = computed[self.time].column if self.time in computed and self.time else self.time
        arguments = tuple(argument.substitute(computed) for argument in self.arguments)
        return replace(
            self, arguments=arguments, filter=self.filter.substitute(computed) if self.filter else None, time=time
        )

    def __str__(self) -> str:
        shown = self.chosen.shown if isinstance(self.chosen, Quantiles | Kll | Frequent | TopRows) else ""
        values = len(self.arguments) - len(self.order)
        inner = ", ".join(map(str, (*self.arguments[:values], *([shown] if shown else []))))
        distinct = "DISTINCT " if self.distinct else ""
        where = f" FILTER (WHERE {self.filter})" if self.filter else ""
        by = zip(self.arguments[values:], self.order, strict=True)
        keys = ", ".join(f"{key} {direction.replace('_', ' ').upper()}" for key, direction in by)
        order = f" WITHIN GROUP (ORDER BY {keys})" if keys else ""
        return f"{self.function}({distinct}{inner}){order}{where} AS {self.name}"


@dataclass(frozen=True)
class PartialColumn:
    """A column that a slice keeps. `scalar` is how Spark computes it from rows. `row` is its value for a single row,
    which streams and users' aggregates start from. `merge` is how two values merge. `counts`: without rows it is 0.
    """

    name: str
    scalar: Scalar
    merge: MergeKind
    row: Scalar
    type: SqlType = field(default=UNKNOWN, compare=False)
    counts: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return f"{self.scalar} AS {self.name}"
