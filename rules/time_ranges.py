"""Windows of few keys or none, made by time ranges in parallel."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.columns import RANGE
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Project
from tvfsql.plan.scalar import column
from tvfsql.plan.window import Cumulate, Hop, Tumble
from tvfsql.plan.window_nodes import GlobalWindowAggregate, LocalWindowAggregate, TimeRanges
from tvfsql.planner import rule


@rule
def cut_into_time_ranges(node: Node, options: Options) -> Node | None:
    """In batch, make windows without keys by time ranges, each in a task of its own.

    Before:
      GlobalWindowAggregate(window=[HOP(slice_end=[slice_end], size=[1 h], slide=[1 s])], select=[n])
      +- LocalWindowAggregate(window=[HOP(time_col=[ts], ...)], select=[COUNT(*) AS n, slice_end('w$)])
    After:
      Project(items=[n])
      +- GlobalWindowAggregate(groupBy=[$range], window=[HOP(slice_end=[slice_end], ...)], select=[n])
         +- TimeRanges(range=[4 h], leadIn=[3599 s])
            +- LocalWindowAggregate(window=[HOP(time_col=[ts], ...)], select=[COUNT(*) AS n, slice_end('w$)])

    Reason: slices are shuffled by key, so without keys one task would merge all of them, however many cores there are.
    Holds because a window is made in the one range that contains its end, and all its slices are there: a slice within
    a window size before the start of a range is copied to it. A range of HOP is 4 sizes long, so at most a quarter of
    the slices is copied, and no rows; a range of CUMULATE is one cycle, which shares no slice with another. Does not
    apply
    - with keys, unless all are BOOLEAN: many keys keep all cores busy without copies;
    - to DISTINCT aggregates of HOP: their slices are changes since the first row, so no range can begin without those
      before it. Their costly part, the shuffle of values, is parallel anyway;
    - to SESSION, whose borders are not known before its rows are;
    - on streams.
    """
    match node:
        case GlobalWindowAggregate(LocalWindowAggregate() as local, Tumble() | Hop() | Cumulate() as window, keys):
            if options.streaming or any(local.type_of(key) != "boolean" for key in keys):
                return None
            if local.distincts and isinstance(window, Hop):
                return None
            windows = replace(node, input=TimeRanges(local, window), keys=(*keys, RANGE))
            return Project(windows, tuple(Item(part.name, column(part.name, part.type)) for part in node.schema))
    return None
