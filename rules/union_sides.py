"""Moves operators below a UNION ALL where a column tells its sides apart, as the name of a window does: no row of one
side meets a row of the other. Each side then has one window, and is planned like a query over that window.
"""

from __future__ import annotations

from functools import reduce

from tvfsql.options import Options
from tvfsql.plan.analysis.strings import both_sides, strings_of
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate, Distinct, Filter, SetOperation
from tvfsql.plan.rank import Rank
from tvfsql.plan.values.scalar import Among
from tvfsql.planner import rule


@rule
def aggregate_each_side(node: Node, options: Options) -> Node | None:
    """Aggregate each side of a UNION ALL alone if a key tells the sides apart.

    Before:
      Aggregate(groupBy=[window_name, window_start, window_end], select=[..., COUNT(*) AS n])
      +- SetOperation(kind=[union], all=[true])
         :- Project(select=[..., 'minute' AS window_name])
         :  +- WindowTableFunction(window=[TUMBLE(...)])
         +- Project(select=[..., 'hour' AS window_name])
            +- WindowTableFunction(window=[HOP(...)])
    After:
      SetOperation(kind=[union], all=[true])
      :- Aggregate(groupBy=[window_name, window_start, window_end], select=[..., COUNT(*) AS n])
      :  +- Project(select=[..., 'minute' AS window_name])
      :     +- WindowTableFunction(window=[TUMBLE(...)])
      +- Aggregate(groupBy=[window_name, window_start, window_end], select=[..., COUNT(*) AS n])
         +- Project(select=[..., 'hour' AS window_name])
            +- WindowTableFunction(window=[HOP(...)])

    Holds because no group has rows of both sides. Does not apply if the column has a string that both sides have, or
    one that is not written in the query.
    """
    match node:
        case Aggregate() | Distinct() if sides := both_sides(node):
            return _united(*sides)
    return None


@rule
def rank_each_side(node: Node, options: Options) -> Node | None:
    """Rank the rows of each side of a UNION ALL alone if a column of PARTITION BY tells the sides apart.

    Before:
      Rank(rankType=[ROW_NUMBER], partitionBy=[window_name, window_start, window_end], orderBy=[n DESC])
      +- SetOperation(kind=[union], all=[true])
         :- Project(select=['minute' AS window_name, window_start, window_end, n])
         +- Project(select=['hour' AS window_name, window_start, window_end, n])
    After:
      SetOperation(kind=[union], all=[true])
      :- Rank(rankType=[ROW_NUMBER], partitionBy=[window_name, window_start, window_end], orderBy=[n DESC])
      :  +- Project(select=['minute' AS window_name, window_start, window_end, n])
      +- Rank(rankType=[ROW_NUMBER], partitionBy=[window_name, window_start, window_end], orderBy=[n DESC])
         +- Project(select=['hour' AS window_name, window_start, window_end, n])

    Holds because no partition has rows of both sides. Does not apply if the column has a string that both sides have.
    """
    match node:
        case Rank() if sides := both_sides(node):
            return _united(*sides)
    return None


@rule
def choose_side(node: Node, options: Options) -> Node | None:
    """Drop a side of a UNION ALL of which no row passes a filter, and a condition that all rows pass.

    Before:
      Filter(where=[window_name = 'hour'])
      +- SetOperation(kind=[union], all=[true])
         :- Project(select=['minute' AS window_name, window_start, window_end, n])
         +- Project(select=['hour' AS window_name, window_start, window_end, n])
    After:
      Project(select=['hour' AS window_name, window_start, window_end, n])

    Holds because the query writes the strings that the column can have. Does not apply to a column with other values,
    nor if no side would be left.
    """
    match node:
        case Filter(source, conditions):
            kept = reduce(_possible, (one.among for one in conditions if one.among), source)
            open_ones = tuple(one for one in conditions if not (one.among and _always(one.among, kept)))
            if kept is not source or open_ones != conditions:
                return Filter(kept, open_ones) if open_ones else kept
    return None


def _possible(source: Node, among: Among) -> Node:
    """The rows without the sides that have none of the strings, unless none would be left."""
    sides = both_sides(source)
    kept = [side for side in sides or () if strings_of(side).get(among.column, among.strings) & among.strings]
    return _possible(kept[0], among) if len(kept) == 1 else source


def _always(among: Among, source: Node) -> bool:
    known = strings_of(source).get(among.column)
    return known is not None and known <= among.strings


def _united(left: Node, right: Node) -> Node:
    return SetOperation(left, right, "union", all=True)
