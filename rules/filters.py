"""Moves filters below set operations and operators that copy rows, and bounds of windows to the rows of the windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tvfsql.options import Options
from tvfsql.options.known import LATE_OUTPUT
from tvfsql.plan.analysis.properties import is_changelog
from tvfsql.plan.gaps import GapFill, GridFill
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Distinct, Expand, Filter, Project, Scan, SetOperation
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.tables.internal_columns import WINDOW_COLUMNS
from tvfsql.plan.values.scalar import Bound, Rising, Scalar, column, template
from tvfsql.plan.values.types import BOOLEAN, STRING, TIMESTAMP, TIMESTAMP_LTZ, UNKNOWN
from tvfsql.plan.values.zone_names import largest_change
from tvfsql.plan.window import Cumulate, Hop, Tumble, TumbleMonths
from tvfsql.plan.window_nodes import WindowTableFunction
from tvfsql.planner import rule


@rule
def push_filter_below_set_operation(node: Node, options: Options) -> Node | None:
    """Filter the rows of both sides.

    Before:
      Filter(where=[price > 10])
      +- SetOperation(kind=[union], all=[true])
         :- Scan(table=[bid], fields=[item, price])
         +- Scan(table=[auction], fields=[name, reserve])
    After:
      SetOperation(kind=[union], all=[true])
      :- Filter(where=[price > 10])
      :  +- Scan(table=[bid], fields=[item, price])
      +- Filter(where=[reserve > 10])
         +- Scan(table=[auction], fields=[name, reserve])

    Holds because equal rows pass or fail together, whichever side they come from, so filtering before or after a union,
    intersection or difference gives the same rows. Does not apply to a column whose types differ between the sides,
    because the condition would see the value before its conversion, nor to non-deterministic conditions.
    """
    match node:
        case Filter(SetOperation(left, right) as sides, conditions):
            alike = {
                a.name: b.name for a, b in zip(left.schema, right.schema, strict=True) if a.type == b.type != UNKNOWN
            }
            below, above = _parted(conditions, frozenset(alike))
            if below:
                theirs = tuple(one.renamed(alike) for one in below)
                return _filtered(replace(sides, left=Filter(left, below), right=Filter(right, theirs)), above)
    return None


@rule
def push_filter_below_expand(node: Node, options: Options) -> Node | None:
    """Filter rows before they are copied for grouping sets.

    Before:
      Filter(where=[price > 10])
      +- Expand(projects=[{item, price, 0 AS $e}, {NULL AS item, price, 1 AS $e}])
    After:
      Expand(projects=[{item, price, 0 AS $e}, {NULL AS item, price, 1 AS $e}])
      +- Filter(where=[price > 10])

    Holds because the copies of a row differ only in the keys of the sets, so they all pass or all fail. Does not apply
    to conditions on those keys, which are NULL in some copies.
    """
    match node:
        case Filter(Expand(source, keys) as expand, conditions):
            below, above = _parted(conditions, frozenset(source.columns) - set(keys))
            if below:
                return _filtered(replace(expand, input=Filter(source, below)), above)
    return None


@rule
def push_filter_below_gap_fill(node: Node, options: Options) -> Node | None:
    """Drop keys before their windows without rows are made.

    Before:
      Filter(where=[item = 'lamp' AND n = 0])
      +- GapFill(partitionBy=[item], window=[TUMBLE(win_end=[window_end], size=[1 min])], values=[n: 0], fill=[1 h])
    After:
      Filter(where=[n = 0])
      +- GapFill(partitionBy=[item], window=[TUMBLE(win_end=[window_end], size=[1 min])], values=[n: 0], fill=[1 h])
         +- Filter(where=[item = 'lamp'])

    Holds because the windows without rows of a key depend on the rows of that key only, and so do the rows that
    GAP_FILL adds. Conditions on windows and on results stay above: the row before a window, which is dropped, says
    which windows follow it, and what is in them.
    """
    match node:
        case Filter((GapFill(source, partition) | GridFill(source, partition)) as gaps, conditions):
            below, above = _parted(conditions, frozenset(partition))
            if below:
                return _filtered(replace(gaps, input=Filter(source, below)), above)
    return None


def _parted(conditions: tuple[Scalar, ...], columns: frozenset[str]) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
    """Split conditions into those that read only (and at least one) of the columns, which can be moved, and the
    rest.
    """
    moving = tuple(one for one in conditions if one.columns and one.columns <= columns and one.deterministic)
    return moving, tuple(one for one in conditions if one not in moving)


def _filtered(node: Node, conditions: tuple[Scalar, ...]) -> Node:
    return Filter(node, conditions) if conditions else node


@rule
def choose_folders_by_time(node: Node, options: Options) -> Node | None:
    """In batch, read only the folders that have rows of the wanted times.

    Before:
      Filter(where=[bidtime >= x])
      +- Scan(table=[bid], fields=[item, bidtime, day])
    After:
      Filter(where=[bidtime >= x AND (day >= DATE_FORMAT(x, 'yyyy-MM-dd') OR day < '0' OR day IS NULL)])
      +- Scan(table=[bid], fields=[item, bidtime, day])

    Reason: a condition on a column of PARTITIONED BY selects folders without opening their files.

    Holds because CREATE TABLE says that the column is computed from the time: `day AS DATE_FORMAT(bidtime,
    'yyyy-MM-dd')`. It does not fall when the time rises, so what is not before x is not in a folder before that of x.
    Years before 0 or after 9999 begin with a sign, which is before the digits. Does not apply to columns computed from
    instants, whose days depend on a time zone, and which may fall when a clock is put back.
    """
    match node:
        case Filter(Scan() as scan, conditions) if not options.streaming and scan.of_folders and not scan.changelog:
            bounds = [each for one in conditions if one.deterministic for each in one.bounds]
            found = [one for each in bounds for one in _of_folders(each, scan)]
            new = tuple(one for one in dict.fromkeys(found) if one not in conditions)
            return replace(node, conditions=(*conditions, *new)) if new else None
    return None


def _of_folders(bound: Bound, scan: Scan) -> Iterator[Scalar]:
    """What a bound of a time says of the columns in the names of folders."""
    for name, value in scan.of_folders:
        if value.rising is None or value.rising.column != bound.column or name not in scan.columns:
            continue
        last = template("{end} - INTERVAL '0.000001' SECOND", {"end": bound.end}, bound.end.type, atomic=False)
        end = value.substitute({bound.column: last if bound.sign == "<" and bound.end.type == TIMESTAMP else bound.end})
        signed = "{column} < '0'" if value.type == STRING else ""
        for sign, others in ((">=", signed), ("<=", "")):
            if bound.sign[0] in (sign[0], "="):
                yield Rising(name).condition(sign, end, others, value.type)


# Conditions on window columns, as conditions on the time of rows, which a scan can use.


START, END, TIME = WINDOW_COLUMNS
LOWER, UPPER = (">", ">=", "="), ("<", "<=", "=")
LONGEST_MONTH = 31 * 86_400_000  # ms


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

    On streams, rows carry watermarks, so none is left out but those of a history (tvfsql.history) that are too early.
    If all of it is, its watermark is missing. The windows that this would have closed end before the wanted ones too,
    and are dropped above. Rows that are too late have a watermark that closes wanted windows, so they are read.

    Does not apply
    - to SESSION: a row more makes another session;
    - to changes, of which some rows may have no time;
    - on streams to tables without a history, whose rows are read once, to upper bounds, and with tvfsql.late-output,
      which has rows that the watermark of the history makes late.
    """
    match node:
        case Filter(source, conditions) if not (options.streaming and options[LATE_OUTPUT]):
            signs = LOWER if options.streaming else (*LOWER, *UPPER)
            bounds = [each for one in conditions if one.deterministic for each in one.bounds if each.sign in signs]
            narrowed = _narrowed(source, bounds, options) if bounds else None
            return None if narrowed is None else replace(node, input=narrowed)
    return None


