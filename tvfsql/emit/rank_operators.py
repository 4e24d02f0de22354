"""The operators that rank rows."""

from __future__ import annotations

from tvfsql.emit import columns
from tvfsql.emit.operators import emit
from tvfsql.emit.script import Call, Chain, Script, literal
from tvfsql.emit.sources import STREAM
from tvfsql.physical.operators import (
    StreamDeduplicate,
    StreamTopN,
)
from tvfsql.plan import nodes
from tvfsql.plan.rank import Rank, WindowDeduplicate, WindowTopN
from tvfsql.plan.scalar import free_name, quoted


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
