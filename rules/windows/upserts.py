"""Groups of a stream as Spark's own aggregate, where the sink needs only their new results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tvfsql.options import Options
from tvfsql.options.known import STATE_TTL
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Filter, Item, Project, Scan, SetOperation, Sink, Unnest, UpsertAggregate, kept_column
from tvfsql.plan.tables.internal_columns import ALWAYS
from tvfsql.plan.values.scalar import Scalar
from tvfsql.plan.values.types import is_decimal, is_exact, is_float, is_integer
from tvfsql.plan.window import Endless
from tvfsql.plan.window_nodes import WindowAggregate
from tvfsql.planner import plan_rule


@plan_rule
def aggregate_upserts_in_spark(node: Node, options: Options) -> Node | None:
    """On streams, leave groups whose new results replace the old ones in the sink to Spark's own aggregate.

    Before:
      Sink(table=[counts])
      +- GroupAggregate(groupBy=[k], select=[k, COUNT(*) AS n])
         +- Project(select=[k, PROCTIME() AS $always])
            +- Scan(table=[t], fields=[k])
    After:
      Sink(table=[counts])
      +- UpsertAggregate(groupBy=[k], select=[k, COUNT(*) AS n])
         +- Project(select=[k])
            +- Scan(table=[t], fields=[k])

    Holds because the last result of a group is that of all its rows, in whatever order they were added up, and the sink
    keeps the last row of each key, or none. Spark's aggregate runs without Python, but cannot say what a result was
    before, so a result that is equal to the one before is written again. Does not apply

    - unless the keys of the groups are the PRIMARY KEY of the table, or the table is a blackhole;
    - with table.exec.state.ttl, EMIT, HAVING, grouping sets or keys of other types than those of numbers, texts, dates
      and timestamps;
    - to DISTINCT, and to aggregates other than COUNT, MIN, MAX, and SUM and AVG of exact numbers;
    - over changes, windows and other operators with state, which Spark does not run below its own.

    Source: semantics.md#groups-without-a-window.
    """
    if not isinstance(node, Sink) or node.upserts is None or node.overwrite or node.conflict:
        return None
    if not options.streaming or options[STATE_TTL] or options.emit:
        return None
    replaced = _replaced(node)
    if replaced is None or (node.upserts and {*node.upserts} != {*_shown_keys(node.input, replaced)}):
        return None
    made = _upserts(replaced)
    return node.transform(lambda each: made if each is replaced else each)


def _replaced(sink: Sink) -> WindowAggregate | None:
    """The aggregate below the projections of a sink, if Spark's own has the same results."""
    below = sink.input
    while isinstance(below, Project) and _are_lasting(below.items):
        below = below.input
    match below:
        case WindowAggregate(Project(), Endless(), keys=keys, calls=calls) if below.is_plain and keys and calls:
            exact = all(is_exact(below.input.type_of(key)) for key in keys)
            if exact and all(map(_is_same_in_spark, calls)) and _is_of_rows(below.input):
                return below
    return None


def _upserts(node: WindowAggregate) -> UpsertAggregate:
    assert isinstance(node.input, Project), node.input.label()
    items = tuple(item for item in node.input.items if item.name != ALWAYS)
    return UpsertAggregate(
        Project(node.input.input, items, span=node.input.span), node.keys, node.calls, span=node.span
    )


def _shown_keys(node: Node, groups: WindowAggregate) -> Iterator[str]:
    """For each key of an aggregate, a column of the projections above that has it; none if one is left out."""
    shown = {name: name for name in node.columns}
    while isinstance(node, Project):
        below = {item.name: kept_column(item, node.input) for item in node.items}
        shown = {name: key for name, each in shown.items() if (key := below[each]) is not None}
        node = node.input
    names = {key: name for name, key in shown.items() if key in groups.keys}
    return iter(names.values() if len(names) == len(groups.keys) else ())


def _is_same_in_spark(call: AggCall) -> bool:
    """Whether Spark's streaming aggregate has the result that batch has, whatever the order of rows."""
    if call.distinct or not all(scalar.lasting for scalar in _scalars_of(call)):
        return False
    kind = call.arguments[0].type
    match call.function:
        case "COUNT":
            return len(call.arguments) == 1
        case "MIN" | "MAX":
            return is_exact(kind) or is_float(kind)
        case "SUM" | "AVG":
            return is_integer(kind) or is_decimal(kind)
    return False


def _scalars_of(call: AggCall) -> tuple[Scalar, ...]:
    return (*call.arguments, *((call.filter,) if call.filter else ()))


def _is_of_rows(node: Node) -> bool:
    """Whether the rows are those of tables that only add rows, each computed by itself."""
    match node:
        case Scan():
            return not (node.changelog or node.sign or node.op or node.versions or node.looked_up)
        case Project(source, items):
            return _are_lasting(item for item in items if item.name != ALWAYS) and _is_of_rows(source)
        case Filter(source, conditions):
            return all(one.lasting for one in conditions) and _is_of_rows(source)
        case Unnest(source):
            return _is_of_rows(source)
        case SetOperation(left, right, "union", True):
            return _is_of_rows(left) and _is_of_rows(right)
    return False


def _are_lasting(items: Iterable[Item]) -> bool:
    return all(item.scalar.lasting for item in items)
