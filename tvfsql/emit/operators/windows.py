"""Emits the window operators: window functions and window aggregates."""

from __future__ import annotations

from dataclasses import fields

from tvfsql.emit import columns
from tvfsql.emit.operators.basic import aggregated, emit, variable
from tvfsql.emit.python_module import Chain, PythonModule, Rows, called, literal
from tvfsql.emit.tables.sources import RUNTIME, STREAM
from tvfsql.physical.row_operators import StreamKeepRow, StreamMatch, StreamOverAggregate, StreamTemporalSort
from tvfsql.physical.streams.history import histories
from tvfsql.physical.streams.other_rows import delay_of, without_repeated_partials
from tvfsql.physical.window_operators import (
    BatchSlices,
    GroupByWindow,
    RowSlices,
    SliceMerge,
    StreamSliceMerge,
    StreamSlices,
    WindowExpand,
)
from tvfsql.plan import window_nodes
from tvfsql.plan.aggregate.chosen_values import (
    Counted,
    Frequent,
    MostFrequent,
    Quantiles,
    counted,
    frequent,
    most_frequent,
    quantiles,
)
from tvfsql.plan.aggregate.function import MergeKind
from tvfsql.plan.aggregate.sketches import DistinctSketch, Kll, distinct_sketches, kll
from tvfsql.plan.aggregate.top_rows import TopRows, top_rows
from tvfsql.plan.node import Node, instances
from tvfsql.plan.nodes import SparkSql
from tvfsql.plan.stream import ONE_INPUT, Firing, StreamContext
from tvfsql.plan.tables.internal_columns import CONTROL, RANGE, SLICE_END
from tvfsql.plan.values.scalar import Scalar, free_name
from tvfsql.plan.values.user_function import UserFunction
from tvfsql.plan.window import Cumulate, Hop, Session, Several, Tumble, TumbleMonths, Window, time_ranges

UNITS = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second"), (1, "millisecond"))


@emit.register
def _(node: WindowExpand, module: PythonModule) -> Rows:
    rows = emit(node.input, module)
    if isinstance(node.window, Session):
        arguments = (
            constructed(node.window, module),
            f"time={literal(node.time)}",
            f"keys={literal(list(node.partition))}",
            f"name={literal(node.struct)}",
            *([f"zone={literal(node.zone)}"] if node.zone else []),
            *(["in_one_task=True"] if not (node.partition or _is_deterministic(node.input)) else []),
        )
        return rows.transform(module.need(RUNTIME, "session_windows"), *arguments)
    if CONTROL in node.columns:
        time = _time(node.time, node.zone, module).flat()
        function = module.need(RUNTIME, "windows_or_null")
        windows: str | Chain = f"{function}({time}, {constructed(node.window, module)})"
    else:
        windows = _window(node.window, node.time, node.zone, module)
    return rows.then("withColumn", literal(node.struct), windows)


@emit.register
def _(node: GroupByWindow, module: PythonModule) -> Rows:
    assert not isinstance(node.window, Cumulate), "Spark's window() knows no CUMULATE"
    source = variable(node.input, module)
    window = _window(node.window, node.time, node.zone, module).then("alias", literal(node.struct))
    groups = Chain(source).then("groupBy", *columns.names(node.keys), window)
    return module.rows("windows", aggregated(groups, node.calls))


@emit.register
def _(node: window_nodes.LocalWindowAggregate, module: PythonModule) -> Rows:
    source = variable(node.input, module)
    groups = Chain(source).then("groupBy", *columns.names(node.keys), _slice(node, module))
    slices = groups.then("agg", *map(columns.partial, node.partials))
    return module.rows("slices", slices)


@emit.register
def _(node: window_nodes.TimeRanges, module: PythonModule) -> Rows:
    range_of = _window(time_ranges(node.window), SLICE_END, "", module).then("getField", '"end"')
    return emit(node.input, module).then("withColumn", literal(RANGE), range_of)


@emit.register
def _(node: StreamSlices, module: PythonModule) -> Rows:
    rows, same, ones = without_repeated_partials(node)
    arguments = (
        *_of_rows(rows, module),
        *([f"same={literal(same)}"] if same else []),
        *([f"ones={literal(ones)}"] if ones else []),
        *_of_history(node, module),
        *delay(node),
        *options(node.context, "on_event", "key_groups", "late", "zone", "by_input", module=module),
    )
    name = "sessions" if isinstance(node.window, Session) else "slices"
    return module.rows(name, called(module.need(STREAM, f"local_{name}"), *arguments))


