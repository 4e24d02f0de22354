"""One function per physical operator: it writes a statement and gives the variable that holds the rows."""

from __future__ import annotations

from dataclasses import fields
from functools import singledispatch

from tvfsql.emit import columns
from tvfsql.emit.script import Call, Chain, Script, literal
from tvfsql.emit.sources import RUNTIME, read_table
from tvfsql.options import KEY_GROUPS
from tvfsql.physical.operators import (
    CONTROL,
    WATERMARK,
    AppliedChanges,
    Calc,
    Exchange,
    GroupByWindow,
    LateOutput,
    RowSlices,
    RowTimeCheck,
    SliceMerge,
    StreamDeduplicate,
    StreamSlices,
    StreamTopN,
    StreamUnion,
    TableSourceScan,
    WatermarkAssigner,
    WindowExpand,
)
from tvfsql.plan import nodes, window_nodes
from tvfsql.plan.aggregates import MergeKind
from tvfsql.plan.node import Node
from tvfsql.plan.rank import Rank, WindowDeduplicate, WindowTopN
from tvfsql.plan.scalar import column, free_name, quoted, template, text
from tvfsql.plan.sharing import Reused, Shared
from tvfsql.plan.window import Cumulate, Hop, Session, Tumble, TumbleMonths, Window
from tvfsql.plan.window_join import WindowJoin

STREAM = "tvfsql.runtime.stream"
UNITS = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second"), (1, "millisecond"))


@singledispatch
def emit(node: Node, script: Script) -> str:
    """Write the operator and all below it. Gives the name of the DataFrame that holds its rows."""
    raise AssertionError(f"no code for {node.label()}")


@emit.register
def _(node: TableSourceScan, script: Script) -> str:
    return read_table(node, script)


@emit.register
def _(node: AppliedChanges, script: Script) -> str:
    name = emit(node.input, script)
    applied = script.need(RUNTIME, "applied_changes")
    return script.assign(name, f"{applied}({name}, {literal(node.sign)}, {literal(node.table)})")


@emit.register
def _(node: nodes.Values, script: Script) -> str:
    return script.assign(script.name("one_row"), Chain("spark").then("range", "1"))


@emit.register
def _(node: Calc, script: Script) -> str:
    name = emit(node.input, script)
    rows = Chain(name)
    if node.conditions:
        rows = rows.then("where", columns.condition(node.conditions))
    if node.items:
        rows = rows.then("select", *map(columns.item, node.items))
    return script.assign(name, rows)


@emit.register
def _(node: nodes.Expand, script: Script) -> str:
    name = emit(node.input, script)
    last, id = node.sets[-1], column(node.id)
    sets = f"array({', '.join(f'{number}L' for number in node.sets)})"
    if marked := CONTROL in node.columns:  # one of each control row is enough
        sets = f"CASE WHEN `{CONTROL}` IS NULL THEN {sets} ELSE array({last}L) END"
    rows = Chain(name).then("withColumn", literal(node.id), columns.value(text(f"explode({sets})")))
    for key in node.keys:
        value = template(f"CASE WHEN {{e}} & {node.bit(key)} = 0 THEN {{k}} END", {"e": id, "k": column(key)})
        rows = rows.then("withColumn", literal(key), columns.value(value))
    if marked:  # a row's watermark comes after the row, so it goes with the last of its copies
        value = template(f"CASE WHEN {{e}} = {last} THEN {{w}} END", {"e": id, "w": column(WATERMARK)})
        rows = rows.then("withColumn", literal(WATERMARK), columns.value(value))
    return script.assign(name, rows)


@emit.register
def _(node: Exchange, script: Script) -> str:
    # groupBy, join and merge_slices bring rows together by themselves
    return emit(node.input, script)


@emit.register
def _(node: RowTimeCheck, script: Script) -> str:
    name = emit(node.input, script)
    arguments = [name, literal(node.time)]
    if node.nulls == "fail":
        check = script.need(RUNTIME, "refuse_null_times")
    elif not node.streaming:
        check = script.need(RUNTIME, "drop_null_times")
    else:
        check = script.need(STREAM, "drop_null_times")
        # what operators of one query observe needs names of their own
        arguments.append(f"name={literal('tvfsql_' + script.name('no_time'))}")
    return script.assign(name, f"{check}({', '.join(arguments)})")


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
    return script.assign(script.name("windows"), _aggregated(groups, node.calls))


