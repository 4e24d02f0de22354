"""The part of a stream that is computed within each micro-batch, after its stateful operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from tvfsql.physical.operators import (
    Calc,
    Exchange,
    StreamDeduplicate,
    StreamOperator,
    StreamTopN,
    StreamUnion,
    TableSourceScan,
    ToChangelog,
    UpsertMaterialize,
)
from tvfsql.physical.window_operators import StreamSlices
from tvfsql.plan import nodes
from tvfsql.plan.analysis.sharing import Shared
from tvfsql.plan.joins import WindowJoin
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
    UpsertMaterialize,
    nodes.Expand,
    ToChangelog,
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


# Which tables the inputs of a stateful operator are, for people who watch its watermarks.


def input_tables(operator: Node) -> tuple[str | None, ...]:
    """The table that each input of the operator reads, in the order of `inputs` of its context. None: the rows of an
    operator below.
    """
    return tuple(table for side in operator.children for table in _tables(side))


def last_operators(plans: Sequence[Node]) -> Iterator[StreamOperator]:
    """The stateful operators of streams with no other one above them: their rows go to the sinks."""
    for plan in plans:
        if isinstance(plan, StreamOperator):
            yield plan
        else:
            yield from last_operators(plan.children)


def _tables(node: Node) -> tuple[str | None, ...]:
    match node:
        case StreamUnion(sides):
            return tuple(table for side in sides for table in _tables(side))
        case TableSourceScan():
            return (node.source.name,)
        case StreamOperator() if not isinstance(node, StreamSlices):
            return (None,)
        case nodes.LookupJoin(left):
            return _tables(left)
    return _tables(node.children[0]) if len(node.children) == 1 else (None,)
