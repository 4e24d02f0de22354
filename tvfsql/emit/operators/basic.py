"""One function per physical operator. It writes a statement and returns the variable that holds the rows."""

from __future__ import annotations

from functools import singledispatch

from tvfsql.emit import columns
from tvfsql.emit.python_module import Call, Chain, PythonModule, literal
from tvfsql.emit.tables.sources import RUNTIME, STREAM, read_table
from tvfsql.options.words import NullTimes
from tvfsql.physical.operators import (
    AppliedChanges,
    Calc,
    Exchange,
    LateOutput,
    ProcessingTimeAssigner,
    RowTimeCheck,
    StreamUnion,
    TableSourceScan,
    WatermarkAssigner,
)
from tvfsql.plan import nodes
from tvfsql.plan.analysis.sharing import Reused, Shared
from tvfsql.plan.joins.window_join import WindowJoin
from tvfsql.plan.node import Node
from tvfsql.plan.tables.internal_columns import CONTROL, WATERMARK
from tvfsql.plan.values.scalar import column, template, text


@singledispatch
def emit(node: Node, module: PythonModule) -> str:
    """Write the operator and everything below it. Returns the name of the DataFrame that holds its rows."""
    raise AssertionError(f"no code for {node.label()}")


@emit.register
def _(node: TableSourceScan, module: PythonModule) -> str:
    return read_table(node, module)


@emit.register
def _(node: AppliedChanges, module: PythonModule) -> str:
    name = emit(node.input, module)
    applied = module.need(RUNTIME, "applied_changes")
    return module.assign(name, f"{applied}({name}, {literal(node.sign)}, {literal(node.table)})")


@emit.register
def _(node: nodes.Values, module: PythonModule) -> str:
    return module.assign(module.name("one_row"), Chain("spark").then("range", "1"))


@emit.register
def _(node: Calc, module: PythonModule) -> str:
    name = emit(node.input, module)
    rows = Chain(name)
    if node.conditions:
        rows = rows.then("where", columns.condition(node.conditions))
    if node.items:
        rows = rows.then("select", *map(columns.item, node.items))
    return module.assign(name, rows)


@emit.register
def _(node: nodes.Expand, module: PythonModule) -> str:
    name = emit(node.input, module)
    last, id = node.sets[-1], column(node.id)
    sets = f"array({', '.join(f'{number}L' for number in node.sets)})"
    if marked := CONTROL in node.columns:  # one copy of each control row is enough
        sets = f"CASE WHEN `{CONTROL}` IS NULL THEN {sets} ELSE array({last}L) END"
    rows = Chain(name).then("withColumn", literal(node.id), columns.value(text(f"explode({sets})")))
    for key in node.keys:
        value = template(f"CASE WHEN {{e}} & {node.bit(key)} = 0 THEN {{k}} END", {"e": id, "k": column(key)})
        rows = rows.then("withColumn", literal(key), columns.value(value))
    if marked:  # a row's watermark follows the row, so it goes with the last copy
        value = template(f"CASE WHEN {{e}} = {last} THEN {{w}} END", {"e": id, "w": column(WATERMARK)})
        rows = rows.then("withColumn", literal(WATERMARK), columns.value(value))
    return module.assign(name, rows)


@emit.register
def _(node: Exchange, module: PythonModule) -> str:
    # groupBy, join and merge_slices shuffle rows themselves
    return emit(node.input, module)


@emit.register
def _(node: RowTimeCheck, module: PythonModule) -> str:
    name = emit(node.input, module)
    arguments = [name, literal(node.time)]
    if node.nulls is NullTimes.FAIL:
        check = module.need(RUNTIME, "refuse_null_times")
    elif not node.streaming:
        check = module.need(RUNTIME, "drop_null_times")
    else:
        check = module.need(STREAM, "drop_null_times")
        # what operators of one query observe needs names of their own
        arguments.append(f"name={literal('tvfsql_' + module.name('no_time'))}")
    return module.assign(name, f"{check}({', '.join(arguments)})")


@emit.register
def _(node: nodes.Aggregate, module: PythonModule) -> str:
    source = emit(node.input, module)
    if node.keys and not node.calls:
        distinct = Chain(source).then("select", *columns.names(node.keys)).then("distinct")
        return module.assign(module.name("groups"), distinct)
    groups = Chain(source).then("groupBy", *columns.names(node.keys))
    return module.assign(module.name("groups"), aggregated(groups, node.calls))


