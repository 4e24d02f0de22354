"""The operators that make windows and aggregate rows by them."""

from __future__ import annotations

from dataclasses import fields

from tvfsql.emit import columns
from tvfsql.emit.operators import aggregated, emit
from tvfsql.emit.script import Call, Chain, Script, literal
from tvfsql.emit.sources import RUNTIME, STREAM
from tvfsql.options import KEY_GROUPS
from tvfsql.physical.operators import (
    CONTROL,
    GroupByWindow,
    RowSlices,
    SliceMerge,
    StreamSlices,
    WindowExpand,
)
from tvfsql.plan import window_nodes
from tvfsql.plan.aggregates import MergeKind
from tvfsql.plan.firing import Firing
from tvfsql.plan.scalar import template
from tvfsql.plan.window import Cumulate, Hop, Session, Tumble, TumbleMonths, Window

UNITS = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second"), (1, "millisecond"))


@emit.register
def _(node: WindowExpand, script: Script) -> str:
    name = emit(node.input, script)
    if isinstance(node.window, Session):
        arguments = (
            name,
            _python(node.window, script),
            f"time={literal(node.time)}",
            f"keys={literal(list(node.partition))}",
            f"name={literal(node.struct)}",
            *([f"zone={literal(node.zone)}"] if node.zone else []),
        )
        return script.assign(name, Chain("", (Call(script.need(RUNTIME, "session_windows"), arguments),)))
    if CONTROL in node.columns:
        time = _time(node.time, node.zone, script).flat()
        function = script.need(RUNTIME, "windows_or_null")
        windows: str | Chain = f"{function}({time}, {_python(node.window, script)})"
    else:
        windows = _window(node.window, node.time, node.zone, script)
    return script.assign(name, Chain(name).then("withColumn", literal(node.struct), windows))


@emit.register
def _(node: GroupByWindow, script: Script) -> str:
    assert not isinstance(node.window, Cumulate), "Spark's window() knows no CUMULATE"
    source = emit(node.input, script)
    window = _window(node.window, node.time, node.zone, script).then("alias", literal(node.struct))
    groups = Chain(source).then("groupBy", *columns.names(node.keys), window)
    return script.assign(script.name("windows"), aggregated(groups, node.calls))


@emit.register
def _(node: window_nodes.LocalWindowAggregate, script: Script) -> str:
    source = emit(node.input, script)
    slices = script.name("slices")
    slice_of = _slice(node, script)
    groups = Chain(source).then("groupBy", *columns.names(node.keys), slice_of)
    script.assign(slices, groups.then("agg", *map(columns.partial, node.partials)))
    for part in node.distincts:
        values = script.name("values")
        conditions = [
            template("{x} IS NOT NULL", {"x": part.value}, atomic=False),
            *([part.filter] if part.filter else []),
        ]
        seen = Chain(source).then("where", columns.condition(conditions))
        value = columns.value(part.value).then("alias", '"value"')
        seen = seen.then("select", *columns.names(node.keys), value, slice_of).then("distinct")
        script.assign(values, seen)
        changes = script.name("changes")
        arguments = [
            values,
            _python(node.window, script),
            f"keys={literal(list(node.keys))}",
            f"count={literal(part.count)}",
        ]
        arguments += [f"total={literal(part.sum)}"] if part.sum else []
        script.assign(changes, f"{script.need(RUNTIME, 'distinct_changes')}({', '.join(arguments)})")
        script.assign(slices, Chain(slices).then("unionByName", changes, "allowMissingColumns=True"))
    return slices


@emit.register
def _(node: StreamSlices, script: Script) -> str:
    arguments = (
        *_of_rows(node, script),
        *(["on_event=True"] if node.on_event else []),
        *([f"key_groups={node.key_groups}"] if node.key_groups != KEY_GROUPS else []),
        *(["late=True"] if node.late else []),
        *([f"zone={literal(node.zone)}"] if node.zone else []),
    )
    name = "sessions" if isinstance(node.window, Session) else "slices"
    return script.assign(script.name(name), Chain("", (Call(script.need(STREAM, f"local_{name}"), arguments),)))


@emit.register
def _(node: RowSlices, script: Script) -> str:
    arguments = (
        *_of_rows(node, script),
        *([f"zone={literal(node.zone)}"] if node.zone else []),
    )
    made, name = ("local_sessions", "sessions") if isinstance(node.window, Session) else ("slice_rows", "slices")
    return script.assign(script.name(name), Chain("", (Call(script.need(RUNTIME, made), arguments),)))


