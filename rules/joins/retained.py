"""Joins of streams without a bound on time, whose rows are kept for as long as an option says."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.options.known import STATE_TTL
from tvfsql.physical.interval_bounds import RETAINABLE, Interval, equal_pair
from tvfsql.plan.analysis.properties import is_changelog, window_of
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Join, Project
from tvfsql.plan.tables.internal_columns import SINCE
from tvfsql.plan.values.scalar import PROCTIME
from tvfsql.planner import rule
from tvfsql.rules.joins.intervals import interval_join
from tvfsql.rules.projection import passing

LEFT, RIGHT = 0, 1


@rule
def make_join_with_retention(node: Node, options: Options) -> Node | None:
    """On streams, keep the rows of an inner or semi-join for `table.exec.state.ttl`, and pair those that meet.

    Before:
      Join(joinType=[inner], where=[k = k0 AND price > price0])
    After:
      Project(select=[k, price, k0, price0])
      +- Filter(where=[price > price0])
         +- IntervalJoin(joinType=[InnerJoin], retention=[1 d], where=[k = k0])
            :- Project(select=[k, price, PROCTIME() AS $left_since])
            +- Project(select=[k0, price0, PROCTIME() AS $right_since])

    Reason: without a bound a stream would keep all rows forever.

    Holds because a row that is kept for a day from its arrival on meets those that arrive up to a day after it, and so
    the times at which both rows of a pair arrive are at most a day apart. Does not apply
    - without table.exec.state.ttl, and to joins that bound the time between their rows;
    - unless columns of one type are compared by =, since all rows would be in one task;
    - to outer joins and NOT EXISTS, whose rows without a partner go when one comes;
    - to changes, and to two sides with windows, which are a window join or miss a condition of one;
    - to an EXISTS that compares its sides in other ways too.

    Flink: StreamPhysicalJoin with a state TTL, which counts from the arrival of a row, as here.
    """
    match node:
        case Join() if options.streaming and options[STATE_TTL] and node.kind in RETAINABLE:
            sides = (node.left, node.right)
            if any(map(is_changelog, sides)) or all(window_of(side) is not None for side in sides):
                return None
            pairs = {one: pair for one in node.conditions if (pair := equal_pair(one, node))}
            rest = tuple(one for one in node.conditions if one not in pairs)
            of_one_side = all(any(one.columns <= {*side.columns} for side in sides) for one in rest)
            if not pairs or not all(one.deterministic for one in rest) or (node.kind == "semi" and not of_one_side):
                return None
            kept = 1000 * options[STATE_TTL]
            bounds = Interval(*SINCE, -kept, kept, tuple(pairs.values()), rest, proctime=True)
            made = interval_join(replace(node, left=_since(node.left, LEFT), right=_since(node.right, RIGHT)), bounds)
            return Project(made, passing(node.columns, made))
    return None


def _since(node: Node, side: int) -> Node:
    return Project(node, (*passing(node.columns, node), Item(SINCE[side], PROCTIME)))
