"""Compiles statements: binds, plans and lowers them. `statement_sets.py` compiles the INSERTs of a set."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from tvfsql.api.compiled import Compiled
from tvfsql.bind.flink.beyond import note_clause
from tvfsql.bind.flink.zone import in_local_zone
from tvfsql.bind.query import QueryBinder
from tvfsql.bind.statements.insert import bind_insert
from tvfsql.bind.windows.gaps import refuse_unfilled
from tvfsql.catalog import Catalog, Table
from tvfsql.errors import Hint, OptionError, OtherMode, Span, TvfSqlError, UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import INTERVAL, REAL_TIME, RUNTIME_MODE, ZONE
from tvfsql.physical import lower
from tvfsql.physical.refused.kept_values import refuse_arguments
from tvfsql.physical.refused.real_time import refuse_in_real_time
from tvfsql.physical.streams.firing import refuse_idle_emit, with_emit
from tvfsql.plan.analysis.sharing import (
    as_tree,
)
from tvfsql.plan.node import Node, functions_in
from tvfsql.plan.nodes import Scan
from tvfsql.plan.values.user_function import UserFunction
from tvfsql.planner import Planner
from tvfsql.rules import PHASES
from tvfsql.syntax import ast, statements


def compile_statement(
    statement: ast.Query | statements.Insert, source: str, catalog: Catalog, mode: str, options: Options
) -> Compiled:
    """Bind, plan, lower and emit one statement of the script `source`. Raises TvfSqlError."""
    with with_place(statement.span, source):
        try:
            return bind(statement, catalog, mode, options).compiled(source)
        except UnsupportedError as error:
            if isinstance(error.advice, OtherMode):
                error.advice = _advice_that_works(
                    error.advice, lambda other: bind(statement, catalog, other, options).compiled(source)
                )
            raise


def _advice_that_works(advice: OtherMode, compiled: Callable[[str], object]) -> Hint | None:
    """The other mode, with what that mode needs; without it if that mode refuses the query too."""
    try:
        compiled(advice.mode)
    except UnsupportedError as refusal:
        if not isinstance(refusal.advice, OtherMode):
            return advice.in_this_mode or refusal.advice
        needed = refusal.advice.in_this_mode
        if advice.mode == "batch" and needed:
            return replace(advice, detail=f" with {needed}{advice.detail}")
        return advice.in_this_mode or needed or None
    except TvfSqlError:
        return advice
    return advice


@dataclass
class Bound:
    """A bound statement."""

    statement: ast.Query | statements.Insert
    logical: Node
    table: Table | None
    catalog: Catalog
    mode: str
    options: Options
    endless: str | None

    def compiled(self, source: str) -> Compiled:
        span = self.statement.span
        planner = Planner(PHASES, self.options)
        with with_place(span, source):
            if self.options.streaming:
                refuse_arguments(self.logical)
            optimized = planner.plan(self.logical)
            physical = as_tree(lower(optimized, self.catalog, self.options))
            if (emit := _emit(self.statement)) and self.options.streaming:
                refuse_idle_emit(physical, emit)
            if self.endless and self.options.streaming and self.options[REAL_TIME]:
                refuse_in_real_time(physical, self.table, self.options[INTERVAL])
        return Compiled(
            sql=source[span.start : span.end],
            ast=self.statement,
            logical=self.logical,
            steps=tuple(planner.steps),
            optimized=optimized,
            physical=physical,
            sink=self.table,
            mode=self.mode,
            unbounded=self.endless,
            options=self.options.of_streams,
            zone=self.options[ZONE],
            spark=self.options.spark,
        )


def bind(statement: ast.Query | statements.Insert, catalog: Catalog, mode: str, options: Options) -> Bound:
    table: Table | None = None
    options = options.with_value(RUNTIME_MODE.key, mode)
    with in_local_zone(options):
        if isinstance(statement, statements.Insert):
            logical: Node = bind_insert(statement, catalog, options)
        else:
            logical = QueryBinder(catalog, options).bind(statement).node
    if mode == "streaming" and not any(isinstance(node, Scan) for node in logical.walk()):
        return bind(statement, catalog, "batch", options)  # it reads no table, like INSERT INTO t VALUES
    if isinstance(statement, statements.Insert):
        found = catalog.get(statement.table.text)
        table = found if isinstance(found, Table) else None
    _refuse_namesakes(logical)
    refuse_unfilled(logical)
    endless = _unbounded(logical, catalog)
    if mode == "automatic":
        mode = "streaming" if endless else "batch"
        if endless:
            return bind(statement, catalog, mode, options)  # which reads the changes of tables, not their rows
        options = options.with_value(RUNTIME_MODE.key, mode)
    emit = _emit(statement)
    if emit is not None:
        note_clause("EMIT", emit.span)
    return Bound(statement, logical, table, catalog, mode, with_emit(options, emit), endless)


def _emit(statement: ast.Query | statements.Insert) -> ast.Emit | None:
    return (statement.query if isinstance(statement, statements.Insert) else statement).emit


@contextmanager
def with_place(statement: Span, source: str) -> Iterator[None]:
    """Give errors about a whole statement the place of its first word. Errors about options get no place."""
    try:
        yield
    except TvfSqlError as error:
        if error.span is None and not isinstance(error, OptionError):
            first = re.compile(r"\w+|.").match(source, statement.start)
            error.span = Span(*first.span()) if first else statement
        raise


def _refuse_namesakes(plan: Node) -> None:
    """Raise UnsupportedError for two functions with the same name: a table may use one that was dropped since."""
    known: dict[str, UserFunction] = {}
    for function in functions_in(plan):
        other = known.setdefault(function.name.lower(), function)
        if other != function:
            message = f"two functions are named {function.name}: {other.path} and {function.path}"
            raise UnsupportedError(message, hint="DROP the table that uses the old one, and CREATE it again")


def _unbounded(plan: Node, catalog: Catalog) -> str | None:
    """The name of the plan's first unbounded table; None if all are bounded."""
    for node in plan.walk():
        table = catalog.find(node.table) if isinstance(node, Scan) else None
        if isinstance(table, Table) and table.connector is not None and table.connector.endless:
            return table.name
    return None
