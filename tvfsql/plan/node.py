"""What every operator of a plan has: children, columns, a label; and how plans are walked and printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from tvfsql.plan.types import UNKNOWN, SqlType


@dataclass(frozen=True)
class Field:
    """A column that an operator puts out."""

    name: str
    type: SqlType = UNKNOWN


Schema = tuple[Field, ...]


@dataclass(frozen=True)
class Node:
    """An operator. Its dataclass fields are the whole of its state; fields that hold nodes are its children."""

    @cached_property
    def schema(self) -> Schema:
        """Names and types of the columns it puts out, in order; names are unique."""
        raise AssertionError(f"{type(self).__name__} has no schema")

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.schema)

    def type_of(self, column: str) -> SqlType:
        return next(field.type for field in self.schema if field.name == column)

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
        for field in fields(self):
            value = getattr(self, field.name)
            if field.repr and not _nodes(value) and value not in ((), None, False, ""):
                yield field.name, _shown(value)

    def label(self) -> str:
        """One line that says what the operator does, in Flink's form."""
        inner = ", ".join(f"{name}=[{value}]" for name, value in self.details())
        return f"{type(self).__name__}({inner})"

    def _child_fields(self) -> Iterator[tuple[str, Any]]:
        for field in fields(self):
            value = getattr(self, field.name)
            if _nodes(value):
                yield field.name, value


def tree(node: Node) -> str:
    """The plan as text, in the shape of Flink's EXPLAIN: an operator a line, inputs below it."""
    return "\n".join(_lines(node))


def _lines(node: Node, head: str = "", rest: str = "") -> Iterator[str]:
    yield head + node.label()
    for i, child in enumerate(node.children):
        last = i == len(node.children) - 1
        yield from _lines(child, rest + ("+- " if last else ":- "), rest + ("   " if last else ":  "))


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
