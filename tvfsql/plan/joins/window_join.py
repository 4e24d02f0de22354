"""Window joins: joins of rows in the same window. Source: semantics.md#window-joins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tvfsql.plan.joins.equal_pair import KINDS, EqualPair
from tvfsql.plan.node import Node, Schema
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.window_nodes import AttachedWindow


@dataclass(frozen=True)
class WindowJoin(Node):
    """Join of rows in the same window that agree in `pairs` and for which all of `rest` hold.

    `kind` is that of Join, except cross. Both sides have the same window, each in its own columns.
    """

    left: Node
    right: Node
    kind: str
    left_window: AttachedWindow
    right_window: AttachedWindow
    pairs: tuple[EqualPair, ...]
    rest: tuple[Scalar, ...]

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema if self.kind in ("semi", "anti") else (*self.left.schema, *self.right.schema)

    @property
    def conditions(self) -> tuple[Scalar, ...]:
        """All conditions, as a plain Join would have them."""
        starts = EqualPair(self.left_window.start, self.right_window.start)
        ends = EqualPair(self.left_window.end, self.right_window.end)
        return (*(pair.condition for pair in (starts, ends, *self.pairs)), *self.rest)

    @property
    def left_keys(self) -> tuple[str, ...]:
        """The columns of the left side that rows are shuffled by."""
        return (self.left_window.start, self.left_window.end, *(pair.left for pair in self.pairs))

    @property
    def right_keys(self) -> tuple[str, ...]:
        return (self.right_window.start, self.right_window.end, *(pair.right for pair in self.pairs))

    def details(self) -> Iterator[tuple[str, str]]:
        yield "leftWindow", str(self.left_window)
        yield "rightWindow", str(self.right_window)
        yield "joinType", KINDS[self.kind]
        yield "where", " AND ".join((*map(str, self.pairs), *map(str, self.rest))) or "true"
        yield "select", ", ".join(self.columns)
