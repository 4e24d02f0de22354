"""Grouping sets over windows: rows are copied per set before they are assigned to windows."""

from __future__ import annotations

from tvfsql.options import Options
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Expand
from tvfsql.planner import rule
from tvfsql.rules.window_table_function import copied_below_window


@rule
def push_expand_below_window(node: Node, options: Options) -> Node | None:
    """Copy rows for grouping sets before they are assigned to windows.

    Before:
      Expand(projects=[{item, s, e, 0 AS $e}, {NULL AS item, s, e, 1 AS $e}])
      +- Project(select=[item, window_start AS s, window_end AS e])
         +- WindowTableFunction(window=[w])
    After:
      Project(select=[item, window_start AS s, window_end AS e, $e])
      +- WindowTableFunction(window=[w])
         +- Expand(projects=[{item, ts, 0 AS $e}, {NULL AS item, ts, 1 AS $e}])
            +- Project(select=[item, ts])

    Holds because each copy of a row belongs to the windows of the row. The projection and a filter on window columns
    are optional. Does not apply if a set lacks a window column (its groups belong to no window), if a filter or a
    column uses both the row and its window, nor to a SESSION, whose rows form its windows. Flink:
    ExpandWindowTableFunctionTransposeRule.
    """
    match node:
        case Expand(below, keys, sets, id):
            return copied_below_window(node, below, keys, lambda rows: Expand(rows, keys, sets, id))
    return None
