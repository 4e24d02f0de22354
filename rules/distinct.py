"""DISTINCT in two steps: the values of a key are spread over buckets, so that a hot key is the work of many tasks."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.aggregates import AGGREGATES, TIMED, templates
from tvfsql.plan.call import counted, finished, holes, row_of
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import AggCall, Aggregate, Expand, Item, Project
from tvfsql.plan.properties import is_changelog
from tvfsql.plan.scalar import Scalar, column, free_name, template
from tvfsql.plan.types import SqlType, is_orderable
from tvfsql.plan.window import Cumulate, Session, Window
from tvfsql.plan.window_nodes import WindowAggregate
from tvfsql.planner import rule
from tvfsql.rules.projection import passing

ENABLED, BUCKETS = (f"table.optimizer.distinct-agg.split.{name}" for name in ("enabled", "bucket-num"))


@rule
def split_distinct(node: Node, options: Options) -> Node | None:
    """Aggregate in buckets of the distinct values first, and then join the buckets.

    Before:
      WindowAggregate(groupBy=[k], window=[w], select=[k, SUM(x) AS s, COUNT(DISTINCT a) AS n, start('w$), end('w$)])
    After:
      Project(select=[k, s, n, window_start, window_end])
      +- Aggregate(groupBy=[k, window_start, window_end], select=[SUM(s) AS s, SUM0(n) AS n])
         +- WindowAggregate(groupBy=[k, a_bucket], window=[w], select=[SUM(x) AS s, COUNT(DISTINCT a) AS n, ...])
            +- Project(select=[k, x, a, pmod(hash(a), 1024) AS a_bucket])

    Holds because equal values have equal hashes: a value is in one bucket, so it is counted once. With several DISTINCT
    arguments each has buckets of its own in a copy of the rows (Expand); the other aggregates go with the first one.
    On streams aggregate_attached_windows then makes a window aggregate of the outer step. Does not apply
    - without table.optimizer.distinct-agg.split.enabled, or without a DISTINCT;
    - if an aggregate cannot be joined from its results over parts of the rows: lists (LISTAGG, COLLECT, ARRAY_AGG),
      whose order goes by time, spreads (STDDEV, VAR), Spark's own and a user's;
    - to CUMULATE that leaves out steps: what leaves out a bucket would have to look at all of them;
    - where late rows are kept: they come out of one window operator;
    - to a SESSION, which rows of all buckets make together;
    - to changes: a row that goes may leave one bucket and the row in its place come into another, and only both
      together tell whether the window has rows.
    Flink: SplitAggregateRule.
    """
    match node:
        case WindowAggregate(source, window, buckets=()) if options[ENABLED] == "true":
            values = distinct_values(node.calls)
            if not values or leaves_out_steps(window) or is_changelog(source) or options["tvfsql.late-output"]:
                return None
            if isinstance(window, Session):
                return None
            if not all(can_be_joined(call) for call in node.calls):
                return None
            taken = {*source.columns, *node.columns}
            names = [_free(f"{value.column}_bucket" if value.column else "bucket", taken) for value in values]
            hashed = (
                Item(name, template(f"pmod(hash({{x}}), {options[BUCKETS]})", {"x": value}, "int"))
                for name, value in zip(names, values, strict=True)
            )
            below: Node = Project(source, (*passing(source.columns, source), *hashed))
            copy: dict[Scalar | None, Scalar] = {}
            if len(values) > 1:
                each = [(1 << len(values)) - 1 - (1 << i) for i in reversed(range(len(values)))]
                below = Expand(below, tuple(names), tuple(each), _free("$e", taken))
                copy = {
                    value: template(f"{{e}} = {number}", {"e": column(below.id)}, "boolean", atomic=False)
                    for value, number in zip(values, each, strict=True)
                }
            split = _Split(copy, copy.get(values[0]), taken)
            results = {call.name: split.result(call) for call in node.calls}
            inner = replace(
                node, input=below, keys=(*node.keys, *names), calls=tuple(split.inner), buckets=tuple(names)
            )
            keys = (*node.keys, *(part.name for part in node.properties))
            outer = Aggregate(inner, keys, tuple(split.outer))
            kept = (
                Item(part.name, results[part.name] if part.name in results else column(part.name, part.type))
                for part in node.schema
            )
            return Project(outer, tuple(kept))
    return None


def distinct_values(calls: tuple[AggCall, ...]) -> tuple[Scalar, ...]:
    """The different arguments of DISTINCT."""
    return tuple(dict.fromkeys(call.arguments[0] for call in calls if call.distinct))


def leaves_out_steps(window: Window) -> bool:
    return isinstance(window, Cumulate) and (window.emit_only_on_change or window.emit_only_on_update)


def can_be_joined(call: AggCall) -> bool:
    """Whether the call's result follows from its results over parts of the rows."""
    row = row_of(call)
    if call.distinct and not (call.arguments[0].deterministic and is_orderable(call.arguments[0].type)):
        return False
    return row is not None and (bool(row.again) or call.function in ("AVG", "FIRST_VALUE", "LAST_VALUE"))


