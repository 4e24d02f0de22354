"""Turns joins of rows in the same window into window joins."""

from __future__ import annotations

from tvfsql.options import Options
from tvfsql.plan.analysis.window_joins import window_join
from tvfsql.plan.joins.window_join import WindowJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Join
from tvfsql.planner import rule


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
