"""Code that tells rows and messages apart that cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tvfsql.emit.python_module import PythonModule, literal
from tvfsql.physical.operators import TableSourceScan
from tvfsql.plan.columns import CHANNEL
from tvfsql.plan.node import Field
from tvfsql.plan.scalar import quoted
from tvfsql.plan.types import ddl

RUNTIME = "tvfsql.runtime"
TEXT = "$text"  # where Spark's parsers put the text of what they cannot read
OF_TEXT = f"{quoted(TEXT)} STRING"
FILE, MESSAGE = "_metadata.file_path", "concat(topic, '-', partition, '@', offset)"


def columns_ddl(fields: Iterable[Field]) -> str:
    return ", ".join(f"{quoted(field.name)} {ddl(field.type)}" for field in fields)


def parsing(options: Iterable[tuple[str, str]], node: TableSourceScan, form: str = "") -> list[tuple[str, str]]:
    """Spark's options of a parser. Where there are dead letters it keeps the text of what it cannot read. `form` is the
    format of files."""
    if node.dead_letters is None:
        return [*options]
    others = [(key, value) for key, value in options if key != "mode"]
    whole = [("columnPruning", "false")] if form == "csv" else []  # else a row may have too few values
    return [("mode", "PERMISSIVE"), ("columnNameOfCorruptRecord", TEXT), *whole, *others]


def tell_letters(
    table: str, text: str, node: TableSourceScan, module: PythonModule, columns: Sequence[str] = ()
) -> None:
    """Keep of the variable `table` the rows that can be read, or in a module of dead letters the others. `text` is
    Python for the SQL of the text, `columns` those that hold what is parsed, if they are not the table's."""
    if not module.of_dead_letters:
        name = literal(f"tvfsql_dead_{table}")
        module.assign(table, f"{module.need(RUNTIME, 'readable')}({table}, {text}, name={name})")
        return
    read = columns or [quoted(field.name) for field in node.fields if field.name != CHANNEL]
    place = MESSAGE if columns else FILE
    parts = (
        table,
        literal(node.source.name),
        text,
        f"place={literal(place)}",
        f"columns={literal(list(read))}",
        f"kinds={literal(columns_ddl(node.source.physical))}",
    )
    module.assign(table, f"{module.need(RUNTIME, 'unreadable')}({', '.join(parts)})")
