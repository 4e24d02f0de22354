"""Emits the streaming operators that keep rows by key."""

from __future__ import annotations

from collections.abc import Iterable

from tvfsql.emit.operators.basic import emit, variable
from tvfsql.emit.operators.windows import constructed, delay, merge_kind, merge_kinds, options, own_name
from tvfsql.emit.python_module import PythonModule, Rows, called, literal
from tvfsql.emit.tables.sources import RUNTIME, STREAM
from tvfsql.physical.row_operators import (
    RowOperator,
    StreamChangelogNormalize,
    StreamCurrentWatermark,
    StreamGapFill,
    StreamGridFill,
    StreamIntervalJoin,
    StreamKeepRow,
    StreamMatch,
    StreamOverAggregate,
    StreamRegularJoin,
    StreamTemporalJoin,
    StreamTemporalSort,
    StreamUpdatingTopN,
)
from tvfsql.plan.changelogs import ChangelogNormalize
from tvfsql.plan.gaps import GapFill, GridFill
from tvfsql.plan.joins import EqualPair, TemporalJoin
from tvfsql.plan.nodes import directions
from tvfsql.plan.over import Frame
from tvfsql.plan.patterns import ALL, TO_NEXT, Pattern, PatternMatch, Variable, row_pattern
from tvfsql.plan.stream import TWO_INPUTS
from tvfsql.plan.tables.internal_columns import SINCE


@emit.register
def _(node: StreamKeepRow, module: PythonModule) -> Rows:
    arguments = [
        variable(node.input, module),
        f"keys={literal(list(node.partition))}",
        f"time={literal(node.time)}",
        f"keep={literal('last' if node.order.descending else 'first')}",
        *(["by_arrival=True"] if node.event else []),
        *([f"retention={node.retention:_}"] if node.retention else []),
        *([f"ties={literal(directions(node.ties))}"] if node.ties else []),
        *delay(node),
        *options(node.context, "on_event", "inputs", module=module),
    ]
    return _keeping("deduplicate_stream", arguments, node, "kept", module)


@emit.register
def _(node: StreamUpdatingTopN, module: PythonModule) -> Rows:
    arguments = [
        variable(node.input, module),
        literal(node.function.lower()),
        f"partition={literal(list(node.partition))}",
        f"order={literal(directions(node.order))}",
        *([f"ties={literal(directions(node.ties))}"] if node.ties and not node.newest else []),
        f"ranks=({node.first}, {node.last})",
        f"shown={literal(list(node.shown))}",
        *([f"rank={literal(node.name)}"] if node.name else []),
        *([f"sign={literal(node.retracts)}"] if node.retracts else []),
        *([f"key={literal(list(node.key))}"] if node.key is not None else []),
        *(["newest=True"] if node.newest else []),
        *([] if node.pairs else ["pairs=False"]),
        *([f"retention={node.retention:_}"] if node.retention else []),
        *options(node.context, "inputs", module=module),
    ]
    return _keeping("updating_top_n_stream", arguments, node, "best", module)


@emit.register
def _(node: StreamCurrentWatermark, module: PythonModule) -> Rows:
    arguments = [
        variable(node.input, module),
        f"time={literal(node.time)}",
        f"column={literal(node.name)}",
        *options(node.context, "on_event", "inputs", module=module),
    ]
    return _keeping("current_watermark_stream", arguments, node, "watermarks", module)


@emit.register
def _(node: StreamChangelogNormalize, module: PythonModule) -> Rows:
    arguments = [
        variable(node.input, module),
        f"keys={literal(list(node.key))}",
        *([f"time={literal(node.time)}"] if node.time else []),
        f"ends={literal(node.ends)}",
        f"sign={literal(node.sign)}",
        *([f"arrival={literal(list(node.arrival))}"] if node.arrival else []),
        *(["kinds=True"] if node.kinds else []),
        *options(node.context, "on_event", "inputs", module=module),
    ]
    return _keeping("normalized_stream", arguments, node, "normalized", module)


@emit.register
def _(node: ChangelogNormalize, module: PythonModule) -> Rows:
    arguments = (literal(list(node.key)), f"ends={literal(node.ends)}", f"arrival={literal(list(node.arrival))}")
    return emit(node.input, module).transform(module.need(RUNTIME, "last_rows"), *arguments)


