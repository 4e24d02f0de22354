"""Finds the streams whose rows come out when windows end, and at no other time: their micro-batches can be rare until
then."""

from __future__ import annotations

from tvfsql.physical.operators import LateOutput, TableSourceScan
from tvfsql.physical.window_operators import StreamSliceMerge
from tvfsql.plan import nodes
from tvfsql.plan.node import Node
from tvfsql.plan.window import Endless


def waits_for_windows(plan: Node) -> bool:
    """Whether all rows of a stream come from windows that emit once, at their end, and late rows go nowhere."""
    match plan:
        case StreamSliceMerge():
            return plan.context.firing is None and not plan.context.late and not isinstance(plan.window, Endless)
        case LateOutput():
            return False
        case TableSourceScan():
            return not plan.streaming
        case nodes.Values():
            return True
    return bool(plan.children) and all(map(waits_for_windows, plan.children))
