"""Windows that are computed from copies of each row, because an aggregate cannot be merged from slices."""

from __future__ import annotations

from collections.abc import Iterator

from tvfsql.errors import UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import MAX_COPIES, PHASES
from tvfsql.options.words import Phases
from tvfsql.physical.operators import Calc
from tvfsql.physical.row_operators import RowOperator
from tvfsql.physical.window_operators import GroupByWindow, StreamSliceMerge, WindowExpand
from tvfsql.physical.words import called
from tvfsql.plan.aggregate.call import mergeable
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Aggregate
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.values.scalar import PROCTIME
from tvfsql.plan.values.times import duration
from tvfsql.plan.window import Endless, Hop
from tvfsql.plan.window_nodes import WindowAggregate


def gaps(plan: Node) -> Iterator[str]:
    """A line for each HOP of a plan with time between its windows, whose rows are in none."""
    windows = (getattr(node, "window", None) for node in plan.walk())
    for window in dict.fromkeys(window for window in windows if isinstance(window, Hop)):
        if window.has_gaps:
            yield (
                f"the slide of HOP ({duration(window.slide)}) is longer than its size ({duration(window.size)}): "
                "rows between two windows are in none"
            )


def warnings(plan: Node) -> Iterator[str]:
    """A line for each aggregate of a physical plan that makes several copies of each row."""
    for node in plan.walk():
        match node:
            case GroupByWindow(window=window, calls=calls):
                copies = window.copies
            case Aggregate(calls=calls) if any(isinstance(below, WindowExpand) for below in node.walk()):
                expand = next(below for below in node.walk() if isinstance(below, WindowExpand))
                copies = expand.window.copies
            case _:
                continue
        alone = _unmergeable(calls)
        if copies > 1 and alone is not None:
            yield f"{called(alone)} cannot be merged from slices: it is computed from {copies} copies of each row"


def refuse_many(node: WindowAggregate, options: Options) -> None:
    """Raise UnsupportedError for an aggregate that would need more copies of each row than an option allows."""
    alone, most = _unmergeable(node.calls), options[MAX_COPIES]
    if alone is None or options[PHASES] is Phases.ONE or node.window.copies <= most:
        return
    raise UnsupportedError(
        f"{called(alone)} cannot be merged from slices: it would be computed from {node.window.copies} copies of each "
        f"row, and {MAX_COPIES.key} is {most}",
        span=alone.span,
        hint=f"SET '{MAX_COPIES.key}' = '{node.window.copies}'",
    )


def _unmergeable(calls: tuple[AggCall, ...]) -> AggCall | None:
    return next((call for call in calls if not mergeable(call)), None)


# Processing time in physical plans. It must be asked before operators are given MARKS.


__all__ = ["is_proctime"]


@is_proctime.register(Calc)
def _(node: Calc, name: str) -> bool:
    """In a physical plan window_time is computed from the window's end."""
    if not node.items:
        return is_proctime(node.input, name)
    scalar = next(item.scalar for item in node.items if item.name == name)
    read = scalar.columns & {*node.input.columns}
    return scalar == PROCTIME or any(is_proctime(node.input, column) for column in read)


@is_proctime.register(WindowExpand)
def _(node: WindowExpand, name: str) -> bool:
    return is_proctime(node.input, node.time if name == node.struct else name)


@is_proctime.register(StreamSliceMerge)
def _(node: StreamSliceMerge, name: str) -> bool:
    if name == "window_end":
        return node.context.proctime and not isinstance(node.window, Endless)
    return name in node.keys and is_proctime(node.input, name)


@is_proctime.register(RowOperator)
def _(node: RowOperator, name: str) -> bool:
    return node.context.proctime and name in node.times
