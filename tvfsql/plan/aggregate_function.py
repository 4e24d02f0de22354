"""What an aggregate function is: how Spark computes it over plain rows (`whole`), which partial columns a slice keeps
(`partials`: how Spark makes one, and how two merge), and how the result is finished from merged partials.

Templates are Spark SQL: `{x}` is the argument, `{y}` the second one, `{t}` the event time, `{d}` stands
where DISTINCT goes, `{f}` where FILTER goes, `{nn}` is the FILTER that also leaves out NULL arguments;
`finish` names partials by their suffix.

Values that changes take back: what has a rule for `distinct` is made of a count and a sum, in which a value that goes
counts -1; any other function is made of a bag, which says how often each value is there, if its partials have `net`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from tvfsql.plan.function import UserFunction
from tvfsql.plan.types import UNKNOWN, SqlType, is_decimal, is_float, is_integer, is_number, is_orderable

TypeRule = Callable[[SqlType], SqlType]
Template = str | Callable[[SqlType], str]  # where it depends on the argument's type, made of that
MergeKind = str | UserFunction  # a kind of runtime.partials, or the aggregate that merges its own accumulators


class Accepts(Enum):
    """What an argument must be, as errors put it."""

    ANY = "value of any type"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ORDERED = "value that can be ordered"

    def takes(self, kind: SqlType) -> bool:
        """Whether an argument of this type will do; of an unknown type only Spark can tell."""
        if self is Accepts.ANY or kind == UNKNOWN:
            return True
        if self is Accepts.NUMBER:
            return is_number(kind)
        return kind == "boolean" if self is Accepts.BOOLEAN else is_orderable(kind)


@dataclass(frozen=True)
class Partial:
    """A column that a slice keeps. `merge` says how two are joined. `row` is the partial of a single row
    that FILTER lets through, which streams start from; if the argument is NULL there is none, unless `nulls`.
    `net` is the partial of the values in a bag, `{net}`: an array of struct<x, n>, where x (`value` of a row) is
    there n times."""

    suffix: str
    sql: str
    merge: MergeKind
    row: str = "{x}"
    nulls: bool = False
    value: str = "{x}"
    net: str = ""


@dataclass(frozen=True)
class Share:
    """A result over some of the rows: the aggregate `function` of `value`. `again` joins those of all rows. Without a
    suffix what comes out is the result; else `finish` takes it under that name."""

    function: str
    again: str
    suffix: str = ""
    value: str = "{x}"


class Templates(NamedTuple):
    """Those of a function, for the type of its argument."""

    whole: str
    finish: str
    distinct: str

    @property
    def take_distinct(self) -> bool:
        return "{d}" in self.whole


@dataclass(frozen=True)
class AggregateFunction:
    """One aggregate."""

    name: str
    whole: Template
    result: TypeRule
    natural: TypeRule | None = None  # the type that Spark's expression has, where that is not `result`
    partials: tuple[Partial, ...] = ()
    finish: Template = ""
    distinct: Template = ""  # finishes {count} and {sum}: of distinct values, or of rows; "": DISTINCT cannot be merged
    ignores_distinct: bool = False
    distinct_rows: Partial | None = None  # where DISTINCT is finished, by `finish`, out of the rows that differ
    user: UserFunction | None = None
    shares: tuple[Share, ...] = ()  # what results over parts of the rows are joined from; none: they cannot be
    arguments: tuple[int, int] = (1, 1)
    accepts: Accepts = Accepts.ANY
    exact: Callable[[SqlType], str] | None = None  # `whole` of values that are not DISTINCT, where it has more digits

    def templates(self, kind: SqlType) -> Templates:
        """Its templates for an argument of this type."""
        parts = (self.whole, self.finish, self.distinct)
        return Templates(*(part if isinstance(part, str) else part(kind) for part in parts))

    def widest(self, kind: SqlType) -> SqlType:
        """The type in which results over parts of the rows are kept: Spark's, so that one that is too large for the
        result may be made up for by others."""
        return (self.natural and self.natural(kind)) or self.result(kind)

    def mergeable(self, kind: SqlType, distinct: bool, streaming: bool) -> bool:
        """Whether windows can be made from slices. Sums of distinct floats cannot in batch, where values that come
        and go are added and subtracted: they would not cancel exactly."""
        if distinct and self.distinct_rows:
            return True
        if distinct and not self.ignores_distinct:
            exact = self.name == "COUNT" or is_integer(kind) or is_decimal(kind)
            return bool(self.distinct) and (exact or (streaming and is_float(kind)))
        return bool(self.partials)

    def retractable(self, distinct: bool) -> bool:
        """Whether values that came can be taken back. What a user wrote gets the rows that are left."""
        if self.user:
            return True
        of_bag = all(part.net for part in self.partials)
        return bool(self.distinct if distinct and not self.ignores_distinct else self.distinct or of_bag)
