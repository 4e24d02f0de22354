"""Emits code that separates rows and messages that can be parsed from those that cannot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tvfsql.emit.python_module import PythonModule, Rows, literal
from tvfsql.physical.operators import TableSourceScan
from tvfsql.plan.node import Field
from tvfsql.plan.tables.internal_columns import CHANNEL, TEXT
from tvfsql.plan.values.scalar import quoted
from tvfsql.plan.values.types import ddl

RUNTIME = "tvfsql.runtime"
OF_TEXT = f"{quoted(TEXT)} STRING"
FILE, MESSAGE = "_metadata.file_path", "concat(topic, '-', partition, '@', offset)"


def columns_ddl(fields: Iterable[Field]) -> str:
    return ", ".join(f"{quoted(field.name)} {ddl(field.type)}" for field in fields)


def parsing(options: Iterable[tuple[str, str]], form: str = "") -> list[tuple[str, str]]:
    """Add the options of Spark's parser with which it keeps text that it cannot parse. `form` is the format of
    files.
    """
    others = [(key, value) for key, value in options if key != "mode"]
    # with pruning, a row with too few values would go unnoticed
    whole = [("columnPruning", "false")] if form == "csv" else []
    return [("mode", "PERMISSIVE"), ("columnNameOfCorruptRecord", TEXT), *whole, *others]


def tell_letters(
    rows: Rows, text: str, node: TableSourceScan, module: PythonModule, columns: Sequence[str] = ()
) -> Rows:
    """Keep the rows of a table that can be parsed; in a module of dead letters, keep the others. `text` is Python code
    for the SQL of the text. `columns` hold the parsed values, if these are not the table's columns.
    """
    if not module.of_dead_letters:
        name = literal(f"tvfsql_dead_{rows.name}")
        return rows.transform(module.need(RUNTIME, "readable"), text, f"name={name}")
    read = columns or [quoted(field.name) for field in node.fields if field.name != CHANNEL]
    place = MESSAGE if columns else FILE
    parts = (
        literal(node.source.name),
        text,
        f"place={literal(place)}",
        f"columns={literal(list(read))}",
        f"kinds={literal(columns_ddl(node.source.physical))}",
    )
    return rows.transform(module.need(RUNTIME, "unreadable"), *parts)
