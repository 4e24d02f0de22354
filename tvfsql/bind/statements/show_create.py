"""Writes the statements of SHOW CREATE: CREATE TABLE and CREATE VIEW, which make the same table or view again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tvfsql.catalog import Table, View
from tvfsql.secrets import shown as shown_option
from tvfsql.syntax import ast, statements
from tvfsql.syntax.tokens import ODD, is_keyword


def create_statement(entry: Table | View) -> str:
    """The statement as it was written; of a table also LIKE, AS and ALTER TABLE. Passwords become asterisks."""
    return _create_view(entry) if isinstance(entry, View) else _create_table(entry)


def _create_view(view: View) -> str:
    columns = view.definition.columns if isinstance(view.definition, statements.CreateView) else ()
    listed = f" ({_names(column.text for column in columns)})" if columns else ""
    return f"CREATE VIEW {_name(view.name)}{listed} AS\n{view.sql}"


def _create_table(table: Table) -> str:
    create = table.definition if isinstance(table.definition, statements.CreateTable) else _of_frame(table)
    lines = [_column(part) for part in create.columns]
    if table.watermark:
        written = create.watermark.expr.text if create.watermark else table.watermark.scalar.sql
        lines.append(f"WATERMARK FOR {_name(table.watermark.column)} AS {written}")
    if table.primary_key:
        lines.append(f"PRIMARY KEY ({_names(table.primary_key)}) NOT ENFORCED")
    options = [f"{_text(key)} = {_text(shown_option(key, value))}" for key, value in table.options]
    clauses = (
        _in_lines(lines),
        _comment(create.comment),
        create.distributed,
        f"PARTITIONED BY ({_names(table.partitioned_by)})" if table.partitioned_by else "",
        f"WITH {_in_lines(options)}" if options else "",
    )
    return " ".join(["CREATE TABLE", _name(table.name), *filter(None, clauses)])


def _of_frame(table: Table) -> statements.CreateTable:
    """The definition of a table without one, which is a registered DataFrame."""
    columns = (statements.Column(ast.Name(part.name), part.type) for part in table.columns)
    return statements.CreateTable(ast.Name(table.name), tuple(columns), None, ())


def _column(part: statements.Column | statements.ComputedColumn) -> str:
    if isinstance(part, statements.ComputedColumn):
        words = [_name(part.name.text), "AS", part.expr.text]
    else:
        words = [_name(part.name.text), part.written or part.type.flink]
        words += ["NOT NULL"] if not part.type.nullable else []
        words += [f"METADATA FROM {_text(part.metadata)}"] if part.metadata is not None else []
        words += ["VIRTUAL"] if part.virtual else []
    return " ".join([*words, *filter(None, [_comment(part.comment)])])


def _comment(text: str | None) -> str:
    return f"COMMENT {_text(text)}" if text is not None else ""


def _in_lines(parts: list[str]) -> str:
    """The parts in parentheses, each on its own line; "" for none."""
    return "(\n" + ",\n".join(f"  {part}" for part in parts) + "\n)" if parts else ""


def _names(names: Iterable[str]) -> str:
    return ", ".join(map(_name, names))


def _name(name: str) -> str:
    bare = re.fullmatch(r"[^\W\d]\w*", name) and not is_keyword(name)
    return name if bare else "`" + name.replace("`", "``") + "`"


def _text(text: str) -> str:
    """A string; U&'...' if it has characters that no text may contain."""
    quoted = text.replace("'", "''")
    if not ODD.search(text):
        return f"'{quoted}'"
    escaped = ODD.sub(lambda found: f"\\{ord(found[0]):04x}", quoted.replace("\\", "\\\\"))
    return f"U&'{escaped}'"