@emit.register
def _(node: StreamOverAggregate, module: PythonModule) -> Rows:
    frames = [f"({_frame(frame, module)}, {merge_kinds(merges, module)})" for frame, merges in node.frames]
    arguments = [
        variable(node.input, module),
        f"keys={literal(list(node.partition))}",
        f"time={literal(node.time)}",
        f"frames=[{', '.join(frames)}]",
        *([f"retention={node.retention:_}"] if node.retention else []),
        *delay(node),
        *options(node.context, "on_event", "inputs", module=module),
    ]
    return _keeping("over_stream", arguments, node, "over", module)


@emit.register
def _(node: GapFill, module: PythonModule) -> Rows:
    return emit(node.input, module).transform(module.need(RUNTIME, "fill_gaps"), *_of_gaps(node, module))


@emit.register
def _(node: StreamGapFill, module: PythonModule) -> Rows:
    arguments = [variable(node.input, module), *_of_gaps(node, module), f"time={literal(node.time)}"]
    arguments += options(node.context, "on_event", "inputs", module=module)
    return _keeping("fill_gaps_stream", arguments, node, "gaps", module)


def _of_gaps(node: GapFill, module: PythonModule) -> list[str]:
    """The arguments of both modes."""
    retention = node.fill.retention
    return [
        constructed(node.window, module),
        f"keys={literal(list(node.partition))}",
        f"properties={literal({part.name: part.kind for part in node.properties})}",
        f"values={literal(dict(node.values))}",
        *([f"retention={retention:_}"] if retention is not None else []),
    ]


@emit.register
def _(node: GridFill, module: PythonModule) -> Rows:
    return emit(node.input, module).transform(module.need(RUNTIME, "fill_grid"), *_of_grid(node, module))


@emit.register
def _(node: StreamGridFill, module: PythonModule) -> Rows:
    arguments = [variable(node.input, module), *_of_grid(node, module)]
    arguments += options(node.context, "on_event", "inputs", module=module)
    return _keeping("fill_grid_stream", arguments, node, "filled", module)


def _of_grid(node: GridFill, module: PythonModule) -> list[str]:
    """The arguments of both modes."""
    return [
        constructed(node.grid, module),
        f"keys={literal(list(node.partition))}",
        f"time={literal(node.time)}",
        f"values={literal(dict(node.values))}",
        f"ties={literal(list(node.ties))}",
        *([f"limit={node.limit:_}"] if node.limit is not None else []),
        *(["goes_on=True"] if node.goes_on else []),
    ]


def _frame(frame: Frame, module: PythonModule) -> str:
    start = "None" if frame.start is None else f"{frame.start:_}"
    end = f", {frame.end:_}" if frame.end else ""
    return f"{module.need(Frame.__module__, Frame.__name__)}({literal(frame.unit)}, {start}{end})"


@emit.register
def _(node: StreamTemporalSort, module: PythonModule) -> Rows:
    arguments = [
        variable(node.input, module),
        f"order={literal(directions(node.order))}",
        *delay(node),
        *options(node.context, "on_event", "inputs", module=module),
    ]
    return _keeping("temporal_sort_stream", arguments, node, "ordered", module)


@emit.register
def _(node: PatternMatch, module: PythonModule) -> Rows:
    return emit(node.input, module).transform(module.need(RUNTIME, "match_rows"), *_of_matches(node, module))


@emit.register
def _(node: StreamMatch, module: PythonModule) -> Rows:
    arguments = [variable(node.input, module), *_of_matches(node, module), *delay(node)]
    arguments += options(node.context, "on_event", "inputs", module=module)
    return _keeping("match_rows_stream", arguments, node, "matches", module)


def _of_matches(node: PatternMatch, module: PythonModule) -> list[str]:
    """The arguments of both modes."""
    order = {node.time: "asc", **directions(node.order)}
    navigations = {part.name: [part.column, part.variable, part.first, part.offset] for part in node.navigations}
    merges = (
        f"{literal(name)}: [{variable}, {merge_kind(kind, module)}, {counts}]"
        for variable, name, kind, counts in node.partials
    )
    return [
        _pattern(node.pattern, module),
        f"keys={literal(list(node.partition))}",
        f"order={literal(order)}",
        f"navigations={literal(navigations)}",
        *([f"merges={{{', '.join(merges)}}}"] if node.partials else []),
    ]


