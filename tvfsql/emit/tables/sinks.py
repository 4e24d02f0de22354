"""Emits code that writes to tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tvfsql.catalog import Table
from tvfsql.catalog.connectors import Connector, Jdbc, Kafka, SparkCatalog
from tvfsql.catalog.connectors.connector import BLACKHOLE
from tvfsql.catalog.connectors.spark_catalog import MERGED
from tvfsql.emit import columns as names
from tvfsql.emit.python_module import Call, Chain, PythonModule, called, literal, option_value
from tvfsql.emit.tables.changes import as_message
from tvfsql.emit.tables.dead_letters import columns_ddl
from tvfsql.emit.tables.kafka import as_messages
from tvfsql.emit.tables.sources import STREAM, path_of, read_table
from tvfsql.physical.operators import Calc, LateOutput, StreamUpsertAggregate, TableSourceScan
from tvfsql.plan.node import Field, Node
from tvfsql.plan.nodes import Limit, Sink, Sort
from tvfsql.plan.tables.internal_columns import OP
from tvfsql.plan.values.scalar import quoted
from tvfsql.plan.values.types import TimestampLtz


def with_op(table: Table, plan: Sink) -> Table:
    """The table, with what the INSERT says about conflicts, and with the operations of its rows as a column if it
    replaces rows by primary key or has messages of changes, and has not named one.
    """
    if plan.conflict and isinstance(table.connector, Jdbc | SparkCatalog):
        table = replace(table, connector=replace(table.connector, conflict=plan.conflict))
    target = table.connector
    undeclared = table.op is None and target is not None and (target.replaces_by or target.changes)
    return replace(table, op=OP) if undeclared and OP in plan.columns else table


def insert(number: str, plan: Sink, table: Table, module: PythonModule) -> list[str]:
    """`insert(spark)`: writes the rows once."""
    target = table.connector
    assert target is not None, table.name
    files = target.path if target.of_files else None
    swaps = files is not None and plan.overwrite and not table.partitioned_by
    mode = "overwrite" if plan.overwrite and not swaps else "append"
    # the result holds the parts that it reads repeatedly, and so must outlive what is made of it
    rows = "rows" if module.parts else f"query{number}(spark)"
    write = _write(rows, mode, table, module, ordered=_is_sorted(plan.input))
    body = PythonModule().statement(write, 8 if swaps else 4)
    if module.parts:
        body = [*PythonModule().statement(Chain(f"rows = query{number}(spark)"), 8 if swaps else 4), *body]
    if files is not None and (swaps or not target.by_number):  # by number, a stream writes without Spark's log
        name = module.need("tvfsql.runtime", "replaced_files" if swaps else "refuse_file_log")
        call = Chain("", (Call(name, ("spark", literal(files))),))
        body = [f"    with {call.flat()}:", *body] if swaps else [*PythonModule().statement(call), *body]
    return ["\n".join([f"def insert{number}(spark: SparkSession) -> None:", *body])]


def _is_sorted(node: Node) -> bool:
    """Whether the rows of batch have an order."""
    return isinstance(node, Sort) or (isinstance(node, Calc | Limit) and _is_sorted(node.input))


def _write(rows: str, mode: str, table: Table, module: PythonModule, ordered: bool = False) -> Chain:
    """The statement that writes a DataFrame into a table."""
    target = table.connector
    assert target is not None, table.name
    if target.name == "print":
        zone = zone_argument(table.physical, module)
        return Chain("", (Call(module.need("tvfsql.runtime", "print_rows"), (f"{rows}{zone}",)),))
    if isinstance(target, Jdbc):
        return Chain("", (_to_postgres(rows, "None", target, table, module, ordered),))
    if isinstance(target, SparkCatalog) and target.keys:
        return Chain("", (_merged(rows, "None", target, table, module, ordered),))
    if isinstance(target, SparkCatalog):  # insertInto matches columns by position
        stored = Chain("spark").then("table", literal(target.table)).get("columns")
        chain = Chain(rows).then("select", f"*{stored.flat()}").get("write")
        overwrite = ["overwrite=True"] if mode == "overwrite" else []
        return chain.then("insertInto", literal(target.table), *overwrite)
    mode = "overwrite" if target.name == BLACKHOLE else mode
    chain = _format(_writer(rows, "write", table, module), target).then("mode", literal(mode))
    if mode == "overwrite" and target.of_files and table.partitioned_by:  # as in Flink, other partitions stay
        chain = chain.then("option", '"partitionOverwriteMode"', '"dynamic"')
    return _options(chain, target, table, module).then("save", *([path_of(target, module)] if target.path else []))


def stream_insert(number: str, plan: Sink, table: Table, module: PythonModule) -> list[str]:
    """`insert(spark)` of a stream, with the functions that it needs."""
    target = table.connector
    assert target is not None, table.name
    rows = f"query{number}(spark)"
    if isinstance(plan.input, LateOutput):
        chain = Chain(rows).get("writeStream").then("foreachBatch", f"late_output{number}(write{number})")
        return [take(f"write{number}", table, module), _stream_insert(number, chain, module)]
    if target.by_number:
        # Spark's file log in a folder would hide files that others write there
        chain = _in_output_mode(Chain(f"{module.need(STREAM, 'counted_out')}({rows})").get("writeStream"), plan)
        return [
            take(f"write{number}", table, module),
            _stream_insert(number, chain.then("foreachBatch", f"write{number}"), module),
        ]
    if not target.counts_rows:
        rows = f"{module.need(STREAM, 'counted_out')}({rows})"
    chain = _in_output_mode(_writer(rows, "writeStream", table, module), plan)
    if target.name == "print":
        zone = zone_argument(table.physical, module)
        each = f"lambda rows, _: {module.need('tvfsql.runtime', 'print_rows')}(rows{zone})"
        chain = chain.then("foreachBatch", each)
    else:
        chain = _options(_format(chain, target), target, table, module)
        chain = chain.then("option", '"path"', literal(target.path)) if target.path else chain
    return [_stream_insert(number, chain, module)]


def _in_output_mode(chain: Chain, plan: Sink) -> Chain:
    """The writer, which gets new results of Spark's own aggregate, if there is one, in place of final ones."""
    updates = any(isinstance(node, StreamUpsertAggregate) for node in plan.walk())
    return chain.then("outputMode", literal("update")) if updates else chain


