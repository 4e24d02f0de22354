"""The base class of all operators: children, columns and a label. Plans are traversed through it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from tvfsql.errors import Span
from tvfsql.plan.values.types import UNKNOWN, Row, SqlType
from tvfsql.plan.values.user_function import UserFunction


@dataclass(frozen=True)
class Field:
    """A column in the output of an operator."""

    name: str
    type: SqlType = UNKNOWN


Schema = tuple[Field, ...]
T = TypeVar("T")


def row_of(columns: Iterable[Field]) -> SqlType:
    """The type of a ROW of these columns; UNKNOWN if the type of one is."""
    fields = tuple((part.name, part.type) for part in columns)
    return Row(fields) if all(kind for _, kind in fields) else UNKNOWN


@dataclass(frozen=True)
class Node:
    """An operator. Its dataclass fields are all of its state; the fields that hold nodes are its children.

    `span` is the part of the SQL text that asks for the operator; errors underline it. One object can be a child of
    several operators: a CTE or a view that a query reads twice. Traversals meet each object once, so they take a time
    in proportion to what was written, however often it is read.
    """

    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    operator = ""  # its name in EXPLAIN, if that is not the class name

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__hash__ = Node.__hash__  # type: ignore[method-assign]  # a dataclass keeps the one that its class has

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: that of a plan whose parts are read repeatedly would be computed for each reading."""
        return hash((type(self), *(getattr(self, part.name) for part in fields(self) if part.compare)))

    @cached_property
    def schema(self) -> Schema:
        """Names and types of the output columns, in order. Names are unique."""
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
        """Rewrite bottom-up. Untouched subtrees stay the same objects (`is`), and an object in several places is
        rewritten once.
        """
        made: dict[int, Node] = {}

        def visit(node: Node) -> Node:
            if id(node) not in made:
                made[id(node)] = fn(node.over(visit))
            return made[id(node)]

        return visit(self)

    def over(self, fn: Callable[[Node], Node]) -> Node:
        """Return the operator with each child rewritten; the same object if nothing changes."""
        new: dict[str, Any] = {}
        for name, value in self._child_fields():
            moved = tuple(fn(child) for child in _nodes(value))
            if any(a is not b for a, b in zip(moved, _nodes(value), strict=True)):
                new[name] = moved if isinstance(value, tuple) else moved[0]
        return replace(self, **new) if new else self

    def walk(self) -> Iterator[Node]:
        """Yield every operator of the plan once, this one first."""
        met: set[int] = set()

        def visit(node: Node) -> Iterator[Node]:
            if id(node) not in met:
                met.add(id(node))
                yield node
                for child in node.children:
                    yield from visit(child)

        return visit(self)

    def details(self) -> Iterator[tuple[str, str]]:
        """Yield (field, text) for the brackets of the label. Empty fields are left out."""
        for part in fields(self):
            value = getattr(self, part.name)
            if part.repr and not _nodes(value) and value not in ((), None, False, ""):
                yield part.name, _shown(value)

    def label(self) -> str:
        """One line that describes the operator, in the form of Flink's EXPLAIN."""
        inner = ", ".join(f"{name}=[{value}]" for name, value in self.details())
        return f"{self.title}({inner})"

    @property
    def title(self) -> str:
        """Its name in EXPLAIN."""
        return self.operator or type(self).__name__

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


def instances(value: Any, kind: type[T]) -> Iterator[T]:
    """Yield the values of a class in a plan, or in a part of one, in the order of its fields. One can occur twice, but
    an operator is looked into once.
    """
    met: set[int] = set()

    def found(value: Any) -> Iterator[T]:
        if isinstance(value, kind):
            yield value
        elif isinstance(value, tuple):
            for part in value:
                yield from found(part)
        elif is_dataclass(value) and id(value) not in met:
            met.update({id(value)} if isinstance(value, Node) else ())
            for each in fields(value):
                yield from found(getattr(value, each.name))

    return found(value)


def functions_in(value: Any) -> Iterator[UserFunction]:
    """Yield the functions that a plan, or a part of one, calls. A function can occur repeatedly."""
    return instances(value, UserFunction)