def _pattern(pattern: Pattern, module: PythonModule) -> str:
    made = module.need(Variable.__module__, Variable.__name__)
    variables = []
    for each in pattern.variables:
        quantified = [str(each.least), str(each.most)] if (each.least, each.most) != (1, 1) else []
        reluctant = [] if each.greedy else ["greedy=False"]
        variables.append(f"{made}({', '.join([literal(each.name), *quantified, *reluctant])})")
    conditions = zip(pattern.variables, pattern.conditions, strict=True)
    arguments = [
        f"[{', '.join(variables)}]",
        f"define={literal({each.name: condition for each, condition in conditions if condition})}",
        *([f"aggregates={literal(pattern.aggregates)}"] if pattern.aggregates else []),
        *([f"within={pattern.within:_}"] if pattern.within is not None else []),
        *([f"skip={literal(pattern.skip)}"] if pattern.skip != TO_NEXT else []),
        *([f"skip_to={literal(pattern.variables[pattern.skip_to].name)}"] if pattern.skip_to != ALL else []),
    ]
    return f"{module.need(row_pattern.__module__, row_pattern.__name__)}({', '.join(arguments)})"


@emit.register
def _(node: StreamIntervalJoin, module: PythonModule) -> Rows:
    sides = [variable(node.left, module), variable(node.right, module)]
    null_safe = [pair.left for pair in node.pairs if pair.null_safe]
    arguments = [
        *sides,
        f"on=[{_pairs(node.pairs)}]",
        f"times=({literal(node.left_time)}, {literal(node.right_time)})",
        f"between=({node.low:_}, {node.high:_})",
        *([f"kind={literal(node.kind)}"] if node.kind != "inner" else []),
        *([f"null_safe={literal(null_safe)}"] if null_safe else []),
        *options(node.context, "inputs", module=module, usual=TWO_INPUTS),
    ]
    return _keeping("interval_join_stream", arguments, node, "joined", module)


@emit.register
def _(node: StreamRegularJoin, module: PythonModule) -> Rows:
    null_safe = [pair.left for pair in node.pairs if pair.null_safe]
    left, right = node.retention
    signs = ", ".join(literal(sign) if sign else "None" for sign in node.retracts)
    arguments = [
        variable(node.left, module),
        variable(node.right, module),
        f"on=[{_pairs(node.pairs)}]",
        f"times=({', '.join(map(literal, SINCE))})",
        f"retention=({left:_}, {right:_})",
        *([f"kind={literal(node.kind)}"] if node.kind != "inner" else []),
        *([f"signs=({signs})"] if any(node.retracts) else []),
        *([f"null_safe={literal(null_safe)}"] if null_safe else []),
        *options(node.context, "inputs", module=module, usual=TWO_INPUTS),
    ]
    return _keeping("regular_join_stream", arguments, node, "joined", module)


@emit.register
def _(node: StreamTemporalJoin, module: PythonModule) -> Rows:
    arguments = [*_of_versions(node, module), *options(node.context, "inputs", module=module, usual=TWO_INPUTS)]
    return _keeping("temporal_join_stream", arguments, node, "joined", module)


@emit.register
def _(node: TemporalJoin, module: PythonModule) -> Rows:
    arguments = _of_versions(node, module)
    return module.rows("joined", called(module.need(RUNTIME, "temporal_join"), *arguments))


def _pairs(pairs: Iterable[EqualPair]) -> str:
    return ", ".join(f"({literal(pair.left)}, {literal(pair.right)})" for pair in pairs)


def _of_versions(node: TemporalJoin, module: PythonModule) -> list[str]:
    """The arguments of a temporal join in batch and on streams."""
    null_safe = [pair.left for pair in node.pairs if pair.null_safe]
    return [
        variable(node.left, module),
        variable(node.right, module),
        f"on=[{', '.join(f'({literal(pair.left)}, {literal(pair.right)})' for pair in node.pairs)}]",
        f"times=({literal(node.left_time)}, {literal(node.right_time)})",
        *([f"kind={literal(node.kind)}"] if node.kind != "inner" else []),
        *([f"null_safe={literal(null_safe)}"] if null_safe else []),
        *([f"ties={literal(list(node.ties))}"] if node.ties else []),
        *([f"sign={literal(node.sign)}"] if node.sign else []),
    ]


def _keeping(function: str, arguments: list[str], node: RowOperator, wanted: str, module: PythonModule) -> Rows:
    """The call of a runtime function over the operator's rows, with the settings that all such operators share."""
    name = module.name(wanted)
    arguments += options(node.context, "key_groups", module=module)
    arguments += own_name(node, name, wanted, module, f"tvfsql_{wanted}")
    arguments += options(node.context, "marks", "late", "proctime", module=module)
    return Rows(name, called(module.need(STREAM, function), *arguments))
