"""Window functions: work that does not depend on windows is done before rows are assigned to windows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Filter, Item, Project, Unnest
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.values.scalar import Scalar, column, free_name
from tvfsql.plan.window import Session
from tvfsql.plan.window_nodes import WindowTableFunction
from tvfsql.planner import rule
from tvfsql.rules.projection import passing


@rule
def push_filter_below_window(node: Node, options: Options) -> Node | None:
    """Filter rows before they are assigned to windows.

    Before:
      Filter(where=[price > 10 AND window_start > x])
      +- WindowTableFunction(window=[...])
    After:
      Filter(where=[window_start > x])
      +- WindowTableFunction(window=[...])
         +- Filter(where=[price > 10])

    Holds because a window function passes every input column on to each copy of a row, so a copy passes the condition
    if and only if the row does. Conditions on window columns stay above. So do conditions on the rows of a SESSION,
    because its rows form its windows; only whole partitions can be dropped below.
    """
    match node:
        case Filter(WindowTableFunction(source) as windowed, conditions):
            below = tuple(one for one in conditions if can_come_before(one, windowed))
            above = tuple(one for one in conditions if one not in below)
            if below:
                moved = replace(windowed, input=Filter(source, below))
                return Filter(moved, above) if above else moved
    return None


@rule
def push_project_below_window(node: Node, options: Options) -> Node | None:
    """Compute columns before rows are assigned to windows.

    Before:
      Project(select=[upper(item) AS key, price, window_start, window_end])
      +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 min])])
    After:
      Project(select=[key, price, window_start, window_end])
      +- WindowTableFunction(window=[TUMBLE(time_col=[ts], size=[10 min])])
         +- Project(select=[price, ts, upper(item) AS key])

    Holds because a column of a row has the same value in each of the row's windows. A filter on window columns can be
    between the two. Expressions on window columns and non-deterministic ones stay above.
    """
    match node:
        case Project(WindowTableFunction() as windowed, items):
            conditions: tuple[Scalar, ...] = ()
        case Project(Filter(WindowTableFunction() as windowed, conditions), items):
            pass
        case _:
            return None
    source = windowed.input
    moving = [item for item in items if item.scalar.column is None and item.scalar.columns]
    moving = [item for item in moving if avoids_window_columns(item.scalar) and item.scalar.deterministic]
    if not moving:
        return None
    taken = {*source.columns, *WINDOW_COLUMNS}
    names: dict[str, str] = {}  # names of the columns below
    for item in moving:
        names[item.name] = free_name(item.name, lambda name: name.lower() in map(str.lower, taken))
        taken.add(names[item.name])
    staying = [item.scalar for item in items if item.name not in names]
    read = {windowed.time, *windowed.partition}.union(*(scalar.columns for scalar in (*staying, *conditions)))
    kept = tuple(name for name in source.columns if name in read)
    below = Project(source, (*passing(kept, source), *(Item(names[item.name], item.scalar) for item in moving)))
    moved: Node = replace(windowed, input=below)
    moved = Filter(moved, conditions) if conditions else moved
    return Project(
        moved,
        tuple(
            Item(item.name, column(names[item.name], node.type_of(item.name))) if item.name in names else item
            for item in items
        ),
    )


@rule
def push_unnest_below_window(node: Node, options: Options) -> Node | None:
    """Make rows of arrays before rows are assigned to windows.

    Before:
      Unnest(rows=[tags], join=[inner], select=[s, e, tag])
      +- Project(select=[window_start AS s, window_end AS e, tags])
         +- WindowTableFunction(window=[w])
    After:
      Project(select=[window_start AS s, window_end AS e, tag])
      +- WindowTableFunction(window=[w])
         +- Unnest(rows=[tags], join=[inner], select=[ts, tag])
            +- Project(select=[tags, ts])

    Holds because each row that UNNEST makes belongs to the windows of its row. The projection and a filter on window
    columns are optional. Does not apply if the array, a filter or a column uses both the row and its window, nor to a
    SESSION, whose rows form its windows.
    """
    match node:
        case Unnest(below, rows):
            if {field.name.lower() for field in node.fields} & set(WINDOW_COLUMNS):
                return None
            return copied_below_window(node, below, (rows,), lambda source: replace(node, input=source))
    return None


def copied_below_window(node: Node, below: Node, keys: tuple[str, ...], copied: Callable[[Node], Node]) -> Node | None:
    """Return the rows of `node`, which copies each row of `below` and changes only `keys`, with the copies made by
    `copied` below the window function. None if windows and copies depend on each other.
    """
    items = passing(below.columns, below)
    if isinstance(below, Project):
        items, below = below.items, below.input
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
    if not _read_windows_alone((*conditions, *(item.scalar for item in of_windows))):
        return None
    if set(keys) & {item.name for item in of_windows} or not _can_stand_below(of_rows):
        return None
    time = next((item for item in of_rows if item.scalar.column == windowed.time and item.name not in keys), None)
    if time is None:
        taken = {name.lower() for name in (*node.columns, *WINDOW_COLUMNS)}
        name = free_name(windowed.time, lambda name: name.lower() in taken)
        time = Item(name, column(windowed.time, windowed.input.type_of(windowed.time)))
        of_rows = (*of_rows, time)
    moved: Node = WindowTableFunction(
        copied(Project(windowed.input, of_rows)), windowed.window, time.name, windowed.zone, span=windowed.span
    )
    moved = Filter(moved, conditions) if conditions else moved
    given = {field.name: Item(field.name, column(field.name, field.type)) for field in node.schema}
    own = {item.name: item for item in of_windows}
    return Project(moved, tuple({**given, **own}.values()))


def _read_windows_alone(scalars: tuple[Scalar, ...]) -> bool:
    return all(scalar.columns <= set(WINDOW_COLUMNS) and scalar.deterministic for scalar in scalars)


def _can_stand_below(items: tuple[Item, ...]) -> bool:
    """Whether a window function can read these columns: they are the same in all copies of a row and do not have the
    names of its own columns.
    """
    return all(item.scalar.deterministic and item.name.lower() not in WINDOW_COLUMNS for item in items)


def can_come_before(condition: Scalar, windowed: WindowTableFunction) -> bool:
    """Whether rows that do not satisfy the condition can be dropped before windows are made."""
    if isinstance(windowed.window, Session) and not condition.columns <= set(windowed.partition):
        return False
    return avoids_window_columns(condition) and condition.deterministic


def avoids_window_columns(scalar: Scalar) -> bool:
    return not scalar.columns & set(WINDOW_COLUMNS)
