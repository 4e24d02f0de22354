"""A physical plan becomes a Python module: `query(spark)` gives the rows, `insert(spark)` writes them.

The text is what runs. Names and literals of the SQL reach it only through `literal`, or in comments.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvfsql.catalog import Table
from tvfsql.catalog.connectors import Connector, Kafka
from tvfsql.emit.kafka import as_messages
from tvfsql.emit.operators import emit
from tvfsql.emit.script import Chain, Script, literal, module
from tvfsql.physical.operators import TableSourceScan
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Sink

# How a stream is started where the module is run by itself: over all that its sources have now.
START = '.option("checkpointLocation", "checkpoint").trigger(availableNow=True).start().awaitTermination()'


def program(plans: Sequence[tuple[str, Node, Table | None]]) -> str:
    """The module that runs queries, each given as (its SQL, its physical plan, the table that it fills).

    On streams `insert(spark)` gives the DataStreamWriter, for the caller to start.
    """
    functions: list[str] = []
    main = ["spark = SparkSession.builder.getOrCreate()"]
    comment: list[str] = []
    imports: set[tuple[str, str]] = set()
    for i, (sql, plan, table) in enumerate(plans):
        number = f"_{i + 1}" if i else ""
        comment += ["", *sql.splitlines()] if comment else sql.splitlines()
        script = Script()
        rows = plan.input if isinstance(plan, Sink) else plan
        script.give_back(emit(rows, script))
        functions.append("\n".join([f"def query{number}(spark: SparkSession) -> DataFrame:", *script.lines]))
        stream = any(isinstance(node, TableSourceScan) and node.streaming for node in plan.walk())
        if isinstance(plan, Sink):
            assert table is not None
            made = _stream_insert if stream else _insert
            functions.append(made(number, plan, table, script))
            main.append(f"insert{number}(spark){START if stream else ''}")
        elif stream:
            main.append(f'query{number}(spark).writeStream.format("console"){START}')
        else:
            main.append(f"query{number}(spark).show(truncate=False)")
        imports |= script.imports
    return module(comment, imports, functions, main)


def _insert(number: str, plan: Sink, table: Table, script: Script) -> str:
    target = table.connector
    assert target is not None, table.name
    rows = f"query{number}(spark)"
    if target.name == "print":
        statement = [f"    {script.need('tvfsql.runtime', 'print_rows')}({rows})"]
    else:
        mode = "overwrite" if plan.overwrite or target.name == "blackhole" else "append"
        chain = _format(_writer(rows, "write", table), target).then("mode", literal(mode))
        chain = _options(chain, target, table)
        chain = chain.then("save", *([literal(target.path)] if target.path else []))
        statement = Script().statement(chain)
    return "\n".join([f"def insert{number}(spark: SparkSession) -> None:", *statement])


def _stream_insert(number: str, plan: Sink, table: Table, script: Script) -> str:
    target = table.connector
    assert target is not None, table.name
    counted = script.need("tvfsql.runtime.stream", "counted_out")
    chain = _writer(f"{counted}(query{number}(spark))", "writeStream", table)
    if target.name == "print":
        each = f"lambda rows, _: {script.need('tvfsql.runtime', 'print_rows')}(rows)"
        chain = chain.then("foreachBatch", each)
    else:
        chain = _options(_format(chain, target), target, table)
        chain = chain.then("option", '"path"', literal(target.path)) if target.path else chain
    script.need("pyspark.sql.streaming", "DataStreamWriter")
    body = Script()
    body.give_back(body.assign("writer", chain))
    return "\n".join([f"def insert{number}(spark: SparkSession) -> DataStreamWriter:", *body.lines])


def _writer(rows: str, how: str, table: Table) -> Chain:
    """The rows, as the table's source has them, and `write` or `writeStream`."""
    if isinstance(table.connector, Kafka):
        return as_messages(Chain(rows), table, table.connector).get(how)
    return Chain(rows).get(how)


def _format(chain: Chain, target: Connector) -> Chain:
    return chain.then("format", literal("noop" if target.name == "blackhole" else target.format))


def _options(chain: Chain, target: Connector, table: Table) -> Chain:
    for key, value in target.writing:
        if key != "mode":  # the mode of reading
            chain = chain.then("option", literal(key), literal(value))
    return chain.then("partitionBy", *map(literal, table.partitioned_by)) if table.partitioned_by else chain
