"""Ranks within several windows over the same rows, of which one operator makes all windows."""

from __future__ import annotations

from dataclasses import replace

from tvfsql.options import Options
from tvfsql.plan.analysis.strings import sides_by
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Filter, Project, SetOperation
from tvfsql.plan.rank import WindowDeduplicate, WindowTopN
from tvfsql.plan.window import Several
from tvfsql.plan.window_nodes import WindowAggregate
from tvfsql.planner import rule
from tvfsql.rules.windows.one_pass import in_one_pass


@rule
def rank_windows_in_one_pass(node: Node, options: Options) -> Node | None:
    """On streams, rank the rows of several windows that one operator makes.

    Before:
      SetOperation(kind=[union], all=[true])
      :- WindowTopN(window=[TUMBLE(...)], partitionBy=[window_name], orderBy=[n DESC])
      :  +- Project(select=['minute' AS window_name, window_start, window_end, n])
      :     +- WindowAggregate(window=[TUMBLE(time_col=[ts], size=[1 min])], select=[...])
      +- WindowTopN(window=[HOP(...)], partitionBy=[window_name], orderBy=[n DESC])
         +- Project(select=['hour' AS window_name, window_start, window_end, n])
            +- WindowAggregate(window=[HOP(time_col=[ts], size=[1 h], slide=[1 min])], select=[...])
    After:
      WindowTopN(window=[WINDOWS(...)], partitionBy=[window_name], orderBy=[n DESC])
      +- Project(select=[window_name, window_start, window_end, n])
         +- WindowAggregate(window=[WINDOWS(time_col=[ts], minute=[...], hour=[...])], select=[...])

    Holds because a column of PARTITION BY tells the rows of the windows apart, and all rows of a window come in one
    micro-batch. Does not apply where aggregate_windows_in_one_pass does not, if no such column does, nor in batch.
    """
    match node:
        case SetOperation(left, right, "union", True) if options.streaming:
            return _together(left, right, options)
    return None


def _together(one: Node, other: Node, options: Options) -> Node | None:
    """The rows of both, if they are ranks with the same operators above them."""
    match one, other:
        case (Project(), Project()) | (Filter(), Filter()) if _over(one.children[0], other) == one:
            below = _together(one.children[0], other.children[0], options)
            return below and _over(below, one)
        case WindowTopN(), WindowTopN():
            made = _rows(one, other, options)
            if made is not None and replace(other, input=one.input, window=one.window) == one:
                return replace(one, input=made, window=replace(one.window, window=_several(made)))
        case WindowDeduplicate(), WindowDeduplicate():
            made = _rows(one, other, options)
            if made is not None and replace(other, input=one.input, window=one.window) == one:
                return replace(one, input=made, window=replace(one.window, window=_several(made)))
    return None


def _over(source: Node, node: Node) -> Node:
    return node.over(lambda child: source)


def _rows(one: WindowTopN | WindowDeduplicate, other: WindowTopN | WindowDeduplicate, options: Options) -> Node | None:
    """The rows that both rank, from one aggregate; None if they do not fit, or nothing tells them apart."""
    if one.input.columns != other.input.columns:
        return None
    rows = SetOperation(one.input, other.input, "union", True)
    return in_one_pass(rows, options) if sides_by(rows, one.partition) else None


def _several(node: Node) -> Several:
    window = next(part.window for part in node.walk() if isinstance(part, WindowAggregate))
    assert isinstance(window, Several), node.label()
    return window
