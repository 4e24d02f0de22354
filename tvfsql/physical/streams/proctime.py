"""Processing time in physical plans. It must be asked before operators are given MARKS."""

from __future__ import annotations

from tvfsql.physical.operators import Calc
from tvfsql.physical.row_operators import RowOperator
from tvfsql.physical.window_operators import StreamSliceMerge, WindowExpand
from tvfsql.plan.proctime import is_proctime
from tvfsql.plan.values.scalar import PROCTIME

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
    return node.context.proctime and (name == "window_end" or name in node.keys)


@is_proctime.register(RowOperator)
def _(node: RowOperator, name: str) -> bool:
    return node.context.proctime and name in node.times
