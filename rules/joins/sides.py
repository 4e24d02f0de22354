"""Joins: conditions on one side are applied before its rows are joined; rows of the same window become window joins."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.analysis.window_joins import window_join
from tvfsql.plan.joins import EqualPair, TemporalJoin, WindowJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Filter, Join, LookupJoin
from tvfsql.plan.values.scalar import Scalar
from tvfsql.planner import rule

# The sides whose rows leave the join unchanged, so that a filter can move below it, by kind of join.
KEPT = {"inner": "lr", "cross": "lr", "left": "l", "semi": "l", "anti": "l", "right": "r", "full": ""}
# The sides whose rows can be dropped if they do not satisfy a condition of ON, by kind of join.
MATCHING = {"inner": "lr", "semi": "lr", "left": "r", "anti": "r", "right": "l", "cross": "", "full": ""}


@rule
def push_filter_below_join(node: Node, options: Options) -> Node | None:
    """Filter rows before they are joined. Conditions on both sides become conditions of the join.

    Before:
      Filter(where=[price > 5 AND seller = 7 AND item = item0])
      +- Join(joinType=[cross], where=[true])
         :- Scan(table=[bid], fields=[item, price])
         +- Scan(table=[auction], fields=[item0, seller])
    After:
      Join(joinType=[inner], where=[item = item0])
      :- Filter(where=[price > 5])
      :  +- Scan(table=[bid], fields=[item, price])
      +- Filter(where=[seller = 7])
         +- Scan(table=[auction], fields=[item0, seller])

    Holds because an inner join returns the pairs that meet its condition, and any other join returns the rows of the
    preserved side. Does not apply to the side that an outer join fills with NULL, because the condition refers to the
    result of the join. In batch, a bound of a time that must be equal on both sides is one of either side: rows beyond
    it match none of those that are left. So the range of windows reaches the scans of both sides.
    """
    match node:
        case Filter(Join() | LookupJoin() as join, conditions):
            below = {side: _reading(join, side, conditions) for side in KEPT[join.kind]}
            moved = tuple(one for of_side in below.values() for one in of_side)
            rest = tuple(one for one in conditions if one not in moved)
            own = join.kind in ("inner", "cross")
            merged = tuple(one for one in rest if own and one.columns and one.deterministic)
            if not moved and not merged:
                return None
            kind = "inner" if merged else join.kind
            every = (*join.conditions, *merged)
            if not options.streaming and isinstance(join, Join):
                below = _with_bounds_of_other_side(join, below, every)
            made = replace(_filtered(join, below), kind=kind, conditions=every)
            above = tuple(one for one in rest if one not in merged)
            return Filter(made, above) if above else made
    return None


@rule
def push_filter_below_temporal_join(node: Node, options: Options) -> Node | None:
    """Filter the rows of the left side before they wait for their versions.

    Before:
      Filter(where=[price > 5 AND rate > 1])
      +- TemporalJoin(joinType=[InnerJoin], leftTime=[bidtime], rightTime=[since], where=[item = item0])
         :- Scan(table=[bid], fields=[item, price, bidtime])
         +- Scan(table=[rates], fields=[item0, rate, since])
    After:
      Filter(where=[rate > 1])
      +- TemporalJoin(joinType=[InnerJoin], leftTime=[bidtime], rightTime=[since], where=[item = item0])
         :- Filter(where=[price > 5])
         :  +- Scan(table=[bid], fields=[item, price, bidtime])
         +- Scan(table=[rates], fields=[item0, rate, since])

    Holds because each row of the left side gives at most one row, which depends on no other row of that side. Does not
    apply to conditions on the right side: without a version, the one before it would count as valid.
    """
    match node:
        case Filter(TemporalJoin() as join, conditions):
            own = {*join.left.columns}
            below = tuple(one for one in conditions if one.columns and one.columns <= own and one.deterministic)
            above = tuple(one for one in conditions if one not in below)
            if below:
                made = replace(join, left=Filter(join.left, below))
                return Filter(made, above) if above else made
    return None


@rule
def push_join_condition_below(node: Node, options: Options) -> Node | None:
    """Drop rows that cannot match before they are joined.

    Before:
      Join(joinType=[left], where=[item = item0 AND seller = 7 AND price > 5])
      :- Scan(table=[bid], fields=[item, price])
      +- Scan(table=[auction], fields=[item0, seller])
    After:
      Join(joinType=[left], where=[item = item0 AND price > 5])
      :- Scan(table=[bid], fields=[item, price])
      +- Filter(where=[seller = 7])
         +- Scan(table=[auction], fields=[item0, seller])

    Holds because such a row is in no pair, and is not emitted alone. Does not apply to a side whose rows an outer join
    emits without a match.
    """
    match node:
        case Join() | LookupJoin():
            below = {side: _reading(node, side, node.conditions) for side in MATCHING[node.kind]}
            moved = tuple(one for of_side in below.values() for one in of_side)
            rest = tuple(one for one in node.conditions if one not in moved)
            if moved and rest:
                return replace(_filtered(node, below), conditions=rest)
    return None


def _with_bounds_of_other_side(
    join: Join, below: dict[str, tuple[Scalar, ...]], conditions: tuple[Scalar, ...]
) -> dict[str, tuple[Scalar, ...]]:
    equal = [pair for one in conditions if (pair := EqualPair.of(one, join.left, join.right))]
    pairs = [pair for pair in equal if join.left.type_of(pair.left) == join.right.type_of(pair.right)]
    names = {"l": {pair.left: pair.right for pair in pairs}, "r": {pair.right: pair.left for pair in pairs}}
    found = {"l": below.get("l", ()), "r": below.get("r", ())}
    for side, other in ("lr", "rl"):
        bounds = [one for one in below.get(side, ()) if one.bounds and one.columns <= names[side].keys()]
        found[other] = tuple(dict.fromkeys((*found[other], *(one.renamed(names[side]) for one in bounds))))
    return found


def _reading(join: Join | LookupJoin, side: str, conditions: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """The conditions that only read columns of that side."""
    columns = {*(join.left if side == "l" else join.right).columns}
    return tuple(one for one in conditions if one.columns and one.columns <= columns and one.deterministic)


def _filtered(join: Join | LookupJoin, below: dict[str, tuple[Scalar, ...]]) -> Join | LookupJoin:
    left, right = below.get("l"), below.get("r")
    return replace(
        join,
        left=Filter(join.left, left) if left else join.left,
        right=Filter(join.right, right) if right else join.right,
    )


# Turns joins of rows in the same window into window joins.


@rule
def make_window_join(node: Node, options: Options) -> Node | None:
    """Join rows window by window.

    Before:
      Join(joinType=[left], where=[window_start = window_start0 AND window_end = window_end0 AND item = item0])
      :- Aggregate(groupBy=[window_start, window_end, item], ...)
      +- Aggregate(groupBy=[window_start0, window_end0, item0], ...)
    After:
      WindowJoin(leftWindow=[w], rightWindow=[w], joinType=[LeftOuterJoin], where=[item = item0])
      :- Aggregate(groupBy=[window_start, window_end, item], ...)
      +- Aggregate(groupBy=[window_start0, window_end0, item0], ...)

    Holds because start and end identify a window, so rows match only within it, and the window is final when it has
    ended. One of them is enough for TUMBLE and HOP, and the end for CUMULATE. Equal ends are enough otherwise, too, and
    for different windows (the last minute beside the last hour): windows that end together are final together. Does not
    apply if the condition does not make the ends equal: matching rows would be final at different times.

    Flink: StreamPhysicalWindowJoinRule.
    """
    match node:
        case Join():
            made = window_join(node)
            return made if isinstance(made, WindowJoin) else None
    return None
