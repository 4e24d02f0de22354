"""Which tables the inputs of a stateful operator are, for people who watch its watermarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tvfsql.physical.operators import StreamOperator, StreamUnion, TableSourceScan
from tvfsql.physical.window_operators import StreamSlices
from tvfsql.plan import nodes
from tvfsql.plan.node import Node


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
