"""Aggregates over windows become one operator, so that rows need not be copied per window."""

from __future__ import annotations

from tvfsql.options import Options
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import (
    WINDOW_COLUMNS,
    AggCall,
    Aggregate,
    Filter,
    Project,
    WindowAggregate,
    WindowProperty,
    WindowTableFunction,
)
from tvfsql.planner import rule
from tvfsql.rules.projection import passing

KINDS = {"window_start": "start", "window_end": "end", "window_time": "time"}


@rule
def pull_up_window_table_function(node: Node, options: Options) -> Node | None:
    """Fold a window function into the aggregate that groups by both its window columns.

    Before:
      Aggregate(groupBy=[window_start, window_end, k], select=[..., COUNT(*) AS n])
      +- WindowTableFunction(window=[w])
    After:
      Project(select=[window_start, window_end, k, n])
      +- WindowAggregate(groupBy=[k], window=[w], select=[k, COUNT(*) AS n, start('w$), end('w$)])

    Holds because a window function only adds window columns, and start and end together name one window.
    Does not apply with one of the two alone (rows of several windows fall together), nor where an
    aggregate reads a window column. Flink: PullUpWindowTableFunctionIntoWindowAggregateRule.
    """
    match node:
        case Aggregate(WindowTableFunction(source, window, time, zone) as windowed, keys, calls):
            if not groups_by_window(keys) or not calls_avoid_window_columns(calls):
                return None
            own = tuple(key for key in keys if key not in KINDS)
            properties = tuple(WindowProperty(key, KINDS[key], windowed.type_of(key)) for key in keys if key in KINDS)
            made = WindowAggregate(source, window, time, own, calls, properties, zone)
            return Project(made, passing(node.columns, made))
    return None


@rule
def pull_window_filter_above_aggregate(node: Node, options: Options) -> Node | None:
    """Choose windows after they are aggregated, so that slices can make them.

    Before:
      Aggregate(groupBy=[window_start, window_end, k], select=[...])
      +- Filter(where=[window_start >= x])
         +- WindowTableFunction(window=[w])
    After:
      Filter(where=[window_start >= x])
      +- Aggregate(groupBy=[window_start, window_end, k], select=[...])
         +- WindowTableFunction(window=[w])

    Holds because the condition reads group keys alone: it is the same for all rows of a group, so a group
    passes as a whole or not at all. Flink leaves the window function apart here and copies each row.
    """
    match node:
        case Aggregate(Filter(WindowTableFunction() as source, conditions), keys, calls):
            if groups_by_window(keys) and all(one.columns <= set(keys) and one.deterministic for one in conditions):
                return Filter(Aggregate(source, keys, calls), conditions)
    return None


def groups_by_window(keys: tuple[str, ...]) -> bool:
    return {"window_start", "window_end"} <= set(keys)


def calls_avoid_window_columns(calls: tuple[AggCall, ...]) -> bool:
    return all(not call.columns & set(WINDOW_COLUMNS) for call in calls)
