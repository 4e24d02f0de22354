"""Emits code that reads changes from messages in the formats debezium-json and canal-json."""

from __future__ import annotations

from collections.abc import Sequence

from tvfsql.catalog.connectors.changes import DEBEZIUM, OF_VALUE, Changes
from tvfsql.emit.python_module import PythonModule, Rows, literal
from tvfsql.plan.node import Field
from tvfsql.plan.values.types import ddl


def captured(
    messages: Rows,
    changes: Changes,
    fields: Sequence[Field],
    sign: str,
    module: PythonModule,
    metadata: Sequence[str] = (),
) -> Rows:
    """Expand messages into the changes that each describes; the message value is the row. Each of `metadata`, such as
    `value.source.table`, is a column of that name.
    """
    read = module.need("tvfsql.runtime", "debezium_changes" if changes.format == DEBEZIUM else "canal_changes")
    kinds = literal({field.name: ddl(field.type) for field in fields})
    options = (f"{name}={literal(value)}" for name, value in changes.options)
    told = [f"metadata={literal([key.removeprefix(OF_VALUE) for key in metadata])}"] if metadata else []
    return messages.transform(read, kinds, f"sign={literal(sign)}", *options, *told)
