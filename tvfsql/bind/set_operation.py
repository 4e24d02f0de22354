"""UNION, INTERSECT and EXCEPT: both sides get Flink's common type of each column.

Source: Flink 2.3 (tests/data/flink_queries.json). Numbers meet as in CASE, and a TIMESTAMP and a TIMESTAMP_LTZ become
what the left side has. Other types do not meet.
"""

from __future__ import annotations

from tvfsql.bind.flink.operators.common_type import common_type, other_time
from tvfsql.bind.flink.time.wall_clock import CLOCK, INSTANT
from tvfsql.errors import BindError, Span, UnsupportedError
from tvfsql.plan.node import Field, Node
from tvfsql.plan.nodes import Item, Project
from tvfsql.plan.values.scalar import column, template
from tvfsql.plan.values.types import UNKNOWN, SqlType, has_map, is_number, is_time

NULL = "NULL"


def in_common_types(left: Node, right: Node, operation: str, span: Span) -> tuple[Node, Node]:
    """Both sides, with casts where columns differ in type, and where one side has the literal NULL. `operation` is its
    name in an error. Raises BindError for types that do not meet.
    """
    pairs = [*zip(_typed(left), _typed(right), strict=True)]
    kinds = [_kind(one, other) for one, other in pairs]
    for at, ((one, other), kind) in enumerate(zip(pairs, kinds, strict=True)):
        if not operation.startswith("UNION") and any(has_map(each) for each in (one, other) if each):
            reason = f"column {at + 1} of {operation} is or has a MAP, which only UNION compares"
            raise UnsupportedError(reason, span=span, hint="one of its values: m['a']")
        if not kind and one and other and _class_of(one) != _class_of(other):
            raise BindError(
                f"column {at + 1} of {operation} is {one.flink} on one side and {other.flink} on the other",
                span=span,
                hint="CAST(x AS STRING) on both sides",
            )
    return _cast(left, kinds), _cast(right, kinds)


def _typed(side: Node) -> list[SqlType | None]:
    """The types of a side's columns; None for the literal NULL."""
    nulls = {item.name for item in side.items if item.scalar.sql == NULL} if isinstance(side, Project) else set()
    return [None if field.name in nulls else field.type for field in side.schema]


def _kind(one: SqlType | None, other: SqlType | None) -> SqlType:
    """The type that both columns are cast to; UNKNOWN if they stay as they are."""
    if one is None or other is None:
        return one or other or UNKNOWN
    return common_type((one, other)) if one and other else UNKNOWN


def _class_of(kind: SqlType) -> str:
    """A name for the types that meet this one."""
    return "number" if is_number(kind) else "timestamp" if is_time(kind) else kind.root


def _cast(side: Node, kinds: list[SqlType]) -> Node:
    pairs = [*zip(side.schema, kinds, strict=True)]
    if all(kind in (UNKNOWN, field.type) for field, kind in pairs):
        return side
    return Project(side, tuple(_item(field, kind) for field, kind in pairs), span=side.span)


def _item(field: Field, kind: SqlType) -> Item:
    value = column(field.name, field.type)
    if kind in (UNKNOWN, field.type):
        return Item(field.name, value)
    pattern = other_time("{x}", kind) if {kind, field.type} == {CLOCK, INSTANT} else f"CAST({{x}} AS {kind.ddl})"
    return Item(field.name, template(pattern, {"x": value}, kind))
