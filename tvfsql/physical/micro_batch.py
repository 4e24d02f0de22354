"""What a stream does with each micro-batch by itself, behind the operators that keep state."""

from __future__ import annotations

from tvfsql.physical.operators import Calc, Exchange, StreamDeduplicate, StreamTopN
from tvfsql.plan import nodes
from tvfsql.plan.node import Node
from tvfsql.plan.sharing import Shared

WITHOUT_STATE = (nodes.Sink, Calc, Exchange, nodes.Unnest, nodes.SetOperation, StreamTopN, StreamDeduplicate)


def goes_by_micro_batch(node: Node) -> bool:
    """Whether nothing above what is Shared keeps state, or gives other rows when a micro-batch is run again."""
    if isinstance(node, Shared):
        return True
    if isinstance(node, Calc) and not all(one.lasting for one in (*(i.scalar for i in node.items), *node.conditions)):
        return False
    return isinstance(node, WITHOUT_STATE) and all(map(goes_by_micro_batch, node.children))