@emit.register
def _(node: BatchSlices, module: PythonModule) -> Rows:
    arguments = (
        *_of_rows(node, module),
        *([f"zone={literal(node.zone)}"] if node.zone else []),
    )
    made, name = ("local_sessions", "sessions") if isinstance(node.window, Session) else ("slice_rows", "slices")
    return module.rows(name, called(module.need(RUNTIME, made), *arguments))


@emit.register
def _(node: SliceMerge, module: PythonModule) -> Rows:
    arguments = _of_slices(node, module)
    merge = module.need(RUNTIME, "merge_sessions" if isinstance(node.window, Session) else "merge_slices")
    return module.rows("windows", called(merge, *arguments))


@emit.register
def _(node: StreamSliceMerge, module: PythonModule) -> Rows:
    arguments = _of_slices(node, module)
    merge = f"merge_{'session' if isinstance(node.window, Session) else 'slice'}_stream"
    windows = module.name("windows")
    arguments += own_name(node, windows, "windows", module, "tvfsql")
    arguments += (f"zeros={literal(list(node.zeros))}",) if node.zeros else ()
    arguments += (f"retention={node.retention:_}",) if node.retention else ()
    arguments += options(
        node.context, "marks", "late", "adjust", "firing", "zone", "inputs", "by_input", "proctime", module=module
    )
    return Rows(windows, called(module.need(STREAM, merge), *arguments))


def _of_slices(node: SliceMerge, module: PythonModule) -> tuple[str, ...]:
    """Arguments for making windows from slices or intervals: the slices, the window and the merge kinds."""
    return (
        variable(node.input, module),
        constructed(node.window, module),
        f"keys={literal(list(node.keys))}",
        f"merges={merge_kinds(node.merges, module)}",
        *([f"rows={literal(node.rows)}"] if node.rows else []),
    )


def _of_rows(node: RowSlices, module: PythonModule) -> tuple[str, ...]:
    """Arguments for making slices or sessions from rows: the rows, the window and the merge kinds."""
    return (
        variable(node.input, module),
        constructed(node.window, module),
        f"time={literal(node.time)}",
        f"keys={literal(list(node.keys))}",
        f"merges={merge_kinds(node.merges, module)}",
    )


def _of_history(node: StreamSlices, module: PythonModule) -> tuple[str, ...]:
    """The argument for functions that return the rows of histories, by the channels of their streams. Writes them."""
    made = {}
    for channels, rows in histories(node):
        name = free_name("history", lambda name: name in {*module.names, *module.beside})
        body = PythonModule()
        body.give_back(emit(rows, body))
        module.imports |= body.imports
        module.names.add(name)
        module.beside[name] = "\n".join([f"def {name}(spark: SparkSession) -> DataFrame:", *body.lines])
        made[channels] = name
    if not made:
        return ()
    zeros = [f"zeros={literal(list(node.zeros))}"] if node.zeros else []
    return (f"history={{{', '.join(f'{literal(key)}: {name}' for key, name in made.items())}}}", *zeros)


def merge_kinds(merges: tuple[tuple[str, MergeKind], ...], module: PythonModule) -> str:
    """Partial columns with their merge kinds, as a dict."""
    return "{" + ", ".join(f"{literal(name)}: {merge_kind(kind, module)}" for name, kind in merges) + "}"


