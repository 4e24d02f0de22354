"""A physical plan becomes a Python module: `query(spark)` gives the rows, `insert(spark)` writes them.

The text is what runs. Names and literals of the SQL reach it only through `literal`, or in comments.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvfsql.catalog import Table
from tvfsql.emit.operators import emit
from tvfsql.emit.script import Chain, Script, literal, module
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Sink


def program(plans: Sequence[tuple[str, Node, Table | None]]) -> str:
    """The module that runs queries, each given as (its SQL, its physical plan, the table that it fills)."""
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
        if isinstance(plan, Sink):
            assert table is not None
            functions.append(_insert(number, plan, table, script))
            main.append(f"insert{number}(spark)")
        else:
            main.append(f"query{number}(spark).show(truncate=False)")
        imports |= script.imports
    return module(comment, imports, functions, main)


def _insert(number: str, plan: Sink, table: Table, script: Script) -> str:
    target = table.connector
    assert target is not None, table.name
    rows = f"query{number}(spark)"
    body = Script()
    if target.name == "print":
        statement = [f"    {script.need('tvfsql.runtime', 'print_rows')}({rows})"]
    else:
        chain = Chain(rows + ".write")
        chain = chain.then("format", literal("noop" if target.name == "blackhole" else target.format))
        chain = chain.then("mode", literal("overwrite" if plan.overwrite or target.name == "blackhole" else "append"))
        for key, value in target.options:
            if key != "mode":  # the mode of reading
                chain = chain.then("option", literal(key), literal(value))
        if table.partitioned_by:
            chain = chain.then("partitionBy", *map(literal, table.partitioned_by))
        chain = chain.then("save", *([literal(target.path)] if target.path else []))
        statement = body.statement(chain)
    return "\n".join([f"def insert{number}(spark: SparkSession) -> None:", *statement])
