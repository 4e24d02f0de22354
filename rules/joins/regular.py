"""Joins of streams without a bound on time, whose rows are kept for as long as an option says."""

from __future__ import annotations

from tvfsql.options import Options
from tvfsql.physical.regular_joins import ByKey, is_regular, join_by_key, retention_of
from tvfsql.plan.joins import EqualPair, RegularJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Join, Project
from tvfsql.plan.tables.internal_columns import SINCE
from tvfsql.plan.values.scalar import PROCTIME
from tvfsql.planner import rule
from tvfsql.rules.joins.conditions import with_conditions
from tvfsql.rules.projection import passing

LEFT, RIGHT = 0, 1


@rule
def make_regular_join(node: Node, options: Options) -> Node | None:
    """On streams, keep the rows of both sides of a join for a retention, and emit what each new row changes.

    Before:
      Join(joinType=[left], where=[k = k0])
    After:
      RegularJoin(joinType=[LeftOuterJoin], retention=[1 d], where=[k = k0])
      :- Project(select=[k, price, PROCTIME() AS $left_since])
      +- Project(select=[k0, price0, PROCTIME() AS $right_since])

    Reason: without a bound a stream would keep all rows forever, so table.exec.state.ttl or the hint STATE_TTL must say
    how long.

    Holds because the changes up to any row, applied in their order, give the join of all rows up to it that are kept.
    Other conditions become those of an interval join (`make_interval_join`). Does not apply
    - without a retention for both sides, and to joins that bound the time between their rows;
    - unless columns of one type are compared by =, since all rows would be in one task;
    - to two sides with windows, which are a window join or miss a condition of one;
    - to joins other than inner ones that compare their sides in other ways too.

    Flink: StreamPhysicalJoin with a state TTL, which counts from the last access of a row in outer joins.
    """
    match node:
        case Join(kind=kind) if options.streaming and is_regular(node, options):
            found, retention = join_by_key(node), retention_of(node, options)
            if not isinstance(found, ByKey):
                return None

            def made(left: Node, right: Node, pairs: tuple[EqualPair, ...]) -> RegularJoin:
                return RegularJoin(_since(left, LEFT), _since(right, RIGHT), kind, pairs, retention)

            return with_conditions(node, found.pairs, found.rest, made)
    return None


def _since(node: Node, side: int) -> Node:
    return Project(node, (*passing(node.columns, node), Item(SINCE[side], PROCTIME)))
