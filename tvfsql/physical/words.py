"""The words of error messages about a plan: constructs as in SQL, columns as the query writes them."""

from __future__ import annotations

from tvfsql.errors import OtherMode
from tvfsql.physical.operators import Calc
from tvfsql.physical.window_operators import SliceMerge
from tvfsql.plan import changelogs, nodes, window_nodes
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.gaps import GapFill, GridFill
from tvfsql.plan.joins import IntervalJoin, RegularJoin, TemporalJoin, WindowJoin
from tvfsql.plan.node import Node
from tvfsql.plan.over import OverAggregate, OverPartials
from tvfsql.plan.patterns import PatternMatch
from tvfsql.plan.rank import Deduplicate, Rank, TopN, WindowDeduplicate, WindowTopN
from tvfsql.plan.tables.internal_columns import is_internal
from tvfsql.plan.values.scalar import Scalar

# why no window reads TO_CHANGELOG over an operator with state
CHANGES_OF_RESULTS = "on streams a window cannot read changes of results: a change can come after the time of its row"
BY_WINDOW = OtherMode("batch", "GROUP BY window_start, window_end and the keys first", link=", or use ")
BY_EVENT_TIME = OtherMode("batch", "ORDER BY ts, ... where WATERMARK FOR ts is in CREATE TABLE", link="; or ")
WITHOUT_WINDOW = OtherMode("batch", "GROUP BY a key without a window")
NOUNS: dict[type[Node], str] = {
    nodes.Aggregate: "this aggregate",
    changelogs.ChangelogNormalize: "a changelog by key",
    nodes.CurrentWatermark: "CURRENT_WATERMARK",
    nodes.Distinct: "SELECT DISTINCT",
    changelogs.FromChangelog: "FROM_CHANGELOG",
    nodes.Join: "this join",
    nodes.Limit: "LIMIT",
    nodes.LookupJoin: "this join",
    nodes.Sort: "ORDER BY",
    nodes.TemporalSort: "ORDER BY",
    changelogs.ToChangelog: "TO_CHANGELOG",
    GapFill: "FILL",
    GridFill: "GAP_FILL",
    Deduplicate: "this deduplication",
    IntervalJoin: "this join",
    Rank: "this ranking",
    OverAggregate: "OVER",
    OverPartials: "OVER",
    PatternMatch: "MATCH_RECOGNIZE",
    RegularJoin: "this join",
    TemporalJoin: "this join",
    TopN: "this ranking",
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


def without_window(node: Node) -> str:
    """What changes its results with each row, in words of SQL."""
    if isinstance(node, TopN):
        return f"{node.limit} without a window"
    if isinstance(node, RegularJoin):
        return "a join without time bounds"
    groups = window_nodes.WindowAggregate | window_nodes.GlobalWindowAggregate | SliceMerge
    keys = [key for key in node.keys if not is_internal(key)] if isinstance(node, groups) else ()
    by = f"GROUP BY {', '.join(keys)}" if keys else "an aggregate"
    return f"{by} without a window"


def called(call: AggCall) -> str:
    """The SQL name of an aggregate."""
    return call.arguments[0].sql.partition("(")[0] if call.function == "SPARK" else call.function


def written(node: Node, scalar: Scalar) -> str:
    """An expression over an operator's columns, with the column names of the tables below. Of a join, names that both
    sides have come with the names of the tables, or with l and r if these are equal too.
    """
    names = {name: origin(node, name) for name in scalar.columns}
    if len(node.children) == 2 and len({*names.values()}) < len(names):
        tables = [{_table(child, name) for name in names if name in child.columns} for child in node.children]
        clear = all(len(each) == 1 and "" not in each for each in tables) and tables[0] != tables[1]
        sides = [*map(str, (*tables[0], *tables[1]))] if clear else ["l", "r"]
        names = {name: f"{sides[name not in node.children[0].columns]}.{shown}" for name, shown in names.items()}
    text = str(scalar.renamed(names))
    for name in names.values():
        text = text.replace(f"`{name}`", name) if "." in name else text
    return text


def _table(node: Node, name: str) -> str:
    """The table that has an operator's column; "" if it is computed."""
    if isinstance(node, nodes.Scan):
        return node.table
    if isinstance(node, nodes.Project) or (isinstance(node, Calc) and node.items):
        scalar = next(item.scalar for item in node.items if item.name == name)
        return _table(node.input, scalar.column) if scalar.column else ""
    below = next((child for child in node.children if name in child.columns), None)
    return _table(below, name) if below else ""


def origin(node: Node, name: str) -> str:
    """The name of an operator's column in the tables below; plans number names that would clash."""
    if isinstance(node, nodes.Project) or (isinstance(node, Calc) and node.items):
        scalar = next(item.scalar for item in node.items if item.name == name)
        return origin(node.input, scalar.column) if scalar.column else name
    below = next((child for child in node.children if name in child.columns), None)
    return origin(below, name) if below else name
