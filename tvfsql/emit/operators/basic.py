"""One function per physical operator. It returns the rows, and writes the statements that they need."""

from __future__ import annotations

from functools import singledispatch

from tvfsql.emit import columns
from tvfsql.emit.python_module import Chain, PythonModule, Rows, called, literal
from tvfsql.emit.tables.sources import RUNTIME, STREAM, change_column, read_table
from tvfsql.options.words import NullTimes
from tvfsql.physical.operators import (
    AppliedChanges,
    Calc,
    Exchange,
    LateOutput,
    ProcessingTimeAssigner,
    RowTimeCheck,
    StreamUnion,
    StreamUpsertAggregate,
    TableSourceScan,
    ToChangelog,
    WatermarkAssigner,
)
from tvfsql.plan import changelogs, nodes
from tvfsql.plan.aggregate.columns import AggCall
from tvfsql.plan.analysis.sharing import CommonPart, Reused, Shared
from tvfsql.plan.joins import WindowJoin
from tvfsql.plan.node import Node, Schema
from tvfsql.plan.tables.internal_columns import CONTROL, ROW
from tvfsql.plan.values.scalar import column, template, text
from tvfsql.plan.values.types import has_map


@singledispatch
def emit(node: Node, module: PythonModule) -> Rows:
    """Write everything below the operator. Returns its rows, which no variable holds yet."""
    raise AssertionError(f"no code for {node.label()}")


def variable(node: Node, module: PythonModule) -> str:
    """The variable that holds the operator's rows."""
    return module.variable(emit(node, module))


@emit.register
def _(node: TableSourceScan, module: PythonModule) -> Rows:
    return read_table(node, module)


@emit.register
def _(node: AppliedChanges, module: PythonModule) -> Rows:
    applied = module.need(RUNTIME, "applied_changes")
    return emit(node.input, module).transform(applied, literal(node.sign), literal(node.table))


@emit.register
def _(node: nodes.Values, module: PythonModule) -> Rows:
    return module.rows("one_row", Chain("spark").then("range", "1"))


@emit.register
def _(node: Calc, module: PythonModule) -> Rows:
    rows = emit(node.input, module)
    if node.conditions:
        rows = rows.then("where", columns.condition(node.conditions))
    if node.items:
        rows = rows.then("select", *map(columns.item, node.items))
    return rows


@emit.register
def _(node: nodes.Expand, module: PythonModule) -> Rows:
    last, id = node.sets[-1], column(node.id)
    sets = f"array({', '.join(f'{number}L' for number in node.sets)})"
    if CONTROL in node.columns:  # one copy of each control row is enough
        sets = f"CASE WHEN `{CONTROL}` IS NULL THEN {sets} ELSE array({last}L) END"
    rows = emit(node.input, module)
    rows = rows.then("withColumn", literal(node.id), columns.value(text(f"explode({sets})")))
    for key in node.keys:
        value = template(f"CASE WHEN {{e}} & {node.bit(key)} = 0 THEN {{k}} END", {"e": id, "k": column(key)})
        rows = rows.then("withColumn", literal(key), columns.value(value))
    return rows


@emit.register
def _(node: Exchange, module: PythonModule) -> Rows:
    # groupBy, join and merge_slices shuffle rows themselves
    rows = emit(node.input, module)
    if node.overlap > 1:
        sized = module.need(RUNTIME, "sized")
        rows = rows.transform(sized, *map(literal, node.keys), f"overlap={node.overlap}")
    return rows


@emit.register
def _(node: RowTimeCheck, module: PythonModule) -> Rows:
    rows, arguments = emit(node.input, module), [literal(node.time)]
    if node.nulls is NullTimes.FAIL:
        check = module.need(RUNTIME, "refuse_null_times")
    elif not node.streaming:
        check = module.need(RUNTIME, "drop_null_times")
    else:
        check = module.need(STREAM, "drop_null_times")
        # what operators of one query observe needs names of their own
        arguments.append(f"name={literal('tvfsql_' + module.name('no_time'))}")
    return rows.transform(check, *arguments)


@emit.register
def _(node: nodes.Aggregate, module: PythonModule) -> Rows:
    source = Chain(variable(node.input, module))
    if node.keys and not node.calls:
        return module.rows("groups", _distinct(source.then("select", *columns.names(node.keys)), node.schema))
    return module.rows("groups", aggregated(source.then("groupBy", *columns.names(node.keys)), node.calls))


@emit.register
def _(node: StreamUpsertAggregate, module: PythonModule) -> Rows:
    source = variable(node.input, module)
    arguments = [f"keys={literal(list(node.keys))}"]
    if node.context.key_groups is not None:
        arguments.append(f"key_groups={node.context.key_groups}")
    calls = map(columns.aggregate, node.calls)
    return module.rows("groups", called(module.need(STREAM, "upserted_groups"), source, *calls, *arguments))


@emit.register
def _(node: WatermarkAssigner, module: PythonModule) -> Rows:
    rows = emit(node.input, module)
    arguments = [
        literal(node.table),
        f"time={literal(node.rowtime.sql)}",
        f"watermark={literal(node.watermark.sql)}",
    ]
    counted = node.nulls is not NullTimes.FAIL
    arguments += [f"nulls={literal(node.nulls.value)}"] if counted else []
    arguments += ["on_event=True"] if node.on_event else []
    arguments += [f"ends={literal(node.ends)}"] if node.ends else []
    # what operators of one query observe needs names of their own
    arguments += [f"name={literal(f'tvfsql_{rows.name}')}"] if rows.name != node.table and counted else []
    return rows.transform(module.need(STREAM, "with_watermarks"), *arguments)


