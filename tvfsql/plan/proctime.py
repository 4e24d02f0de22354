"""Processing time: which columns hold the time at which a row is processed, instead of a time of its own.

This module owns that knowledge, for logical operators and (registered in `physical.streams.proctime`) for physical
ones.
"""

from __future__ import annotations

from functools import singledispatch

from tvfsql.plan import nodes
from tvfsql.plan.node import Node
from tvfsql.plan.values.scalar import PROCTIME


@singledispatch
def is_proctime(node: Node, name: str) -> bool:
    """Whether a column is a processing-time attribute: PROCTIME(), or the window_time of windows over one.

    Operators pass such columns on, also renamed. An expression computed from one is an ordinary time.
    """
    return any(name in child.columns and is_proctime(child, name) for child in node.children)


@is_proctime.register(nodes.Project)
def _(node: nodes.Project, name: str) -> bool:
    scalar = next(item.scalar for item in node.items if item.name == name)
    return scalar == PROCTIME or (scalar.column is not None and is_proctime(node.input, scalar.column))


@is_proctime.register(nodes.SetOperation)
def _(node: nodes.SetOperation, name: str) -> bool:
    at = node.columns.index(name)
    return all(is_proctime(side, side.columns[at]) for side in node.children)


@is_proctime.register(nodes.Aggregate)
def _(node: nodes.Aggregate, name: str) -> bool:
    return name in node.keys and is_proctime(node.input, name)


@is_proctime.register(nodes.SparkSql)
@is_proctime.register(nodes.Scan)
def _(node: Node, name: str) -> bool:
    return False


@is_proctime.register(nodes.LookupJoin)
def _(node: nodes.LookupJoin, name: str) -> bool:
    return name in node.left.columns and is_proctime(node.left, name)


@is_proctime.register(nodes.Unnest)
def _(node: nodes.Unnest, name: str) -> bool:
    return all(field.name != name for field in node.fields) and is_proctime(node.input, name)
