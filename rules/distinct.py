"""DISTINCT in two steps: the values of a key are spread over buckets, so that many tasks share the work of a hot
key.
"""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.options.known import BUCKETS, DISTINCT_SPLIT, LATE_OUTPUT
from tvfsql.plan.aggregate.call import counted, finished, holes, mergeable, row_of
from tvfsql.plan.aggregate.collector import Collector
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.function import Share
from tvfsql.plan.aggregate.table import AGGREGATES
from tvfsql.plan.analysis.properties import is_changelog
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Expand, Filter, Item, Join, Project, Scan
from tvfsql.plan.values.scalar import Scalar, column, free_name, template
from tvfsql.plan.values.types import BOOLEAN, INT, SqlType, is_orderable
from tvfsql.plan.window import Cumulate, Session, Window
from tvfsql.plan.window_nodes import WindowAggregate, WindowProperty
from tvfsql.planner import rule
from tvfsql.rules.projection import passing
from tvfsql.rules.windows.table_function import copied_below_window
from tvfsql.rules.windows.two_phase import has_slices, is_its_only_slice


@rule
def split_distinct(node: Node, options: Options) -> Node | None:
    """Aggregate in buckets of the distinct values first, then merge the buckets.

    Before:
      WindowAggregate(groupBy=[k], window=[w], select=[k, SUM(x) AS s, COUNT(DISTINCT a) AS n, start('w$), end('w$)])
    After:
      Project(select=[k, s, n, window_start, window_end])
      +- Aggregate(groupBy=[k, window_start, window_end], select=[SUM(s) AS s, SUM0(n) AS n])
         +- WindowAggregate(groupBy=[k, a_bucket], window=[w], select=[SUM(x) AS s, COUNT(DISTINCT a) AS n, ...])
            +- Project(select=[k, x, a, pmod(hash(a), 1024) AS a_bucket])

    Holds because equal values have equal hashes: a value is in one bucket, so it is counted once. With several DISTINCT
    arguments each one has its own buckets in a copy of the rows (Expand), and the other aggregates use the first copy.
    On streams aggregate_attached_windows then makes the outer step a window aggregate. Does not apply
    - without table.optimizer.distinct-agg.split.enabled, or without DISTINCT;
    - if an aggregate cannot be merged from its results over parts of the rows: lists (LISTAGG, COLLECT, ARRAY_AGG),
      whose order follows time, STDDEV and VAR, Spark's own aggregates, and those in Python;
    - to a CUMULATE that skips steps: a bucket alone cannot decide which ones;
    - if late rows are kept: one window operator emits them;
    - to a SESSION, which the rows of all buckets form together;
    - to changes: an update can leave one bucket and enter another, and only both together show whether the window has
      rows.

    Flink: SplitAggregateRule.
    """
    match node:
        case WindowAggregate(source, window, buckets=()) if options[DISTINCT_SPLIT]:
            values = distinct_values(node.calls)
            if not values or leaves_out_steps(window) or is_changelog(source) or options[LATE_OUTPUT]:
                return None
            if isinstance(window, Session):
                return None
            if not all(can_be_joined(call) for call in node.calls):
                return None
            taken = {name.lower() for name in (*source.columns, *node.columns)}
            names = [_free(f"{value.column}_bucket" if value.column else "bucket", taken) for value in values]
            hashed = (
                Item(name, template(f"pmod(hash({{x}}), {options[BUCKETS]})", {"x": value}, INT))
                for name, value in zip(names, values, strict=True)
            )
            below: Node = Project(source, (*passing(source.columns, source), *hashed))
            copy: dict[Scalar | None, Scalar] = {}
            if len(values) > 1:
                each = [(1 << len(values)) - 1 - (1 << i) for i in reversed(range(len(values)))]
                below = Expand(below, tuple(names), tuple(each), _free("$e", taken))
                copy = {
                    value: template(f"{{e}} = {number}", {"e": column(below.id)}, BOOLEAN, atomic=False)
                    for value, number in zip(values, each, strict=True)
                }
            keys = (*node.keys, *(part.name for part in node.properties))
            split = _Split(copy, copy.get(values[0]), taken, {key.lower() for key in keys})
            results = {call.name: split.result(call) for call in node.calls}
            inner = replace(
                node, input=below, keys=(*node.keys, *names), calls=tuple(split.inner.parts), buckets=tuple(names)
            )
            outer = Aggregate(inner, keys, tuple(split.outer.parts))
            kept = (
                Item(part.name, results[part.name] if part.name in results else column(part.name, part.type))
                for part in node.schema
            )
            return Project(outer, tuple(kept))
    return None


