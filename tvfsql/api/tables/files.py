"""Tables of local files whose columns nobody has written: CREATE TABLE without columns, and FROM 'trips.parquet'."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tvfsql.catalog import Table
from tvfsql.errors import BindError, DataError, Span
from tvfsql.runtime.batch.inferred_columns import format_of, inferred_columns
from tvfsql.syntax import ast, statements
from tvfsql.syntax.type_words import parse_type

CONNECTOR, PATH, FORMAT = "connector", "path", "format"
NOWHERE = Span(0, 0)
FORMATS = ("csv", "json", "parquet")


def with_columns_of_files(create: statements.CreateTable, path: str) -> statements.CreateTable:
    """A CREATE TABLE with the columns of the files at `path`, from where this process runs, if it has a path and no
    columns. Its connector and format may be missing too. Raises BindError at the option 'path'.
    """
    options = {option.key: option.value for option in create.options}
    if create.columns or create.names or PATH not in options or options.get(CONNECTOR, "filesystem") != "filesystem":
        return create
    place = next(option.span for option in create.options if option.key == PATH)
    form = options.get(FORMAT) or format_of(path)
    if form is None:
        raise BindError(f"the format of {options[PATH]} is not known", span=place, hint="add 'format' = 'csv'")
    if form not in FORMATS:
        return create
    try:
        found = inferred_columns(path, form, options)
    except DataError as error:
        raise BindError(error.message, span=place, hint=error.hint) from error
    columns = tuple(
        statements.Column(ast.Name(name, place), parse_type(kind), written=kind) for name, kind in found.columns
    )
    more = {CONNECTOR: "filesystem", FORMAT: form, **dict(found.options)}
    added = (statements.Option(key, value, place) for key, value in more.items() if key not in options)
    return replace(create, columns=columns, options=(*create.options, *added))


@dataclass
class FileTables:
    """The tables of the files that a statement reads by their paths. `bound` binds a CREATE TABLE."""

    bound: Callable[[statements.CreateTable], Table]
    found: dict[str, Table] = field(default_factory=dict)

    def table(self, name: str) -> Table | None:
        if name not in self.found and format_of(name) is not None:
            of_path = (statements.Option(PATH, name, NOWHERE),)
            self.found[name] = self.bound(statements.CreateTable(ast.Name(name, NOWHERE), (), None, of_path))
        return self.found.get(name)
