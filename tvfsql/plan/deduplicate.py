"""Deduplication by key: one row for each combination of key columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tvfsql.plan.node import Node, Schema
from tvfsql.plan.nodes import Order
from tvfsql.plan.rank import orders_of, reads_of


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
