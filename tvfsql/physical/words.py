"""The words of error messages about a plan: constructs as in SQL, columns as the query writes them."""

from __future__ import annotations

from tvfsql.plan import nodes, window_nodes
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.deduplicate import Deduplicate
from tvfsql.plan.gaps import GapFill
from tvfsql.plan.joins import IntervalJoin, TemporalJoin, WindowJoin
from tvfsql.plan.node import Node
from tvfsql.plan.over import OverAggregate, OverPartials
from tvfsql.plan.rank import Rank, WindowDeduplicate, WindowTopN
from tvfsql.plan.values.scalar import Scalar

NOUNS: dict[type[Node], str] = {
    nodes.Aggregate: "this aggregate",
    nodes.ChangelogNormalize: "a changelog by key",
    nodes.CurrentWatermark: "CURRENT_WATERMARK",
    nodes.Distinct: "SELECT DISTINCT",
    nodes.Join: "this join",
    nodes.Limit: "LIMIT",
    nodes.LookupJoin: "this join",
    nodes.Sort: "ORDER BY",
    nodes.TemporalSort: "ORDER BY",
    GapFill: "FILL",
    Deduplicate: "this deduplication",
    IntervalJoin: "this join",
    Rank: "this ranking",
    OverAggregate: "OVER",
    OverPartials: "OVER",
    TemporalJoin: "this join",
    WindowDeduplicate: "this deduplication",
    WindowJoin: "this join",
    WindowTopN: "this ranking",
    window_nodes.LocalWindowAggregate: "this aggregate",
    window_nodes.WindowAggregate: "this aggregate",
    window_nodes.WindowTableFunction: "this window function",
}


def noun(node: Node) -> str:
    """The SQL construct that an operator comes from."""
    match node:
        case nodes.SetOperation(kind=kind):
            return kind.upper()
        case nodes.SparkSql(reason=reason):
            return reason
        case window_nodes.WindowAggregate(calls=calls) if any(call.function.startswith("$") for call in calls):
            return "this operation"  # an operator by window: a join or a ranking
    return NOUNS.get(type(node), "this operation")


def called(call: AggCall) -> str:
    """The SQL name of an aggregate."""
    return call.arguments[0].sql.partition("(")[0] if call.function == "SPARK" else call.function


def written(node: Node, scalar: Scalar) -> str:
    """An expression over an operator's columns, with the column names of the tables below."""
    return str(scalar.renamed({name: origin(node, name) for name in scalar.columns}))


def origin(node: Node, name: str) -> str:
    """The name of an operator's column in the tables below; plans number names that would clash."""
    if isinstance(node, nodes.Project):
        scalar = next(item.scalar for item in node.items if item.name == name)
        return origin(node.input, scalar.column) if scalar.column else name
    below = next((child for child in node.children if name in child.columns), None)
    return origin(below, name) if below else name
