"""What an aggregate function is. `whole` is how Spark computes it over plain rows. `partials` are the columns that a
slice keeps: how Spark makes each of them, and how two of them merge. `finish` makes the result from merged partials.

Templates are Spark SQL. `{x}` is the argument, `{y}` the second argument, `{t}` the event time. `{d}` marks the place
of DISTINCT, `{f}` the place of FILTER; `{nn}` is a FILTER that also drops rows in which a `required` argument is NULL.
`finish` names partials by their suffix.

Retractions: an aggregate with a `distinct` template is finished from a count and a sum, in which a retracted value
counts -1. Any other function whose partials have `net` is computed from a bag, which holds the number of occurrences of
each value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from tvfsql.plan.aggregate.chosen_values import ChosenValues, Counted
from tvfsql.plan.aggregate.sketches import Sketch
from tvfsql.plan.aggregate.top_rows import TopRows
from tvfsql.plan.values.types import BOOLEAN, BYTES, FLOAT, UNKNOWN, Array, SqlType, is_integer, is_number, is_orderable
from tvfsql.plan.values.user_function import UserFunction

TypeRule = Callable[[SqlType], SqlType]
Template = str | Callable[[SqlType], str]  # where it depends on the argument's type, made of that
# a kind of runtime.partials, the aggregate that merges its own accumulators, the limit of a rank, what a result needs
# of a bag, or a sketch
MergeKind = str | UserFunction | TopRows | ChosenValues | Counted | Sketch


def made_of_rows(kind: MergeKind) -> bool:
    """Whether slices of this merge kind start from partials of single rows, which only Python merges."""
    return isinstance(kind, UserFunction | Sketch | ChosenValues | Counted)


class Accepts(Enum):
    """Which arguments a function accepts; the values are the words of error messages."""

    ANY = "value of any type"
    NUMBER = "number"
    INTEGER = "whole number"
    FLOAT = "FLOAT"
    SKETCH = "sketch or bitmap, which is BYTES"
    TRUTH = "boolean"
    ORDERED = "value that can be ordered"
    ARRAY = "value of type ARRAY, whose elements can be ordered"

    def takes(self, kind: SqlType) -> bool:
        """Whether an argument of this type is accepted. A type that only Spark knows is accepted here."""
        if self is Accepts.ANY or kind == UNKNOWN:
            return True
        if self is Accepts.NUMBER:
            return is_number(kind)
        if self is Accepts.INTEGER:
            return is_integer(kind)
        if self is Accepts.ARRAY:
            return isinstance(kind, Array) and is_orderable(kind)
        only = {Accepts.TRUTH: BOOLEAN, Accepts.FLOAT: FLOAT, Accepts.SKETCH: BYTES}
        return kind == only[self] if self in only else is_orderable(kind)


@dataclass(frozen=True)
class Partial:
    """A column that a slice keeps. `merge` says how two values are merged. `row` is the partial of a single row that
    passes FILTER; streams start from it. A NULL argument has no partial, unless `nulls` is set.

    `net` computes the partial from a bag, `{net}`: an array of struct<x, n>, in which the value x (`value` of a row)
    occurs n times. `counts`: without rows it is 0, not NULL.
    """

    suffix: str
    sql: str
    merge: MergeKind
    row: str = "{x}"
    nulls: bool = False
    value: str = "{x}"
    net: str = ""
    counts: bool = False


@dataclass(frozen=True)
class Share:
    """The result over a subset of the rows: the aggregate `function` of `value`. The aggregate `again` combines the
    results of all subsets. If `suffix` is empty, that is the final result; otherwise `finish` refers to it by this
    suffix.
    """

    function: str
    again: str
    suffix: str = ""
    value: str = "{x}"


class Templates(NamedTuple):
    """The templates of a function for one argument type."""

    whole: str
    finish: str
    distinct: str
    of_rows: str

    @property
    def take_distinct(self) -> bool:
        return "{d}" in self.whole or bool(self.of_rows)


@dataclass(frozen=True)
class AggregateFunction:
    """One aggregate function."""

    name: str
    whole: Template
    result: TypeRule
    natural: TypeRule | None = None  # the type of Spark's expression, if it is not `result`
    partials: tuple[Partial, ...] = ()
    finish: Template = ""
    distinct: Template = (
        ""  # the result from {count} and {sum}, of distinct values or of rows; "": DISTINCT cannot be merged
    )
    ignores_distinct: bool = False
    distinct_rows: Partial | None = None  # for DISTINCT, if it keeps the values; then `of_rows` replaces `finish`
    of_rows: Template = ""
    of_results: str = ""  # replaces `finish` where windows have what the merge kind of the only partial results in
    user: UserFunction | None = None
    shares: tuple[Share, ...] = ()  # how results over subsets of the rows are combined; empty: they cannot be
    arguments: tuple[int, int] = (1, 1)
    operands: int = 1  # how many of the arguments are values, which `accepts` describes
    required: tuple[int, ...] = (0,)  # the numbers of the arguments without which a row does not count
    accepts: Accepts = Accepts.ANY
    foreign: Callable[[SqlType], bool] = lambda kind: False  # for which types it is Spark's own

    def templates(self, kind: SqlType) -> Templates:
        """Return the templates for an argument of this type."""
        parts = (self.whole, self.finish, self.distinct, self.of_rows)
        return Templates(*(part if isinstance(part, str) else part(kind) for part in parts))

    def widest(self, kind: SqlType) -> SqlType:
        """Return the type that results over subsets of the rows are kept in. It is Spark's type, so that a subset's
        result that is too large for the result type can be offset by other subsets.
        """
        return (self.natural and self.natural(kind)) or self.result(kind)

    def mergeable(self, kind: SqlType, distinct: bool) -> bool:
        """Whether windows can be computed from slices."""
        if distinct and self.distinct_rows:
            return True
        if distinct and not self.ignores_distinct:
            return bool(self.distinct) and (self.name == "COUNT" or is_number(kind))
        return bool(self.partials)

    def retractable(self, distinct: bool) -> bool:
        """Whether values can be retracted. A user's aggregate is called with the rows that remain."""
        if self.user:
            return True
        if distinct and not self.ignores_distinct:
            return bool(self.distinct or (self.distinct_rows and self.distinct_rows.net))
        return bool(self.distinct) or all(part.net for part in self.partials)
