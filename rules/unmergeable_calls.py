"""Aggregates that cannot be merged from slices do not drag the others of their query along."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.aggregate.call import mergeable
from tvfsql.plan.analysis.properties import is_changelog
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Expand, Filter, Item, Join, Project, Scan
from tvfsql.plan.values.scalar import column, free_name, template
from tvfsql.plan.values.types import BOOLEAN
from tvfsql.plan.window import Session
from tvfsql.plan.window_nodes import WindowAggregate, WindowProperty
from tvfsql.planner import rule
from tvfsql.rules.strategy import has_slices
from tvfsql.rules.two_phase import is_its_only_slice


@rule
def compute_unmergeable_calls_apart(node: Node, options: Options) -> Node | None:
    """Aggregate what merges from slices, and only the rest from copies of the rows; join both by key and window.

    Before:
      WindowAggregate(groupBy=[k], window=[HOP(...)], select=[SUM(x) AS s, HISTOGRAM_NUMERIC(x, 5) AS h])
    After:
      Project(select=[k, s, h])
      +- Join(joinType=[inner], where=[k <=> k0 AND window_end <=> window_end0])
         :- WindowAggregate(groupBy=[k], window=[HOP(...)], select=[SUM(x) AS s, end('w$) AS window_end])
         +- WindowAggregate(groupBy=[k0], window=[HOP(...)], select=[HISTOGRAM_NUMERIC(x, 5) AS h, end('w$) AS ...])

    Holds because both sides group the same rows by the same keys and windows, so they have the same groups. Keys
    are compared as GROUP BY does: NULL equals NULL. The end of a window identifies it; of sessions the start does,
    within a key. Does not apply
    - on streams, which refuse such aggregates;
    - if all aggregates merge, or none does;
    - to TUMBLE, where a row is in one window, and where slices are turned off;
    - if the rows are not the same each time they are read: changelogs, random values, other inputs than tables.
    """
    match node:
        case WindowAggregate(source, window, calls=calls, attached=None) if not options.streaming:
            if not has_slices(window, options) or is_its_only_slice(window) or is_changelog(source):
                return None
            merged = tuple(call for call in calls if mergeable(call))
            rest = tuple(call for call in calls if call not in merged)
            if not merged or not rest or not _reads_the_same_rows(source):
                return None
            return _joined(node, replace(node, calls=merged), replace(node, calls=rest))
    return None


def _joined(whole: WindowAggregate, merged: WindowAggregate, rest: WindowAggregate) -> Node:
    """The results of both, in the columns of the whole."""
    taken = {name.lower() for name in (*whole.columns, *whole.input.columns)}

    def free(wanted: str) -> str:
        name = free_name(wanted, lambda known: known.lower() in taken)
        taken.add(name.lower())
        return name

    kind = "start" if isinstance(whole.window, Session) else "end"
    mark = WindowProperty(free(f"window_{kind}"), kind)
    again = {key: free(key) for key in whole.keys}
    marked = replace(mark, name=free(mark.name))
    copies = (Item(name, column(key, whole.input.type_of(key))) for key, name in again.items())
    kept = (Item(part.name, column(part.name, part.type)) for part in whole.input.schema)
    keys = tuple(again.values())
    left = replace(merged, properties=(*whole.properties, mark))
    right = replace(rest, input=Project(whole.input, (*kept, *copies)), keys=keys, properties=(marked,))
    pairs = (*again.items(), (mark.name, marked.name))
    conditions = tuple(
        template("{a} <=> {b}", {"a": column(one), "b": column(other)}, BOOLEAN, atomic=False) for one, other in pairs
    )
    join = Join(left, right, "inner", conditions)
    return Project(join, tuple(Item(part.name, column(part.name, part.type)) for part in whole.schema))


def _reads_the_same_rows(node: Node) -> bool:
    """Whether two evaluations of this part of the plan have the same rows."""
    match node:
        case Scan(looked_up=False):
            return True
        case Project(source, items):
            return all(item.scalar.lasting for item in items) and _reads_the_same_rows(source)
        case Filter(source, conditions):
            return all(condition.lasting for condition in conditions) and _reads_the_same_rows(source)
        case Expand(source):
            return _reads_the_same_rows(source)
    return False
