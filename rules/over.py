"""Rows in order: ORDER BY and OVER of streams, MATCH_RECOGNIZE. Aggregates are made from partials of single rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.aggregate.call import mergeable
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.aggregate.function import MergeKind
from tvfsql.plan.aggregate.internal import LAG
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Project, Sort, TemporalSort
from tvfsql.plan.over import RANGE, ROWS, Frame, OverAggregate, OverPartials
from tvfsql.plan.patterns import PatternMatch
from tvfsql.plan.rank import RANK_TYPE, Rank
from tvfsql.plan.values.scalar import Scalar, column, free_name, template, text
from tvfsql.planner import rule
from tvfsql.rules.projection import passing
from tvfsql.rules.windows.two_phase import Split

FORMER, SAME_TIME = Frame(ROWS, 1, 1), Frame(RANGE, 0)
ALL_ROWS, ALL_TIMES = Frame(ROWS, None), Frame(RANGE, None)


@rule
def count_instead_of_rank(node: Node, options: Options) -> Node | None:
    """On streams, compute ranks by time from counts over frames.

    Before:
      Rank(rankType=[RANK], partitionBy=[item], orderBy=[bidtime ASC])
    After:
      Project(select=[..., rows - same_time + 1 AS r])
      +- OverAggregate(partitionBy=[item], orderBy=[bidtime ASC], window=[RANGE ...: COUNT(*) AS rows, ...])

    Holds because rows of a partition leave in order of time, so a later row changes no rank. ROW_NUMBER is the number
    of rows so far, in order of arrival for those of one time; RANK that of earlier rows and one; DENSE_RANK the number
    of rows so far whose time is not that of the row before. Does not apply
    - in batch, where all rows are there to be ranked;
    - to DESC, or an order by another column than the time attribute: a later row would move the others;
    - to the rows of windows: their ranks are those of a window, and need an upper limit.

    Flink: StreamPhysicalOverAggregateRule.
    """
    match node:
        case Rank(source, function, _, (key,), _, name, True) if options.streaming:
            time = key.scalar.column
            if time is None or key.descending or window_of(source) is not None:
                return None
            if function == "ROW_NUMBER":
                return _over(source, node, time, [(ALL_ROWS, _count(name))])
            return _rank(source, node, time) if function == "RANK" else _dense_rank(source, node, time)
    return None


def _rank(source: Node, rank: Rank, time: str) -> Node:
    rows, other = (free_name(base, rank.columns) for base in ("rows", "same_time"))
    made = _over(source, rank, time, [(ALL_TIMES, _count(rows)), (SAME_TIME, _count(other))])
    parts = {"rows": column(rows, RANK_TYPE), "same": column(other, RANK_TYPE)}
    return _with(made, source, Item(rank.name, template("{rows} - {same} + 1L", parts, RANK_TYPE, atomic=False)))


def _dense_rank(source: Node, rank: Rank, time: str) -> Node:
    former, new = (free_name(base, rank.columns) for base in ("former", "new"))
    kind = source.type_of(time)
    before = AggCall(former, LAG.name, (column(time, kind), text("NULL", kind)), type=kind)
    times = {"before": column(former, kind), "time": column(time, kind)}
    is_new = template("CAST(NOT {before} <=> {time} AS BIGINT)", times, RANK_TYPE)
    flagged = _with(_over(source, rank, time, [(FORMER, before)]), source, Item(new, is_new))
    total = AggCall(rank.name, "SUM", (column(new, RANK_TYPE),), type=RANK_TYPE)
    counted = _over(flagged, rank, time, [(ALL_TIMES, total)])
    return _with(counted, source, Item(rank.name, column(rank.name, RANK_TYPE)))


def _over(source: Node, rank: Rank, time: str, calls: Sequence[tuple[Frame, AggCall]]) -> OverAggregate:
    frames, made = zip(*calls, strict=True)
    return OverAggregate(source, rank.partition, time, frames, made, span=rank.span)


def _count(name: str) -> AggCall:
    return AggCall(name, "COUNT", (text("*"),), type=RANK_TYPE)


def _with(made: Node, source: Node, item: Item) -> Project:
    """The columns of the source, and another one."""
    return Project(made, (*passing(source.columns, made), item))


@rule
def split_over_aggregate(node: Node, options: Options) -> Node | None:
    """Merge the results of OVER from partials of single rows.

    Before:
      OverAggregate(partitionBy=[k], orderBy=[ts ASC], window=[ROWS BETWEEN 2 PRECEDING AND CURRENT ROW: AVG(x) AS a])
    After:
      Project(select=[..., a_sum div nullif(a_count, 0) AS a])
      +- OverAggregate(partitionBy=[k], orderBy=[ts ASC], window=[ROWS BETWEEN ...: a_sum, a_count])
         +- Project(select=[..., x AS a_sum, 1 AS a_count])

    Holds because a row is a slice of one row, and partials of slices merge to those of a frame. So a result costs one
    merge, however many rows are in its frame, and the state has partials instead of rows. Does not apply
    - if an aggregate cannot be merged (see plan.aggregate.table).
    """
    match node:
        case OverAggregate(source, partition, time, frames, calls) if all(map(mergeable, calls)):
            taken = {name.lower() for name in source.columns}
            finish, rows, merges = list[Item](), list[Item](), []
            for frame in dict.fromkeys(frames):
                split = Split(taken)
                of_frame = [call for call, own in zip(calls, frames, strict=True) if own == frame]
                results = [split.finish(call) for call in of_frame]
                if not frame.has_row:
                    results = [result.substitute(_zeros(split)) for result in results]
                finish += [Item(call.name, result) for call, result in zip(of_frame, results, strict=True)]
                rows += [Item(part.name, part.row) for part in split.columns.parts]
                merges.append((frame, split.merges()))
            below = Project(source, (*passing(source.columns, source), *rows))
            merged = OverPartials(below, partition, time, tuple(merges), span=node.span)
            by_name = {item.name: item for item in finish}
            return Project(merged, (*passing(source.columns, source), *(by_name[call.name] for call in calls)))
    return None


def _zeros(split: Split) -> dict[str, Scalar]:
    """The partials that are 0 for a frame without rows, where merging has nothing to merge."""
    counts = (part for part in split.columns.parts if part.counts)
    return {part.name: template("coalesce({n}, 0L)", {"n": column(part.name)}) for part in counts}


@rule
def split_pattern_aggregates(node: Node, options: Options) -> Node | None:
    """Merge the aggregates of MEASURES from partials of single rows.

    Before:
      Match(partitionBy=[k], pattern=[(A+ B)], ..., measures=[A: AVG(x) AS a])
    After:
      Project(select=[k, a_sum div nullif(a_count, 0) AS a])
      +- Match(partitionBy=[k], pattern=[(A+ B)], ..., measures=[A: a_sum, A: a_count])
         +- Project(select=[..., x AS a_sum, 1 AS a_count])

    Holds because the rows of a variable follow each other, and partials of single rows merge to those of all of them.
    Does not apply
    - if an aggregate cannot be merged (see plan.aggregate.table).
    """
    match node:
        case PatternMatch(source, calls=calls) if calls and all(mergeable(call) for _, call in calls):
            taken = {name.lower() for name in (*source.columns, *node.columns)}
            finish, rows, partials = dict[str, Item](), list[Item](), list[tuple[int, str, MergeKind, bool]]()
            for variable in dict.fromkeys(variable for variable, _ in calls):
                split = Split(taken)
                for own, call in calls:
                    if own == variable:
                        finish[call.name] = Item(call.name, split.finish(call))
                rows += [Item(part.name, part.row) for part in split.columns.parts]
                partials += [(variable, part.name, part.merge, part.counts) for part in split.columns.parts]
            below = Project(source, (*passing(source.columns, source), *rows))
            merged = replace(node, input=below, calls=(), partials=tuple(partials))
            kept = passing(tuple(name for name in node.columns if name not in finish), node)
            return Project(merged, (*kept, *(finish[call.name] for _, call in calls)))
    return None


@rule
def make_temporal_sort(node: Node, options: Options) -> Node | None:
    """On streams, put rows in order as the watermark passes them.

    Before:
      Sort(order=[bidtime ASC, price DESC])
    After:
      TemporalSort(order=[bidtime ASC, price DESC])

    Holds because no row comes before the watermark any more, so the rows that it has passed are the first ones of the
    whole stream. Does not apply
    - in batch, where the input has an end;
    - to an order that falls, or whose first key is computed: no row would ever be the first one;
    - to rows with windows, which leave in the order of their windows.

    Flink: StreamPhysicalTemporalSortRule.
    """
    match node:
        case Sort(source, (first, *more)) if options.streaming and type(node) is Sort:
            computed = any(key.scalar.column is None for key in (first, *more))
            if computed or first.descending or window_of(source) is not None:
                return None
            return TemporalSort(source, node.order)
    return None
