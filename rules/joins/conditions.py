"""The conditions of joins by key, beside the equal columns: what rules that make such joins have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tvfsql.plan.joins import OF_LEFT, EqualPair, IntervalJoin, RegularJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Filter, Item, Join, Project
from tvfsql.plan.values.scalar import Scalar, free_name, text
from tvfsql.plan.values.types import BOOLEAN
from tvfsql.rules.projection import passing

# makes a join of two sides with equal columns
Made = Callable[[Node, Node, tuple[EqualPair, ...]], IntervalJoin | RegularJoin]


def with_conditions(join: Join, pairs: Sequence[EqualPair], rest: tuple[Scalar, ...], made: Made) -> Node:
    """The rows of a join that compares pairs of columns, and has other conditions too: of an inner join they are
    checked behind it; of others, each reads one side only.
    """
    if join.kind == "inner":
        inner = made(join.left, join.right, tuple(pairs))
        return Filter(inner, rest) if rest else inner
    return _with_flags(join, pairs, rest, made)


def _with_flags(join: Join, equal: Sequence[EqualPair], rest: tuple[Scalar, ...], make: Made) -> Node:
    """Compute the conditions on one side as a column of that side, which the join compares with a column TRUE of the
    other.
    """
    left, right, pairs = join.left, join.right, list(equal)
    for one in rest:
        of_left = one.columns <= {*join.left.columns}
        names = _free_names(("met", "is_true"), (*left.columns, *right.columns))
        mine, theirs = names if of_left else reversed(names)
        left = _beside(left, mine, one if of_left else _TRUE)
        right = _beside(right, theirs, _TRUE if of_left else one)
        pairs.append(EqualPair(mine, theirs))
    made = make(left, right, tuple(pairs))
    if join.kind in OF_LEFT:
        kept = tuple(name for name in made.right.columns if name in made.reads)
        made = replace(made, right=Project(made.right, passing(kept, made.right)))
    return Project(made, passing(join.columns, made)) if rest else made


def _free_names(wanted: tuple[str, ...], known: tuple[str, ...]) -> list[str]:
    taken = {name.lower() for name in known}
    return [free_name(name, taken) for name in wanted]


_TRUE = text("TRUE", BOOLEAN)


def _beside(source: Node, name: str, scalar: Scalar) -> Node:
    typed = Scalar(scalar.parts, BOOLEAN, scalar.atomic, scalar.facts, scalar.span)
    return Project(source, (*passing(source.columns, source), Item(name, typed)))