def distinct_values(calls: tuple[AggCall, ...]) -> tuple[Scalar, ...]:
    """The distinct arguments of DISTINCT."""
    return tuple(dict.fromkeys(call.arguments[0] for call in calls if call.distinct))


def leaves_out_steps(window: Window) -> bool:
    return isinstance(window, Cumulate) and (window.emit_only_on_change or window.emit_only_on_update)


def can_be_joined(call: AggCall) -> bool:
    """Whether the call's result can be computed from its results over subsets of the rows."""
    row = row_of(call)
    if call.distinct and not (call.arguments[0].deterministic and is_orderable(call.arguments[0].type)):
        return False
    return row is not None and bool(row.shares)


class _Split:
    """Collects the calls of both steps. `copy` has the condition for the rows of each DISTINCT argument, `plain` the
    condition for calls without DISTINCT. Both are empty if rows are not copied. `taken` and `keys` are the other names
    of the inner and of the outer step.
    """

    def __init__(
        self, copy: dict[Scalar | None, Scalar], plain: Scalar | None, taken: set[str], keys: set[str]
    ) -> None:
        self.copy, self.plain = copy, plain
        self.inner: Collector[AggCall] = Collector(taken)
        self.outer: Collector[AggCall] = Collector(keys)

    def result(self, call: AggCall) -> Scalar:
        """The call's result, over the columns of the outer step."""
        row = AGGREGATES[call.function]
        kind = call.arguments[0].type
        if not row.shares[0].suffix:
            return self._joined(replace(call, type=row.widest(kind)), row.shares[0].again, call.type)
        parts = {share.suffix: self._share(call, share, alone=len(row.shares) == 1) for share in row.shares}
        return finished(call, row.templates(kind).finish, parts)

    def _share(self, call: AggCall, share: Share, *, alone: bool) -> Scalar:
        """The combined result of one share, over the columns of the outer step."""
        own = replace(call, name=call.name if alone else f"{call.name}_{share.suffix}", function=share.function)
        if share.value != "{x}":
            own = replace(own, arguments=(template(share.value, holes(call)),), filter=counted(call), time=None)
        kind = AGGREGATES[share.function].widest(own.arguments[0].type)
        return self._joined(replace(own, type=kind), share.again, kind)

    def _joined(self, call: AggCall, again: str, kind: SqlType) -> Scalar:
        """Add the call to the inner step and its combination by `again` to the outer step; return the latter's
        column.
        """
        condition = self.copy.get(call.arguments[0]) if call.distinct else self.plain
        if condition is not None and call.filter is not None:
            condition = template("{a} AND {b}", {"a": call.filter, "b": condition}, BOOLEAN, atomic=False)
        inner = self.inner.column(replace(call, filter=condition or call.filter))
        return self.outer.column(AggCall(call.name, again, (inner,), type=kind, span=call.span))


def _free(wanted: str, taken: set[str]) -> str:
    name = free_name(wanted, lambda known: known.lower() in taken)
    taken.add(name.lower())
    return name


# Aggregates that cannot be merged from slices do not drag the others of their query along.


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


# Grouping sets over windows: rows are copied per set before they are assigned to windows.


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
