"""Keys of temporal joins that ON computes: rows are distributed by columns, so these become columns of their side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from tvfsql.bind.scalar import Resolved, condition
from tvfsql.plan.joins import EqualPair
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Project
from tvfsql.plan.values.scalar import Scalar, column, free_name, template
from tvfsql.plan.values.types import INTEGERS, SqlType


def with_computed_keys(
    left: Node, right: Node, key: Sequence[str], parts: Sequence[Resolved]
) -> tuple[Node, Node, dict[str, str], tuple[Scalar, ...]]:
    """Both sides with columns for the keys that ON computes, the columns that stand for those of `key`, and the
    conditions over them.

    `parts` are the conditions of ON. A key is computed if it is equated with an expression over the left side, or with
    an integer of another type: then both get the larger type.
    """
    conditions = []
    added: tuple[list[Item], list[Item]] = ([], [])
    names = {name: name for name in key}
    found: set[str] = set()
    taken = {name.lower() for name in (*left.columns, *right.columns)}

    def stands_for(value: Scalar, kind: SqlType, side: int) -> str:
        if value.type != kind:
            value = template(f"CAST({{v}} AS {kind.ddl})", {"v": value}, kind)
        elif value.column is not None:
            return value.column
        name = free_name("key", lambda name: name.lower() in taken)
        taken.add(name.lower())
        added[side].append(Item(name, value))
        return name

    for part in parts:
        match next(_with_key(part, left, {name: right.type_of(name) for name in key if name not in found}), None):
            case (value, name, kind):
                found.add(name)
                pair = stands_for(value, kind, 0), stands_for(column(name, right.type_of(name)), kind, 1)
                names[name] = pair[1]
                conditions.append(EqualPair(*pair).condition)
            case _:
                conditions.append(condition(part, "ON"))
    return _beside(left, added[0]), _beside(right, added[1]), names, tuple(conditions)


def _with_key(part: Resolved, left: Node, kinds: Mapping[str, SqlType]) -> Iterator[tuple[Scalar, str, SqlType]]:
    """If a condition equates a key, an integer of another type or an expression of the left side: that, the key, and
    their common type.
    """
    if not isinstance(part.tree, exp.EQ):
        return
    sides = [Resolved(tree.unnest(), part.types, part.span).scalar() for tree in (part.tree.left, part.tree.right)]
    for value, other in (sides, sides[::-1]):
        kind = kinds.get(other.column or "")
        if kind is None or not value.columns or not value.columns <= {*left.columns} or not value.deterministic:
            continue
        both = (value.type, kind)
        if all(one in INTEGERS for one in both) and both[0] != both[1]:
            kind = max(both, key=INTEGERS.index)
        elif value.type != kind or value.column is not None:
            continue
        yield value, other.column or "", kind


def _beside(node: Node, items: Sequence[Item]) -> Node:
    own = (Item(part.name, column(part.name, part.type)) for part in node.schema)
    return Project(node, (*own, *items)) if items else node
