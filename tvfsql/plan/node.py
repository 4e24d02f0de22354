"""The base of all operators: children, columns and a label; plans are traversed through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from tvfsql.errors import Span
from tvfsql.plan.types import UNKNOWN, SqlType


@dataclass(frozen=True)
class Field:
    """A column that an operator puts out."""

    name: str
    type: SqlType = UNKNOWN


Schema = tuple[Field, ...]


@dataclass(frozen=True)
class Node:
    """An operator. Its dataclass fields are the whole of its state; fields that hold nodes are its children.

    `span` is what an error underlines: the words of the SQL text that ask for the operator.
    """

    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    operator = ""  # what EXPLAIN calls it, if not by the name of the class

    @cached_property
    def schema(self) -> Schema:
        """Names and types of the columns it puts out, in order; names are unique."""
        raise AssertionError(f"{type(self).__name__} has no schema")

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.schema)

    def type_of(self, column: str) -> SqlType:
        return next(part.type for part in self.schema if part.name == column)

    @property
    def children(self) -> tuple[Node, ...]:
        return tuple(child for _, value in self._child_fields() for child in _nodes(value))

    def transform(self, fn: Callable[[Node], Node]) -> Node:
        """Rewrite bottom-up. Untouched subtrees stay the same objects (`is`)."""
        return fn(self.over(lambda child: child.transform(fn)))

    def over(self, fn: Callable[[Node], Node]) -> Node:
        """The same operator with each child rewritten; itself if none changes."""
        new: dict[str, Any] = {}
        for name, value in self._child_fields():
            moved = tuple(fn(child) for child in _nodes(value))
            if any(a is not b for a, b in zip(moved, _nodes(value), strict=True)):
                new[name] = moved if isinstance(value, tuple) else moved[0]
        return replace(self, **new) if new else self

    def walk(self) -> Iterator[Node]:
        """Every operator, this one first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def details(self) -> Iterator[tuple[str, str]]:
        """What stands in the brackets of the label: (field, text), only what is not empty."""
        for part in fields(self):
            value = getattr(self, part.name)
            if part.repr and not _nodes(value) and value not in ((), None, False, ""):
                yield part.name, _shown(value)

    def label(self) -> str:
        """One line that says what the operator does, in Flink's form."""
        inner = ", ".join(f"{name}=[{value}]" for name, value in self.details())
        return f"{self.operator or type(self).__name__}({inner})"

    def _child_fields(self) -> Iterator[tuple[str, Any]]:
        for part in fields(self):
            value = getattr(self, part.name)
            if _nodes(value):
                yield part.name, value


def _nodes(value: Any) -> tuple[Node, ...]:
    if isinstance(value, Node):
        return (value,)
    if isinstance(value, tuple) and value and all(isinstance(item, Node) for item in value):
        return value
    return ()


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(_shown(item) for item in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