class _Split:
    """Gathers the calls of both steps. `copy` has the condition for the rows of each DISTINCT argument, `plain` that
    for calls without DISTINCT; there are none if rows are not copied."""

    def __init__(self, copy: dict[Scalar | None, Scalar], plain: Scalar | None, taken: set[str]) -> None:
        self.copy, self.plain, self.taken = copy, plain, taken
        self.inner: list[AggCall] = []
        self.outer: list[AggCall] = []

    def result(self, call: AggCall) -> Scalar:
        """What is over the outer step's columns the call's result."""
        row = AGGREGATES[call.function]
        kind = call.arguments[0].type
        match call.function:
            case "AVG":
                total = self._joined(replace(call, name=f"{call.name}_sum", function="SUM", type=_sum(kind)), "SUM")
                count = self._joined(replace(call, name=f"{call.name}_count", function="COUNT", type="bigint"), "SUM0")
                return finished(call, templates(row, kind)[1], {"sum": total, "count": count})
            case "FIRST_VALUE" | "LAST_VALUE" as function:
                timed = template(TIMED, holes(call))  # a value stands beside its time until buckets are joined
                smallest = "MIN" if function == "FIRST_VALUE" else "MAX"
                found = replace(call, function=smallest, arguments=(timed,), filter=counted(call), time=None, type="")
                return template("{v}.x", {"v": self._joined(found, smallest)}, call.type)
        inner = replace(call, type=_sum(kind)) if call.function in ("SUM", "SUM0") else call
        return self._joined(inner, row.again, call.type)

    def _joined(self, call: AggCall, again: str, kind: SqlType | None = None) -> Scalar:
        """The call in the inner step, and its results joined in the outer one: that one's column."""
        kind = call.type if kind is None else kind
        condition = self.copy.get(call.arguments[0]) if call.distinct else self.plain
        if condition is not None and call.filter is not None:
            condition = template("{a} AND {b}", {"a": call.filter, "b": condition}, "boolean", atomic=False)
        call = replace(call, filter=condition or call.filter)
        known = next((each for each in self.inner if replace(each, name=call.name) == call), None)
        if known is None:
            known = replace(call, name=_free(call.name, self.taken))
            self.inner.append(known)
        joined = AggCall(call.name, again, (column(known.name, known.type),), type=kind)
        for each in self.outer:
            if replace(each, name=joined.name) == joined and each.type == kind:
                return column(each.name, kind)
        self.outer.append(joined)
        return column(joined.name, kind)


def _sum(kind: SqlType) -> SqlType:
    """The type in which parts of a sum are kept: Spark's, so that one that is too large for the result may be made up
    for by others."""
    row = AGGREGATES["SUM"]
    assert row.natural is not None
    return row.natural(kind) or row.result(kind)


def _free(wanted: str, taken: set[str]) -> str:
    lowered = {name.lower() for name in taken}
    name = free_name(wanted, lambda known: known.lower() in lowered)
    taken.add(name)
    return name
