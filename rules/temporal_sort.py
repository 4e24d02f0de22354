"""Makes ORDER BY of a stream a sort by event time."""

from __future__ import annotations

from tvfsql.options import Options
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Sort, TemporalSort
from tvfsql.planner import rule


@rule
def make_temporal_sort(node: Node, options: Options) -> Node | None:
    """On streams, put rows in order as the watermark passes them.

    Before:
      Sort(order=[bidtime ASC, price DESC])
    After:
      TemporalSort(order=[bidtime ASC, price DESC])

    Holds because no row comes before the watermark any more, so the rows that it has passed are the first ones of the
    whole stream. Does not apply
    - in batch, where the input has an end;
    - to an order that falls, or whose first key is computed: no row would ever be the first one;
    - to rows with windows, which leave in the order of their windows.

    Flink: StreamPhysicalTemporalSortRule.
    """
    match node:
        case Sort(source, (first, *more)) if options.streaming and type(node) is Sort:
            computed = any(key.scalar.column is None for key in (first, *more))
            if computed or first.descending or window_of(source) is not None:
                return None
            return TemporalSort(source, node.order)
    return None
