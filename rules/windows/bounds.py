"""Bounds of windows become bounds of the rows that are in these windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from tvfsql.options import Options
from tvfsql.options.known import LATE_OUTPUT
from tvfsql.plan.analysis.properties import is_changelog
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Distinct, Filter, Project, Scan
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.values.scalar import Bound, Scalar, column, template
from tvfsql.plan.values.types import BOOLEAN, TIMESTAMP, TIMESTAMP_LTZ
from tvfsql.plan.values.zone_names import largest_change
from tvfsql.plan.window import Cumulate, Hop, Tumble, TumbleMonths
from tvfsql.plan.window_nodes import WindowTableFunction
from tvfsql.planner import rule

START, END, TIME = WINDOW_COLUMNS
LOWEST = {">": ">", ">=": ">=", "=": ">="}  # the lower bound in a bound, by sign
UPPER = ("<", "<=", "=")
LONGEST_MONTH = 31 * 86_400_000  # ms
Less = Callable[[Node, tuple[Scalar, ...]], Node | None]  # rows that meet conditions on a time, and perhaps others


@rule
def push_window_bounds_below_window(node: Node, options: Options) -> Node | None:
    """Read only rows whose time can be in the wanted windows: in batch, and of the histories of streams.

    Before:
      Filter(where=[window_start >= x AND window_end < y])
      +- WindowTableFunction(window=[HOP(time_col=[ts], size=[1 h], slide=[1 min])])
    After:
      Filter(where=[window_start >= x AND window_end < y])
      +- WindowTableFunction(window=[HOP(time_col=[ts], size=[1 h], slide=[1 min])])
         +- Filter(where=[(ts >= x OR ts IS NULL) AND (ts < y OR ts IS NULL)])

    Reason: a condition on a column of the table selects files, row groups and partitions; a condition on windows is
    known only after all rows are read.

    Holds because a row is in a window from its start up to its end, so the time is not before the start, and before the
    end. Start and end are at most the size apart, of months 31 days each. So each bound of a window is one of the time,
    a size wider where it is one of the other end, and rows beyond it are only in windows that the condition above
    drops. The condition stays above, and can be above an aggregate, if the window column is one of its keys. Rows
    without a time stay, because they fail the query, or are counted. Instants (TIMESTAMP_LTZ) are compared with the
    instants of the wall clock, wider by the largest change of the zone's clock, because the clock of a row may be
    another one than that of the bound. If the time is computed from a column with which it rises, as by
    TO_TIMESTAMP_LTZ(ms, 3), the condition is one on that column.

    On streams, rows carry watermarks, so only rows of a history (tvfsql.history) that are too early are left out. If
    all its rows are too early, the history has no watermark. The windows that it would have closed end before the
    wanted ones and are dropped above. Rows that are too late are read: their watermarks close wanted windows.

    Does not apply
    - to SESSION: a row more makes another session;
    - to changes, of which some rows may have no time;
    - on streams to tables without a history, whose rows are read once, to upper bounds, and with tvfsql.late-output,
      which has rows that the watermark of the history makes late.
    """
    match node:
        case Filter(source, conditions) if not (options.streaming and options[LATE_OUTPUT]):
            bounds = [each for one in conditions if one.deterministic for each in one.bounds]
            if options.streaming:
                bounds = [replace(each, sign=LOWEST[each.sign]) for each in bounds if each.sign in LOWEST]
            narrowed = _narrowed(source, bounds, _history_less if options.streaming else _reading_less)
            return None if narrowed is None else replace(node, input=narrowed)
    return None


def _narrowed(node: Node, bounds: Iterable[Bound], less: Less) -> Node | None:
    """The node over a window function whose input `less` narrows; None if nothing changes."""
    match node:
        case WindowTableFunction(source, Tumble() | TumbleMonths() | Hop() | Cumulate() as window) as windowed:
            size = window.months * LONGEST_MONTH if isinstance(window, TumbleMonths) else window.size
            new = tuple(each for each in bounds if each.column in WINDOW_COLUMNS and each not in windowed.bounded)
            if not new or is_changelog(source) or is_proctime(source, windowed.time):
                return None
            conditions = tuple(dict.fromkeys(one for each in new for one in _conditions(each, windowed, size)))
            narrower = less(source, conditions)
            return None if narrower is None else replace(windowed, input=narrower, bounded=(*windowed.bounded, *new))
        case Project(source, items):
            computed = {item.name: item.scalar.column for item in items}
            below = [replace(each, column=name) for each in bounds if (name := computed.get(each.column)) is not None]
        case Aggregate(source, keys):
            below = [each for each in bounds if each.column in keys]
        case Filter(source) | Distinct(source):
            below = [*bounds]
        case _:
            return None
    narrowed = _narrowed(source, below, less) if below else None
    return None if narrowed is None else replace(node, input=narrowed)


def _reading_less(node: Node, conditions: tuple[Scalar, ...]) -> Node:
    """The rows that meet conditions on a time, and perhaps others: if the time is computed from a column with which it
    rises, the conditions are those that follow for the column.
    """
    if isinstance(node, Project) and (found := _of_column(node, conditions)):
        return replace(node, input=Filter(node.input, found))
    return Filter(node, conditions)


def _history_less(node: Node, conditions: tuple[Scalar, ...]) -> Node | None:
    """The rows of a stream, with those of its history that meet conditions on a time; None if it has no history."""
    match node:
        case Scan(has_history=True):
            return replace(node, history_where=(*node.history_where, *conditions))
        case Filter(source):
            below = _history_less(source, conditions)
        case Project(source, items):
            columns = {item.name: item.scalar for item in items}
            plain = all(columns[name].column for one in conditions for name in one.columns)
            found = tuple(one.substitute(columns) for one in conditions) if plain else _of_column(node, conditions)
            below = _history_less(source, found) if found else None
        case _:
            return None
    return None if below is None else replace(node, input=below)


def _of_column(node: Project, conditions: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """What follows from conditions on computed times for the columns with which they rise; () if one does not."""
    computed = {item.name: item.scalar for item in node.items}
    bounds = [each for one in conditions for each in one.bounds]
    rising = [(each, of) for each in bounds if (of := computed[each.column].rising) is not None]
    if len(rising) < len(bounds) or not all(of.lowest and of.highest for _, of in rising):
        return ()
    kinds = {of.column: node.input.type_of(of.column) for _, of in rising}
    return tuple(dict.fromkeys(one for each, of in rising for one in of.conditions(each, kinds[of.column])))


def _conditions(bound: Bound, windowed: WindowTableFunction, size: int) -> Iterator[Scalar]:
    """The conditions on the time of rows that follow from a bound of their windows."""
    before = 0 if bound.column == START else size  # ms by which a row's time can precede the column
    after = size if bound.column == START else 0  # ms by which it is less than that after the column
    last = 1 if bound.column == TIME else 0  # window_time is the last millisecond
    if (lowest := LOWEST.get(bound.sign)) is not None:
        yield _condition(lowest, bound, -before + last, windowed)
    if bound.sign in UPPER:
        yield _condition("<", bound, after + last, windowed)


def _condition(sign: str, bound: Bound, ms: int, windowed: WindowTableFunction) -> Scalar:
    time = column(windowed.time, windowed.input.type_of(windowed.time))
    end = bound.end
    if time.type == TIMESTAMP_LTZ:
        margin = int(largest_change(windowed.zone).total_seconds()) * 1000
        ms += margin if sign == "<" else -margin
        if end.type == TIMESTAMP:
            end = template(_INSTANT.format(zone=windowed.zone), {"wall": end}, TIMESTAMP_LTZ)
    seconds, rest = divmod(abs(ms), 1000)
    length = f"{seconds}.{rest:03}" if rest else f"{seconds}"
    shift = f" {'-' if ms < 0 else '+'} INTERVAL '{length}' SECOND" if ms else ""
    pattern = f"({{time}} {sign} {{end}}{shift} OR {{time}} IS NULL)"
    bounds = (Bound(windowed.time, sign, template(f"{{end}}{shift}", {"end": end}, time.type, atomic=not shift)),)
    return replace(template(pattern, {"time": time, "end": end}, BOOLEAN), bounds=bounds)


_INSTANT = (
    "TO_UTC_TIMESTAMP(TIMESTAMP_MICROS(TIMESTAMPDIFF(MICROSECOND, TIMESTAMP_NTZ '1970-01-01 00:00:00', "
    "{{wall}})), '{zone}')"
)
