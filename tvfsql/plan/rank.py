"""Logical operators that rank the rows of a partition, or keep the rows with certain ranks.

`order` ranks the rows. `ties` orders rows that are equal in it, so that ROW_NUMBER does not depend on the order of
arrival. RANK and DENSE_RANK need no ties: equal rows share a rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tvfsql.plan.node import Field, Node, Schema
from tvfsql.plan.nodes import Order
from tvfsql.plan.tables.internal_columns import ALWAYS, shown
from tvfsql.plan.values.types import BIGINT
from tvfsql.plan.window_nodes import AttachedWindow

RANK_TYPE = BIGINT


@dataclass(frozen=True)
class Rank(Node):
    """Each row with its rank among the rows that agree on `partition`, in the BIGINT column `name`.

    `function` is ROW_NUMBER, RANK or DENSE_RANK. The keys of `order` and `ties` are columns. `by_time`: the only key of
    `order` is the time attribute of rows without windows.
    """

    input: Node
    function: str
    partition: tuple[str, ...]
    order: tuple[Order, ...]
    ties: tuple[Order, ...]
    name: str
    by_time: bool = False

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, Field(self.name, RANK_TYPE))

    @property
    def reads(self) -> frozenset[str]:
        """The input columns that it reads."""
        return reads_of(self.partition, self.order, self.ties)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "rankType", self.function
        yield "partitionBy", ", ".join(self.partition)
        yield from orders_of(self.order, self.ties)
        yield "select", ", ".join(shown(self.columns))


@dataclass(frozen=True)
class WindowTopN(Node):
    """The rows of each window, and of each `partition` in it, with ranks from `first` to `last`.

    The window columns are part of `partition`. The rank is the BIGINT column `name`.
    """

    input: Node
    window: AttachedWindow
    function: str
    partition: tuple[str, ...]
    order: tuple[Order, ...]
    ties: tuple[Order, ...]
    first: int
    last: int
    name: str

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, Field(self.name, RANK_TYPE))

    @property
    def reads(self) -> frozenset[str]:
        """The input columns that it reads."""
        return reads_of(self.partition, self.order, self.ties)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "window", str(self.window)
        yield "rankType", self.function
        yield "rankRange", f"rankStart={self.first}, rankEnd={self.last}"
        yield "partitionBy", ", ".join(self.window.without(self.partition))
        yield from orders_of(self.order, self.ties)
        yield "select", ", ".join(shown(self.columns))


@dataclass(frozen=True)
class TopN(Node):
    """The rows of each `partition` with ranks from `first` to `last` among all rows so far, on streams.

    Out: the columns `shown`, and with a `name` the rank. They are changes that no operator above has handled yet, or
    with `sign` plain rows, in which that column is 1 for a row that comes and -1 for one that goes. `retracts` is the
    same for the input; "": its rows only come. `key` are columns that identify a row; None: none are known.
    """

    input: Node
    function: str
    partition: tuple[str, ...]
    order: tuple[Order, ...]
    ties: tuple[Order, ...]
    first: int
    last: int
    shown: tuple[str, ...]
    name: str = ""
    key: tuple[str, ...] | None = None
    retracts: str = ""
    sign: str = ""

    @cached_property
    def schema(self) -> Schema:
        rank = (Field(self.name, RANK_TYPE),) if self.name else ()
        signs = (Field(self.sign, BIGINT),) if self.sign else ()
        return (*(Field(name, self.input.type_of(name)) for name in self.shown), *rank, *signs)

    @property
    def reads(self) -> frozenset[str]:
        """The input columns that it reads, besides those that it shows."""
        own = (ALWAYS, self.retracts) if self.retracts else (ALWAYS,)
        return reads_of(self.partition, self.order, self.ties) | {*own}

    @property
    def limit(self) -> str:
        """The function and its limit, in the words of SQL."""
        if self.first == self.last:
            return f"{self.function}() = {self.last}"
        between = f"BETWEEN {self.first} AND {self.last}"
        return f"{self.function}() {between if self.first > 1 else f'<= {self.last}'}"

    def details(self) -> Iterator[tuple[str, str]]:
        yield "strategy", "Retract" if self.retracts else "AppendFast"
        yield "rankType", self.function
        yield "rankRange", f"rankStart={self.first}, rankEnd={self.last}"
        yield "partitionBy", ", ".join(self.partition)
        yield from orders_of(self.order, self.ties)
        yield "select", ", ".join(shown(self.columns))


@dataclass(frozen=True)
class WindowDeduplicate(Node):
    """The first or the last row of each window, and of each `partition` in it, by event time or, with `proctime`,
    processing time.

    The window columns are part of `partition`. `ties` orders rows of the same time, in the same direction.
    """

    input: Node
    window: AttachedWindow
    partition: tuple[str, ...]
    order: Order
    ties: tuple[Order, ...]
    proctime: bool = False

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema

    @property
    def reads(self) -> frozenset[str]:
        """The input columns that it reads."""
        return reads_of(self.partition, (self.order,), self.ties)

    def details(self) -> Iterator[tuple[str, str]]:
        yield "window", str(self.window)
        yield "keep", "LastRow" if self.order.descending else "FirstRow"
        yield "partitionKeys", ", ".join(self.window.without(self.partition))
        yield "orderKey", self.order.scalar.sql
        yield from orders_of((), self.ties)
        yield "order", "PROCTIME" if self.proctime else "ROWTIME"


def reads_of(partition: tuple[str, ...], order: tuple[Order, ...], ties: tuple[Order, ...]) -> frozenset[str]:
    """The input columns that a ranking operator reads."""
    return frozenset(partition).union(*(key.scalar.columns for key in (*order, *ties)))


def orders_of(order: tuple[Order, ...], ties: tuple[Order, ...]) -> Iterator[tuple[str, str]]:
    """Yield the order as EXPLAIN prints it, in pairs of field and text."""
    for name, keys in (("orderBy", order), ("ties", ties)):
        if keys:
            yield name, ", ".join(map(str, keys))


@dataclass(frozen=True)
class Deduplicate(Node):
    """The first or the last of the rows that agree on `partition`. `order` is their time attribute, in event time or,
    with `proctime`, processing time.

    `ties` orders rows of the same time, in the same direction. `event`: the event time that operators above use of the
    first rows by processing time, which come when they arrive; "": none.
    """

    input: Node
    partition: tuple[str, ...]
    order: Order
    ties: tuple[Order, ...]
    proctime: bool = False
    event: str = ""

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema

    @property
    def time(self) -> str:
        name = self.event or self.order.scalar.column
        assert name is not None, self.order
        return name

    @property
    def reads(self) -> frozenset[str]:
        """The input columns that it reads."""
        return reads_of(self.partition, (self.order,), self.ties)

    @property
    def keep(self) -> str:
        return "LastRow" if self.order.descending else "FirstRow"

    def details(self) -> Iterator[tuple[str, str]]:
        yield "keep", self.keep
        if self.partition:
            yield "key", ", ".join(self.partition)
        yield "orderKey", self.order.scalar.column or ""
        yield from orders_of((), self.ties)
        yield "order", "PROCTIME" if self.proctime else "ROWTIME"
        if self.event:
            yield "rowtime", self.event
