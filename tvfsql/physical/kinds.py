"""The kinds of operators that a reader of a plan looks for: where rows come from, move, wait and go."""

from __future__ import annotations

from enum import StrEnum

from tvfsql.physical.operators import (
    AppliedChanges,
    Exchange,
    LateOutput,
    StreamOperator,
    TableSourceScan,
    UpsertMaterialize,
)
from tvfsql.physical.window_operators import GroupByWindow, StreamSlices
from tvfsql.plan import changelogs, nodes
from tvfsql.plan.analysis.sharing import CommonPart, Reused, Shared
from tvfsql.plan.gaps import GapFill, GridFill
from tvfsql.plan.joins import IntervalJoin, RegularJoin, TemporalJoin, WindowJoin
from tvfsql.plan.node import Node
from tvfsql.plan.over import OverAggregate, OverPartials
from tvfsql.plan.patterns import PatternMatch
from tvfsql.plan.rank import Deduplicate, Rank, TopN, WindowDeduplicate, WindowTopN
from tvfsql.plan.window_nodes import AggregateByWindow


class Kind(StrEnum):
    """`STATE` keeps rows or results from one micro-batch to the next, `GATHER` only within a run or a micro-batch."""

    SOURCE = "source"
    ROWS = "row by row"
    SHUFFLE = "shuffle"
    GATHER = "gathers rows"
    STATE = "state"
    SINK = "sink"


SOURCES = (TableSourceScan, nodes.Scan, nodes.Values, Reused)
SINKS = (nodes.Sink, LateOutput)
GATHERING = (
    *(AggregateByWindow, GroupByWindow, nodes.Aggregate, nodes.Distinct, nodes.Sort, OverAggregate, OverPartials),
    *(nodes.Join, WindowJoin, IntervalJoin, RegularJoin, TemporalJoin),
    *(Deduplicate, WindowDeduplicate, WindowTopN, TopN, Rank),
    *(GapFill, GridFill, PatternMatch, changelogs.ChangelogNormalize, AppliedChanges, UpsertMaterialize),
    *(Shared, CommonPart),
)


def kind_of(node: Node) -> Kind:
    """The kind of an operator; that of a set operation depends on whether it compares rows."""
    if isinstance(node, nodes.SetOperation):
        return Kind.ROWS if node.kind == "union" and node.all else Kind.GATHER
    if isinstance(node, StreamOperator) and not isinstance(node, StreamSlices):
        return Kind.STATE
    of = ((SOURCES, Kind.SOURCE), (SINKS, Kind.SINK), ((Exchange,), Kind.SHUFFLE), (GATHERING, Kind.GATHER))
    return next((kind for classes, kind in of if isinstance(node, classes)), Kind.ROWS)
