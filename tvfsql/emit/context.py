"""Frozen values of the plan as Python text: windows, when they fire, and what an operator of a stream is told."""

from __future__ import annotations

from dataclasses import fields

from tvfsql.emit.python_module import PythonModule, literal
from tvfsql.plan.firing import Firing
from tvfsql.plan.stream import ONE_INPUT, StreamContext
from tvfsql.plan.window import Window


def options(
    context: StreamContext, *names: str, module: PythonModule, usual: StreamContext = ONE_INPUT
) -> tuple[str, ...]:
    """These fields of a context as keyword arguments, without those that have the value that the runtime assumes:
    that in `usual`."""
    values = {name: getattr(context, name) for name in names if getattr(context, name) != getattr(usual, name)}
    return tuple(
        f"{name}={constructed(value, module) if isinstance(value, Firing) else literal(value)}"
        for name, value in values.items()
    )


def own_name(variable: str, usual: str) -> tuple[str, ...]:
    """The name of what an operator observes, as a keyword argument: operators of one query need names of their own."""
    return (f"name={literal(f'tvfsql_{variable}')}",) if variable != usual else ()


def constructed(value: Window | Firing, module: PythonModule) -> str:
    """A window, or when it fires, as its constructor's call, times in milliseconds."""
    parts = ((part.name, getattr(value, part.name), part.default) for part in fields(value))
    given = (
        f"{name}={part:_}" if type(part) is int else f"{name}={part}"
        for name, part, default in parts
        if part != default
    )
    return f"{module.need(type(value).__module__, type(value).__name__)}({', '.join(given)})"
