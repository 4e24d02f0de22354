"""Frozen values of the plan as Python text: windows, their firing, and the settings of a streaming operator."""

from __future__ import annotations

from dataclasses import fields

from tvfsql.emit.python_module import PythonModule, literal
from tvfsql.physical.row_operators import StreamKeepRow, StreamOverAggregate, StreamTemporalSort
from tvfsql.physical.streams.sent_columns import delay_of
from tvfsql.physical.window_operators import StreamSlices
from tvfsql.plan.firing import Firing
from tvfsql.plan.node import Node
from tvfsql.plan.stream import ONE_INPUT, StreamContext
from tvfsql.plan.window import Window


def options(
    context: StreamContext, *names: str, module: PythonModule, usual: StreamContext = ONE_INPUT
) -> tuple[str, ...]:
    """The fields `names` of a context as keyword arguments. Fields equal to those of `usual`, the runtime's default,
    are left out.
    """
    values = {name: getattr(context, name) for name in names if getattr(context, name) != getattr(usual, name)}
    return tuple(
        f"{name}={constructed(value, module) if isinstance(value, Firing) else literal(value)}"
        for name, value in values.items()
    )


def delay(node: StreamSlices | StreamKeepRow | StreamOverAggregate | StreamTemporalSort) -> tuple[str, ...]:
    """The keyword argument that tells an operator how far the watermark of each row is behind its time."""
    found = delay_of(node)
    return () if found is None else (f"delay={found:_}",)


def own_name(node: Node, variable: str, usual: str, module: PythonModule, unnamed: str) -> tuple[str, ...]:
    """A keyword argument that names the operator's observation: operators of one query need different names. Without it
    the name is `unnamed`, the runtime's default.
    """
    name = f"tvfsql_{variable}" if variable != usual else unnamed
    module.observed[name] = node
    return (f"name={literal(name)}",) if variable != usual else ()


def constructed(value: Window | Firing, module: PythonModule) -> str:
    """The constructor call of a window or a Firing, with times in milliseconds."""
    parts = ((part.name, getattr(value, part.name), part.default) for part in fields(value))
    given = (
        f"{name}={part:_}" if type(part) is int else f"{name}={part}"
        for name, part, default in parts
        if part != default
    )
    return f"{module.need(type(value).__module__, type(value).__name__)}({', '.join(given)})"
