"""INSERTs as a declarative pipeline of Spark (4.1 or later): each table that they fill is a dataset, with the query of
batch as a materialized view, and the query of a stream as a flow into a streaming table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from tvfsql.catalog import Table
from tvfsql.catalog.connectors import Managed, SparkCatalog
from tvfsql.catalog.connectors.spark_catalog import SPARK_CATALOG
from tvfsql.emit import columns
from tvfsql.emit.operators import emit
from tvfsql.emit.program import Query, called_by
from tvfsql.emit.python_module import PythonModule, literal, module_text
from tvfsql.emit.tables.sources import RUNTIME, STREAM
from tvfsql.errors import OtherMode, UnsupportedError
from tvfsql.options.known import REUSE
from tvfsql.physical.operators import TableSourceScan
from tvfsql.plan.analysis.sharing import CommonPart, shared_by
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Sink
from tvfsql.plan.values.scalar import free_name, quoted

SESSION = "spark = SparkSession.active()"
UNASKED = ("refuse_far_times", "refuse_null_times")  # functions of the runtime that ask Spark for no types of columns


def pipeline(queries: Sequence[Query]) -> str:
    """The module that defines the datasets of a pipeline. Raises UnsupportedError for what a pipeline cannot do: it
    has no place for tvfsql's driver, which ends streams and fires their last windows, nor for sinks of its own.
    """
    filled = {query.table.name: _dataset(query.table) for query in queries if query.table is not None}
    writers = Counter(query.table.name for query in queries if query.table is not None)
    names, functions, imports = {"dp", "spark"}, [SESSION], {("pyspark", "pipelines as dp")}
    for query in queries:
        table, plan = query.table, query.plan
        if table is None or not isinstance(plan, Sink):
            raise UnsupportedError(
                "a pipeline fills tables, and a SELECT fills none",
                hint="INSERT INTO t SELECT ..., or CREATE TABLE t AS SELECT ...",
            )
        _refuse(plan, table)
        module = PythonModule(names={*names}, zone=query.zone)
        rows, parts = emit(_of_datasets(plan.input, filled), module), table.partitioned_by
        if parts:  # Spark takes these columns last only
            others = (name for name in plan.input.columns if name not in parts)
            rows = rows.then("select", *columns.names([*others, *parts]))
        module.give_back(rows)
        function = free_name(re.sub(r"\W", "_", table.name), names)
        names |= {function, f"{function}_rows"}
        stored = f"name={literal(filled[table.name].table)}"
        stored += f", partition_cols={literal([*parts])}" if parts else ""
        if not any(isinstance(node, TableSourceScan) and node.streaming for node in plan.walk()):
            functions += _materialized(
                function, stored, writers[table.name], module, _read_dataset(plan, filled), table
            )
        else:
            _refuse_state(plan, table, module, _read_dataset(plan, filled))
            head = f"@dp.table({stored})"
            if writers[table.name] > 1:
                create = f"dp.create_streaming_table({stored})"
                functions += [create] if create not in functions else []
                head = f"@dp.append_flow(target={literal(filled[table.name].table)}, name={literal(function)})"
            functions.append(_defined(head, function, module.lines))
        imports |= module.imports
    comment = [line for i, query in enumerate(queries) for line in [""] * bool(i) + query.sql.splitlines()]
    return module_text(comment, imports, functions, ())


def _defined(head: str, function: str, lines: Sequence[str]) -> str:
    return "\n".join([*filter(None, [head]), f"def {function}() -> DataFrame:", *lines])


def _materialized(
    function: str, stored: str, writers: int, module: PythonModule, dataset: str, table: Table
) -> Iterator[str]:
    """The code of a materialized view. `dataset`: one of the pipeline that it reads, "" if it reads none."""
    if writers > 1:
        raise UnsupportedError(
            f"{writers} INSERTs fill {table.name}, and a materialized view has one query",
            hint="one INSERT with UNION ALL",
        )
    head = f"@dp.materialized_view({stored})"
    if all(name in UNASKED for source, name in module.imports if source == RUNTIME):
        yield _defined(head, function, module.lines)
        return
    if dataset:
        raise UnsupportedError(
            f"the INSERT into {table.name} needs the types of the columns of {dataset}, which the same pipeline fills: "
            "Spark does not tell them before it runs",
            hint=f"CREATE VIEW of its query in place of the table {dataset}, or another pipeline",
        )
    # Spark analyzes no rows within the function of a dataset
    yield _defined("", f"{function}_rows", module.lines)
    yield "\n".join([f"rows_of_{function} = {function}_rows()", "", "", head, f"def {function}() -> DataFrame:"]) + (
        f"\n    return rows_of_{function}"
    )


def _refuse_state(plan: Sink, table: Table, module: PythonModule, dataset: str) -> None:
    """Raise UnsupportedError for a stream that is more than its rows, or reads a `dataset` of the pipeline: Spark 4.3
    finds no rows in a streaming table of files that the same run has filled.
    """
    if dataset:
        raise UnsupportedError(
            f"the stream into {table.name} reads {dataset}, which the same pipeline fills: Spark finds no rows there",
            hint=OtherMode("batch", f"CREATE VIEW of its query in place of the table {dataset}"),
        )
    needed = sorted(name for source, name in module.imports if source == STREAM)
    if not needed:
        return
    operators = (node.label().partition("(")[0] for node in plan.walk() if hasattr(node, "context"))
    raise UnsupportedError(
        f"the stream into {table.name} needs {next(operators, needed[0])}, which tvfsql's own driver runs",
        hint=OtherMode("batch", detail=" makes it a materialized view; or tvfsql run"),
    )


def _dataset(table: Table) -> SparkCatalog:
    """The pipeline's table of that name, with the same columns. Raises UnsupportedError for other sinks."""
    target = table.connector
    if isinstance(target, Managed):
        return SparkCatalog(SPARK_CATALOG, "", table=quoted(table.name), exact=True)
    if isinstance(target, SparkCatalog) and not target.keys:
        return target
    problem = "its PRIMARY KEY replaces rows" if isinstance(target, SparkCatalog) else "it has a connector"
    raise UnsupportedError(
        f"a pipeline stores its tables itself, and cannot fill {table.name}: {problem}",
        hint="CREATE TABLE without WITH (...) and without PRIMARY KEY",
    )


