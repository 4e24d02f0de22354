"""Turns aggregates over windows into one operator, so that rows need not be copied per window."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.analysis.properties import WindowColumns, is_changelog, window_of
from tvfsql.plan.analysis.sharing import of_shared
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Distinct, Filter, Item, Project
from tvfsql.plan.tables.internal_columns import ALWAYS, WINDOW_COLUMNS
from tvfsql.plan.values.scalar import PROCTIME, column, free_name, template
from tvfsql.plan.values.types import TIMESTAMP
from tvfsql.plan.window import Endless, Session, one_per_end
from tvfsql.plan.window_nodes import WindowAggregate, WindowProperty, WindowTableFunction
from tvfsql.planner import rule
from tvfsql.rules.projection import passing, typed


@rule
def pull_up_window_table_function(node: Node, options: Options) -> Node | None:
    """Merge a window function into the aggregate that groups by both its window columns.

    Before:
      Aggregate(groupBy=[window_start, window_end, k], select=[..., COUNT(*) AS n])
      +- WindowTableFunction(window=[w])
    After:
      Project(select=[window_start, window_end, k, n])
      +- WindowAggregate(groupBy=[k], window=[w], select=[k, COUNT(*) AS n, start('w$), end('w$)])

    Holds because a window function only adds window columns, and start and end together identify a window. Does not
    apply with only one of the two (rows of several windows would fall together), if an aggregate uses a window column,
    nor to a SESSION whose keys differ from those of the groups. Flink:
    PullUpWindowTableFunctionIntoWindowAggregateRule.
    """
    match node:
        case Aggregate(WindowTableFunction(source, window, time, zone, partition) as windowed, keys, calls):
            if not groups_by_window(windowed, keys) or not calls_avoid_window_columns(calls):
                return None
            kinds = {key: kind for key in keys if (kind := window_kind(windowed, key))}
            own = tuple(key for key in keys if key not in kinds)
            if isinstance(window, Session) and set(own) != set(partition):
                return None
            properties = tuple(WindowProperty(key, kind, windowed.type_of(key)) for key, kind in kinds.items())
            made = WindowAggregate(source, window, time, own, calls, properties, zone, span=windowed.span)
            return Project(made, passing(node.columns, made))
    return None


@rule
def aggregate_distinct_windows(node: Node, options: Options) -> Node | None:
    """Make SELECT DISTINCT of rows with their windows an aggregate that groups by all columns.

    Before:
      Distinct
      +- Project(select=[window_start, window_end, k])
         +- WindowTableFunction(window=[w])
    After:
      Aggregate(groupBy=[window_start, window_end, k], select=[...])
      +- Project(select=[window_start, window_end, k])
         +- WindowTableFunction(window=[w])

    Holds because a group without aggregates is one row with the values of its keys. The aggregate then becomes a window
    aggregate: rows need not be copied per window, and on streams a row is final when its window ends. Does not apply if
    the columns do not identify the window, nor to changes, which are refused. Flink: DISTINCT is an aggregate from the
    start.
    """
    match node:
        case Distinct(source) if (known := window_of(source)) and not is_changelog(source):
            if known.named_by(source.columns) or known.is_told_by(source.columns):
                return Aggregate(source, source.columns, ())
    return None


@rule
def complete_window_keys(node: Node, options: Options) -> Node | None:
    """Group by both ends of a window if one of them identifies it.

    Before:
      Aggregate(groupBy=[window_start, k], select=[..., COUNT(*) AS n])
      +- WindowTableFunction(window=[TUMBLE(...)])
    After:
      Project(select=[window_start, k, n])
      +- Aggregate(groupBy=[window_start, k, window_end], select=[..., COUNT(*) AS n])
         +- WindowTableFunction(window=[TUMBLE(...)])

    Holds because the windows of TUMBLE and HOP have one size, so that the other end splits no group; those of CUMULATE
    have one end each. Does not apply to the start of a CUMULATE, to SESSION, nor on the wall clock of a zone that
    changes its clocks, where two windows can begin at the same instant. On streams such groups are final when their
    window ends; Flink updates them with each row.
    """
    match node:
        case Aggregate(source, keys, calls) if (known := window_of(source)) and known.is_told_by(keys):
            whole = _with_both_ends(source, known)
            found = window_of(whole)
            if known.named_by(keys) or found is None:
                return None
            missing = tuple(names[0] for names in (found.starts, found.ends) if names and not {*names} & {*keys})
            if not found.named_by((*keys, *missing)) or {*missing} & {call.name for call in calls}:
                return None
            made = Aggregate(whole, (*keys, *missing), calls)
            return Project(made, passing(node.columns, made))
    return None


@rule
def pull_window_filter_above_aggregate(node: Node, options: Options) -> Node | None:
    """Filter windows after they are aggregated, so that they can be made from slices.

    Before:
      Aggregate(groupBy=[window_start, window_end, k], select=[...])
      +- Filter(where=[window_start >= x])
         +- WindowTableFunction(window=[w])
    After:
      Filter(where=[window_start >= x])
      +- Aggregate(groupBy=[window_start, window_end, k], select=[...])
         +- WindowTableFunction(window=[w])

    Holds because the condition uses group keys only. It is the same for all rows of a group, so a group passes as a
    whole or not at all. A condition on window_time, which the other two columns tell, makes it a key. Does not apply to
    a CUMULATE that emits only changed steps, because the filter could remove the
    step to compare with. Flink keeps the window function separate and copies each row.
    """
    match node:
        case Aggregate(Filter(WindowTableFunction() as source, conditions), keys, calls):
            read = frozenset[str]().union(*(one.columns for one in conditions))
            times = tuple(name for name in WINDOW_COLUMNS if name in read and name not in keys)
            over_keys = read <= {*keys, *times} and all(one.deterministic for one in conditions)
            free = not {*times} & {call.name for call in calls}
            if groups_by_window(source, keys) and over_keys and free and not source.window.emit_only_on_change:
                kept = Filter(Aggregate(source, (*keys, *times), calls), conditions)
                return Project(kept, passing(node.columns, kept)) if times else kept
    return None


@rule
def pull_project_above_window_aggregate(node: Node, options: Options) -> Node | None:
    """Group by the window function's own columns. Renamed and derived columns are computed afterwards.

    Before:
      Aggregate(groupBy=[s, e, hour, k], select=[..., SUM(x) AS total])
      +- Project(select=[window_start AS s, window_end AS e, hour(window_start) AS hour, item AS k, price AS x])
         +- WindowTableFunction(window=[w])
    After:
      Project(select=[window_start AS s, window_end AS e, hour(window_start) AS hour, item AS k, total])
      +- Aggregate(groupBy=[window_start, window_end, item], select=[..., SUM(price) AS total])
         +- WindowTableFunction(window=[w])

    Holds because each key is a column, or is computed from keys that are columns, so it does not split any group. A
    filter can be above the window function. Does not apply unless both window columns are keys.
    """
    match node:
        case Aggregate(Project(source, items), keys, calls):
            if not isinstance(source.input if isinstance(source, Filter) else source, WindowTableFunction):
                return None
            computed = {item.name: item.scalar for item in items}
            own = tuple(dict.fromkeys(name for key in keys if (name := computed[key].column) is not None))
            if not groups_by_window(source, own) or not all(scalar.deterministic for scalar in computed.values()):
                return None
            if not all(computed[key].columns <= set(own) for key in keys):
                return None
            names = dict(zip((call.name for call in calls), _free_names(calls, own), strict=True))
            moved = tuple(replace(call.over(computed), name=names[call.name]) for call in calls)
            made = Aggregate(source, own, moved)
            results = {name: column(names[name]) for name in names}
            return Project(
                made,
                tuple(
                    Item(name, typed(computed[name] if name in computed else results[name], node, name))
                    for name in node.columns
                ),
            )
    return None


@rule
def aggregate_attached_windows(node: Node, options: Options) -> Node | None:
    """On streams, aggregate rows by the window columns that they already carry. A group is final when its window is.

    Before:
      Aggregate(groupBy=[window_start, window_end], select=[MAX(n) AS most])
      +- WindowAggregate(groupBy=[k], window=[HOP(...)], select=[k, COUNT(*) AS n, start('w$), end('w$)])
    After:
      WindowAggregate(groupBy=[window_start, window_end], window=[HOP(win_start=[window_start], ...)], select=[...])
      +- Project(select=[window_start, window_end, n, window_end - INTERVAL '0.001' SECOND AS rowtime])
         +- WindowAggregate(groupBy=[k], window=[HOP(...)], select=[k, COUNT(*) AS n, start('w$), end('w$)])

    Holds because rows of different windows differ in a key, and all rows of a window have the same time, the last one
    of the window. Does not apply in batch, where any GROUP BY ends, unless both window columns are keys, nor to the
    shared part of a statement set: the rows of a window arrive in one micro-batch, where any GROUP BY ends too. Source:
    semantics.md#windows-over-windows.
    """
    match node:
        case Aggregate(source, keys, calls) if options.streaming and not of_shared(source):
            known = window_of(source)
            named = known.named_by(keys) if known else None
            if known is None or named is None:
                return None
            taken = {name.lower() for name in (*source.columns, *node.columns)}
            time = free_name("rowtime", lambda name: name in taken)
            last = template("{end} - INTERVAL '0.001' SECOND", {"end": column(named.end)}, TIMESTAMP, atomic=False)
            timed = Project(source, (*passing(source.columns, source), Item(time, last)))
            return WindowAggregate(timed, one_per_end(named.window), time, keys, calls, (), named.zone, named)
    return None


@rule
def update_groups_without_window(node: Node, options: Options) -> Node | None:
    """On streams, aggregate rows without a window in one that never ends, and emit what changes.

    Before:
      Aggregate(groupBy=[k], select=[k, COUNT(*) AS n])
      +- Scan(table=[t], fields=[k])
    After:
      GroupAggregate(groupBy=[k], select=[k, COUNT(*) AS n])
      +- Project(select=[k, PROCTIME() AS $always])
         +- Scan(table=[t], fields=[k])

    Holds because the changes up to any row, applied in their order, give the groups of all rows up to it. A SELECT
    DISTINCT groups by all its columns; without aggregates a group never changes. Does not apply in batch, where any
    GROUP BY ends, nor to the shared part of a statement set, whose windows are complete in a micro-batch. Source:
    semantics.md#groups-without-a-window. Flink: GroupAggregate.
    """
    match node:
        case Aggregate(source) | Distinct(source) if options.streaming and not of_shared(source):
            keys, calls = (node.keys, node.calls) if isinstance(node, Aggregate) else (source.columns, ())
            timed = Project(source, (*passing(source.columns, source), Item(ALWAYS, PROCTIME)))
            return WindowAggregate(timed, Endless(), ALWAYS, keys, calls, ())
    return None


def _with_both_ends(source: Node, known: WindowColumns) -> Node:
    """Return a projection that also has both ends of the windows, if the operators below have them; else the same
    relation.
    """
    match source:
        case Project(below, items) if (all_of := window_of(below)) and not (known.starts and known.ends):
            lost = [of[0] for of, kept in ((all_of.starts, known.starts), (all_of.ends, known.ends)) if of and not kept]
            taken = {name.lower() for name in source.columns}
            names = [(free_name(name, lambda name: name.lower() in taken), name) for name in lost]
            return Project(below, (*items, *(Item(new, column(name, below.type_of(name))) for new, name in names)))
    return source


def _free_names(calls: tuple[AggCall, ...], keys: tuple[str, ...]) -> list[str]:
    """The names of the calls, numbered where they would clash with a key."""
    names: list[str] = []
    for call in calls:
        taken = {name.lower() for name in (*keys, *names)}
        names.append(free_name(call.name, lambda name, taken=taken: name.lower() in taken))  # type: ignore[misc]
    return names


def groups_by_window(source: Node, keys: tuple[str, ...]) -> bool:
    """Whether the keys of an aggregate identify the window of its rows, by its start and end."""
    found = window_of(source)
    return found is not None and found.named_by(keys) is not None


def window_kind(source: Node, key: str) -> str | None:
    """What a column holds of its row's window (`start`, `end` or `time`); None if nothing."""
    found = window_of(source)
    return found.kind(key) if found else None


def calls_avoid_window_columns(calls: tuple[AggCall, ...]) -> bool:
    return all(not call.columns & set(WINDOW_COLUMNS) for call in calls)
