"""Emits code that separates rows and messages that can be parsed from those that cannot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tvfsql.catalog.connectors.formats import keeps_text
from tvfsql.emit.python_module import PythonModule, Rows, literal
from tvfsql.physical.operators import TableSourceScan
from tvfsql.plan.node import Field
from tvfsql.plan.tables.internal_columns import CHANNEL, TEXT
from tvfsql.plan.values.scalar import quoted
from tvfsql.plan.values.types import DATE, TIMESTAMP, TIMESTAMP_LTZ

RUNTIME = "tvfsql.runtime"
TIMES = (TIMESTAMP_LTZ, TIMESTAMP, DATE)
OF_TEXT = f"{quoted(TEXT)} STRING"
FILE, MESSAGE = "_metadata.file_path", "concat(topic, '-', partition, '@', offset)"


def columns_ddl(fields: Iterable[Field]) -> str:
    return ", ".join(f"{quoted(field.name)} {field.type.ddl}" for field in fields)


def _of_flink(fields: Iterable[Field]) -> str:
    """Columns with their types, as messages have them."""
    return ", ".join(f"{field.name} {field.type.flink}" for field in fields)


def parsing(options: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Add the options of Spark's parser with which it keeps text that it cannot parse."""
    others = [(key, value) for key, value in options if key != "mode"]
    return [("mode", "PERMISSIVE"), ("columnNameOfCorruptRecord", TEXT), *others]


def times_of(node: TableSourceScan, paths: Mapping[str, str] | None = None, *, but: str = "") -> list[str]:
    """The arguments `times` and `zone` of the runtime: the parsed columns that are or hold times, with their types,
    without the column `but`. `paths`: the SQL for each column, if it is not the table's column.
    """
    held = {field.name: field.type for field in node.fields if (paths is None or field.name in paths)}
    kinds = {name: kind for name, kind in held.items() if name != but and any(part in TIMES for part in kind.walk())}
    if not kinds:
        return []
    times = {(paths[name] if paths else quoted(name)): kind.ddl for name, kind in kinds.items()}
    instants = any(part == TIMESTAMP_LTZ for kind in kinds.values() for part in kind.walk())
    return [f"times={literal(times)}", *([f"zone={literal(node.zone)}"] if instants and node.zone != "UTC" else [])]


def near_times(
    rows: Rows, place: str, node: TableSourceScan, module: PythonModule, paths: Mapping[str, str] | None = None
) -> Rows:
    """The rows of a table without dead letters, in which a time outside the years of Flink is an error. `place` is SQL
    for where a row was found; `paths`: as in `tell_letters`.
    """
    drops = next((paths[name] if paths else quoted(name) for name in (node.drops_far,) if name in node.columns), "")
    if node.streaming:
        times = times_of(node, paths, but=node.drops_far)
    else:
        times = times_of(node, paths)
        times += [f"drops={literal(drops)}"] if times and drops else []
    return rows.transform(module.need(RUNTIME, "refuse_far_times"), literal(place), *times) if times else rows


def tell_letters(
    rows: Rows, text: str, node: TableSourceScan, module: PythonModule, paths: Mapping[str, str] | None = None
) -> Rows:
    """Keep the rows of a table that can be parsed; in a module of dead letters, keep the others. `text` is Python code
    for the SQL of the text. `paths` is the SQL for the parsed values, if these are not the table's columns.
    """
    times = times_of(node, paths)
    if not module.of_dead_letters:
        name = literal(f"tvfsql_dead_{rows.name}")
        return rows.transform(module.need(RUNTIME, "readable"), text, f"name={name}", *times)
    read = list(paths.values()) if paths else [quoted(field.name) for field in node.fields if field.name != CHANNEL]
    place = MESSAGE if paths else FILE
    parts = (
        literal(node.source.name),
        text,
        f"place={literal(place)}",
        f"columns={literal(list(read))}",
        f"kinds={literal(_of_flink(node.source.physical))}",
        *times,
    )
    return rows.transform(module.need(RUNTIME, "unreadable"), *parts)


def forgiven(
    rows: Rows,
    side: str,
    options: Iterable[tuple[str, str]],
    node: TableSourceScan,
    module: PythonModule,
    paths: Mapping[str, str] | None = None,
) -> Rows:
    """The rows of a table that ignores parse errors. `side`: the struct with the parsed columns, at `paths`; "" if they
    are columns of the rows.
    """
    text = [literal(f"{side}.{quoted(TEXT)}" if side else quoted(TEXT))] if keeps_text(options) else []
    times = times_of(node, paths)
    return rows.transform(module.need(RUNTIME, "forgiving"), *text, *times) if text or times else rows