def _narrowed(node: Node, bounds: Iterable[Bound], options: Options) -> Node | None:
    """The node over a window function whose input is filtered; None if nothing changes."""
    match node:
        case WindowTableFunction(source, Tumble() | TumbleMonths() | Hop() | Cumulate() as window) as windowed:
            size = window.months * LONGEST_MONTH if isinstance(window, TumbleMonths) else window.size
            new = tuple(each for each in bounds if each.column in WINDOW_COLUMNS and each not in windowed.bounded)
            if not new or is_changelog(source) or is_proctime(source, windowed.time):
                return None
            found = (one for each in new for one in _conditions(each, windowed, size))
            if options.streaming:
                found = (one for one in found if all(each.sign in LOWER for each in one.bounds))
            less = (_history_less if options.streaming else _reading_less)(source, tuple(dict.fromkeys(found)))
            return None if less is None else replace(windowed, input=less, bounded=(*windowed.bounded, *new))
        case Project(source, items):
            computed = {item.name: item.scalar.column for item in items}
            below = [replace(each, column=name) for each in bounds if (name := computed.get(each.column)) is not None]
        case Aggregate(source, keys):
            below = [each for each in bounds if each.column in keys]
        case Filter(source) | Distinct(source):
            below = [*bounds]
        case _:
            return None
    narrowed = _narrowed(source, below, options) if below else None
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
    if bound.sign in LOWER:
        yield _condition(">" if bound.sign == ">" else ">=", bound, -before + last, windowed)
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
