"""Turns ranks of rows by event time that keep one row into deduplication by key."""

from __future__ import annotations

from tvfsql.options import Options
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.deduplicate import Deduplicate
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Filter, Item, Project
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.rank import RANK_TYPE, Rank
from tvfsql.plan.values.scalar import text
from tvfsql.planner import rule
from tvfsql.rules.projection import passing
from tvfsql.rules.window_rank import intersection, rank_range


@rule
def make_deduplicate(node: Node, options: Options) -> Node | None:
    """On streams, keep the first or the last row of each key by event time.

    Before:
      Filter(where=[rn = 1 AND price > 5])
      +- Rank(rankType=[ROW_NUMBER], partitionBy=[item], orderBy=[bidtime ASC])
    After:
      Filter(where=[price > 5])
      +- Project(select=[..., 1 AS rn])
         +- Deduplicate(keep=[FirstRow], key=[item], orderKey=[bidtime])

    Holds because the row of rank 1 by time is the first row, or with DESC the last one, and its rank is known. Without
    windows, the binder creates ranks by the time attribute only. Does not apply
    - in batch, where all rows are there to be ranked;
    - to a limit other than the first rank: later rows would move the others;
    - to rows with windows: a PARTITION BY that lacks their start or end is probably a mistake.

    Flink: StreamPhysicalRankRule and its RankUtil.canConvertToDeduplicate.
    """
    match node:
        case Filter(Rank(source, "ROW_NUMBER", partition, (key,), ties, name) as rank, conditions) if options.streaming:
            ranges = {one: found for one in conditions if (found := rank_range(one, name))}
            if intersection(ranges.values()) != (1, 1) or window_of(source) is not None:
                return None
            proctime = key.scalar.column is not None and is_proctime(source, key.scalar.column)
            made = Deduplicate(source, partition, key, ties, proctime, span=rank.span)
            known = Project(made, (*passing(source.columns, made), Item(name, text("1L", RANK_TYPE))))
            rest = tuple(one for one in conditions if one not in ranges)
            return Filter(known, rest) if rest else known
    return None
