"""Executes scripts statement by statement: the effect of each on catalog and options, and its outcome. Starts no
Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from tvfsql.api.analyze.refused import no_insert, refuse_endless
from tvfsql.api.compiled import Compiled
from tvfsql.api.compiling import compile_statement
from tvfsql.api.definitions import Definitions, Message
from tvfsql.api.explain import explain, stage_and_format
from tvfsql.api.listings import Listing, describe, show
from tvfsql.api.statement_sets import compile_set
from tvfsql.api.summary import rows_of, summary_of
from tvfsql.api.tables.files import (
    FileTables,
)
from tvfsql.bind.flink.zone import in_local_zone
from tvfsql.bind.query import QueryBinder
from tvfsql.bind.statements.call import AdvanceWatermark, bind_call
from tvfsql.bind.statements.definitions import of_query
from tvfsql.bind.statements.show_create import create_statement
from tvfsql.bind.user_function_calls import with_functions
from tvfsql.errors import BindError, OtherMode, Span, TvfSqlError, UnsupportedError, nearest
from tvfsql.options import Options
from tvfsql.options.known import RUNTIME_MODE
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Scan
from tvfsql.room import with_room
from tvfsql.secrets import shown as shown_value
from tvfsql.syntax import ast, statements
from tvfsql.syntax.databases import Databases
from tvfsql.syntax.explain_words import ANALYZE, ANALYZE_FORMATS, DETAILS, PLAN
from tvfsql.syntax.parameters import Filled, Parameters
from tvfsql.syntax.parser import parse


@dataclass(frozen=True)
class Parsed:
    """A script that is parsed: its statements in the text of `filled`. `file` is the name that errors show."""

    statements: tuple[statements.Statement, ...]
    filled: Filled
    file: str | None


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
class Script(Definitions):
    """The state that statements share. `opened` are the options that RESET restores: those at the start."""

    mode: str | None = None
    databases: Databases = field(default_factory=Databases)
    parameters: Parameters = field(default_factory=Parameters)
    opened: Options | None = None
    file: str | None = None  # the name of the script that is being executed

    def __post_init__(self) -> None:
        self.opened = self.opened or self.options
        self.ignore(self.options.ignored)
        if RUNTIME_MODE.key in self.options.values:
            self._note_mode()

    def outcomes(self, sql: str, file: str | None = None) -> Iterator[Outcome]:
        """The outcome of each statement, in order. A statement is executed when its outcome is requested.

        Raises TvfSqlError with the place in `sql`; `file` is the name that it shows.
        """
        yield from self.executed(self.parsed(sql, file))

    def executed(self, script: Parsed) -> Iterator[Outcome]:
        """The same of a script that is parsed."""
        try:
            for statement in script.statements:
                if self.catalog.outside:
                    self.catalog.outside.forget()
                self.catalog.files, self.file = FileTables(self.bound, self.folder), script.file
                yield with_room(partial(self._outcome, statement, script.filled.text))
        except TvfSqlError as error:
            raise script.filled.located(error, script.file) from error.__cause__

    def filled(self, sql: str, file: str | None = None) -> Filled:
        """The script with the values of its parameters. Raises TvfSqlError as `outcomes` does."""
        try:
            return self.parameters.filled(sql)
        except TvfSqlError as error:
            raise error.within(sql, file) from error.__cause__

    def parsed(self, sql: str, file: str | None = None) -> Parsed:
        """The script, none of whose statements is executed. Raises TvfSqlError as `outcomes` does."""
        filled = self.filled(sql, file)
        try:
            return Parsed(with_room(lambda: parse(filled.text, self.databases)), filled, file)
        except TvfSqlError as error:
            raise filled.located(error, file) from error.__cause__

    def _outcome(self, statement: statements.Statement, sql: str) -> Outcome:
        self.take_zone()
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
                self.ignore(tuple(word.upper() for word in words if word in DETAILS))
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
                return self.create_table(statement)
            case statements.CreateTable():
                return self._create_table_as(statement, sql)
            case statements.AlterTable():
                return self.alter_table(statement)
            case statements.CreateView():
                return self.create_view(statement, sql)
            case statements.AlterView():
                return self.alter_view(statement, sql)
            case statements.UseModules(names):
                return _use_modules(names)
            case statements.CreateFunction():
                return self.create_function(statement)
            case statements.Drop():
                return self.drop(statement)
            case statements.Call():
                return bind_call(statement, self.catalog)
            case statements.SetOption(None):
                return Listing(("key", "value"), tuple(self.options.listed()))
            case statements.SetOption(str() as key, str() as value):
                self.options = self.options.with_value(key, value, statement.span)
                self.ignore((key,) if key in self.options.ignored else ())
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
        self.ignore(hinted.idle)
        if not hinted.tables:
            return self._outcome(hinted.statement, sql)
        before, self.catalog = self.catalog, self.catalog.copy()
        try:
            for hint in hinted.tables:
                change = statements.SetOptions(hint.options)
                self.alter_table(statements.AlterTable(hint.table, change, span=hint.span))
            return self._outcome(hinted.statement, sql)
        finally:
            self.catalog = before

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
            hint = OtherMode("batch", detail=", if its tables are bounded")
            raise UnsupportedError("SUMMARIZE needs all rows, but this is a stream", span=asked.span, hint=hint)
        text = summary_of(rows.text.strip(), [(part.name, part.type) for part in columns.physical.schema])
        return replace(self._compile(self._query(text), text), of_script=self.take_warnings())

    def _query(self, sql: str) -> ast.Query:
        (query,) = parse(sql, self.databases)
        assert isinstance(query, ast.Query)
        return query

    def _analyze(self, statement: statements.Explain, stage: str, form: str, sql: str) -> Analyze:
        if stage != PLAN or form not in ANALYZE_FORMATS:
            word = form if stage == PLAN else stage
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
        self.add_table(of_query(create, bound))
        names = tuple(ast.Name(name, create.name.span) for name in bound.names)
        insert = statements.Insert(create.name, names, create.query, span=create.span)
        try:
            compiled = self._compile(insert, sql)
        except TvfSqlError:
            self.catalog = before
            raise
        self.release(old)
        return replace(compiled, of_script=self.take_warnings())


def _use_modules(names: tuple[ast.Name, ...]) -> Message:
    """The outcome of USE MODULES: there is only Flink's module `core`."""
    for name in names:
        if name.text.lower() != "core":
            raise BindError(f"there is no module {name.text}", span=name.span, hint="USE MODULES core")
    return Message("using modules core")


def _refuse_own_rows(query: Node, table: str, span: Span | None) -> None:
    """Raise UnsupportedError if the query of a CREATE TABLE AS reads the old table that the new one replaces."""
    if any(isinstance(node, Scan) and node.table == table for node in query.walk()):
        raise UnsupportedError(
            f"the query of the new table {table} reads the table that it would replace",
            span=span,
            hint=f"INSERT OVERWRITE {table} SELECT ..., or CREATE TABLE with another name",
        )