def stream_inserts(numbers: Sequence[str], rows: str, late: Sequence[Table], module: PythonModule) -> list[str]:
    """`insert(spark)` of a stream whose micro-batches fill several tables. It uses `query(shared_rows)` and `write` of
    each number; late rows go into tables of their own.
    """
    made, given = late_rows("", late, module)
    parts = [*(f"(query{number}, write{number})" for number in numbers), *given]
    chain = Chain(rows).get("writeStream").then("foreachBatch", Chain("", (_to_tables(parts, module),)))
    return [*made, _stream_insert(numbers[0], chain, module)]


def _stream_insert(number: str, chain: Chain, module: PythonModule) -> str:
    module.need("pyspark.sql.streaming", "DataStreamWriter")
    body = PythonModule()
    body.give_back(chain)
    return "\n".join([f"def insert{number}(spark: SparkSession) -> DataStreamWriter:", *body.lines])


def late_output(number: str, tables: Sequence[Table], module: PythonModule) -> list[str]:
    """`late_output(rest)`: returns a function that writes the late rows of a micro-batch into their tables, and passes
    the others to `rest`.
    """
    module.need("collections.abc", "Callable")
    write = "Callable[[DataFrame, int], None]"
    made, given = late_rows(number, tables, module)
    call = _to_tables([f"({module.need(STREAM, 'in_time')}, rest)", *given], module)
    body = PythonModule()
    body.give_back(Chain("", (call,)))
    return [*made, "\n".join([f"def late_output{number}(rest: {write}) -> {write}:", *body.lines])]


def late_rows(number: str, tables: Sequence[Table], module: PythonModule) -> tuple[list[str], list[str]]:
    """For each table `late(rows)`, the late rows of a micro-batch with the table's columns, and `write_late(rows,
    number)`. Returns these functions, and the argument of `to_tables` for them.
    """
    made, parts = list[str](), list[str]()
    for i, table in enumerate(tables, 1):
        name = f"late{i if i > 1 else ''}{number}"
        body = PythonModule()
        columns = literal([part.name for part in table.physical])
        body.give_back(called(module.need(STREAM, "late_rows"), "rows", literal(table.name), columns))
        made.append("\n".join([f"def {name}(rows: DataFrame) -> DataFrame:", *body.lines]))
        made.append(take(f"write_{name}", table, module))
        parts.append(f"({name}, write_{name})")
    return made, [f"late=[{', '.join(parts)}]"] if parts else []


def dead_letters(number: str, scans: Sequence[TableSourceScan], module: PythonModule) -> list[str]:
    """`dead_letters(spark)`: a stream of the rows that a stream cannot read, and its writer."""
    table = scans[0].dead_letters
    assert table is not None
    first, *others = (read_table(scan, module) for scan in scans)
    rows = Chain(module.variable(first))
    for other in others:
        rows = rows.then("unionByName", module.variable(other))
    columns = (
        Chain("F")
        .then("col", names.name(part.name))
        .then("cast", literal(part.type.spark))
        .then("alias", literal(part.name))
        for part in table.physical
    )
    letters = module.assign(module.name("letters"), rows.then("select", *columns))
    counted = f"{module.need(STREAM, 'counted_out')}({letters})"
    write = f"write_dead_letters{number}"
    module.give_back(Chain(counted).get("writeStream").then("foreachBatch", write))
    module.need("pyspark.sql.streaming", "DataStreamWriter")
    body = "\n".join([f"def dead_letters{number}(spark: SparkSession) -> DataStreamWriter:", *module.lines])
    return [take(write, table, module), body]


def _to_tables(parts: Sequence[str], module: PythonModule) -> Call:
    return Call(module.need(STREAM, "to_tables"), tuple(parts))


