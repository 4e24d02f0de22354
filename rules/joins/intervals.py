"""Turns joins of streams that bound the time between their rows into interval joins."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.physical.interval_bounds import Interval, NoInterval, interval_of
from tvfsql.plan.joins import OF_LEFT, EqualPair, IntervalJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Filter, Item, Join, Project
from tvfsql.plan.values.scalar import Scalar, free_name, text
from tvfsql.plan.values.types import BOOLEAN
from tvfsql.planner import rule
from tvfsql.rules.projection import passing


@rule
def make_interval_join(node: Node, options: Options) -> Node | None:
    """On streams, join rows whose times differ by no more than the condition allows.

    Before:
      Join(joinType=[inner], where=[k = k0 AND ts BETWEEN ts0 - INTERVAL '5' MINUTE AND ts0 AND price > price0])
    After:
      Filter(where=[price > price0])
      +- IntervalJoin(joinType=[InnerJoin], leftLowerBound=[-5 min], leftUpperBound=[0 ms], where=[k = k0])

    Holds because the conditions are the same. In an inner join, conditions that are neither equal columns nor time
    bounds are checked afterwards. In an outer join they decide which rows have a partner: a condition on one side is
    computed as a column of that side, and compared with true. So they do in EXISTS and NOT EXISTS, which become semi-
    and anti-joins; of their right side only keys and times are kept. Does not apply
    - in batch, where Spark joins all rows;
    - if the time between the rows has no lower or no upper bound: rows would be kept forever;
    - to an outer, semi- or anti-join with other conditions on both sides, nor to rows with windows.

    Flink: StreamPhysicalIntervalJoinRule, without semi- and anti-joins.
    """
    match node:
        case Join() if options.streaming:
            found = interval_of(node)
            if isinstance(found, NoInterval) or node.kind == "cross":
                return None
            return interval_join(node, found)
    return None


def interval_join(join: Join, found: Interval) -> Node:
    """The rows of a join with these bounds."""
    return _filtered(join, found) if join.kind == "inner" else _with_flags(join, found)


def _filtered(join: Join, found: Interval) -> Node:
    made = IntervalJoin(join.left, join.right, join.kind, *found.parts, found.pairs, found.proctime)
    return Filter(made, found.rest) if found.rest else made


def _with_flags(join: Join, found: Interval) -> Node:
    """Compute the conditions on one side as a column of that side, which the join compares with a column TRUE of the
    other.
    """
    left, right, pairs = join.left, join.right, list(found.pairs)
    for one in found.rest:
        of_left = one.columns <= {*join.left.columns}
        names = _free_names(("met", "is_true"), (*left.columns, *right.columns))
        mine, theirs = names if of_left else reversed(names)
        left = _beside(left, mine, one if of_left else _TRUE)
        right = _beside(right, theirs, _TRUE if of_left else one)
        pairs.append(EqualPair(mine, theirs))
    made = IntervalJoin(left, right, join.kind, *found.parts, tuple(pairs), found.proctime)
    if join.kind in OF_LEFT:
        kept = tuple(name for name in right.columns if name in made.reads)
        made = replace(made, right=Project(right, passing(kept, right)))
    return Project(made, passing(join.columns, made)) if found.rest else made


def _free_names(wanted: tuple[str, ...], known: tuple[str, ...]) -> list[str]:
    taken = {name.lower() for name in known}
    return [free_name(name, taken) for name in wanted]


_TRUE = text("TRUE", BOOLEAN)


def _beside(source: Node, name: str, scalar: Scalar) -> Node:
    typed = Scalar(scalar.parts, BOOLEAN, scalar.atomic, scalar.facts, scalar.span)
    return Project(source, (*passing(source.columns, source), Item(name, typed)))
