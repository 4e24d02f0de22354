"""Turns ranks within windows that have a limit into Top-N or deduplication per window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.analysis.properties import window_of
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Filter, Item, Project
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.rank import RANK_TYPE, Deduplicate, Rank, WindowDeduplicate, WindowTopN
from tvfsql.plan.values.scalar import Ref, Scalar, text
from tvfsql.planner import rule
from tvfsql.rules.projection import passing

# A range of ranks, inclusive; without a last one there is no limit.
Range = tuple[int, int | None]


@rule
def push_filter_below_rank(node: Node, options: Options) -> Node | None:
    """Drop whole partitions before their rows are ranked.

    Before:
      Filter(where=[item = 'a' AND rn <= 3])
      +- Rank(rankType=[ROW_NUMBER], partitionBy=[window_start, window_end, item], ...)
    After:
      Filter(where=[rn <= 3])
      +- Rank(rankType=[ROW_NUMBER], partitionBy=[window_start, window_end, item], ...)
         +- Filter(where=[item = 'a'])

    Holds because a condition on columns of PARTITION BY is the same for all rows of a partition, and no rank depends on
    other partitions. Conditions on other columns would change the ranks, so they stay above.
    """
    match node:
        case Filter(Rank(source, _, partition) as rank, conditions):
            below = tuple(one for one in conditions if one.columns <= set(partition) and one.deterministic)
            above = tuple(one for one in conditions if one not in below)
            if below:
                moved = replace(rank, input=Filter(source, below))
                return Filter(moved, above) if above else moved
    return None


@rule
def make_window_top_n(node: Node, options: Options) -> Node | None:
    """Keep the rows of each window whose rank is in a range.

    Before:
      Filter(where=[rn <= 3 AND total > 5])
      +- Rank(rankType=[ROW_NUMBER], partitionBy=[window_start, window_end], orderBy=[total DESC])
    After:
      Filter(where=[total > 5])
      +- WindowTopN(window=[w], rankType=[ROW_NUMBER], rankRange=[rankStart=1, rankEnd=3], orderBy=[total DESC])

    Holds because a window is complete when it is emitted, so its ranks are final. Does not apply
    - without a literal upper limit (`rn > 2`, `rn <= n`): every row of a window could pass;
    - if PARTITION BY lacks the start or the end of a window: rows of several windows are ranked together.

    Flink: StreamPhysicalWindowRankRule, for ROW_NUMBER only.
    """
    match node:
        case Filter(Rank(source, function, partition, order, ties, name) as rank, conditions):
            window = window_of(source)
            attached = window.named_by(partition) if window else None
            ranges = {one: found for one in conditions if (found := rank_range(one, name))}
            first, last = intersection(ranges.values())
            if attached is None or last is None:
                return None
            made = WindowTopN(source, attached, function, partition, order, ties, first, last, name, span=rank.span)
            rest = tuple(one for one in conditions if one not in ranges)
            return Filter(made, rest) if rest else made
    return None


@rule
def make_window_deduplicate(node: Node, options: Options) -> Node | None:
    """Keep the first or the last row of each window by event time.

    Before:
      WindowTopN(rankType=[ROW_NUMBER], rankRange=[rankStart=1, rankEnd=1], partitionBy=[item], orderBy=[bidtime DESC])
    After:
      Project(select=[..., 1 AS rn])
      +- WindowDeduplicate(keep=[LastRow], partitionKeys=[item], orderKey=[bidtime])

    Holds because the row of rank 1 by time is the first row, or with DESC the last one, and its rank is known. Does not
    apply to RANK and DENSE_RANK, which keep all rows of that time, nor to an order by more than the time attribute.
    Flink: StreamPhysicalWindowDeduplicateRule.
    """
    match node:
        case WindowTopN(source, window, "ROW_NUMBER", partition, (key,), ties, 1, 1, name):
            told = window_of(source)
            if told is None or key.scalar.column not in told.rowtimes:
                return None
            proctime = key.scalar.column is not None and is_proctime(source, key.scalar.column)
            made = WindowDeduplicate(source, window, partition, key, ties, proctime)
            return Project(made, (*passing(source.columns, made), Item(name, text("1L", RANK_TYPE))))
    return None


def rank_range(condition: Scalar, rank: str) -> Range | None:
    """The ranks that satisfy a condition, if it compares the rank with numbers; else None."""
    if condition.columns != {rank}:
        return None
    words = [word for part in condition.parts for word in (part.split() if isinstance(part, str) else [part])]
    match words:
        case [Ref(), "BETWEEN", str(low), "AND", str(high)] if low.isdigit() and high.isdigit():
            return int(low), int(high)
        case [Ref(), str(sign), str(number)] if number.isdigit():
            return _compared(sign, int(number))
        case [str(number), str(sign), Ref()] if number.isdigit():
            return _compared(sign.translate(str.maketrans("<>", "><")), int(number))
    return None


def intersection(ranges: Iterable[Range]) -> Range:
    """The ranks that are in every range, from 1 on."""
    first, last = 1, None
    for low, high in ranges:
        first = max(first, low)
        last = high if last is None else last if high is None else min(last, high)
    return first, last


def _compared(sign: str, number: int) -> Range | None:
    return {
        "=": (number, number),
        "<=": (1, number),
        "<": (1, number - 1),
        ">=": (number, None),
        ">": (number + 1, None),
    }.get(sign)


# Turns ranks of rows by event time that keep one row into deduplication by key.


@rule
def make_deduplicate(node: Node, options: Options) -> Node | None:
    """On streams, keep the first or the last row of each key by event time.

    Before:
      Filter(where=[rn = 1 AND price > 5])
      +- Rank(rankType=[ROW_NUMBER], partitionBy=[item], orderBy=[bidtime ASC])
    After:
      Filter(where=[price > 5])
      +- Project(select=[..., 1 AS rn])
         +- Deduplicate(keep=[FirstRow], key=[item], orderKey=[bidtime])

    Holds because the row of rank 1 by time is the first row, or with DESC the last one, and its rank is known. Does not
    apply
    - in batch, where all rows are there to be ranked;
    - to an order by another column than the time attribute;
    - to a limit other than the first rank: later rows would move the others;
    - to rows with windows: a PARTITION BY that lacks their start or end is probably a mistake.

    Flink: StreamPhysicalRankRule and its RankUtil.canConvertToDeduplicate.
    """
    match node:
        case Filter(Rank(source, "ROW_NUMBER", partition, (key,), ties, name, True) as rank, conditions):
            ranges = {one: found for one in conditions if (found := rank_range(one, name))}
            single = intersection(ranges.values()) == (1, 1)
            if not options.streaming or not single or window_of(source) is not None:
                return None
            proctime = key.scalar.column is not None and is_proctime(source, key.scalar.column)
            made = Deduplicate(source, partition, key, ties, proctime, span=rank.span)
            known = Project(made, (*passing(source.columns, made), Item(name, text("1L", RANK_TYPE))))
            rest = tuple(one for one in conditions if one not in ranges)
            return Filter(known, rest) if rest else known
    return None
