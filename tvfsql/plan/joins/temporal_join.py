"""Temporal joins: each row with the version of another row that was valid at its event time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tvfsql.plan.joins.equal_pair import KINDS, EqualPair
from tvfsql.plan.node import Node, Schema
from tvfsql.plan.values.types import is_orderable


@dataclass(frozen=True)
class TemporalJoin(Node):
    """The rows of `left`, each with a row of `right`: of those that agree in `pairs` and are not later than the row,
    the last one. `kind` is inner or left.

    The rows of `right` are the versions of a table, whose primary key is in `pairs`. Of several versions of one time
    the one that is greatest in `ties` counts.

    With `sign` the rows of `right` are the changes of a changelog, in which that column is -1 where a version ends
    without another one, and `arrival` are the columns that tell which of several changes of one time came last.
    """

    left: Node
    right: Node
    kind: str
    left_time: str
    right_time: str
    pairs: tuple[EqualPair, ...]
    sign: str = ""
    arrival: tuple[str, ...] = ()

    @cached_property
    def schema(self) -> Schema:
        return (*self.left.schema, *self.right.schema)

    @property
    def reads(self) -> frozenset[str]:
        """The columns of both sides that it reads."""
        pairs = frozenset(name for pair in self.pairs for name in (pair.left, pair.right))
        return pairs | {self.left_time, self.right_time, *([self.sign] if self.sign else []), *self.arrival}

    @property
    def versions(self) -> Schema:
        """The columns of the versions."""
        return self.right.schema

    @property
    def ties(self) -> tuple[str, ...]:
        """The columns that order versions of one time: `arrival` of changes; else all whose type is known and can be
        ordered."""
        if self.sign:
            return self.arrival
        fields = (part for part in self.versions if part.name not in self.reads)
        return tuple(part.name for part in fields if part.type and is_orderable(part.type))

    def details(self) -> Iterator[tuple[str, str]]:
        yield "joinType", KINDS[self.kind]
        yield "leftTime", self.left_time
        yield "rightTime", self.right_time
        yield "where", " AND ".join(map(str, self.pairs))
        if self.sign:
            yield "changes", self.sign
        yield "select", ", ".join(self.columns)
