"""Keys of joins that ON computes: rows are distributed by columns, so these become columns of their side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from tvfsql.bind.scalar import Resolved, condition
from tvfsql.plan.joins import EqualPair
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Project
from tvfsql.plan.values.scalar import Scalar, column, free_name, template
from tvfsql.plan.values.types import INTEGERS, SqlType, is_time


def with_equal_columns(left: Node, right: Node, parts: Sequence[Resolved]) -> tuple[Node, Node, tuple[Scalar, ...]]:
    """Both sides of a stream's join with columns for the expressions that ON equates, and the conditions over them.

    Does not apply to expressions that can fail, unless nothing else is equated: they would be computed for all rows.
    """
    added: tuple[list[Item], list[Item]] = ([], [])
    taken = {name.lower() for name in (*left.columns, *right.columns)}
    plain = [condition(part, "ON") for part in parts]
    of_columns = any(
        (pair := EqualPair.of(one, left, right)) and left.type_of(pair.left) == right.type_of(pair.right)
        for one in plain
    )
    conditions = []
    for part, one in zip(parts, plain, strict=True):
        found = _equated(part, left, right)
        if found is None or (of_columns and any(value.facts.can_fail for value in found[0])):
            conditions.append(one)
            continue
        values, kind = found
        names = [_named(value, kind, items, taken) for value, items in zip(values, added, strict=True)]
        conditions.append(EqualPair(names[0], names[1], isinstance(part.tree, exp.NullSafeEQ)).condition)
    return _beside(left, added[0]), _beside(right, added[1]), tuple(conditions)


def _equated(part: Resolved, left: Node, right: Node) -> tuple[tuple[Scalar, Scalar], SqlType] | None:
    """If a condition equates an expression of the left side with one of the right side: both, and their common type."""
    if not isinstance(part.tree, exp.EQ | exp.NullSafeEQ):
        return None
    one, other = (Resolved(tree.unnest(), part.types, part.span).scalar() for tree in (part.tree.left, part.tree.right))
    for mine, theirs in ((one, other), (other, one)):
        known = (
            mine.columns and mine.columns <= {*left.columns} and theirs.columns and theirs.columns <= {*right.columns}
        )
        if not known or not (mine.deterministic and theirs.deterministic):
            continue
        kinds = (mine.type, theirs.type)
        if kinds[0] != kinds[1] and not all(kind in INTEGERS for kind in kinds):
            continue
        if kinds[0] and not is_time(kinds[0]):  # times may be bounds of an interval join
            return (mine, theirs), kinds[0] if kinds[0] == kinds[1] else max(kinds, key=INTEGERS.index)
    return None


def _named(value: Scalar, kind: SqlType, items: list[Item], taken: set[str]) -> str:
    """The column that has a value of a type: its own, or a new one of `items`."""
    if value.type != kind:
        value = template(f"CAST({{v}} AS {kind.ddl})", {"v": value}, kind)
    elif value.column is not None:
        return value.column
    name = free_name("key", lambda name: name.lower() in taken)
    taken.add(name.lower())
    items.append(Item(name, value))
    return name


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

    for part in parts:
        match next(_with_key(part, left, {name: right.type_of(name) for name in key if name not in found}), None):
            case (value, name, kind):
                found.add(name)
                of_right = column(name, right.type_of(name))
                pair = _named(value, kind, added[0], taken), _named(of_right, kind, added[1], taken)
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
