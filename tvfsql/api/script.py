"""Scripts, statement by statement: what each does to the catalog and the options, and what it gives. No Spark."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tvfsql.api.compiled import Compiled
from tvfsql.api.compiling import compile_set, compile_statement
from tvfsql.api.explain import explain
from tvfsql.bind.call import AdvanceWatermark, bind_call
from tvfsql.bind.function import bind_function
from tvfsql.bind.query import QueryBinder
from tvfsql.bind.spark_words import functions
from tvfsql.bind.statement import bind_table, bind_view
from tvfsql.bind.users import with_functions
from tvfsql.catalog import Catalog, Table, View
from tvfsql.errors import BindError, TvfSqlError, UnsupportedError, did_you_mean
from tvfsql.options import EXPLAIN_FORMATS, STAGES, Options
from tvfsql.plan.aggregates import AGGREGATES
from tvfsql.plan.types import shown
from tvfsql.syntax import ast, statements
from tvfsql.syntax.parser import parse


@dataclass(frozen=True)
class Message:
    """A statement that was carried out, and a word about it."""

    text: str


@dataclass(frozen=True)
class Listing:
    """Rows that need no Spark: SHOW, DESCRIBE, SET."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True)
class Text:
    """Text for the reader: EXPLAIN, SHOW CREATE."""

    text: str


@dataclass(frozen=True)
class Inserts:
    """The INSERTs of a STATEMENT SET: streams among them run at once."""

    queries: tuple[Compiled, ...]


Outcome = Message | Listing | Text | Compiled | Inserts | AdvanceWatermark


def queries_of(outcome: Outcome) -> tuple[Compiled, ...]:
    """The queries that a statement has: none, one, or those of a set."""
    match outcome:
        case Compiled():
            return (outcome,)
        case Inserts(queries):
            return queries
    return ()


