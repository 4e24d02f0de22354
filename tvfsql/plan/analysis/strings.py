"""The strings that a column can have, where a query writes them down: the names of windows, of branches of a UNION."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from tvfsql.plan import nodes, window_nodes
from tvfsql.plan.analysis.properties import Property
from tvfsql.plan.analysis.sharing import CommonPart, Shared
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Distinct, Filter, Item, Project, SetOperation
from tvfsql.plan.rank import Rank, WindowDeduplicate, WindowTopN
from tvfsql.plan.values.scalar import column
from tvfsql.plan.values.types import UNKNOWN
from tvfsql.plan.window import Several

Strings = Mapping[str, frozenset[str]]


@Property
def strings_of(node: Node) -> Strings:
    """Return the columns of a logical operator that have no other values than some strings, with these strings."""
    return {}


@strings_of.register
def _(node: nodes.Project) -> Strings:
    below, found = strings_of(node.input), dict[str, frozenset[str]]()
    for item in node.items:
        if item.scalar.string is not None:
            found[item.name] = frozenset({item.scalar.string})
        elif (name := item.scalar.column) is not None and name in below:
            found[item.name] = below[name]
    return found


@strings_of.register
def _(node: nodes.SetOperation) -> Strings:
    left, right = strings_of(node.left), strings_of(node.right)
    pairs = zip(node.left.columns, node.right.columns, strict=True)
    return {a: left[a] | right[b] for a, b in pairs if a in left and b in right}


@strings_of.register(nodes.Filter)
@strings_of.register(nodes.Unnest)
@strings_of.register(nodes.Distinct)
@strings_of.register(nodes.Sort)
@strings_of.register(nodes.Limit)
@strings_of.register(Shared)
@strings_of.register(CommonPart)
@strings_of.register(Rank)
@strings_of.register(WindowTopN)
@strings_of.register(WindowDeduplicate)
@strings_of.register(window_nodes.WindowTableFunction)
def _(node: nodes.Filter) -> Strings:
    return strings_of(node.input)


@strings_of.register(nodes.Aggregate)
@strings_of.register(window_nodes.WindowAggregate)
def _(node: nodes.Aggregate) -> Strings:
    below = strings_of(node.input)
    found = {key: below[key] for key in node.keys if key in below}
    if isinstance(node, window_nodes.WindowAggregate) and isinstance(node.window, Several):
        names = frozenset(name for name, _ in node.window.windows)
        found |= {part.name: names for part in node.properties if part.kind == "name"}
    return found


def sides_by(source: Node, keys: Collection[str]) -> tuple[Node, Node] | None:
    """Return both sides of a UNION ALL if a key tells them apart, as `both_sides` does; None otherwise."""
    sides = both_sides(source)
    if sides is None:
        return None
    left, right = map(strings_of, sides)
    apart = any(key in left and key in right and not left[key] & right[key] for key in keys)
    return sides if apart else None


def both_sides(source: Node) -> tuple[Node, Node] | None:
    """Return both sides of a UNION ALL under the names of the left one, each with the operators above it: projections,
    filters, and those that group or rank rows by a column that tells the sides apart. None for other operators, and if
    a column has another type on each side.
    """
    match source:
        case SetOperation(left, right, "union", True) as union:
            if any(field.type == UNKNOWN for field in union.schema):
                return None
            if left.columns != right.columns:
                pairs = zip(left.columns, right.schema, strict=True)
                right = Project(right, tuple(Item(name, column(field.name, field.type)) for name, field in pairs))
            return left, right
        case Project(below) | Filter(below):
            sides = both_sides(below)
        case Aggregate(below, keys) | Rank(below, _, keys):
            sides = sides_by(below, keys)
        case Distinct(below):
            sides = sides_by(below, below.columns)
        case _:
            return None
    if sides is None:
        return None
    left, right = (replace(source, input=side) for side in sides)
    return left, right
