"""Executes scripts statement by statement: the effect of each on catalog and options, and its outcome. Starts no
Spark.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from tvfsql.api.analyze.refused import no_insert, refuse_endless
from tvfsql.api.compiled import Compiled
from tvfsql.api.compiling import compile_set, compile_statement
from tvfsql.api.explain import explain, stage_and_format
from tvfsql.api.listings import Listing, describe, show
from tvfsql.api.summary import rows_of, summary_of
from tvfsql.api.tables.catalogs import Warehouse
from tvfsql.api.tables.files import (
    PATH,
    FileTables,
    columns_of,
    has_columns,
    not_in_files,
    resolved_path,
    with_columns_of_files,
    with_resolved_files,
)
from tvfsql.bind.flink.zone import in_local_zone
from tvfsql.bind.function import bind_function
from tvfsql.bind.query import QueryBinder
from tvfsql.bind.statements.call import AdvanceWatermark, bind_call
from tvfsql.bind.statements.definitions import altered, definition_of, derived, of_query
from tvfsql.bind.statements.show_create import create_statement
from tvfsql.bind.statements.table import bind_table, bind_view
from tvfsql.bind.user_function_calls import with_functions
from tvfsql.catalog import Catalog, Table, View
from tvfsql.catalog.connectors import Connector, Managed
from tvfsql.errors import BindError, Span, TvfSqlError, UnsupportedError, nearest
from tvfsql.options import Options
from tvfsql.options.known import RUNTIME_MODE, WAREHOUSE, ZONE
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Scan
from tvfsql.room import with_room
from tvfsql.secrets import shown as shown_value
from tvfsql.syntax import ast, statements
from tvfsql.syntax.databases import Databases
from tvfsql.syntax.explain_words import ANALYZE, ANALYZE_FORMATS, DETAILS
from tvfsql.syntax.parameters import Filled, Parameters
from tvfsql.syntax.parser import parse


@dataclass(frozen=True)
class Message:
    """The outcome of an executed statement: a short message."""

    text: str


@dataclass(frozen=True)
class Text:
    """Text for the reader: EXPLAIN, SHOW CREATE."""

    text: str


@dataclass(frozen=True)
class Inserts:
    """The INSERTs of a STATEMENT SET. Streams among them run at the same time."""

    queries: tuple[Compiled, ...]


@dataclass(frozen=True)
class Analyze:
    """The outcome of EXPLAIN ANALYZE: a query to run and measure, and the `format` of the report."""

    query: Compiled
    format: str


Outcome = Analyze | Message | Listing | Text | Compiled | Inserts | AdvanceWatermark


def queries_of(outcome: Outcome) -> tuple[Compiled, ...]:
    """The queries of a statement: none, one, or those of a set."""
    match outcome:
        case Compiled():
            return (outcome,)
        case Inserts(queries):
            return queries
    return ()


@dataclass
class Script:
    """The state that statements share. `folder` is the script's own folder, where relative paths start; `opened` are
    the options that RESET restores: those at the start.
    """

    catalog: Catalog = field(default_factory=Catalog)
    options: Options = field(default_factory=Options)
    mode: str | None = None
    folder: str = ""
    ignored: dict[str, bool] = field(default_factory=dict)  # options without effect; True: already warned
    notes: list[str] = field(default_factory=list)  # notes on tables that are not yet reported

    warehouse: Warehouse | None = None  # None: nothing will run
    databases: Databases = field(default_factory=Databases)
    parameters: Parameters = field(default_factory=Parameters)
    opened: Options | None = None

    def __post_init__(self) -> None:
        self.opened = self.opened or self.options
        self._ignore(self.options.ignored)
        if RUNTIME_MODE.key in self.options.values:
            self._note_mode()

    def outcomes(self, sql: str, file: str | None = None) -> Iterator[Outcome]:
        """The outcome of each statement, in order. A statement is executed when its outcome is requested.

        Raises TvfSqlError with the place in `sql`; `file` is the name that it shows.
        """
        filled = self.filled(sql, file)
        try:
            for statement in self._statements(filled):
                if self.catalog.outside:
                    self.catalog.outside.forget()
                self.catalog.files = FileTables(self._bound, self.folder)
                yield with_room(partial(self._outcome, statement, filled.text))
        except TvfSqlError as error:
            raise filled.located(error, file) from error.__cause__

    def filled(self, sql: str, file: str | None = None) -> Filled:
        """The script with the values of its parameters. Raises TvfSqlError as `outcomes` does."""
        try:
            return self.parameters.filled(sql)
        except TvfSqlError as error:
            raise error.within(sql, file) from error.__cause__

    def parsed(self, sql: str) -> tuple[statements.Statement, ...]:
        """The statements of a script, none of which is executed. Raises TvfSqlError as `outcomes` does."""
        filled = self.filled(sql)
        try:
            return self._statements(filled)
        except TvfSqlError as error:
            raise filled.located(error, None) from error.__cause__

    def _statements(self, filled: Filled) -> tuple[statements.Statement, ...]:
        return with_room(lambda: parse(filled.text, self.databases))

    def _outcome(self, statement: statements.Statement, sql: str) -> Outcome:
        self._take_zone()
        if not isinstance(statement, statements.Hinted | statements.CreateView):  # each use of a view attaches its own
            statement = with_functions(statement, self.catalog.functions)
        match statement:
            case ast.Query() | statements.Insert():
                return replace(self._compile(statement, sql), of_script=self.take_warnings())
            case statements.StatementSet(inserts):
                first, *others = self._compile_set(inserts, sql)
                return Inserts((replace(first, of_script=self.take_warnings()), *others))
            case statements.Explain(inner, words):
                stage, form = stage_and_format(statement)
                self._ignore(tuple(word.upper() for word in words if word in DETAILS))
                if ANALYZE in words:
                    return self._analyze(statement, stage, form, sql)
                if isinstance(inner, statements.StatementSet):
                    queries = self._compile_set(inner.inserts, sql)
                else:
                    queries = (self._compile(inner, sql),)
                return Text(explain(queries, stage, form))
            case statements.Hinted():
                return self._hinted(statement, sql)
            case statements.CreateTable(query=None):
                return self._create_table(statement)
            case statements.CreateTable():
                return self._create_table_as(statement, sql)
            case statements.AlterTable():
                return self._alter_table(statement)
            case statements.CreateView():
                return self._create_view(statement, sql)
            case statements.AlterView():
                return self._alter_view(statement, sql)
            case statements.UseModules(names):
                return _use_modules(names)
            case statements.CreateFunction():
                return self._create_function(statement)
            case statements.Drop():
                return self._drop(statement)
            case statements.Call():
                return bind_call(statement, self.catalog)
            case statements.SetOption(None):
                return Listing(("key", "value"), tuple(self.options.listed()))
            case statements.SetOption(str() as key, str() as value):
                self.options = self.options.with_value(key, value, statement.span)
                self._ignore((key,) if key in self.options.ignored else ())
                if key == RUNTIME_MODE.key:
                    self._note_mode()
                return Message(f"set {key} = {shown_value(key, self.options.text(key))}")
            case statements.Reset(key):
                self.options = self.options.reset(key, self.opened or Options(), statement.span)
                return Message(f"reset {key or 'all options'}")
            case statements.Declare(name):
                return Message(f"declared {name.text}")
            case statements.InDatabases(done, after):
                if statement.outside:
                    self._require_database(statement.outside)
                self.databases = after
                return Message(done)
            case statements.Show():
                return show(statement, self.catalog)
            case statements.ShowCreate(name):
                return Text(create_statement(self.catalog.get(name.text, name.span)))
            case statements.Describe(ast.Name() as name):
                return describe(name, self.catalog)
            case statements.Describe(ast.Query() as query):
                rows = self._compile(query, sql).physical.schema
                return Listing(("name", "type"), tuple((part.name, part.type.flink) for part in rows))
            case statements.Summarize():
                return self._summarized(statement, sql)
            case _:
                raise AssertionError(f"no way to carry out {type(statement).__name__}")

    def _take_zone(self) -> None:
        """Bind the tables anew if the local time zone is another one, on which their computed columns may depend."""
        if self.catalog.zone != self.options[ZONE]:
            with in_local_zone(self.options):
                self.catalog.entries = {name: _bound_anew(each) for name, each in self.catalog.entries.items()}
            self.catalog.zone = self.options[ZONE]

    def _require_database(self, name: ast.Name) -> None:
        """Raise BindError if Spark has no database of that name."""
        catalog, _, database = name.text.rpartition(".")
        known = self.catalog.outside.databases(catalog) if self.catalog.outside else ()
        if database.lower() not in map(str.lower, known):
            own = () if catalog else self.databases.shown("databases") or ()
            close = nearest(database, (*own, *known))
            hint = f"did you mean {close}?" if close else f"CREATE DATABASE {name.text}"
            raise BindError(f"there is no database {name.text}", span=name.span, hint=hint)

    def _hinted(self, hinted: statements.Hinted, sql: str) -> Outcome:
        """Execute a statement whose tables have the options of their hints."""
        self._ignore(hinted.idle)
        if not hinted.tables:
            return self._outcome(hinted.statement, sql)
        before, self.catalog = self.catalog, self.catalog.copy()
        try:
            for hint in hinted.tables:
                change = statements.SetOptions(hint.options)
                self._alter_table(statements.AlterTable(hint.table, change, span=hint.span))
            return self._outcome(hinted.statement, sql)
        finally:
            self.catalog = before

    def take_warnings(self) -> tuple[str, ...]:
        """Return the warnings about the statements so far: options without effect, in one line, and notes on tables."""
        names = [name for name, told in self.ignored.items() if not told]
        lines = [f"these options have no effect here: {', '.join(names)}"] if names else []
        lines += self.notes
        self.ignored, self.notes = dict.fromkeys(self.ignored, True), []
        return tuple(lines)

    def _ignore(self, names: tuple[str, ...]) -> None:
        self.ignored |= {name: False for name in names if name not in self.ignored}

    def _note_mode(self) -> None:
        """Note that the option has no effect if the mode is another one, fixed from outside."""
        asked = self.options[RUNTIME_MODE].value
        if self.mode not in (None, asked):
            self.notes.append(
                f"{RUNTIME_MODE.key} = {asked} has no effect: "
                f"the mode is fixed to {self.mode} (--mode, or mode= in Python)"
            )

    def _compile(self, statement: ast.Query | statements.Insert, sql: str) -> Compiled:
        return compile_statement(statement, sql, self.catalog, self._mode, self.options)

    def _compile_set(self, inserts: tuple[statements.Insert, ...], sql: str) -> tuple[Compiled, ...]:
        return compile_set(inserts, sql, self.catalog, self._mode, self.options)

    def _summarized(self, asked: statements.Summarize, sql: str) -> Compiled:
        """SUMMARIZE: the query of the rows is compiled for its columns, then that of their figures."""
        rows = rows_of(asked, sql)
        try:
            columns = self._compile(self._query(rows.text), rows.text)
        except TvfSqlError as error:
            raise rows.located(error, None) from error.__cause__
        if columns.mode == "streaming":
            hint = "--mode batch, if its tables are bounded"
            raise UnsupportedError("SUMMARIZE needs all rows, but this is a stream", span=asked.span, hint=hint)
        text = summary_of(rows.text.strip(), [(part.name, part.type) for part in columns.physical.schema])
        return replace(self._compile(self._query(text), text), of_script=self.take_warnings())

    def _query(self, sql: str) -> ast.Query:
        (query,) = parse(sql, self.databases)
        assert isinstance(query, ast.Query)
        return query

    def _analyze(self, statement: statements.Explain, stage: str, form: str, sql: str) -> Analyze:
        if stage != "all" or form not in ANALYZE_FORMATS:
            word = form if stage == "all" else stage
            hint = "EXPLAIN ANALYZE SELECT ..., or EXPLAIN ANALYZE JSON SELECT ..."
            raise BindError(f"EXPLAIN ANALYZE does not know {word.upper()}", span=statement.span, hint=hint)
        if not isinstance(statement.statement, ast.Query):
            raise no_insert(statement.span)
        query = self._compile(statement.statement, sql)
        refuse_endless(query)
        return Analyze(replace(query, of_script=self.take_warnings()), form)

    @property
    def _mode(self) -> str:
        return self.mode or self.options[RUNTIME_MODE].value

    def _create_table(self, create: statements.CreateTable) -> Message:
        if create.if_not_exists and self.catalog.find(create.name.text):
            return Message(f"table {create.name.text} exists")
        old = self.catalog.find(create.name.text)
        table = self._added(create)
        if table.name not in self.catalog.hidden:
            self._release(old)
        written = has_columns(create) or create.like
        return Message(f"created table {table.name}" + ("" if written else f" {columns_of(table)}"))

    def _added(self, create: statements.CreateTable) -> Table:
        """Add a table to the catalog. Rows of a table that it replaces stay."""
        if create.like:
            name = create.like.table
            create = derived(create, definition_of(self.catalog.get(name.text, name.span), name.span))
        table = self._bound(create)
        self._add(table, create)
        return table

    def _add(self, entry: Table | View, create: statements.CreateTable | statements.CreateView) -> None:
        if create.temporary and not create.or_replace:
            self.catalog.hide(entry.name)
        self.catalog.add(entry, replace=create.or_replace, span=create.name.span)
        if create.temporary:
            self.catalog.temporary |= {entry.name}

    def _create_table_as(self, create: statements.CreateTable, sql: str) -> Outcome:
        """CREATE TABLE ... AS: the table, then an INSERT into it."""
        if create.if_not_exists and self.catalog.find(create.name.text):
            return Message(f"table {create.name.text} exists")
        assert create.query is not None
        before, old = self.catalog.copy(), self.catalog.find(create.name.text)
        with in_local_zone(self.options):
            bound = QueryBinder(self.catalog, self.options).bind(create.query)
        if old is not None:
            _refuse_own_rows(bound.node, old.name, create.name.span)
        self._added(of_query(create, bound))
        names = tuple(ast.Name(name, create.name.span) for name in bound.names)
        insert = statements.Insert(create.name, names, create.query, span=create.span)
        try:
            compiled = self._compile(insert, sql)
        except TvfSqlError:
            self.catalog = before
            raise
        self._release(old)
        return replace(compiled, of_script=self.take_warnings())

    def _bound(self, create: statements.CreateTable) -> Table:
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
        self._ignore(table.ignored)
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

    def _release(self, entry: Table | View | None) -> None:
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

    def _alter_table(self, alter: statements.AlterTable) -> Message:
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
            table = self._bound(definition)
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

    def _create_view(self, create: statements.CreateView, sql: str) -> Message:
        if create.if_not_exists and self.catalog.find(create.name.text):
            return Message(f"view {create.name.text} exists")
        with in_local_zone(self.options):
            view = bind_view(create, self.catalog, self.options, sql)
        self._add(view, create)
        return Message(f"created view {view.name}")

    def _alter_view(self, alter: statements.AlterView, sql: str) -> Message:
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
        self._create_view(create, sql)
        return Message(f"changed view {old.name}")

    def _create_function(self, create: statements.CreateFunction) -> Message:
        if create.if_not_exists and create.name.text.lower() in self.catalog.functions:
            return Message(f"function {create.name.text} exists")
        self.catalog.add_function(bind_function(create, self.folder), span=create.name.span)
        return Message(f"created function {create.name.text}")

    def _drop(self, drop: statements.Drop) -> Message:
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
        self._release(found)
        return Message(f"dropped {drop.kind} {drop.name.text}")


def _use_modules(names: tuple[ast.Name, ...]) -> Message:
    """The outcome of USE MODULES: there is only Flink's module `core`."""
    for name in names:
        if name.text.lower() != "core":
            raise BindError(f"there is no module {name.text}", span=name.span, hint="USE MODULES core")
    return Message("using modules core")


def _bound_anew(entry: Table | View) -> Table | View:
    """A table with its expressions bound again, in the local time zone of now. Views are bound at each use anyway."""
    if not isinstance(entry, Table) or not isinstance(entry.definition, statements.CreateTable):
        return entry
    now = bind_table(with_resolved_files(entry.definition))
    return replace(entry, columns=now.columns, watermark=now.watermark, history=now.history)


def _refuse_own_rows(query: Node, table: str, span: Span | None) -> None:
    """Raise UnsupportedError if the query of a CREATE TABLE AS reads the old table that the new one replaces."""
    if any(isinstance(node, Scan) and node.table == table for node in query.walk()):
        raise UnsupportedError(
            f"the query of the new table {table} reads the table that it would replace",
            span=span,
            hint=f"INSERT OVERWRITE {table} SELECT ..., or CREATE TABLE with another name",
        )
