"""Tables of files: their paths, and the columns that local files have, for CREATE TABLE without columns and for FROM
'trips.parquet'.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from tvfsql.api.tables.catalogs import NOWHERE
from tvfsql.catalog import Table
from tvfsql.catalog.catalog import FILES
from tvfsql.catalog.connectors.protobuf import FILE
from tvfsql.errors import BindError, DataError, Span
from tvfsql.named_files import files_in, nearest_file
from tvfsql.plan.values.scalar import quoted
from tvfsql.runtime.batch.declared_columns import columns_misread, columns_not_in_files, local_files
from tvfsql.runtime.batch.inferred_columns import Inferred, format_of, format_of_name, inferred_columns
from tvfsql.runtime.cluster.files import URL
from tvfsql.syntax import ast, statements
from tvfsql.syntax.types.words import parse_type

CONNECTOR, PATH, FORMAT = "connector", "path", "format"
OLD_CONNECTOR = "connector.type"  # of Flink before 1.11
FORMATS = ("csv", "json", "parquet")
ENDS = tuple(f".{end}{packed}" for end in FILES for packed in ("", ".gz"))


def with_columns_of_files(create: statements.CreateTable, path: str) -> statements.CreateTable:
    """A CREATE TABLE over the files at `path`, from where this process runs, with what they tell: the connector and the
    format that it does not name, and their columns if it has none but computed ones. Raises BindError at the option
    'path'.
    """
    options = {option.key: option.value for option in create.options}
    if PATH not in options or options.get(CONNECTOR, "filesystem") != "filesystem" or OLD_CONNECTOR in options:
        return create
    place = next(option.span for option in create.options if option.key == PATH)
    form = options.get(FORMAT) or format_of(path)
    if form is None and (CONNECTOR not in options or not has_columns(create)):
        raise BindError(f"the format of {options[PATH]} is not known", span=place, hint="add 'format' = 'csv'")
    told = {CONNECTOR: "filesystem"} if form is None else {CONNECTOR: "filesystem", FORMAT: form}
    if has_columns(create) or form not in FORMATS:
        return replace(create, options=(*create.options, *_missing(told, create, place)))
    found = _columns_of_files(path, form, options, place)
    columns = tuple(
        statements.Column(ast.Name(name, place), parse_type(kind), written=kind) for name, kind in found.columns
    )
    added = _missing(told | dict(found.options), create, place)
    return replace(create, columns=(*columns, *create.columns), options=(*create.options, *added))


def _missing(told: dict[str, str], create: statements.CreateTable, place: Span) -> Iterator[statements.Option]:
    """The options that a CREATE TABLE does not have."""
    written = {option.key for option in create.options}
    return (statements.Option(key, value, place) for key, value in told.items() if key not in written)


def _columns_of_files(path: str, form: str, options: dict[str, str], place: Span) -> Inferred:
    """The columns of files. Raises BindError, also for a line that is not a row unless the options ignore it."""
    try:
        found = inferred_columns(path, form, options)
    except DataError as error:
        raise BindError(error.message, span=place, hint=error.advice) from error
    ignore = f"{form}.ignore-parse-errors"
    if found.bad and options.get(ignore, "").lower() != "true":
        hint = (
            f"CREATE TABLE t WITH ('path' = '{options[PATH]}', '{ignore}' = 'true') reads bad values as NULL; tvfsql "
            f"init {options[PATH]} writes the columns"
        )
        raise BindError(f"a row cannot be read: {found.problem}", span=place, hint=hint)
    return found


def has_columns(create: statements.CreateTable) -> bool:
    """Whether columns that are read are written."""
    return bool(create.names) or any(isinstance(part, statements.Column) for part in create.columns)


@dataclass
class FileTables:
    """The tables of the files that a statement reads by their paths, which start at `folder`. `bound` binds a CREATE
    TABLE.
    """

    bound: Callable[[statements.CreateTable], Table]
    folder: str
    found: dict[str, Table] = field(default_factory=dict)

    def table(self, name: str) -> Table | None:
        if name not in self.found and format_of_name(name) and (URL.match(name) or self._exists(name)):
            of_path = (statements.Option(PATH, name, NOWHERE),)
            self.found[name] = self.bound(statements.CreateTable(ast.Name(name, NOWHERE), (), None, of_path))
        return self.found.get(name)

    def hint(self, name: str) -> str | None:
        path = resolved_path(name, self.folder)
        if URL.match(name) or self._exists(name):
            return f"CREATE TABLE t WITH ('path' = '{name}')" if format_of(path) in FORMATS else None
        if close := nearest_file(path, (*ENDS, "/")):
            return f"did you mean '{close if os.path.isabs(name) else os.path.relpath(close, self.folder or '.')}'?"
        folder = os.path.dirname(path)
        if folder and not os.path.isdir(folder):
            return f"there is no folder {folder}"
        found = files_in(folder, ENDS)
        return (
            f"files there: {', '.join(found[:8])}{', ...' if len(found) > 8 else ''}"
            if found
            else "there are no files of rows"
        )

    def _exists(self, path: str) -> bool:
        return bool(local_files(resolved_path(path, self.folder)))


# What a script says of a table of files.


def columns_of(table: Table) -> str:
    """The columns that are read, as in CREATE TABLE."""
    return f"({', '.join(f'{quoted(column.name)} {column.type.flink}' for column in table.physical)})"


def not_in_files(table: Table) -> Iterator[str]:
    """Notes on columns of a table of local files that none of them has."""
    source = table.connector
    if source is not None and source.path and source.name == "filesystem" and source.format in ("parquet", "json"):
        read = {column.name: column.type.spark for column in table.physical if column.name not in table.partitioned_by}
        yield from columns_not_in_files(source.path, source.format, read)
        if source.format == "parquet":
            yield from columns_misread(source.path, read)


def with_resolved_files(create: statements.CreateTable) -> statements.CreateTable:
    """A CREATE TABLE whose options that name a file to bind it are paths from here."""
    options = (
        replace(option, value=resolved_path(option.value, option.folder or "")) if option.key.endswith(FILE) else option
        for option in create.options
    )
    return replace(create, options=tuple(options))


def resolved_path(path: str, folder: str) -> str:
    """Resolve a path of a script against the script's folder. Absolute paths and URLs are unchanged."""
    if not folder or os.path.isabs(path) or re.match(r"[a-zA-Z][\w+.-]*:", path):
        return path
    return os.path.normpath(os.path.join(folder, path))
