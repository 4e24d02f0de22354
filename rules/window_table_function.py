"""Window functions: work that does not look at windows is done before rows are given windows."""

from __future__ import annotations

from tvfsql.options import Options
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import WINDOW_COLUMNS, Filter, Project, WindowTableFunction
from tvfsql.plan.scalar import Scalar
from tvfsql.planner import rule
from tvfsql.rules.projection import passing


@rule
def push_filter_below_window(node: Node, options: Options) -> Node | None:
    """Filter rows before they are given windows.

    Before:
      Filter(where=[price > 10 AND window_start > x])
      +- WindowTableFunction(window=[...])
    After:
      Filter(where=[window_start > x])
      +- WindowTableFunction(window=[...])
         +- Filter(where=[price > 10])

    Holds because a window function hands every input column through to each copy of the row: a copy passes
    a condition over them just if the row does. Conditions over window columns stay above.
    """
    match node:
        case Filter(WindowTableFunction(source, window, time, zone), conditions):
            below = tuple(one for one in conditions if avoids_window_columns(one) and one.deterministic)
            above = tuple(one for one in conditions if one not in below)
            if below:
                moved = WindowTableFunction(Filter(source, below), window, time, zone)
                return Filter(moved, above) if above else moved
    return None


@rule
def push_project_below_window(node: Node, options: Options) -> Node | None:
    """Compute columns before rows are given windows.

    Before:
      Project(select=[upper(item) AS key, price, window_start, window_end])
      +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 min])])
    After:
      Project(select=[key, price, window_start, window_end])
      +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 min])])
         +- Project(select=[upper(item) AS key, price, ts])

    Holds because a column of one row has the same value in each of the row's windows. Does not apply to
    expressions over window columns or that differ from call to call, nor where a name would be taken twice.
    """
    match node:
        case Project(WindowTableFunction(source, window, time, zone) as windowed, items):
            computed = tuple(item for item in items if item.scalar.column is None)
            if not computed or not all(avoids_window_columns(i.scalar) and i.scalar.deterministic for i in computed):
                return None
            names = {item.name for item in computed}
            if names & {*source.columns, *WINDOW_COLUMNS}:
                return None
            kept = {item.scalar.column for item in items if item.scalar.column in source.columns} | {time}
            below = Project(source, (*passing(tuple(n for n in source.columns if n in kept), source), *computed))
            moved = WindowTableFunction(below, window, time, zone)
            assert moved.schema[-3:] == windowed.schema[-3:]
            above = tuple(passing((item.name,), moved)[0] if item in computed else item for item in items)
            return Project(moved, above)
    return None


def avoids_window_columns(scalar: Scalar) -> bool:
    return not scalar.columns & set(WINDOW_COLUMNS)
