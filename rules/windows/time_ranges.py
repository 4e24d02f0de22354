"""Windows of few keys or none, made by time ranges in parallel."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.aggregate.chosen_values import Counted
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Project
from tvfsql.plan.tables.internal_columns import RANGE
from tvfsql.plan.values.scalar import column
from tvfsql.plan.values.types import BOOLEAN
from tvfsql.plan.window import Cumulate, Hop, Tumble
from tvfsql.plan.window_nodes import GlobalWindowAggregate, LocalWindowAggregate, TimeRanges
from tvfsql.planner import rule

SECOND = 1_000
OF_FIXED_SIZE = frozenset(["sum", "min", "max", "moments", Counted(), Counted(total=True)])


@rule
def cut_into_time_ranges(node: Node, options: Options) -> Node | None:
    """In batch, make windows without keys by time ranges, in as many tasks as there are cores.

    Before:
      GlobalWindowAggregate(window=[HOP(slice_end=[slice_end], size=[1 h], slide=[100 ms])], select=[n])
      +- LocalWindowAggregate(window=[HOP(time_col=[ts], ...)], select=[COUNT(*) AS n, slice_end('w$)])
    After:
      Project(items=[n])
      +- GlobalWindowAggregate(groupBy=[$range], window=[HOP(slice_end=[slice_end], ...)], select=[n])
         +- TimeRanges(range=[4 h], leadIn=[3599900 ms])
            +- LocalWindowAggregate(window=[HOP(time_col=[ts], ...)], select=[COUNT(*) AS n, slice_end('w$)])

    Reason: slices are shuffled by key, so without keys one task would merge all of them, however many cores there are.
    Holds because a window is made in the one range that contains its end, and all its slices are there: a slice within
    a window size before the start of a range is copied to it. A range of HOP is 4 sizes long, so at most a quarter of
    the slices is copied, and no rows; a range of CUMULATE is one cycle, which shares no slice with another. Does not
    apply
    - with keys, unless all are BOOLEAN: many keys keep all cores busy without copies;
    - to slices of a second or more, unless partials grow with the window, as lists do: one task merges a million
      slices (12 days) in less than a second, and ranges cost more CPU than they save time;
    - to SESSION, whose borders are not known before its rows are;
    - on streams.
    """
    match node:
        case GlobalWindowAggregate(LocalWindowAggregate() as local, Tumble() | Hop() | Cumulate() as window, keys):
            if options.streaming or any(local.type_of(key) != BOOLEAN for key in keys):
                return None
            if not is_long_work(node, window):
                return None
            windows = replace(node, input=TimeRanges(local, window), keys=(*keys, RANGE))
            return Project(windows, tuple(Item(part.name, column(part.name, part.type)) for part in node.schema))
    return None


def is_long_work(node: GlobalWindowAggregate, window: Tumble | Hop | Cumulate) -> bool:
    """Whether one task may take long: slices can be very many, or the partials of a window are long."""
    return window.slice_size < SECOND or any(kind not in OF_FIXED_SIZE for _, kind in node.merges)
