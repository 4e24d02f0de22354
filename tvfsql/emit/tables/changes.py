"""Emits code for the formats debezium-json and canal-json: changes from messages, and messages from rows."""

from __future__ import annotations

from collections.abc import Sequence

from tvfsql.catalog import Table
from tvfsql.catalog.connectors.changes import DEBEZIUM, OF_VALUE, Changes
from tvfsql.emit.python_module import Call, Chain, PythonModule, Rows, literal
from tvfsql.physical.operators import TableSourceScan
from tvfsql.plan.node import Field
from tvfsql.plan.tables.internal_columns import OF_MESSAGE


def in_order(rows: Rows, node: TableSourceScan) -> Rows:
    """The rows as Spark reads them, with the columns that tell the order of changes."""
    told = node.source.arrival(node.streaming) or {}
    for field in node.arrival:
        sql = told.get(field, f"CAST(NULL AS {field.type.ddl})")
        if sql:
            rows = rows.then("withColumn", literal(field.name), Chain("F").then("expr", literal(sql)))
    return rows


def captured(
    messages: Rows,
    changes: Changes,
    node: TableSourceScan,
    fields: Sequence[Field],
    place: str,
    module: PythonModule,
    metadata: Sequence[str] = (),
) -> Rows:
    """Expand messages into the changes that each describes; the message value is the row. Each of `metadata`, such as
    `value.source.table`, is a column of that name. `place` is SQL for where a message is. In a module of dead letters,
    the messages that cannot be read.
    """
    read = module.need("tvfsql.runtime", "debezium_changes" if changes.format == DEBEZIUM else "canal_changes")
    kinds = literal({field.name: field.type.ddl for field in fields})
    options = (f"{name}={literal(value)}" for name, value in changes.options)
    told = [f"metadata={literal([key.removeprefix(OF_VALUE) for key in metadata])}"] if metadata else []
    told += ["versions=True"] if node.versions else []
    told += ["kinds=True"] if node.kinds else []
    told += [f"position={literal(part.name)}" for part in node.arrival if part.name == OF_MESSAGE]
    told += _unread(messages, changes, node, place, module)
    return messages.transform(read, kinds, f"sign={literal(node.sign)}", *options, *told)


def as_message(table: Table, changes: Changes, fields: Sequence[Field], module: PythonModule) -> Chain:
    """The message that describes a row with these fields of a table. It comes, unless the table's column of operations
    says otherwise.
    """
    name = module.need("tvfsql.runtime", "debezium_message" if changes.format == DEBEZIUM else "canal_message")
    arguments = [literal({field.name: field.type.ddl for field in fields})]
    arguments += [f"op={literal(table.op)}"] if table.op else []
    arguments += [f"{option}={literal(value)}" for option, value in changes.written]
    return Chain("", (Call(name, tuple(arguments)),))


def _unread(messages: Rows, changes: Changes, node: TableSourceScan, place: str, module: PythonModule) -> list[str]:
    """The argument for messages that cannot be read, unless they stop the query."""
    name = literal(f"tvfsql_dead_{messages.name}")
    if module.of_dead_letters:
        given = f"letters_of={literal(node.source.name)}, place={literal(place)}"
    elif node.dead_letters is not None:
        given = f"left_out={name}"
    elif changes.ignoring:
        given = f"skipped={name}"
    else:
        return []
    return [f"unread={module.need('tvfsql.runtime', 'Unread')}({given})"]
