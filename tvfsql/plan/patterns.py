"""Patterns of rows: MATCH_RECOGNIZE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.function import MergeKind
from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.nodes import Order
from tvfsql.plan.values.times import duration
from tvfsql.plan.values.types import UNKNOWN, SqlType

ALL = -1  # in place of the number of a variable: the rows of all variables
PAST_LAST, TO_NEXT, TO_FIRST, TO_LAST = "past last row", "to next row", "to first", "to last"

# A condition of DEFINE, as a tuple of tuples that can be written into a program:
#   ("row", column): the column's value in the row that the variable may take
#   ("at", variable, first, offset, column): its value in the row with that number among those of the variable, or ALL,
#       counted from the first one or from the last; NULL without such a row
#   ("aggregate", number): an aggregate of `aggregates`
#   ("literal", value)
#   (operator, condition, ...): one of runtime.patterns.conditions.COMPUTED
Condition = tuple[object, ...]


@dataclass(frozen=True)
class Variable:
    """A variable of a pattern, which takes `least` to `most` rows, one after the other; None: any number."""

    name: str
    least: int = 1
    most: int | None = 1
    greedy: bool = True

    @property
    def single(self) -> bool:
        """Whether it is `v?`, which is neither greedy nor reluctant, as in Flink."""
        return (self.least, self.most) == (0, 1)

    @property
    def holds_on(self) -> bool:
        """Whether the next variable gets no row that this one may take."""
        return self.greedy and not self.single and self.least != self.most

    def __str__(self) -> str:
        named = {(1, 1): "", (0, 1): "?", (0, None): "*", (1, None): "+"}.get((self.least, self.most))
        most = "" if self.most is None else str(self.most)
        count = f"{{{self.least}}}" if self.least == self.most else f"{{{self.least},{most}}}"
        return f"{self.name}{count if named is None else named}{'' if self.greedy else '?'}"


@dataclass(frozen=True)
class Pattern:
    """What MATCH_RECOGNIZE looks for: variables, one after the other, with a condition for each; None: any row.

    `aggregates` are those in conditions: function, variable or ALL, and the column of the argument ("" for the number
    of rows). `within` is in ms: a match is shorter. `skip` says where to go on after a match; `skip_to` is the number
    of its variable.
    """

    variables: tuple[Variable, ...]
    conditions: tuple[Condition | None, ...]
    aggregates: tuple[tuple[str, int, str], ...] = ()
    within: int | None = None
    skip: str = TO_NEXT
    skip_to: int = ALL

    @property
    def columns(self) -> frozenset[str]:
        """The input columns that its conditions read."""
        read = {column for _, _, column in self.aggregates if column}
        waiting: list[object] = [*self.conditions]
        while waiting:
            match waiting.pop():
                case ("row", str(name)) | ("at", _, _, _, str(name)):
                    read.add(name)
                case tuple(parts):
                    waiting += parts[1:]
        return frozenset(read)

    @property
    def bounded(self) -> bool:
        """Whether a match has at most a number of rows."""
        return all(each.most is not None for each in self.variables)

    def renamed(self, names: Mapping[str, str]) -> Pattern:
        """The same over input columns with other names."""

        def moved(condition: object) -> object:
            match condition:
                case ("row", str(name)):
                    return ("row", names.get(name, name))
                case ("at", variable, first, offset, str(name)):
                    return ("at", variable, first, offset, names.get(name, name))
                case ("literal", *_):
                    return condition
                case (operator, *parts):
                    return (operator, *map(moved, parts))
            return condition

        return replace(
            self,
            conditions=tuple(moved(each) for each in self.conditions),  # type: ignore[misc]
            aggregates=tuple((name, variable, names.get(of, of)) for name, variable, of in self.aggregates),
        )

    def __str__(self) -> str:
        within = f" WITHIN {duration(self.within)}" if self.within is not None else ""
        return f"({' '.join(map(str, self.variables))}){within}"


def row_pattern(
    variables: Sequence[Variable],
    *,
    define: Mapping[str, object],
    aggregates: Sequence[tuple[str, int, str]] = (),
    within: int | None = None,
    skip: str = TO_NEXT,
    skip_to: str = "",
) -> Pattern:
    """A pattern as programs write it: conditions are lists, by variable, and `skip_to` is a name."""

    def frozen(part: object) -> object:
        return tuple(map(frozen, part)) if isinstance(part, list | tuple) else part

    conditions = tuple(frozen(define.get(each.name)) for each in variables)
    target = [each.name for each in variables].index(skip_to) if skip_to else ALL
    called = tuple((function, variable, column) for function, variable, column in aggregates)
    return Pattern(tuple(variables), conditions, called, within, skip, target)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Navigation:
    """A column of a match: the column `column` of the row with the number `offset` among those of a variable, or ALL,
    counted from the first one or from the last. NULL if there is no such row."""

    name: str
    column: str
    variable: int
    first: bool
    offset: int


@dataclass(frozen=True)
class PatternMatch(Node):
    """A row for each match of a pattern in the rows of a partition, in the order of `time` and then of `order`: the
    keys, the columns of `navigations`, and `calls`, each over the rows of a variable or ALL.

    A rule replaces `calls` by `partials`, columns of the input that are merged over the rows of a variable: its number,
    the column, its merge kind, and whether it is 0 without rows. `shown` is what DEFINE says, for EXPLAIN.
    """

    input: Node
    partition: tuple[str, ...]
    time: str
    order: tuple[Order, ...]
    pattern: Pattern
    navigations: tuple[Navigation, ...]
    calls: tuple[tuple[int, AggCall], ...] = ()
    partials: tuple[tuple[int, str, MergeKind, bool], ...] = ()
    shown: tuple[str, ...] = field(default=(), compare=False)

    operator = "Match"

    @cached_property
    def schema(self) -> Schema:
        keys = tuple(Field(key, self.input.type_of(key)) for key in self.partition)
        found = tuple(Field(part.name, self._type(part)) for part in self.navigations)
        results = tuple(Field(call.name, call.type) for _, call in self.calls)
        return (*keys, *found, *results, *(Field(name) for _, name, _, _ in self.partials))

    def _type(self, part: Navigation) -> SqlType:
        kind = self.input.type_of(part.column)
        always = part.offset == 0 and (part.variable == ALL or self.pattern.variables[part.variable].least > 0)
        return kind if always or kind == UNKNOWN else replace(kind, nullable=True)

    @property
    def skip(self) -> str:
        """AFTER MATCH, in SQL."""
        target = f" {self.pattern.variables[self.pattern.skip_to].name}" if self.pattern.skip_to != ALL else ""
        return f"SKIP {self.pattern.skip.upper()}{'' if target else ' ROW'}{target}".replace("ROW ROW", "ROW")

    @property
    def reads(self) -> frozenset[str]:
        """The input columns that it reads."""
        ordered = (key.scalar.column or "" for key in self.order)
        found = {part.column for part in self.navigations} | {name for _, name, _, _ in self.partials}
        called = frozenset[str]().union(*(call.columns for _, call in self.calls))
        return frozenset({*self.partition, self.time, *ordered, *found}) | called | self.pattern.columns

    def details(self) -> Iterator[tuple[str, str]]:
        if self.partition:
            yield "partitionBy", ", ".join(self.partition)
        yield "orderBy", ", ".join((f"{self.time} ASC", *map(str, self.order)))
        yield "pattern", str(self.pattern)
        if self.shown:
            yield "define", ", ".join(self.shown)
        yield "after", self.skip
        rows = {ALL: "", **{i: f"{each.name}." for i, each in enumerate(self.pattern.variables)}}
        yield (
            "measures",
            ", ".join(
                [
                    f"{'FIRST' if each.first else 'LAST'}({rows[each.variable]}{each.column}"
                    f"{f', {each.offset}' if each.offset else ''}) AS {each.name}"
                    for each in self.navigations
                ]
                + [f"{rows[variable].rstrip('.') or 'all'}: {call}" for variable, call in self.calls]
                + [f"{rows[variable].rstrip('.') or 'all'}: {name}" for variable, name, _, _ in self.partials]
            ),
        )
