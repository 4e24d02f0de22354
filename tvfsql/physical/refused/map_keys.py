"""Keys of streams whose type has no order of its entries: a MAP."""

from __future__ import annotations

from collections.abc import Iterator

from tvfsql.errors import UnsupportedError
from tvfsql.plan.aggregate.chosen_values import Counted
from tvfsql.plan.deduplicate import Deduplicate
from tvfsql.plan.joins.interval_join import IntervalJoin
from tvfsql.plan.joins.temporal_join import TemporalJoin
from tvfsql.plan.joins.window_join import WindowJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate
from tvfsql.plan.over import OverPartials
from tvfsql.plan.rank import WindowDeduplicate, WindowTopN
from tvfsql.plan.values.scalar import Ref
from tvfsql.plan.values.types import SqlType, has_map
from tvfsql.plan.window_nodes import LocalWindowAggregate, WindowAggregate, WindowTableFunction


def refuse_map_keys(plan: Node) -> None:
    """Raise UnsupportedError for a MAP, or a value with a MAP inside, that streams would have to find rows by."""
    for node in plan.walk():
        for use, name, kind in _keys(node):
            if has_map(kind):
                raise UnsupportedError(
                    f"on streams a MAP cannot be {use}, but {name} is {kind.flink}",
                    span=node.span,
                    hint=f"one of its values, as in {name}['a'], or --mode batch",
                )


def _keys(node: Node) -> Iterator[tuple[str, str, SqlType]]:
    """What rows are found by: its use, its name and its type."""
    match node:
        case Aggregate() | WindowAggregate() | LocalWindowAggregate():
            yield from (("a key of GROUP BY", name, node.input.type_of(name)) for name in node.keys)
        case Deduplicate() | OverPartials() | WindowTopN() | WindowDeduplicate() | WindowTableFunction():
            yield from (("a key of PARTITION BY", name, node.input.type_of(name)) for name in node.partition)
        case IntervalJoin() | TemporalJoin() | WindowJoin():
            yield from (("compared in a join", pair.left, node.left.type_of(pair.left)) for pair in node.pairs)
    if isinstance(node, Aggregate | WindowAggregate):
        calls = (call for call in node.calls if call.distinct and call.arguments)
        yield from (("an argument of DISTINCT", call.arguments[0].sql, call.arguments[0].type) for call in calls)
    if isinstance(node, LocalWindowAggregate):
        values = (part.row for part in node.partials if part.merge == "distinct" or isinstance(part.merge, Counted))
        names = (part.name for value in values for part in value.parts if isinstance(part, Ref))
        yield from (("an argument of DISTINCT", name, node.input.type_of(name)) for name in names)