@emit.register
def _(node: nodes.Aggregate, script: Script) -> str:
    source = emit(node.input, script)
    if node.keys and not node.calls:
        distinct = Chain(source).then("select", *columns.names(node.keys)).then("distinct")
        return script.assign(script.name("groups"), distinct)
    groups = Chain(source).then("groupBy", *columns.names(node.keys))
    return script.assign(script.name("groups"), _aggregated(groups, node.calls))


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
def _(node: WatermarkAssigner, script: Script) -> str:
    name = emit(node.input, script)
    arguments = [
        name,
        literal(node.table),
        f"time={literal(node.rowtime.sql)}",
        f"watermark={literal(node.watermark.sql)}",
    ]
    arguments += [f"nulls={literal(node.nulls.upper())}"] if node.nulls != "fail" else []
    # what operators of one query observe needs names of their own
    arguments += [f"name={literal(f'tvfsql_{name}')}"] if name != node.table and node.nulls != "fail" else []
    return script.assign(name, Chain("", (Call(script.need(STREAM, "with_watermarks"), tuple(arguments)),)))


@emit.register
def _(node: StreamUnion, script: Script) -> str:
    sides = tuple(emit(side, script) for side in node.sides)
    return script.assign(script.name("both"), Chain("", (Call(script.need(STREAM, "union_streams"), sides),)))


@emit.register
def _(node: StreamSlices, script: Script) -> str:
    source = emit(node.input, script)
    arguments = (
        source,
        _python(node.window, script),
        f"time={literal(node.time)}",
        f"keys={literal(list(node.keys))}",
        f"merges={_merges(node.merges, script)}",
        *(["on_event=True"] if node.on_event else []),
        *([f"key_groups={node.key_groups}"] if node.key_groups != KEY_GROUPS else []),
        *(["late=True"] if node.late else []),
        *([f"zone={literal(node.zone)}"] if node.zone else []),
    )
    name = "sessions" if isinstance(node.window, Session) else "slices"
    return script.assign(script.name(name), Chain("", (Call(script.need(STREAM, f"local_{name}"), arguments),)))


