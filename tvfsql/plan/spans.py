"""Spans of operators: kept through rewrites, and moved where the text is not part of the query itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from tvfsql.errors import Span
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.analysis.sharing import CommonPart
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Order
from tvfsql.plan.values.scalar import Scalar


def placed(new: Node, old: Node) -> Node:
    """Return `new`, which replaces `old`. Its operators without a span get the span of `old`, down to the first with
    one.
    """
    if new.span is not None or old.span is None or isinstance(new, CommonPart):  # one object for all its readers
        return new
    return replace(new.over(lambda child: placed(child, old)), span=old.span)


def moved(node: Node, span: Span | None, known: Iterable[tuple[Node, Node]] = ()) -> Node:
    """Give every part of the plan the same span; for a view, that of its name in FROM. `known` are pairs of a part and
    what replaces it, with its spans.
    """
    met: dict[int, Any] = {id(part): new for part, new in known}  # an operator that is read twice is moved once
    made: Node = _moved(node, span, met)
    return made


def at(scalar: Scalar, span: Span | None) -> Scalar:
    """Return the expression with another span."""
    return replace(scalar, span=span)


def _moved(value: Any, span: Span | None, met: dict[int, Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_moved(part, span, met) for part in value)
    if not isinstance(value, Node | AggCall | Item | Order | Scalar):
        return value
    if id(value) in met:
        return met[id(value)]
    parts: dict[str, Any] = {part.name: _moved(getattr(value, part.name), span, met) for part in fields(value)}
    made = met[id(value)] = replace(value, **(parts | {"span": span} if "span" in parts else parts))
    return made
