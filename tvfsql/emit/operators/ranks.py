"""Emits the operators that rank or sort rows, or take those of a key together."""

from __future__ import annotations

from tvfsql.emit import columns
from tvfsql.emit.operators.basic import emit
from tvfsql.emit.python_module import Chain, PythonModule, Rows, literal
from tvfsql.emit.tables.sources import STREAM
from tvfsql.physical.operators import StreamDeduplicate, StreamSort, StreamTopN, UpsertMaterialize
from tvfsql.plan import nodes
from tvfsql.plan.rank import Rank, WindowDeduplicate, WindowTopN
from tvfsql.plan.tables.internal_columns import OP
from tvfsql.plan.values.scalar import free_name, quoted


@emit.register
def _(node: Rank, module: PythonModule) -> Rows:
    return _ranked(node, module)


@emit.register
def _(node: WindowTopN, module: PythonModule) -> Rows:
    first, last = node.first, node.last
    kept = f"= {last}" if first == last else f"<= {last}" if first == 1 else f"BETWEEN {first} AND {last}"
    return _ranked(node, module).then("where", literal(f"{quoted(node.name)} {kept}"))


@emit.register
def _(node: WindowDeduplicate, module: PythonModule) -> Rows:
    rows = emit(node.input, module)
    taken = {column.lower() for column in node.columns}
    rank = free_name("row_number", lambda wanted: wanted in taken)
    ordered = _ordered(node.partition, (node.order, *node.ties), module)
    ranked = rows.then("withColumn", literal(rank), Chain("F").then("row_number").then("over", ordered))
    return ranked.then("where", literal(f"{rank} = 1")).then("drop", literal(rank))


@emit.register
def _(node: StreamTopN, module: PythonModule) -> Rows:
    more = [f"ranks=({node.first}, {node.last})", f"name={literal(node.name)}"]
    return _top_n_stream(node, node.function.lower(), node.order, more, module)


@emit.register
def _(node: StreamDeduplicate, module: PythonModule) -> Rows:
    return _top_n_stream(node, "row_number", (node.order,), ["ranks=(1, 1)"], module)


@emit.register
def _(node: UpsertMaterialize, module: PythonModule) -> Rows:
    arguments = (f"keys={literal(list(node.keys))}", f"op={literal(OP)}")
    return emit(node.input, module).transform(module.need(STREAM, "changes_by_key"), *arguments)


@emit.register
def _(node: StreamSort, module: PythonModule) -> Rows:
    order = f"order={literal(nodes.directions(node.order))}"
    return emit(node.input, module).transform(module.need(STREAM, "sort_stream"), order)


def _top_n_stream(
    node: StreamTopN | StreamDeduplicate,
    function: str,
    order: tuple[nodes.Order, ...],
    more: list[str],
    module: PythonModule,
) -> Rows:
    arguments = (
        literal(function),
        f"partition={literal(list(node.partition))}",
        f"order={literal(nodes.directions(order))}",
        *([f"ties={literal(nodes.directions(node.ties))}"] if node.ties else []),
        *more,
    )
    return emit(node.input, module).transform(module.need(STREAM, "top_n_stream"), *arguments)


def _ranked(node: Rank | WindowTopN, module: PythonModule) -> Rows:
    """The rows with their rank as a BIGINT, as in Flink; Spark's rank is an INT."""
    rows = emit(node.input, module)
    ordered = _ordered(node.partition, (*node.order, *node.ties), module)
    rank = Chain("F").then(node.function.lower()).then("over", ordered).then("cast", '"bigint"')
    return rows.then("withColumn", literal(node.name), rank)


def _ordered(partition: tuple[str, ...], order: tuple[nodes.Order, ...], module: PythonModule) -> str:
    """Return a variable that holds the partitioning and the order in it."""
    partitions = Chain("Window").then("partitionBy", *columns.names(partition))
    return module.assign(module.name("ordered"), partitions.then("orderBy", *map(columns.order, order)))