def _refuse(plan: Sink, table: Table) -> None:
    if shared_by([plan]) or any(isinstance(node, CommonPart) for node in plan.walk()):
        raise UnsupportedError(
            "a pipeline computes each dataset by itself, and keeps no parts of queries", hint=f"RESET '{REUSE.key}'"
        )
    if function := next(iter(called_by(plan)), None):
        raise UnsupportedError(
            f"a pipeline cannot register functions, and the INSERT into {table.name} calls {function.name}",
            hint="a function of Spark's catalog, or tvfsql run",
        )
    if table.is_changelog or table.op is not None or table.primary_key:
        raise UnsupportedError(
            f"{table.name} is filled with changes, and a pipeline only adds rows",
            hint="CREATE TABLE without PRIMARY KEY",
        )


def _of_datasets(plan: Node, filled: Mapping[str, SparkCatalog]) -> Node:
    """The plan, reading tables that the pipeline fills as its datasets."""

    def visit(node: Node) -> Node:
        if isinstance(node, TableSourceScan) and node.source.name in filled:
            table = replace(node.source, connector=filled[node.source.name])
            return replace(node, source=table, folders=(), dead_letters=None)
        return node

    return plan.transform(visit)


def _read_dataset(plan: Node, filled: Collection[str]) -> str:
    """The name of a table that the plan reads and the pipeline fills; "" without one."""
    read = (node.source.name for node in plan.walk() if isinstance(node, TableSourceScan))
    return next((name for name in read if name in filled), "")
