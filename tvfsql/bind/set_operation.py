"""UNION, INTERSECT and EXCEPT: both sides get Flink's common type of each column of numbers."""

from __future__ import annotations

from tvfsql.bind.flink.operators.common_type import common_type
from tvfsql.plan.node import Field, Node
from tvfsql.plan.nodes import Item, Project
from tvfsql.plan.values.scalar import column, template
from tvfsql.plan.values.types import UNKNOWN, SqlType, ddl, is_number

NULL = "NULL"


def in_common_types(left: Node, right: Node) -> tuple[Node, Node]:
    """Both sides, with casts where their numbers differ in type and where one side has the literal NULL."""
    sides = (left, right)
    kinds = [_kind(pair) for pair in zip(_typed(left), _typed(right), strict=True)]
    return tuple(_cast(side, kinds) for side in sides)  # type: ignore[return-value]


def _typed(side: Node) -> list[SqlType | None]:
    """The types of a side's columns; None for the literal NULL."""
    nulls = {item.name for item in side.items if item.scalar.sql == NULL} if isinstance(side, Project) else set()
    return [None if field.name in nulls else field.type for field in side.schema]


def _kind(pair: tuple[SqlType | None, SqlType | None]) -> SqlType:
    """The type that both columns are cast to; UNKNOWN if they stay as they are."""
    match pair:
        case (None, None):
            return UNKNOWN
        case (str() as kind, None) | (None, str() as kind):
            return kind
        case (str() as one, str() as other) if is_number(one) and is_number(other):
            return common_type(pair)
    return UNKNOWN


def _cast(side: Node, kinds: list[SqlType]) -> Node:
    pairs = [*zip(side.schema, kinds, strict=True)]
    if all(kind in (UNKNOWN, field.type) for field, kind in pairs):
        return side
    return Project(side, tuple(_item(field, kind) for field, kind in pairs), span=side.span)


def _item(field: Field, kind: SqlType) -> Item:
    value = column(field.name, field.type)
    if kind not in (UNKNOWN, field.type):
        value = template(f"CAST({{x}} AS {ddl(kind)})", {"x": value}, kind)
    return Item(field.name, value)