@emit.register
def _(node: SliceMerge, script: Script) -> str:
    slices = emit(node.input, script)
    windows = script.name("windows")
    arguments = [
        slices,
        _python(node.window, script),
        f"keys={literal(list(node.keys))}",
        f"merges={_merges(node.merges, script)}",
        *([f"rows={literal(node.rows)}"] if node.rows else []),
    ]
    if not node.streaming and isinstance(node.window, Session):
        merge = script.need(RUNTIME, "merge_sessions")
    elif not node.streaming:
        merge = script.need(RUNTIME, "merge_slices")
    else:
        of = "session" if isinstance(node.window, Session) else "slice"
        merge = script.need(STREAM, f"merge_{of}_stream")
        # what operators of one query observe needs names of their own
        arguments += [f"name={literal(f'tvfsql_{windows}')}"] if windows != "windows" else []
        arguments += ["marks=True"] if node.marks else []
        arguments += ["late=True"] if node.late else []
        arguments += [f"firing={_constructed(node.firing, 'tvfsql.plan.firing', script)}"] if node.firing else []
        arguments += [f"zone={literal(node.zone)}"] if node.zone else []
        arguments += [f"inputs={literal(node.inputs)}"] if node.inputs != ("",) else []
        arguments += ["proctime=True"] if node.proctime else []
    return script.assign(windows, Chain("", (Call(merge, tuple(arguments)),)))


def _of_rows(node: StreamSlices | RowSlices, script: Script) -> tuple[str, ...]:
    """What makes slices of rows, or sessions: the rows, the window and how partials merge."""
    return (
        emit(node.input, script),
        _python(node.window, script),
        f"time={literal(node.time)}",
        f"keys={literal(list(node.keys))}",
        f"merges={_merges(node.merges, script)}",
    )


def _merges(merges: tuple[tuple[str, MergeKind], ...], script: Script) -> str:
    """Partial columns with their merge kinds, as a dict."""
    kinds = ((name, literal(kind) if isinstance(kind, str) else script.functions[kind]) for name, kind in merges)
    return "{" + ", ".join(f"{literal(name)}: {kind}" for name, kind in kinds) + "}"


def _slice(node: window_nodes.LocalWindowAggregate, script: Script) -> Chain:
    assert not isinstance(node.window, TumbleMonths | Session), "in batch they have no slices"
    width = Tumble(node.window.slice_size, node.window.offset)
    slice_of = _window(width, node.time, node.zone, script)
    return slice_of.then("getField", '"end"').then("alias", '"slice_end"')


def _window(window: Window, time: str, zone: str, script: Script) -> Chain:
    """The struct of a row's window: by Spark's window(), its size, slide and start as people write them, where that
    knows the window."""
    if isinstance(window, Cumulate | TumbleMonths):
        function = script.need(RUNTIME, "cumulate_windows" if isinstance(window, Cumulate) else "month_windows")
        return Chain(f"{function}({_time(time, zone, script).flat()}, {_python(window, script)})")
    column = columns.name(time) if not zone else _time(time, zone, script)
    if isinstance(window, Session):  # Spark parts rows that are exactly the gap apart
        return Chain("F").then("session_window", column, literal(f"{_duration(window.gap)} 1 microsecond"))
    slide = window.slide if isinstance(window, Hop) else window.size
    start = window.offset % slide
    arguments = [_duration(window.size)]
    if isinstance(window, Hop) or start:
        arguments.append(_duration(slide))
    if start:
        arguments.append(_duration(start))
    return Chain("F").then("window", column, *map(literal, arguments))


def _python(window: Window, script: Script) -> str:
    return _constructed(window, "tvfsql.plan.window", script)


def _constructed(value: Window | Firing, module: str, script: Script) -> str:
    """A window, or when it fires, as its constructor's call, times in milliseconds."""
    script.need(module, type(value).__name__)
    parts = ((part.name, getattr(value, part.name), part.default) for part in fields(value))
    given = (
        f"{name}={part:_}" if type(part) is int else f"{name}={part}"
        for name, part, default in parts
        if part != default
    )
    return f"{type(value).__name__}({', '.join(given)})"


def _duration(ms: int) -> str:
    width, unit = next(each for each in UNITS if ms % each[0] == 0)
    count = ms // width
    return f"{count} {unit}{'s' if count != 1 else ''}"


def _time(time: str, zone: str, script: Script) -> Chain:
    """The wall clock that windows follow."""
    if not zone:
        return Chain(columns.name(time))
    return Chain(f"{script.need(RUNTIME, 'local_time')}({columns.name(time)}, {literal(zone)})")
