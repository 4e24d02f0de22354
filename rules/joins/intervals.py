"""Turns joins of streams that bound the time between their rows into interval joins."""

from __future__ import annotations

from tvfsql.options import Options
from tvfsql.physical.interval_bounds import NoInterval, interval_of
from tvfsql.plan.joins import EqualPair, IntervalJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Join
from tvfsql.planner import rule
from tvfsql.rules.joins.conditions import with_conditions


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

            def made(left: Node, right: Node, pairs: tuple[EqualPair, ...]) -> IntervalJoin:
                return IntervalJoin(left, right, node.kind, *found.parts, pairs, found.proctime)

            return with_conditions(node, found.pairs, found.rest, made)
    return None
