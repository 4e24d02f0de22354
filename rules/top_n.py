"""Ranks with a limit over rows of all times: on streams each row may change them."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.aggregate.call import retractable
from tvfsql.plan.analysis.properties import unique_key, window_of
from tvfsql.plan.analysis.sharing import Shared
from tvfsql.plan.joins import RegularJoin
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Distinct, Filter, Item, Project, SetOperation, Sink
from tvfsql.plan.rank import Deduplicate, Rank, TopN
from tvfsql.plan.tables.internal_columns import ALWAYS, CLOCKS
from tvfsql.plan.values.scalar import PROCTIME
from tvfsql.planner import plan_rule, rule
from tvfsql.rules.projection import passing
from tvfsql.rules.windows.rank import intersection, rank_range
from tvfsql.syntax import ast


@rule
def make_top_n(node: Node, options: Options) -> Node | None:
    """On streams, keep the best rows so far, and emit what changes.

    Before:
      Filter(where=[rn <= 3 AND price > 5])
      +- Rank(rankType=[ROW_NUMBER], partitionBy=[item], orderBy=[price DESC])
    After:
      Filter(where=[price > 5])
      +- TopN(strategy=[AppendFast], rankType=[ROW_NUMBER], rankRange=[rankStart=1, rankEnd=3], partitionBy=[item], ...)
         +- Project(select=[item, price, PROCTIME() AS $always])

    Holds because the changes up to any row, applied in their order, give the ranks of all rows up to it. Does not apply
    - in batch, where all rows are there to be ranked;
    - without a literal upper limit: every row would have to be kept, and each would change the ranks of many;
    - to an ascending order by the time attribute: a later row changes no rank;
    - if PARTITION BY has columns of a window: the other ones are probably missing by mistake.

    Source: semantics.md#top-n-without-windows. Flink: StreamPhysicalRank.
    """
    match node:
        case Filter(Rank(source, function, partition, order, ties, name) as rank, conditions) if options.streaming:
            window = window_of(source)
            ranges = {one: found for one in conditions if (found := rank_range(one, name))}
            first, last = intersection(ranges.values())
            if last is None or (rank.by_time and not order[0].descending):
                return None
            if window is not None and any(window.kind(key) for key in partition):
                return None
            key = unique_key(source)
            identified = tuple(column for column in source.columns if column in key) if key is not None else None
            made = TopN(
                _at_any_time(source), function, partition, order, ties, first, last, source.columns, name, identified
            )
            made = replace(made, span=rank.span)
            rest = tuple(one for one in conditions if one not in ranges)
            return Filter(made, rest) if rest else made
    return None


@plan_rule
def update_last_rows(plan: Node, options: Options) -> Node | None:
    """On streams, emit the last row of each key at once, and replace it when another one comes, if what is above takes
    changes.

    Before:
      Deduplicate(keep=[LastRow], key=[item], orderKey=[bidtime], order=[ROWTIME])
      +- Scan(table=[bid], fields=[item, bidtime])
    After:
      TopN(strategy=[AppendFast], rankType=[ROW_NUMBER], rankRange=[rankStart=1, rankEnd=1], partitionBy=[item], ...)
      +- Project(select=[item, bidtime, PROCTIME() AS $always])
         +- Scan(table=[bid], fields=[item, bidtime])

    Holds because the last change of a key is its last row. Does not apply
    - below windows, joins with time bounds and other operators that need final rows;
    - below a table that only adds rows;
    - below aggregates that cannot retract a row;
    - to what the INSERTs of a set share;
    - with EMIT ON WINDOW CLOSE, which asks for final rows.

    There a row is emitted once, when its key has been quiet for table.exec.state.ttl. Flink:
    RowTimeDeduplicateFunction, ProcTimeDeduplicateKeepLastRowFunction.
    """
    final = options.emit == f"EMIT {ast.ON_CLOSE}"
    made = _updated(plan, takes=True) if options.streaming and not final else plan
    return made if made is not plan else None


def _updated(node: Node, *, takes: bool) -> Node:
    """The plan of an operator. `takes`: what is above it takes changes."""
    match node:
        case Deduplicate(source, partition, order, ties) if takes and order.descending:
            made = TopN(_at_any_time(source), "ROW_NUMBER", partition, (order,), ties, 1, 1, source.columns)
            return replace(made, span=node.span)
        case Sink(changes=changes):
            takes = changes
        case Project(items=items):
            takes = takes and all(item.scalar.lasting for item in items if item.name not in CLOCKS)
        case Filter(conditions=conditions):
            takes = takes and all(one.lasting for one in conditions)
        case SetOperation(kind=kind, all=every):
            takes = takes and kind == "union" and every
        case Aggregate(source, calls=calls):
            takes = window_of(source) is None and all(map(retractable, calls))
        case Distinct(source):
            takes = window_of(source) is None
        case TopN():
            takes = True
        case RegularJoin():
            takes = takes or node.updating
        case Shared():
            return node
        case _:
            takes = False
    return node.over(lambda child: _updated(child, takes=takes))


def _at_any_time(source: Node) -> Project:
    """The rows with the time of their micro-batch."""
    return Project(source, (*passing(source.columns, source), Item(ALWAYS, PROCTIME)))
