"""A physical plan becomes a Python module: `query(spark)` gives the rows, `insert(spark)` writes them.

The text is what runs. Names and literals of the SQL reach it only through `literal`, or in comments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tvfsql.catalog import Table
from tvfsql.emit.emitter import emit
from tvfsql.emit.functions import declare, imported
from tvfsql.emit.script import PARAMETERS, Chain, Script, module
from tvfsql.emit.sinks import insert, late_output, stream_insert
from tvfsql.physical.operators import LateOutput, TableSourceScan
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Sink
from tvfsql.plan.sharing import by_itself, shared_by

# How a stream is started where the module is run by itself: over all that its sources have now.
START = '.option("checkpointLocation", "checkpoint").trigger(availableNow=True).start().awaitTermination()'


def program(plans: Sequence[tuple[str, Node, Table | None]]) -> str:
    """The module that runs queries, each given as (its SQL, its physical plan, the table that it fills).

    On streams `insert(spark)` gives the DataStreamWriter, for the caller to start. Where late rows are kept, rows of
    `query(spark)` have one column more, and `late_output(rest)` gives what tells them apart in each micro-batch.
    Rows that several queries share are kept by `shared(spark)` when the first of them asks; `inserts(spark)` runs all
    INSERTs, and then lets them go.
    """
    functions: list[str] = []
    main = ["spark = SparkSession.builder.getOrCreate()"]
    comment: list[str] = []
    imports: set[tuple[str, str]] = set()
    shared = {
        plan: f"shared{f'_{i + 1}' if i else ''}" for i, plan in enumerate(shared_by([plan for _, plan, _ in plans]))
    }
    modules = imported([*(plan for _, plan, _ in plans), *shared])
    names = {*PARAMETERS, *modules.values()}
    for plan, name in shared.items():
        script = Script(names={*names}, shared=shared)
        declare(modules, by_itself(plan), script)
        functions.append(_shared(name, plan, script))
        imports |= script.imports
    inserts: list[str] = []
    for i, (sql, plan, table) in enumerate(plans):
        number = f"_{i + 1}" if i else ""
        comment += ["", *sql.splitlines()] if comment else sql.splitlines()
        script = Script(names={*names}, shared=shared)
        declare(modules, by_itself(plan), script)
        rows = plan.input if isinstance(plan, Sink) else plan
        script.give_back(emit(rows, script))
        functions.append("\n".join([f"def query{number}(spark: SparkSession) -> DataFrame:", *script.lines]))
        if isinstance(rows, LateOutput):
            functions.append(late_output(number, rows.table, script))
        stream = any(isinstance(node, TableSourceScan) and node.streaming for node in plan.walk())
        if isinstance(plan, Sink):
            assert table is not None
            functions.append((stream_insert if stream else insert)(number, plan, table, script))
            if shared and not stream:
                inserts.append(f"insert{number}(spark)")
            else:
                main.append(f"insert{number}(spark){START if stream else ''}")
        elif isinstance(rows, LateOutput):
            show = f"late_output{number}(lambda rows, _: rows.show(truncate=False))"
            main.append(f"query{number}(spark).writeStream.foreachBatch({show}){START}")
        elif stream:
            main.append(f'query{number}(spark).writeStream.format("console"){START}')
        else:
            main.append(f"query{number}(spark).show(truncate=False)")
        imports |= script.imports
    if inserts:
        functions.append(_inserts(inserts, shared))
        main.append("inserts(spark)")
    return module(comment, imports, functions, main)


def _shared(name: str, plan: Node, script: Script) -> str:
    """`shared(spark)`: rows that are computed once, and kept until they are let go."""
    script.need("functools", "cache")
    rows = emit(plan, script)
    script.give_back(script.assign(rows, Chain(rows).then("persist")))
    return "\n".join(["@cache", f"def {name}(spark: SparkSession) -> DataFrame:", *script.lines])


def _inserts(calls: Sequence[str], shared: Mapping[Node, str]) -> str:
    """`inserts(spark)`: all INSERTs, one after the other."""
    lines = ["def inserts(spark: SparkSession) -> None:", "    try:", *(f"        {call}" for call in calls)]
    return "\n".join([*lines, "    finally:", *(f"        {name}(spark).unpersist()" for name in shared.values())])