@emit.register
def _(node: ProcessingTimeAssigner, module: PythonModule) -> Rows:
    return emit(node.input, module).transform(module.need(STREAM, "with_processing_time"), literal(node.table))


@emit.register
def _(node: StreamUnion, module: PythonModule) -> Rows:
    sides = [variable(side, module) for side in node.sides]
    return module.rows("both", called(module.need(STREAM, "union_streams"), *sides))


@emit.register
def _(node: changelogs.FromChangelog, module: PythonModule) -> Rows:
    change = change_column(node.op, dict(node.codes), node.kinds, module)
    if node.read is not None:
        change = Chain("F").then("when", columns.value(node.read), change.flat())
    kept = columns.names(part.name for part in node.schema if part.name != node.sign)
    return emit(node.input, module).then("select", *kept, change.then("alias", literal(node.sign)))


@emit.register
def _(node: ToChangelog, module: PythonModule) -> Rows:
    return emit(node.input, module)


@emit.register
def _(node: LateOutput, module: PythonModule) -> Rows:
    # late rows are separated where rows are written
    return emit(node.input, module)


@emit.register
def _(node: Shared, module: PythonModule) -> Rows:
    rows = module.shared[node.input]
    if isinstance(node.input, LateOutput):
        return module.rows("in_time_rows", called(module.need(STREAM, "in_time"), rows))
    return Rows(rows, Chain(rows)) if rows.isidentifier() else module.rows("shared_rows", rows)


@emit.register
def _(node: CommonPart, module: PythonModule) -> Rows:
    name = module.parts.get(node.number)
    if name is None:
        once = module.need(RUNTIME, "computed_once")
        name = module.parts[node.number] = module.variable(emit(node.input, module).transform(once))
    return Rows(name, Chain(name))


@emit.register
def _(node: Reused, module: PythonModule) -> Rows:
    return emit(node.of.plan, module)


@emit.register(nodes.Join)
@emit.register(nodes.LookupJoin)
@emit.register(WindowJoin)
def _(node: nodes.Join | nodes.LookupJoin | WindowJoin, module: PythonModule) -> Rows:
    left, right = Chain(variable(node.left, module)), variable(node.right, module)
    if isinstance(node, nodes.LookupJoin) and ROW in node.left.columns:  # another join would lose the order of rows
        right = f"F.broadcast({right})"
    if not node.conditions:
        return module.rows("joined", left.then("crossJoin", right))
    condition = Chain("F").then("expr", columns.condition(node.conditions))
    kind = {"semi": "left_semi", "anti": "left_anti"}.get(node.kind, node.kind)
    return module.rows("joined", left.then("join", right, condition, literal(kind)))


@emit.register
def _(node: nodes.SetOperation, module: PythonModule) -> Rows:
    left, right = Chain(variable(node.left, module)), variable(node.right, module)
    methods = {
        ("union", True): ("union",),
        ("union", False): ("union", "distinct"),
        ("intersect", True): ("intersectAll",),
        ("intersect", False): ("intersect",),
        ("except", True): ("exceptAll",),
        ("except", False): ("subtract",),
    }
    first, *rest = methods[node.kind, node.all]
    rows = left.then(first, right)
    return module.rows("both", _distinct(rows, node.schema) if rest else rows)


@emit.register
def _(node: nodes.Unnest, module: PythonModule) -> Rows:
    kept = columns.names(column for column in node.input.columns if column != node.rows)
    generator = "inline" if node.structs else "explode"
    items = Chain("F").then(f"{generator}_outer" if node.outer else generator, columns.name(node.rows))
    if node.renames:
        items = items.then("alias", *(columns.name(field.name) for field in node.fields))
    return emit(node.input, module).then("select", *kept, items)


@emit.register
def _(node: nodes.Distinct, module: PythonModule) -> Rows:
    if any(has_map(field.type) for field in node.schema):
        rows = emit(node.input, module)
        return module.rows("distinct_rows", _distinct(Chain(module.variable(rows)), node.schema))
    return emit(node.input, module).then("distinct")


def _distinct(rows: Chain, schema: Schema) -> Chain:
    """The rows without repeated ones. Spark's distinct() refuses MAPs, which its GROUP BY compares."""
    if not any(has_map(field.type) for field in schema):
        return rows.then("distinct")
    counted = Chain("F").then("count", literal("*")).then("alias", literal(ROW))
    return (
        rows.then("groupBy", *columns.names(field.name for field in schema))
        .then("agg", counted)
        .then("drop", literal(ROW))
    )


@emit.register
def _(node: nodes.Sort, module: PythonModule) -> Rows:
    return emit(node.input, module).then("orderBy", *map(columns.order, node.order))


@emit.register
def _(node: nodes.Limit, module: PythonModule) -> Rows:
    rows = emit(node.input, module)
    if node.offset:
        rows = rows.then("offset", str(node.offset))
    if node.count is not None:
        rows = rows.then("limit", str(node.count))
    return rows


@emit.register
def _(node: nodes.SparkSql, module: PythonModule) -> Rows:
    inputs = [variable(child, module) for child in node.inputs]
    given = tuple(f"{hole}={name}" for hole, name in zip(node.names, inputs, strict=True))
    # without inputs spark.sql() fills in nothing, so braces are not escaped
    sql = node.sql if given else node.sql.replace("{{", "{").replace("}}", "}")
    return module.rows("rows", Chain("spark").then("sql", literal(sql), *given))


def aggregated(groups: Chain, calls: tuple[AggCall, ...]) -> Chain:
    """agg() needs at least one expression."""
    if calls:
        return groups.then("agg", *map(columns.aggregate, calls))
    return groups.then("count").then("drop", '"count"')
