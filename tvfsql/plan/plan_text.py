"""A plan as text, as EXPLAIN prints it. Each operator prints its `label`."""

from __future__ import annotations

from collections.abc import Iterator

from tvfsql.plan.analysis.sharing import as_tree
from tvfsql.plan.node import Node


def tree(node: Node) -> str:
    """Format the plan like Flink's EXPLAIN: one operator per line, its inputs below it."""
    return "\n".join(_lines(as_tree(node)))


def _lines(node: Node, head: str = "", rest: str = "") -> Iterator[str]:
    yield head + node.label()
    for i, child in enumerate(node.children):
        last = i == len(node.children) - 1
        yield from _lines(child, rest + ("+- " if last else ":- "), rest + ("   " if last else ":  "))
