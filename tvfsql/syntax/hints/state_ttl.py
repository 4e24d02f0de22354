"""The hint STATE_TTL('a' = '1 d', 'b' = '12 h') of a SELECT: how long a stream keeps the rows of tables that it
joins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from tvfsql.errors import BindError, Span, did_you_mean
from tvfsql.syntax import ast

T = TypeVar("T")


# between a hint and the list of its SELECT
_BEFORE_LIST = re.compile(r"[\s(]*(?:(?:DISTINCT|ALL)\b)?[\s(]*", re.IGNORECASE)


def with_retention(statement: T, kept: Mapping[str, int], at: Span, text: str) -> T:
    """The statement with the retention of a hint that follows a SELECT: `kept` are ms by the names or aliases of
    tables. As in Flink the hint is for the joins of that SELECT, and for a side that is a table, a view or a subquery,
    not for one that is a join itself. The same object if no join takes it, as those FOR
    SYSTEM_TIME AS OF and those that only Spark plans do not. `text` is that of the script without hints.

    Raises BindError for a name that the SELECT does not read.
    """
    behind = [each for each in _selects(statement) if each.items and each.items[0].span.start >= at.end]
    select = min(behind, key=lambda each: each.items[0].span.start, default=None)
    if select is None or not _BEFORE_LIST.fullmatch(text[at.end : select.items[0].span.start]):
        return statement
    known = [*_names(select.relation)]
    for name in kept:
        if name.lower() not in map(str.lower, known):
            hint = did_you_mean(name, known, otherwise="tables: ")
            raise BindError(f"STATE_TTL names {name}, which its SELECT does not read", span=at, hint=hint)
    made = _joined(select.relation, {name.lower(): ms for name, ms in kept.items()})
    return _replaced(statement, select, replace(select, relation=made)) if made is not select.relation else statement


def _selects(node: Any) -> Iterator[ast.Select]:
    if isinstance(node, ast.Select):
        yield node
    for part in ast.parts_of(node):
        yield from _selects(part)


def _names(relation: ast.Relation | None) -> Iterator[str]:
    """The names of the tables that a SELECT reads."""
    if isinstance(relation, ast.JoinTable):
        yield from _names(relation.left)
        yield from _names(relation.right)
    elif relation is not None and (name := _name(relation)):
        yield name


def _name(relation: ast.Relation) -> str:
    if not isinstance(relation, ast.JoinTable) and relation.alias is not None:
        return relation.alias.name
    return relation.short or relation.name if isinstance(relation, ast.TableName) else ""


def _joined(relation: ast.Relation | None, kept: Mapping[str, int]) -> ast.Relation | None:
    if not isinstance(relation, ast.JoinTable):
        return relation
    sides = (relation.left, relation.right)
    left, right = (None if isinstance(side, ast.JoinTable) else kept.get(_name(side).lower()) for side in sides)
    below = _joined(relation.left, kept)
    assert below is not None
    keeps = relation.as_of is None and not isinstance(relation.right, ast.Unnested)
    takes = keeps and (left is not None or right is not None)
    if not takes and below is relation.left:
        return relation
    return replace(relation, left=below, retention=(left, right) if takes else relation.retention)


def _replaced(node: Any, old: ast.Select, new: ast.Select) -> Any:
    """A tree with one SELECT in place of another one."""
    if node is old:
        return new
    if isinstance(node, tuple) and not hasattr(node, "_fields"):
        made = tuple(_replaced(part, old, new) for part in node)
        return made if any(a is not b for a, b in zip(made, node, strict=True)) else node
    if not is_dataclass(node) or isinstance(node, type):
        return node
    changed = {}
    for field in fields(node):
        before = getattr(node, field.name)
        after = _replaced(before, old, new)
        if after is not before:
            changed[field.name] = after
    return replace(node, **changed) if changed else node