@emit.register
def _(node: WatermarkAssigner, module: PythonModule) -> str:
    name = emit(node.input, module)
    arguments = [
        name,
        literal(node.table),
        f"time={literal(node.rowtime.sql)}",
        f"watermark={literal(node.watermark.sql)}",
    ]
    counted = node.nulls is not NullTimes.FAIL
    arguments += [f"nulls={literal(node.nulls.value)}"] if counted else []
    # what operators of one query observe needs names of their own
    arguments += [f"name={literal(f'tvfsql_{name}')}"] if name != node.table and counted else []
    return module.assign(name, Chain("", (Call(module.need(STREAM, "with_watermarks"), tuple(arguments)),)))


@emit.register
def _(node: ProcessingTimeAssigner, module: PythonModule) -> str:
    name = emit(node.input, module)
    return module.assign(name, f"{module.need(STREAM, 'with_processing_time')}({name}, {literal(node.table)})")


@emit.register
def _(node: StreamUnion, module: PythonModule) -> str:
    sides = tuple(emit(side, module) for side in node.sides)
    return module.assign(module.name("both"), Chain("", (Call(module.need(STREAM, "union_streams"), sides),)))


@emit.register
def _(node: LateOutput, module: PythonModule) -> str:
    # late rows are separated where rows are written
    return emit(node.input, module)


@emit.register
def _(node: Shared, module: PythonModule) -> str:
    rows = module.shared[node.input]
    if isinstance(node.input, LateOutput):
        return module.assign(module.name("in_time_rows"), f"{module.need(STREAM, 'in_time')}({rows})")
    return rows if rows.isidentifier() else module.assign(module.name("shared_rows"), rows)


@emit.register
def _(node: Reused, module: PythonModule) -> str:
    return emit(node.of.plan, module)


@emit.register(nodes.Join)
@emit.register(nodes.LookupJoin)
@emit.register(WindowJoin)
def _(node: nodes.Join | nodes.LookupJoin | WindowJoin, module: PythonModule) -> str:
    left, right = emit(node.left, module), emit(node.right, module)
    if not node.conditions:
        return module.assign(module.name("joined"), Chain(left).then("crossJoin", right))
    condition = Chain("F").then("expr", columns.condition(node.conditions))
    kind = {"semi": "left_semi", "anti": "left_anti"}.get(node.kind, node.kind)
    return module.assign(module.name("joined"), Chain(left).then("join", right, condition, literal(kind)))


@emit.register
def _(node: nodes.SetOperation, module: PythonModule) -> str:
    left, right = emit(node.left, module), emit(node.right, module)
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
    return module.assign(module.name("both"), rows)


@emit.register
def _(node: nodes.Unnest, module: PythonModule) -> str:
    name = emit(node.input, module)
    kept = columns.names(column for column in node.input.columns if column != node.rows)
    generator = "inline" if node.structs else "explode"
    rows = Chain("F").then(f"{generator}_outer" if node.outer else generator, columns.name(node.rows))
    if node.renames:
        rows = rows.then("alias", *(columns.name(field.name) for field in node.fields))
    return module.assign(name, Chain(name).then("select", *kept, rows))


@emit.register
def _(node: nodes.Distinct, module: PythonModule) -> str:
    name = emit(node.input, module)
    return module.assign(name, Chain(name).then("distinct"))


@emit.register
def _(node: nodes.Sort, module: PythonModule) -> str:
    name = emit(node.input, module)
    return module.assign(name, Chain(name).then("orderBy", *map(columns.order, node.order)))


@emit.register
def _(node: nodes.Limit, module: PythonModule) -> str:
    name = emit(node.input, module)
    rows = Chain(name)
    if node.offset:
        rows = rows.then("offset", str(node.offset))
    if node.count is not None:
        rows = rows.then("limit", str(node.count))
    return module.assign(name, rows)


@emit.register
def _(node: nodes.SparkSql, module: PythonModule) -> str:
    inputs = [emit(child, module) for child in node.inputs]
    given = tuple(f"{hole}={variable}" for hole, variable in zip(node.names, inputs, strict=True))
    # without inputs spark.sql() fills in nothing, so braces are not escaped
    sql = node.sql if given else node.sql.replace("{{", "{").replace("}}", "}")
    return module.assign(module.name("rows"), Chain("spark").then("sql", literal(sql), *given))


def aggregated(groups: Chain, calls: tuple[nodes.AggCall, ...]) -> Chain:
    """agg() needs at least one expression."""
    if calls:
        return groups.then("agg", *map(columns.aggregate, calls))
    return groups.then("count").then("drop", '"count"')