def take(name: str, table: Table, module: PythonModule) -> str:
    """Write a function that writes the rows of a micro-batch into a table. Files are written once, even if it runs
    again.
    """
    target = table.connector
    assert target is not None, table.name
    if isinstance(target, SparkCatalog) and target.keys:
        body = PythonModule().statement(Chain("", (_merged("rows", "number", target, table, module),)))
    elif isinstance(target, SparkCatalog):
        arguments = ["rows", "number", literal(target.table)]
        body = PythonModule().statement(Chain("", (Call(module.need(STREAM, "write_table"), tuple(arguments)),)))
    elif isinstance(target, Jdbc):
        body = PythonModule().statement(Chain("", (_to_postgres("rows", "number", target, table, module),)))
    elif target.name in ("filesystem", "managed"):
        pairs = ((key, value) for key, value in target.writing if key != "mode")
        options = ", ".join(f"{literal(key)}: {option_value(value, module)}" for key, value in pairs)
        arguments = [_lines("rows", table, module), "number", path_of(target, module), literal(target.format)]
        arguments += [f"options={{{options}}}"] if options else []
        arguments += [f"partition_by={literal(list(table.partitioned_by))}"] if table.partitioned_by else []
        body = PythonModule().statement(Chain("", (Call(module.need(STREAM, "write_files"), tuple(arguments)),)))
    else:
        body = PythonModule().statement(_write("rows", "append", table, module))
    return "\n".join([f"def {name}(rows: DataFrame, number: int) -> None:", *body])


def has_instants(columns: Iterable[Field]) -> bool:
    """Whether rows with these columns have instants, or may have."""
    return any(isinstance(kind, TimestampLtz) for part in columns for kind in part.type.walk())


def zone_argument(columns: Iterable[Field], module: PythonModule) -> str:
    """The argument for the zone in which printed rows show their instants; "" if that is UTC, or if they have none."""
    return f", zone={literal(module.zone)}" if module.zone != "UTC" and has_instants(columns) else ""


def _conflict(number: str, target: Jdbc | SparkCatalog, ordered: bool) -> list[str]:
    """The arguments for ON CONFLICT. In batch, rows have an order only with ORDER BY."""
    if not target.conflict:
        return []
    return [f"conflict={literal(target.conflict)}", *(["ordered=True"] if ordered and number == "None" else [])]


def _to_postgres(
    rows: str, number: str, target: Jdbc, table: Table, module: PythonModule, ordered: bool = False
) -> Call:
    login = ", ".join(f"{literal(key)}: {option_value(value, module)}" for key, value in target.login)
    arguments = [rows, number, literal(target.table), f"url={option_value(target.url, module)}"]
    arguments += [f"options={{{login}}}"] if login else []
    arguments += [f"keys={literal(list(target.keys))}"] if target.keys else []
    arguments += [f"op={literal(table.op)}"] if table.op else []
    arguments += _conflict(number, target, ordered)
    return Call(module.need("tvfsql.runtime", "write_postgres"), tuple(arguments))


def _merged(
    rows: str, number: str, target: SparkCatalog, table: Table, module: PythonModule, ordered: bool = False
) -> Call:
    arguments = [rows, number, literal(target.table), f"keys={literal(list(target.keys))}"]
    arguments += [f"op={literal(table.op)}"] if table.op else []
    if target.format in MERGED:  # Spark knows how to create it
        stored = columns_ddl([part for part in table.physical if part.name != table.op])
        by = f" PARTITIONED BY ({', '.join(map(quoted, table.partitioned_by))})" if table.partitioned_by else ""
        create = f"CREATE TABLE IF NOT EXISTS {target.table} ({stored}) USING {target.format}{by}"
        arguments += [f"created={literal(create)}"]
    arguments += _conflict(number, target, ordered)
    return Call(module.need("tvfsql.runtime", "merge_rows"), tuple(arguments))


def _writer(rows: str, how: str, table: Table, module: PythonModule) -> Chain:
    """The rows in the form of the table's source, with `write` or `writeStream`."""
    if isinstance(table.connector, Kafka):
        return as_messages(Chain(rows), table, table.connector, module).get(how)
    return Chain(_lines(rows, table, module)).get(how)


def _lines(rows: str, table: Table, module: PythonModule) -> str:
    """The rows in the columns of the table's files: those of messages have one, `value`."""
    if table.connector is None or table.connector.changes is None:
        return rows
    message = as_message(table, table.connector.changes, table.physical, module).then("alias", '"value"')
    return Chain(rows).then("select", message).flat()


def _format(chain: Chain, target: Connector) -> Chain:
    return chain.then("format", literal("noop" if target.name == BLACKHOLE else target.format))


def _options(chain: Chain, target: Connector, table: Table, module: PythonModule) -> Chain:
    for key, value in target.writing:
        if key != "mode":  # the parser's mode
            chain = chain.then("option", literal(key), option_value(value, module))
    return chain.then("partitionBy", *map(literal, table.partitioned_by)) if table.partitioned_by else chain
