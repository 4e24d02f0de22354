"""The places of operators in the SQL text: kept through rewrites, moved where a text is not the query's own."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from tvfsql.errors import Span
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import AggCall, Item, Order
from tvfsql.plan.scalar import Scalar


def placed(new: Node, old: Node) -> Node:
    """`new`, which takes the place of `old`: operators without a span get that of `old`, down to those with one."""
    if new.span is not None or old.span is None:
        return new
    return replace(new.over(lambda child: placed(child, old)), span=old.span)


def moved(node: Node, span: Span | None) -> Node:
    """The plan with everything in it at one place: of a view, the view's name in FROM."""
    made: Node = _moved(node, span)
    return made


def at(scalar: Scalar, span: Span | None) -> Scalar:
    """The expression at another place."""
    return replace(scalar, span=span)


def _moved(value: Any, span: Span | None) -> Any:
    if isinstance(value, tuple):
        return tuple(_moved(part, span) for part in value)
    if not isinstance(value, Node | AggCall | Item | Order | Scalar):
        return value
    parts: dict[str, Any] = {part.name: _moved(getattr(value, part.name), span) for part in fields(value)}
    return replace(value, **(parts | {"span": span} if "span" in parts else parts))
