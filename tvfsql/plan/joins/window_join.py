"""Window joins: joins of rows in the same window, or in windows that end together.

Source: semantics.md#window-joins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tvfsql.plan.joins.equal_pair import KINDS, EqualPair
from tvfsql.plan.node import Node, Schema
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.window_nodes import NO_START, AttachedWindow


@dataclass(frozen=True)
class WindowJoin(Node):
    """Join of rows in the same window that agree in `pairs` and for which all of `rest` hold.

    `kind` is that of Join, except cross. Each side has its window in columns of its own. Without starts (NO_START) rows
    match if their windows end together, and the windows may be different.
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
    def by_ends(self) -> bool:
        """Whether rows match if their windows end together."""
        return self.left_window.start == NO_START

    @property
    def bounds(self) -> tuple[EqualPair, ...]:
        """The window columns that are equal in rows that match."""
        starts = EqualPair(self.left_window.start, self.right_window.start)
        ends = EqualPair(self.left_window.end, self.right_window.end)
        return (ends,) if self.by_ends else (starts, ends)

    @property
    def conditions(self) -> tuple[Scalar, ...]:
        """All conditions, as a plain Join would have them."""
        return (*(pair.condition for pair in (*self.bounds, *self.pairs)), *self.rest)

    @property
    def left_keys(self) -> tuple[str, ...]:
        """The columns of the left side that rows are shuffled by."""
        return tuple(pair.left for pair in (*self.bounds, *self.pairs))

    @property
    def right_keys(self) -> tuple[str, ...]:
        return tuple(pair.right for pair in (*self.bounds, *self.pairs))

    def details(self) -> Iterator[tuple[str, str]]:
        yield "leftWindow", str(self.left_window)
        yield "rightWindow", str(self.right_window)
        yield "joinType", KINDS[self.kind]
        ends = self.bounds if self.by_ends else ()
        yield "where", " AND ".join(map(str, (*ends, *self.pairs, *self.rest))) or "true"
        yield "select", ", ".join(self.columns)
