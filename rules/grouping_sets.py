"""Grouping sets over windows: rows are copied per set before they are assigned to windows."""

from __future__ import annotations

from tvfsql.options import Options
from tvfsql.plan.columns import WINDOW_COLUMNS
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Expand, Filter, Item, Project
from tvfsql.plan.scalar import Scalar, column, free_name
from tvfsql.plan.window import Session
from tvfsql.plan.window_nodes import WindowTableFunction
from tvfsql.planner import rule
from tvfsql.rules.projection import passing


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
        case Expand(Project(below, items), keys, sets, id):
            pass
        case Expand(below, keys, sets, id):
            items = passing(below.columns, below)
        case _:
            return None
    conditions: tuple[Scalar, ...] = ()
    match below:
        case Filter(WindowTableFunction() as windowed, conditions):
            pass
        case WindowTableFunction() as windowed:
            pass
        case _:
            return None
    if isinstance(windowed.window, Session):
        return None
    of_windows = tuple(item for item in items if item.scalar.columns & set(WINDOW_COLUMNS))
    of_rows = tuple(item for item in items if item not in of_windows)
    if not read_windows_alone((*conditions, *(item.scalar for item in of_windows))):
        return None
    if set(keys) & {item.name for item in of_windows} or not can_stand_below(of_rows):
        return None
    time = next((item for item in of_rows if item.scalar.column == windowed.time and item.name not in keys), None)
    if time is None:
        taken = {name.lower() for name in (*node.columns, *WINDOW_COLUMNS)}
        name = free_name(windowed.time, lambda name: name.lower() in taken)
        time = Item(name, column(windowed.time, windowed.input.type_of(windowed.time)))
        of_rows = (*of_rows, time)
    expanded = Expand(Project(windowed.input, of_rows), keys, sets, id)
    moved: Node = WindowTableFunction(expanded, windowed.window, time.name, windowed.zone)
    moved = Filter(moved, conditions) if conditions else moved
    given = {field.name: Item(field.name, column(field.name, field.type)) for field in node.schema}
    own = {item.name: item for item in of_windows}
    return Project(moved, tuple({**given, **own}.values()))


def read_windows_alone(scalars: tuple[Scalar, ...]) -> bool:
    return all(scalar.columns <= set(WINDOW_COLUMNS) and scalar.deterministic for scalar in scalars)


def can_stand_below(items: tuple[Item, ...]) -> bool:
    """Whether a window function can read these columns: they are the same in all copies of a row and do not have the
    names of its own columns.
    """
    return all(item.scalar.deterministic and item.name.lower() not in WINDOW_COLUMNS for item in items)
