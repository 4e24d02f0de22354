"""Several windows that the INSERTs of a set read: their slices are kept, and each INSERT makes its own windows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.analysis.sharing import Shared
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Filter, Project
from tvfsql.plan.window import Several
from tvfsql.plan.window_nodes import GlobalWindowAggregate, LocalWindowAggregate
from tvfsql.planner import rule
from tvfsql.rules.projection import narrow
from tvfsql.rules.windows.one_pass import NAME


@rule
def share_slices_of_several_windows(node: Node, options: Options) -> Node | None:
    """In batch, keep the slices of several windows for the INSERTs of a set, not the rows of all windows.

    Before:
      Shared(reuse_id=[1])
      +- Project(select=[window_end, item, n, window_name])
         +- GlobalWindowAggregate(groupBy=[item], window=[WINDOWS(...)], select=[...])
            +- LocalWindowAggregate(groupBy=[item], window=[WINDOWS(...)], select=[...])
    After:
      Project(select=[window_end, item, n, window_name])
      +- GlobalWindowAggregate(groupBy=[item], window=[WINDOWS(...)], select=[...])
         +- Shared(reuse_id=[1])
            +- LocalWindowAggregate(groupBy=[item], window=[WINDOWS(...)], select=[...])

    Reason: there are at most as many slices as rows, but a row can be in hundreds of windows, of which each INSERT
    reads those of one name (drop_unread_windows).

    Holds because the slices are the same for all that share the windows. Does not apply on streams, where one operator
    has the state of all windows, nor to a window by itself, whose rows are those that each INSERT reads. INSERTs over
    Parquet and ORC share no windows: to read some columns twice costs no more.
    """
    match node:
        case Shared(source, number) if not options.streaming:
            return _with_shared_slices(source, number)
    return None


@rule
def drop_unread_windows(node: Node, options: Options) -> Node | None:
    """In batch, make only those of several windows whose names a condition leaves.

    Before:
      Filter(where=[window_name = 'hop', n > 1])
      +- GlobalWindowAggregate(groupBy=[item], window=[WINDOWS(tumble=[...], hop=[...])], select=[...])
         +- LocalWindowAggregate(groupBy=[item], window=[WINDOWS(tumble=[...], hop=[...])], select=[...])
    After:
      Filter(where=[n > 1])
      +- GlobalWindowAggregate(groupBy=[item], window=[WINDOWS(hop=[...])], select=[...])
         +- LocalWindowAggregate(groupBy=[item], window=[WINDOWS(tumble=[...], hop=[...])], select=[...])

    Holds because windows are made of whole slices of the one with the shortest, whichever windows are made. Does not
    apply if the condition is about something else as well, nor on streams, where rows that are late for any of the
    windows are counted.
    """
    match node:
        case Filter(source, conditions) if not options.streaming:
            for at, among in ((at, one.among) for at, one in enumerate(conditions) if one.among):
                made = _among(source, among.column, among.strings)
                rest = (*conditions[:at], *conditions[at + 1 :])
                if made is not None:
                    return Filter(made, rest) if rest else made
    return None


@rule
def prune_windows_of_shared_slices(node: Node, options: Options) -> Node | None:
    """Merge only those columns of shared slices that an INSERT reads.

    Before:
      Project(select=[window_end, n])
      +- GlobalWindowAggregate(groupBy=[item], window=[WINDOWS(hop=[...])], merge=[sum(n), sum(s)], select=[n, s, ...])
         +- Shared(reuse_id=[1])
            +- LocalWindowAggregate(groupBy=[item], window=[WINDOWS(...)], select=[COUNT(*) AS n, SUM(x) AS s, ...])
    After:
      Project(select=[window_end, n])
      +- GlobalWindowAggregate(groupBy=[item], window=[WINDOWS(hop=[...])], merge=[sum(n)], select=[n, ...])
         +- Shared(reuse_id=[1])
            +- LocalWindowAggregate(groupBy=[item], window=[WINDOWS(...)], select=[COUNT(*) AS n, SUM(x) AS s, ...])

    Holds because a column that no operator above reads does not affect the result (prune_columns). Does not apply to
    windows of their own slices, whose aggregates have been left out before they were split.
    """
    match node:
        case Project(source, items) if _reads_shared_slices(source):
            narrowed = narrow(source, frozenset(name for item in items for name in item.scalar.columns))
            return Project(narrowed, items) if narrowed is not source else None
    return None


def _reads_shared_slices(node: Node) -> bool:
    match node:
        case Project(source) | Filter(source):
            return _reads_shared_slices(source)
        case GlobalWindowAggregate(Shared()):
            return True
    return False


def _with_shared_slices(node: Node, number: int) -> Node | None:
    match node:
        case Project(source):
            below = _with_shared_slices(source, number)
            return below and replace(node, input=below)
        case GlobalWindowAggregate(LocalWindowAggregate() as slices, Several()):
            return replace(node, input=Shared(slices, number))
    return None


def _among(node: Node, named: str, names: Collection[str]) -> Node | None:
    """The rows of the windows with these names. `named`: the column with the name. None: it is not the name of one of
    several windows, or there would be none."""
    match node:
        case Project(source, items):
            below = next(item.scalar.column for item in items if item.name == named)
            made = _among(source, below, names) if below else None
            return made and replace(node, input=made)
        case Filter(source, conditions):
            made = _among(source, named, names)
            return made and Filter(made, conditions)
        case GlobalWindowAggregate(window=Several(windows)):
            read = tuple(each for each in windows if each[0] in names)
            is_name = any(part.name == named and part.kind == NAME for part in node.properties)
            return replace(node, window=Several(read)) if is_name and read else None
    return None