@dataclass
class Script:
    """The state that statements share. `folder` is where relative paths start: the script's own folder."""

    catalog: Catalog = field(default_factory=Catalog)
    options: Options = field(default_factory=Options)
    mode: str | None = None
    folder: str = ""

    def outcomes(self, sql: str, file: str | None = None) -> Iterator[Outcome]:
        """What each statement gives, in order; each is carried out when it is asked for. Raises TvfSqlError."""
        try:
            for statement in parse(sql):
                yield from self._outcome(with_functions(statement, self.catalog.functions), sql)
        except TvfSqlError as error:
            raise error.within(sql, file) from error.__cause__

    def _outcome(self, statement: statements.Statement, sql: str) -> Iterator[Outcome]:
        match statement:
            case ast.Query() | statements.Insert():
                yield self._compile(statement, sql)
            case statements.StatementSet(inserts):
                yield Inserts(self._compile_set(inserts, sql))
            case statements.Explain(inner, words):
                stage, form = _explain_words(words, statement)
                if isinstance(inner, statements.StatementSet):
                    queries = self._compile_set(inner.inserts, sql)
                else:
                    queries = (self._compile(inner, sql),)
                yield Text(explain(queries, stage, form))
            case statements.CreateTable():
                yield self._create_table(statement)
            case statements.CreateView():
                yield self._create_view(statement, sql)
            case statements.CreateFunction():
                yield self._create_function(statement)
            case statements.Drop():
                yield self._drop(statement)
            case statements.Call():
                yield bind_call(statement, self.catalog)
            case statements.SetOption(None):
                yield Listing(("key", "value"), tuple(self.options.listed()))
            case statements.SetOption(str() as key, str() as value):
                self.options = self.options.with_value(key, value, statement.span)
                yield Message(f"set {key} = {self.options[key]}")
            case statements.Reset(key):
                self.options = self.options.without(key, statement.span)
                yield Message(f"reset {key or 'all options'}")
            case statements.Show():
                yield self._show(statement)
            case statements.ShowCreate(name):
                yield Text(self.catalog.get(name.text, name.span).ddl())
            case statements.Describe(name):
                yield self._describe(name)
            case _:
                raise AssertionError(f"no way to carry out {type(statement).__name__}")

    def _compile(self, statement: ast.Query | statements.Insert, sql: str) -> Compiled:
        return compile_statement(statement, sql, self.catalog, self._mode, self.options)

    def _compile_set(self, inserts: tuple[statements.Insert, ...], sql: str) -> tuple[Compiled, ...]:
        queries = compile_set(inserts, sql, self.catalog, self._mode, self.options)
        _refuse_shared_folders(queries)
        return queries

    @property
    def _mode(self) -> str:
        return self.mode or self.options["execution.runtime-mode"]

    def _create_table(self, create: statements.CreateTable) -> Message:
        if create.if_not_exists and self.catalog.find(create.name.text):
            return Message(f"table {create.name.text} exists")
        table = bind_table(create)
        if table.connector and table.connector.path:
            path = resolved_path(table.connector.path, self.folder)
            table = replace(table, connector=replace(table.connector, path=path))
        self.catalog.add(table, span=create.name.span)
        return Message(f"created table {table.name}")

    def _create_view(self, create: statements.CreateView, sql: str) -> Message:
        if create.if_not_exists and self.catalog.find(create.name.text):
            return Message(f"view {create.name.text} exists")
        view = bind_view(create, QueryBinder(self.catalog, self.options), sql)
        self.catalog.add(view, replace=create.or_replace, span=create.name.span)
        return Message(f"created view {view.name}")

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
        if drop.if_exists and self.catalog.find(drop.name.text) is None:
            return Message(f"there is no {drop.kind} {drop.name.text}")
        self.catalog.drop(drop.name.text, drop.kind, span=drop.name.span)
        return Message(f"dropped {drop.kind} {drop.name.text}")

    def _show(self, show: statements.Show) -> Listing:
        users = sorted(self.catalog.functions.values(), key=lambda function: function.name.lower())
        if show.what == "user functions":
            kinds = (("aggregate" if function.aggregate else "scalar") for function in users)
            rows = ((of.name, kind, shown(of.result), of.path) for of, kind in zip(users, kinds, strict=True))
            return Listing(("function name", "kind", "result", "as"), tuple(rows))
        own = (function.name for function in users)
        known = {
            "tables": (*self.catalog.names(Table), *self.catalog.names(View)),
            "views": self.catalog.names(View),
            "functions": tuple({*functions(), *(name.lower() for name in AGGREGATES if name.isidentifier()), *own}),
        }
        if show.what not in known:
            hint = did_you_mean(show.what, (*known, "user functions")) or ""
            raise BindError(
                f"there is no SHOW {show.what.upper()}",
                span=show.span,
                hint=hint.upper() if "?" not in hint else hint,
            )
        return Listing((f"{show.what.removesuffix('s')} name",), tuple((name,) for name in sorted(known[show.what])))

    def _describe(self, name: ast.Name) -> Listing:
        entry = self.catalog.get(name.text, name.span)
        header = ("name", "type", "computed as", "watermark")
        if isinstance(entry, View):
            pairs = zip(entry.columns, entry.plan.schema, strict=True)
            return Listing(header, tuple((column, shown(part.type), None, None) for column, part in pairs))
        mark = entry.watermark
        return Listing(
            header,
            tuple(
                (
                    part.name,
                    shown(part.type),
                    str(part.scalar) if part.scalar else None,
                    str(mark.scalar) if mark and mark.column == part.name else None,
                )
                for part in entry.columns
            ),
        )


def resolved_path(path: str, folder: str) -> str:
    """A path of a script as seen from the current folder; absolute ones and URLs stay."""
    if not folder or os.path.isabs(path) or re.match(r"[a-zA-Z][\w+.-]*:", path):
        return path
    return os.path.normpath(os.path.join(folder, path))


def _refuse_shared_folders(inserts: tuple[Compiled, ...]) -> None:
    """Raise UnsupportedError for streams of one set that write the same files: Spark keeps one list of them."""
    written: set[str] = set()
    for insert in inserts:
        path = insert.sink.connector.path if insert.sink and insert.sink.connector else None
        if insert.mode == "streaming" and path is not None:
            if path in written:
                raise UnsupportedError(
                    f"two streams cannot write the files of {path}",
                    span=insert.ast.span,
                    hint="one INSERT of both queries, with UNION ALL between them",
                )
            written.add(path)


def _explain_words(words: tuple[str, ...], statement: statements.Explain) -> tuple[str, str]:
    """The stage and the format that stand between EXPLAIN and the statement: EXPLAIN PHYSICAL JSON SELECT ..."""
    stage, form = "all", "text"
    for word in words:
        if word in STAGES:
            stage = word
        elif word in EXPLAIN_FORMATS:
            form = word
        elif word not in ("plan", "for"):
            hint = did_you_mean(word, (*STAGES, *EXPLAIN_FORMATS))
            raise BindError(f"there is no EXPLAIN {word.upper()}", span=statement.span, hint=hint)
    return stage, form