def merge_kind(kind: MergeKind, module: PythonModule) -> str:
    """A merge kind in Python."""
    if isinstance(kind, TopRows):
        ties = [f"ties={literal(dict(kind.ties))}"] if kind.ties else []
        arguments = (literal(kind.function), f"order={literal(dict(kind.order))}", *ties, f"last={kind.last}")
        return f"{module.need(top_rows.__module__, top_rows.__name__)}({', '.join(arguments)})"
    if isinstance(kind, Quantiles):
        discrete = [f"discrete={literal(kind.discrete)}"] if kind.discrete else []
        arguments = (*map(literal, kind.fractions), *discrete, *(["results=True"] if kind.results else []))
        return f"{module.need(quantiles.__module__, quantiles.__name__)}({', '.join(arguments)})"
    if isinstance(kind, Counted):
        made = module.need(counted.__module__, counted.__name__)
        return f"{made}({'total=True' if kind.total else ''})"
    if isinstance(kind, Kll):
        results = ["results=True"] if kind.results else []
        arguments = (str(kind.k), literal(kind.values), *map(literal, kind.fractions), *results)
        return f"{module.need(kll.__module__, kll.__name__)}({', '.join(arguments)})"
    if isinstance(kind, DistinctSketch):
        made = module.need(distinct_sketches.__module__, distinct_sketches.__name__)
        size = [str(kind.lg)] if kind.lg or kind.family == "hll" else []
        mode = [f"mode={literal(kind.mode)}"] if kind.mode else []
        common = ["common=True"] if kind.common else []
        return f"{made}({', '.join([literal(kind.family), *size, *mode, *common])})"
    if isinstance(kind, Frequent):
        return f"{module.need(frequent.__module__, frequent.__name__)}({kind.kept}, {kind.tracked})"
    if isinstance(kind, MostFrequent):
        return f"{module.need(most_frequent.__module__, most_frequent.__name__)}()"
    return module.functions[kind] if isinstance(kind, UserFunction) else literal(kind)


def _is_deterministic(node: Node) -> bool:
    """Whether a plan has the same rows whenever it runs over the same tables."""
    known = all(scalar.deterministic for scalar in instances(node, Scalar))
    return known and not any(isinstance(part, SparkSql) for part in node.walk())


def _slice(node: window_nodes.LocalWindowAggregate, module: PythonModule) -> Chain:
    assert not isinstance(node.window, TumbleMonths | Session), "in batch they have no slices"
    width = Tumble(node.window.slice_size, node.window.offset)
    slice_of = _window(width, node.time, node.zone, module)
    return slice_of.then("getField", '"end"').then("alias", literal(SLICE_END))


def _window(window: Window, time: str, zone: str, module: PythonModule) -> Chain:
    """The struct of a row's window. It uses Spark's window() with readable durations if Spark has that window."""
    assert not isinstance(window, Several), "they are made from slices"
    if isinstance(window, Cumulate | TumbleMonths):
        function = module.need(RUNTIME, "cumulate_windows" if isinstance(window, Cumulate) else "month_windows")
        return Chain(f"{function}({_time(time, zone, module).flat()}, {constructed(window, module)})")
    if isinstance(window, Hop) and window.has_gaps:
        function = module.need(RUNTIME, "hop_windows")
        return Chain(f"{function}({_time(time, zone, module).flat()}, {constructed(window, module)})")
    column = columns.name(time) if not zone else _time(time, zone, module)
    if isinstance(window, Session):  # Spark separates rows that are exactly the gap apart
        return Chain("F").then("session_window", column, literal(f"{_duration(window.gap)} 1 microsecond"))
    slide = window.slide if isinstance(window, Hop) else window.size
    start = window.offset % slide
    arguments = [_duration(window.size)]
    if isinstance(window, Hop) or start:
        arguments.append(_duration(slide))
    if start:
        arguments.append(_duration(start))
    return Chain("F").then("window", column, *map(literal, arguments))


def _duration(ms: int) -> str:
    width, unit = next(each for each in UNITS if ms % each[0] == 0)
    count = ms // width
    return f"{count} {unit}{'s' if count != 1 else ''}"


def _time(time: str, zone: str, module: PythonModule) -> Chain:
    """The wall-clock time that windows follow."""
    if not zone:
        return Chain(columns.name(time))
    return Chain(f"{module.need(RUNTIME, 'local_time')}({columns.name(time)}, {literal(zone)})")


# Frozen values of the plan as Python text: windows, their firing, and the settings of a streaming operator.


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


def delay(
    node: StreamSlices | StreamKeepRow | StreamMatch | StreamOverAggregate | StreamTemporalSort,
) -> tuple[str, ...]:
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
    if isinstance(value, Several):
        windows = (f"{literal(name)}: {constructed(window, module)}" for name, window in value.windows)
        return f"{module.need(Several.__module__, Several.__name__)}.of({{{', '.join(windows)}}})"
    parts = ((part.name, getattr(value, part.name), part.default) for part in fields(value))
    given = (
        f"{name}={part:_}" if type(part) is int else f"{name}={part}"
        for name, part, default in parts
        if part != default
    )
    return f"{module.need(type(value).__module__, type(value).__name__)}({', '.join(given)})"
