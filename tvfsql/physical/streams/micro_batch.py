"""The part of a stream that is computed within each micro-batch, after its stateful operators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from tvfsql.physical.operators import Calc, Exchange, StreamDeduplicate, StreamTopN
from tvfsql.plan import nodes
from tvfsql.plan.analysis.sharing import Shared
from tvfsql.plan.joins.window_join import WindowJoin
from tvfsql.plan.node import Node
from tvfsql.plan.values.scalar import Scalar

WITHOUT_STATE = (
    nodes.Sink,
    Calc,
    Exchange,
    nodes.Unnest,
    nodes.SetOperation,
    StreamTopN,
    StreamDeduplicate,
    nodes.Expand,
    # here all rows of a window are in one micro-batch, as these operators need
    nodes.Aggregate,
    WindowJoin,
)


def goes_by_micro_batch(node: Node) -> bool:
    """Whether no operator above a Shared keeps state, and repeating a micro-batch gives the same rows."""
    if isinstance(node, Shared):
        return True
    own = (getattr(node, part.name) for part in fields(node))
    lasting = all(scalar.lasting for value in own for scalar in _scalars(value))
    return isinstance(node, WITHOUT_STATE) and lasting and all(map(goes_by_micro_batch, node.children))


def _scalars(value: Any) -> Iterator[Scalar]:
    """The expressions in the fields of an operator, without those of its inputs."""
    if isinstance(value, Scalar):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _scalars(part)
    elif is_dataclass(value) and not isinstance(value, Node):
        for part in fields(value):
            yield from _scalars(getattr(value, part.name))
