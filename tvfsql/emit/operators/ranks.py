"""Emits the operators that rank or sort rows."""

from __future__ import annotations

from tvfsql.emit import columns
from tvfsql.emit.operators.basic import emit
from tvfsql.emit.python_module import Call, Chain, PythonModule, literal
from tvfsql.emit.tables.sources import STREAM
from tvfsql.physical.operators import StreamDeduplicate, StreamSort, StreamTopN
from tvfsql.plan import nodes
from tvfsql.plan.rank import Rank, WindowDeduplicate, WindowTopN
from tvfsql.plan.values.scalar import free_name, quoted


@emit.register
def _(node: Rank, module: PythonModule) -> str:
    name = emit(node.input, module)
    return module.assign(name, _ranked(name, node, module))


@emit.register
def _(node: WindowTopN, module: PythonModule) -> str:
    name = emit(node.input, module)
    first, last = node.first, node.last
    kept = f"= {last}" if first == last else f"<= {last}" if first == 1 else f"BETWEEN {first} AND {last}"
    return module.assign(name, _ranked(name, node, module).then("where", literal(f"{quoted(node.name)} {kept}")))


@emit.register
def _(node: WindowDeduplicate, module: PythonModule) -> str:
    name = emit(node.input, module)
    taken = {column.lower() for column in node.columns}
    rank = free_name("row_number", lambda wanted: wanted in taken)
    ordered = _ordered(node.partition, (node.order, *node.ties), module)
    ranked = Chain(name).then("withColumn", literal(rank), Chain("F").then("row_number").then("over", ordered))
    return module.assign(name, ranked.then("where", literal(f"{rank} = 1")).then("drop", literal(rank)))


@emit.register
def _(node: StreamTopN, module: PythonModule) -> str:
    more = [f"ranks=({node.first}, {node.last})", f"name={literal(node.name)}"]
    return _top_n_stream(node, node.function.lower(), node.order, more, module)


@emit.register
def _(node: StreamDeduplicate, module: PythonModule) -> str:
    return _top_n_stream(node, "row_number", (node.order,), ["ranks=(1, 1)"], module)


@emit.register
def _(node: StreamSort, module: PythonModule) -> str:
    name = emit(node.input, module)
    order = f"order={literal(nodes.directions(node.order))}"
    return module.assign(name, Chain("", (Call(module.need(STREAM, "sort_stream"), (name, order)),)))


def _top_n_stream(
    node: StreamTopN | StreamDeduplicate,
    function: str,
    order: tuple[nodes.Order, ...],
    more: list[str],
    module: PythonModule,
) -> str:
    name = emit(node.input, module)
    arguments = (
        name,
        literal(function),
        f"partition={literal(list(node.partition))}",
        f"order={literal(nodes.directions(order))}",
        *([f"ties={literal(nodes.directions(node.ties))}"] if node.ties else []),
        *more,
    )
    return module.assign(name, Chain("", (Call(module.need(STREAM, "top_n_stream"), arguments),)))


def _ranked(rows: str, node: Rank | WindowTopN, module: PythonModule) -> Chain:
    """The rows with their rank as a BIGINT, as in Flink; Spark's rank is an INT."""
    ordered = _ordered(node.partition, (*node.order, *node.ties), module)
    rank = Chain("F").then(node.function.lower()).then("over", ordered).then("cast", '"bigint"')
    return Chain(rows).then("withColumn", literal(node.name), rank)


def _ordered(partition: tuple[str, ...], order: tuple[nodes.Order, ...], module: PythonModule) -> str:
    """Return a variable that holds the partitioning and the order in it."""
    partitions = Chain("Window").then("partitionBy", *columns.names(partition))
    return module.assign(module.name("ordered"), partitions.then("orderBy", *map(columns.order, order)))
