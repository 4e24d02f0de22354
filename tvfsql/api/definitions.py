"""The tables, views and functions of a script, and the statements that define, alter and drop them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

from tvfsql.api.tables.catalogs import Warehouse
from tvfsql.api.tables.files import (
    PATH,
    columns_of,
    has_columns,
    not_in_files,
    resolved_path,
    with_columns_of_files,
    with_resolved_files,
)
from tvfsql.bind.flink.zone import in_local_zone
from tvfsql.bind.function import bind_function
from tvfsql.bind.statements.definitions import altered, definition_of, derived
from tvfsql.bind.statements.table import bind_table, bind_view
from tvfsql.catalog import Catalog, Table, View
from tvfsql.catalog.connectors import Connector, Managed
from tvfsql.errors import BindError, TvfSqlError
from tvfsql.options import Options
from tvfsql.options.known import WAREHOUSE, ZONE
from tvfsql.syntax import ast, statements


@dataclass(frozen=True)
class Message:
    """The outcome of an executed statement: a short message."""

    text: str


@dataclass
class Definitions:
    """The tables, views and functions that a script has so far. `folder` is the script's own folder, where relative
    paths start; rows of tables without a connector are in the `warehouse`.

    The methods that execute a statement raise TvfSqlError with the place in the statement.
    """

    catalog: Catalog = field(default_factory=Catalog)
    options: Options = field(default_factory=Options)
    folder: str = field(default="", kw_only=True)
    warehouse: Warehouse | None = field(default=None, kw_only=True)  # None: nothing will run
    ignored: dict[str, bool] = field(default_factory=dict, kw_only=True)  # options without effect; True: already warned
    notes: list[str] = field(default_factory=list, kw_only=True)  # notes on tables that are not yet reported

    def create_table(self, create: statements.CreateTable) -> Message:
        if create.if_not_exists and self.catalog.find(create.name.text):
            return Message(f"table {create.name.text} exists")
        old = self.catalog.find(create.name.text)
        table = self.add_table(create)
        if table.name not in self.catalog.hidden:
            self.release(old)
        written = has_columns(create) or create.like
        return Message(f"created table {table.name}" + ("" if written else f" {columns_of(table)}"))

    def add_table(self, create: statements.CreateTable) -> Table:
        """Add a table to the catalog. Rows of a table that it replaces stay."""
        if create.like:
            name = create.like.table
            create = derived(create, definition_of(self.catalog.get(name.text, name.span), name.span))
        table = self.bound(create)
        self._add(table, create)
        return table

    def _add(self, entry: Table | View, create: statements.CreateTable | statements.CreateView) -> None:
        if create.temporary and not create.or_replace:
            self.catalog.hide(entry.name)
        self.catalog.add(entry, replace=create.or_replace, span=create.name.span)
        if create.temporary:
            self.catalog.temporary |= {entry.name}

    def alter_table(self, alter: statements.AlterTable) -> Message:
        name = alter.table
        if alter.if_exists and self.catalog.look_up(name.text) is None:
            return Message(f"there is no table {name.text}")
        old = self.catalog.get(name.text, name.span)
        if isinstance(alter.change, statements.RenameTable) and self.catalog.find(name.text) is None:
            hint = f"CREATE TABLE {alter.change.name.text} LIKE {name.text}"
            raise BindError(f"{name.text} is a table of Spark, which tvfsql does not rename", span=name.span, hint=hint)
        definition = altered(definition_of(old, name.span), alter.change)
        own = old.connector if isinstance(old, Table) and isinstance(old.connector, Managed) else None
        if own and isinstance(alter.change, statements.RenameColumn):
            raise BindError(
                f"the files of {old.name} contain the column's old name, so it cannot be renamed",
                span=name.span,
                hint="ALTER TABLE t ADD new_name INT",
            )
        try:
            table = self.bound(definition)
        except TvfSqlError as error:  # an error in an earlier statement has no place in this one
            inside = error.span is not None and alter.span.start <= error.span.start < alter.span.end
            error.span = error.span if inside else name.span
            raise
        if own and isinstance(table.connector, Managed):
            table = replace(table, connector=own)
        self.catalog.add(table, replace=table.name == old.name, span=definition.name.span)
        if table.name != old.name:
            self.catalog.drop(old.name, "table")
        return Message(f"changed table {old.name}")

    def create_view(self, create: statements.CreateView, sql: str) -> Message:
        if create.if_not_exists and self.catalog.find(create.name.text):
            return Message(f"view {create.name.text} exists")
        with in_local_zone(self.options):
            view = bind_view(create, self.catalog, self.options, sql)
        self._add(view, create)
        return Message(f"created view {view.name}")

    def alter_view(self, alter: statements.AlterView, sql: str) -> Message:
        name, change = alter.view, alter.change
        old = self.catalog.get(name.text, name.span)
        if not isinstance(old, View):
            hint = f"ALTER TABLE {name.text} ..."
            raise BindError(f"{old.name} is a table", span=name.span, hint=hint)
        if isinstance(change, ast.Name):
            self.catalog.add(replace(old, name=change.text), span=change.span)
            self.catalog.drop(old.name, "view")
            return Message(f"changed view {old.name}")
        create = statements.CreateView(ast.Name(old.name, name.span), (), change, or_replace=True, span=alter.span)
        self.create_view(create, sql)
        return Message(f"changed view {old.name}")

    def create_function(self, create: statements.CreateFunction) -> Message:
        if create.if_not_exists and create.name.text.lower() in self.catalog.functions:
            return Message(f"function {create.name.text} exists")
        self.catalog.add_function(bind_function(create, self.folder), span=create.name.span)
        return Message(f"created function {create.name.text}")

    def drop(self, drop: statements.Drop) -> Message:
        if drop.kind == "function":
            if drop.if_exists and drop.name.text.lower() not in self.catalog.functions:
                return Message(f"there is no function {drop.name.text}")
            self.catalog.drop_function(drop.name.text, span=drop.name.span)
            return Message(f"dropped function {drop.name.text}")
        if drop.if_exists and self.catalog.look_up(drop.name.text) is None:
            return Message(f"there is no {drop.kind} {drop.name.text}")
        found = self.catalog.find(drop.name.text)
        if found is not None and found.name in self.catalog.hidden and not drop.temporary:
            hint = f"DROP TEMPORARY {drop.kind.upper()} {drop.name.text} first"
            problem = f"a temporary {drop.kind} hides {drop.name.text}"
            raise BindError(problem, span=drop.name.span, hint=hint)
        self.catalog.drop(drop.name.text, drop.kind, span=drop.name.span)
        self.release(found)
        return Message(f"dropped {drop.kind} {drop.name.text}")

    def bound(self, create: statements.CreateTable) -> Table:
        """Bind a CREATE TABLE, and collect the notes on its table. Its definition keeps where its paths start."""
        written = tuple(
            option if option.folder is not None else replace(option, folder=self.folder) for option in create.options
        )
        definition = replace(create, options=written)
        paths = [resolved_path(option.value, option.folder or "") for option in written if option.key == PATH]
        if paths:
            definition = with_columns_of_files(definition, paths[0])
        with in_local_zone(self.options):
            table = replace(bind_table(with_resolved_files(definition)), definition=definition)
        if self.catalog.outside:
            table = self.catalog.outside.checked(table, create.name.span)
        if table.connector and table.connector.path:
            folder = next((option.folder or "" for option in written if option.key == PATH), "")
            table = replace(table, connector=replace(table.connector, path=self._path(table.connector, folder)))
        self.ignore(table.ignored)
        self.notes += [*table.notes, *not_in_files(table)]
        return table

    def _path(self, connector: Connector, folder: str) -> str:
        """The folder or file of a table whose option 'path' starts at `folder`."""
        path = connector.path or ""
        if not isinstance(connector, Managed):
            return resolved_path(path, folder)
        root = self.options[WAREHOUSE]
        root = resolved_path(root, self.folder) if root else ""
        return self.warehouse.folder(root, path) if self.warehouse else os.path.join(root or "warehouse", path)

    def release(self, entry: Table | View | None) -> None:
        """Delete what a dropped table without a connector has elsewhere: its files, or the view of its DataFrame."""
        if not isinstance(entry, Table):
            return
        if entry.registered is not None and self.catalog.outside:
            self.catalog.outside.drop_view(entry)
        connector = entry.connector
        if self.warehouse and isinstance(connector, Managed):
            assert connector.path, entry.name
            if reason := self.warehouse.delete(connector.path):
                self.notes.append(f"the rows of {entry.name} stay in {connector.path}, {reason}")

    def take_zone(self) -> None:
        """Bind the tables anew if the local time zone is another one, on which their computed columns may depend."""
        if self.catalog.zone != self.options[ZONE]:
            with in_local_zone(self.options):
                self.catalog.entries = {name: _bound_anew(each) for name, each in self.catalog.entries.items()}
            self.catalog.zone = self.options[ZONE]

    def take_warnings(self) -> tuple[str, ...]:
        """Return the warnings about the statements so far: options without effect, in one line, and notes on tables."""
        names = [name for name, told in self.ignored.items() if not told]
        lines = [f"these options have no effect here: {', '.join(names)}"] if names else []
        lines += self.notes
        self.ignored, self.notes = dict.fromkeys(self.ignored, True), []
        return tuple(lines)

    def ignore(self, names: tuple[str, ...]) -> None:
        self.ignored |= {name: False for name in names if name not in self.ignored}


def _bound_anew(entry: Table | View) -> Table | View:
    """A table with its expressions bound again, in the local time zone of now. Views are bound at each use anyway."""
    if not isinstance(entry, Table) or not isinstance(entry.definition, statements.CreateTable):
        return entry
    now = bind_table(with_resolved_files(entry.definition))
    return replace(entry, columns=now.columns, watermark=now.watermark, history=now.history)
