"""Moves filters below set operations and below operators that copy rows."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Expand, Filter, SetOperation
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.values.types import UNKNOWN
from tvfsql.planner import rule


@rule
def push_filter_below_set_operation(node: Node, options: Options) -> Node | None:
    """Filter the rows of both sides.

    Before:
      Filter(where=[price > 10])
      +- SetOperation(kind=[union], all=[true])
         :- Scan(table=[bid], fields=[item, price])
         +- Scan(table=[auction], fields=[name, reserve])
    After:
      SetOperation(kind=[union], all=[true])
      :- Filter(where=[price > 10])
      :  +- Scan(table=[bid], fields=[item, price])
      +- Filter(where=[reserve > 10])
         +- Scan(table=[auction], fields=[name, reserve])

    Holds because equal rows pass or fail together, whichever side they come from, so filtering before or after a union,
    intersection or difference gives the same rows. Does not apply to a column whose types differ between the sides,
    because the condition would see the value before its conversion, nor to non-deterministic conditions.
    """
    match node:
        case Filter(SetOperation(left, right) as sides, conditions):
            alike = {
                a.name: b.name for a, b in zip(left.schema, right.schema, strict=True) if a.type == b.type != UNKNOWN
            }
            below, above = _parted(conditions, frozenset(alike))
            if below:
                theirs = tuple(one.renamed(alike) for one in below)
                return _filtered(replace(sides, left=Filter(left, below), right=Filter(right, theirs)), above)
    return None


@rule
def push_filter_below_expand(node: Node, options: Options) -> Node | None:
    """Filter rows before they are copied for grouping sets.

    Before:
      Filter(where=[price > 10])
      +- Expand(projects=[{item, price, 0 AS $e}, {NULL AS item, price, 1 AS $e}])
    After:
      Expand(projects=[{item, price, 0 AS $e}, {NULL AS item, price, 1 AS $e}])
      +- Filter(where=[price > 10])

    Holds because the copies of a row differ only in the keys of the sets, so they all pass or all fail. Does not apply
    to conditions on those keys, which are NULL in some copies.
    """
    match node:
        case Filter(Expand(source, keys) as expand, conditions):
            below, above = _parted(conditions, frozenset(source.columns) - set(keys))
            if below:
                return _filtered(replace(expand, input=Filter(source, below)), above)
    return None


def _parted(conditions: tuple[Scalar, ...], columns: frozenset[str]) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
    """Split conditions into those that read only (and at least one) of the columns, which can be moved, and the
    rest.
    """
    moving = tuple(one for one in conditions if one.columns and one.columns <= columns and one.deterministic)
    return moving, tuple(one for one in conditions if one not in moving)


def _filtered(node: Node, conditions: tuple[Scalar, ...]) -> Node:
    return Filter(node, conditions) if conditions else node
