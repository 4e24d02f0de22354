"""Makes OVER aggregates of streams from partials of single rows."""

from __future__ import annotations

from tvfsql.options import Options
from tvfsql.plan.aggregate.call import mergeable
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Project
from tvfsql.plan.over import OverAggregate, OverPartials
from tvfsql.planner import rule
from tvfsql.rules.projection import passing
from tvfsql.rules.two_phase import Split


@rule
def split_over_aggregate(node: Node, options: Options) -> Node | None:
    """Merge the results of OVER from partials of single rows.

    Before:
      OverAggregate(partitionBy=[k], orderBy=[ts ASC], window=[ROWS BETWEEN 2 PRECEDING AND CURRENT ROW: AVG(x) AS a])
    After:
      Project(select=[..., a_sum div nullif(a_count, 0) AS a])
      +- OverAggregate(partitionBy=[k], orderBy=[ts ASC], window=[ROWS BETWEEN ...: a_sum, a_count])
         +- Project(select=[..., x AS a_sum, 1 AS a_count])

    Holds because a row is a slice of one row, and partials of slices merge to those of a frame. So a result costs one
    merge, however many rows are in its frame, and the state has partials instead of rows. Does not apply
    - if an aggregate cannot be merged (see plan.aggregate.table).
    """
    match node:
        case OverAggregate(source, partition, time, frames, calls) if all(map(mergeable, calls)):
            taken = {name.lower() for name in source.columns}
            finish, rows, merges = list[Item](), list[Item](), []
            for frame in dict.fromkeys(frames):
                split = Split(taken)
                of_frame = [call for call, own in zip(calls, frames, strict=True) if own == frame]
                finish += [Item(call.name, split.finish(call)) for call in of_frame]
                rows += [Item(part.name, part.row) for part in split.columns.parts]
                merges.append((frame, split.merges()))
            below = Project(source, (*passing(source.columns, source), *rows))
            merged = OverPartials(below, partition, time, tuple(merges), span=node.span)
            by_name = {item.name: item for item in finish}
            return Project(merged, (*passing(source.columns, source), *(by_name[call.name] for call in calls)))
    return None