@emit.register
def _(node: RowSlices, script: Script) -> str:
    source = emit(node.input, script)
    arguments = (
        source,
        _python(node.window, script),
        f"time={literal(node.time)}",
        f"keys={literal(list(node.keys))}",
        f"merges={_merges(node.merges, script)}",
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
        arguments += [f"zone={literal(node.zone)}"] if node.zone else []
        arguments += [f"inputs={literal(node.inputs)}"] if node.inputs != ("",) else []
    return script.assign(windows, Chain("", (Call(merge, tuple(arguments)),)))


@emit.register
def _(node: Rank, script: Script) -> str:
    name = emit(node.input, script)
    return script.assign(name, _ranked(name, node, script))


@emit.register
def _(node: WindowTopN, script: Script) -> str:
    name = emit(node.input, script)
    first, last = node.first, node.last
    kept = f"= {last}" if first == last else f"<= {last}" if first == 1 else f"BETWEEN {first} AND {last}"
    return script.assign(name, _ranked(name, node, script).then("where", literal(f"{quoted(node.name)} {kept}")))


@emit.register
def _(node: WindowDeduplicate, script: Script) -> str:
    name = emit(node.input, script)
    taken = {column.lower() for column in node.columns}
    rank = free_name("row_number", lambda wanted: wanted in taken)
    ordered = _ordered(node.partition, (node.order, *node.ties), script)
    ranked = Chain(name).then("withColumn", literal(rank), Chain("F").then("row_number").then("over", ordered))
    return script.assign(name, ranked.then("where", literal(f"{rank} = 1")).then("drop", literal(rank)))


@emit.register
def _(node: StreamTopN, script: Script) -> str:
    more = [f"ranks=({node.first}, {node.last})", f"name={literal(node.name)}"]
    return _top_n_stream(node, node.function.lower(), node.order, more, script)


@emit.register
def _(node: StreamDeduplicate, script: Script) -> str:
    return _top_n_stream(node, "row_number", (node.order,), ["ranks=(1, 1)"], script)


@emit.register
def _(node: LateOutput, script: Script) -> str:
    # the rows are told apart where they are written
    return emit(node.input, script)


@emit.register
def _(node: Shared, script: Script) -> str:
    return script.assign(script.name("shared_rows"), f"{script.shared[node.input]}(spark)")


@emit.register
def _(node: Reused, script: Script) -> str:
    return emit(node.of.plan, script)


@emit.register(nodes.Join)
@emit.register(WindowJoin)
def _(node: nodes.Join | WindowJoin, script: Script) -> str:
    left, right = emit(node.left, script), emit(node.right, script)
    if not node.conditions:
        return script.assign(script.name("joined"), Chain(left).then("crossJoin", right))
    condition = Chain("F").then("expr", columns.condition(node.conditions))
    kind = {"semi": "left_semi", "anti": "left_anti"}.get(node.kind, node.kind)
    return script.assign(script.name("joined"), Chain(left).then("join", right, condition, literal(kind)))


@emit.register
def _(node: nodes.SetOperation, script: Script) -> str:
    left, right = emit(node.left, script), emit(node.right, script)
    methods = {
        ("union", True): ("union",),
        ("union", False): ("union", "distinct"),
        ("intersect", True): ("intersectAll",),
        ("intersect", False): ("intersect",),
        ("except", True): ("exceptAll",),
        ("except", False): ("subtract",),
    }
    first, *rest = methods[node.kind, node.all]
    rows = Chain(left).then(first, right)
    for method in rest:
        rows = rows.then(method)
    return script.assign(script.name("both"), rows)


@emit.register
def _(node: nodes.Unnest, script: Script) -> str:
    name = emit(node.input, script)
    kept = columns.names(column for column in node.input.columns if column != node.rows)
    # outer: control rows have no list
    return script.assign(
        name, Chain(name).then("select", *kept, Chain("F").then("inline_outer", columns.name(node.rows)))
    )


@emit.register
def _(node: nodes.Distinct, script: Script) -> str:
    name = emit(node.input, script)
    return script.assign(name, Chain(name).then("distinct"))


@emit.register
def _(node: nodes.Sort, script: Script) -> str:
    name = emit(node.input, script)
    return script.assign(name, Chain(name).then("orderBy", *map(columns.order, node.order)))


@emit.register
def _(node: nodes.Limit, script: Script) -> str:
    name = emit(node.input, script)
    rows = Chain(name)
    if node.offset:
        rows = rows.then("offset", str(node.offset))
    if node.count is not None:
        rows = rows.then("limit", str(node.count))
    return script.assign(name, rows)


@emit.register
def _(node: nodes.SparkSql, script: Script) -> str:
    inputs = [emit(child, script) for child in node.inputs]
    given = tuple(f"{hole}={variable}" for hole, variable in zip(node.names, inputs, strict=True))
    # without inputs spark.sql() fills no holes, so braces stand for themselves
    sql = node.sql if given else node.sql.replace("{{", "{").replace("}}", "}")
    return script.assign(script.name("rows"), Chain("spark").then("sql", literal(sql), *given))


def _merges(merges: tuple[tuple[str, MergeKind], ...], script: Script) -> str:
    """Partial columns with their merge kinds, as a dict."""
    kinds = ((name, literal(kind) if isinstance(kind, str) else script.functions[kind]) for name, kind in merges)
    return "{" + ", ".join(f"{literal(name)}: {kind}" for name, kind in kinds) + "}"


def _aggregated(groups: Chain, calls: tuple[nodes.AggCall, ...]) -> Chain:
    """agg() wants one expression at least."""
    if calls:
        return groups.then("agg", *map(columns.aggregate, calls))
    return groups.then("count").then("drop", '"count"')


def _top_n_stream(
    node: StreamTopN | StreamDeduplicate,
    function: str,
    order: tuple[nodes.Order, ...],
    more: list[str],
    script: Script,
) -> str:
    name = emit(node.input, script)
    arguments = (
        name,
        literal(function),
        f"partition={literal(list(node.partition))}",
        f"order={literal(columns.directions(order))}",
        *([f"ties={literal(columns.directions(node.ties))}"] if node.ties else []),
        *more,
    )
    return script.assign(name, Chain("", (Call(script.need(STREAM, "top_n_stream"), arguments),)))


def _ranked(rows: str, node: Rank | WindowTopN, script: Script) -> Chain:
    """The rows with their rank as a BIGINT, as Flink has it: Spark's is an INT."""
    ordered = _ordered(node.partition, (*node.order, *node.ties), script)
    rank = Chain("F").then(node.function.lower()).then("over", ordered).then("cast", '"bigint"')
    return Chain(rows).then("withColumn", literal(node.name), rank)


def _ordered(partition: tuple[str, ...], order: tuple[nodes.Order, ...], script: Script) -> str:
    """A variable that holds the partitions and the order in them."""
    partitions = Chain("Window").then("partitionBy", *columns.names(partition))
    return script.assign(script.name("ordered"), partitions.then("orderBy", *map(columns.order, order)))


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


def _time(time: str, zone: str, script: Script) -> Chain:
    """The wall clock that windows follow."""
    if not zone:
        return Chain(columns.name(time))
    return Chain(f"{script.need(RUNTIME, 'local_time')}({columns.name(time)}, {literal(zone)})")


def _python(window: Window, script: Script) -> str:
    """A window as its constructor's call, times in milliseconds."""
    script.need("tvfsql.plan.window", type(window).__name__)
    parts = ((part.name, getattr(window, part.name), part.default) for part in fields(window))
    given = (
        f"{name}={value:_}" if type(value) is int else f"{name}={value}"
        for name, value, default in parts
        if value != default
    )
    return f"{type(window).__name__}({', '.join(given)})"


def _duration(ms: int) -> str:
    width, unit = next(each for each in UNITS if ms % each[0] == 0)
    count = ms // width
    return f"{count} {unit}{'s' if count != 1 else ''}"
