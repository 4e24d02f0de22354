"""Event times above first rows by processing time: the operators that compute these learn which time to carry on.

Such a row comes when it arrives, and no later row changes it. So watermarks of event time may pass the operator.
"""

from __future__ import annotations

from dataclasses import replace

from tvfsql.plan.gaps import GridFill
from tvfsql.plan.joins import IntervalJoin, TemporalJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Filter, Project, TemporalSort
from tvfsql.plan.over import OverPartials
from tvfsql.plan.patterns import PatternMatch
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.rank import Deduplicate
from tvfsql.plan.window_nodes import LocalWindowAggregate, WindowAggregate, WindowTableFunction


def with_event_times(plan: Node) -> Node:
    """The plan, with `event` in each Deduplicate by processing time whose rows an operator reads by event time."""

    def visit(node: Node) -> Node:
        match node:
            case (
                WindowTableFunction()
                | WindowAggregate()
                | LocalWindowAggregate()
                | Deduplicate(proctime=False)
                | TemporalSort()
                | OverPartials()
                | GridFill()
                | PatternMatch()
            ):
                below = _carrying(node.input, node.time)
                return node if below is node.input else replace(node, input=below)
            case IntervalJoin() | TemporalJoin():
                left, right = _carrying(node.left, node.left_time), _carrying(node.right, node.right_time)
                same = left is node.left and right is node.right
                return node if same else replace(node, left=left, right=right)
        return node

    return plan.transform(visit)


def _carrying(node: Node, time: str) -> Node:
    """The same rows, with `time` carried on by a Deduplicate by processing time below, if it comes from one."""
    match node:
        case Project():
            below = next(item.scalar.column for item in node.items if item.name == time)
            made = _carrying(node.input, below) if below is not None else node.input
            return node if made is node.input else replace(node, input=made)
        case Filter():
            made = _carrying(node.input, time)
            return node if made is node.input else replace(node, input=made)
        case Deduplicate(proctime=True, keep="FirstRow") if not is_proctime(node.input, time):
            return replace(node, event=time)
    return node
