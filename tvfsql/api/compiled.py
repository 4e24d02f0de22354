"""A compiled query: one attribute per stage, from the syntax tree to the Python text that runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tvfsql.bind.query import QueryBinder
from tvfsql.bind.statement import bind_insert
from tvfsql.catalog import Catalog, Table
from tvfsql.emit import program
from tvfsql.errors import Span, TvfSqlError, UnsupportedError
from tvfsql.options import Options
from tvfsql.physical import lower
from tvfsql.physical.operators import LateOutput
from tvfsql.physical.row_operators import unbounded_state
from tvfsql.plan.function import UserFunction, functions_in
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Scan
from tvfsql.plan.sharing import share, shared_by, told_once
from tvfsql.planner import Planner, Step
from tvfsql.rules import PHASES
from tvfsql.syntax import ast, statements

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Compiled:
    """A SELECT or an INSERT at every stage. `str()` is the code.

    `sql` is its text, `ast` its syntax tree, `logical` the plan before rules, `steps` what each rule did,
    `optimized` the plan after them, `physical` the operators that run, `code` the PySpark module.
    """

    sql: str
    ast: ast.Query | statements.Insert
    logical: Node
    steps: tuple[Step, ...]
    optimized: Node
    physical: Node
    sink: Table | None = None
    mode: str = "batch"
    unbounded: str | None = None  # a table that it reads and that has no end

    @cached_property
    def code(self) -> str:
        return program([(self.sql, self.physical, self.sink)])

    @property
    def awaits_start(self) -> bool:
        """Whether it is a stream that would never be done."""
        return self.mode == "streaming" and self.unbounded is not None

    @property
    def keeps_late(self) -> bool:
        """Whether rows that come too late go into a table."""
        return any(isinstance(node, LateOutput) for node in self.physical.walk())

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may go wrong in the long run: operators of a stream whose state has no bound."""
        return unbounded_state(self.physical)

    def __str__(self) -> str:
        return self.code

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that come out."""
        return self.physical.columns

    def explain(self, stage: str = "all", format: str = "text") -> str:
        """One stage or all of them: ast, logical, trace, physical, code; as text, json or mermaid.

        The same from run to run. Raises OptionError for a word that is none of these.
        """
        from tvfsql.api.explain import explain

        return explain([self], stage, format)

    def dataframe(self, spark: SparkSession) -> DataFrame:
        """The rows as a DataFrame: exactly what `code` says. Raises DataError or UnsupportedError."""
        from tvfsql.runtime.failures import translated

        with translated():
            frame: DataFrame = self.run("query", spark)
        return frame

    def run(self, function: str, spark: SparkSession) -> Any:
        """Call a function of the module, `query` or `insert`."""
        from tvfsql.runtime.failures import require_ansi

        require_ansi(spark)
        if folders := {function.folder for function in functions_in(self.physical)} - {""}:
            from tvfsql.runtime.functions import share_folders

            share_folders(spark, sorted(folders))
        return self.function(function)(spark)

    def function(self, name: str) -> Callable[[Any], Any]:
        """A function of the module."""
        found: Callable[[Any], Any] = _module(self.code)[name]
        return found


def run_inserts(inserts: Sequence[Compiled], spark: SparkSession) -> None:
    """Run INSERTs in batch, one after the other; what a set's INSERTs share is computed once."""
    from tvfsql.runtime.failures import require_ansi

    if not shared_by([insert.physical for insert in inserts]):
        for insert in inserts:
            insert.run("insert", spark)
        return
    require_ansi(spark)
    code = program([(insert.sql, insert.physical, insert.sink) for insert in inserts])
    _module(code)["inserts"](spark)


def _module(code: str) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "tvfsql.query"}
    exec(compile(code, "<tvfsql>", "exec"), space)  # the text is what runs
    return space


def compile_statement(
    statement: ast.Query | statements.Insert, source: str, catalog: Catalog, mode: str, options: Options
) -> Compiled:
    """Bind, plan, lower and emit one statement of the script `source`. Raises TvfSqlError."""
    return _bound(statement, catalog, mode, options).compiled(source)


def compile_set(
    statements: Sequence[statements.Insert], source: str, catalog: Catalog, mode: str, options: Options
) -> tuple[Compiled, ...]:
    """The same for the INSERTs of a set. Those in batch share what they have in common."""
    bound = [_bound(statement, catalog, mode, options) for statement in statements]
    batch = [each for each in bound if each.mode != "streaming"]
    if options["table.optimizer.reuse-sub-plan-enabled"] == "true":
        for each, plan in zip(batch, share([each.logical for each in batch]), strict=True):
            each.logical = plan
    made = [each.compiled(source) for each in bound]
    physical = told_once([each.physical for each in made])
    return tuple(replace(each, physical=plan) for each, plan in zip(made, physical, strict=True))


@dataclass
class _Bound:
    """A statement whose names have a meaning."""

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
        optimized = planner.plan(self.logical)
        try:
            physical = lower(optimized, self.catalog, self.options)
        except TvfSqlError as error:
            error.span = error.span or span
            raise
        return Compiled(
            source[span.start : span.end],
            self.statement,
            self.logical,
            tuple(planner.steps),
            optimized,
            physical,
            self.table,
            self.mode,
            self.endless,
        )


def _bound(statement: ast.Query | statements.Insert, catalog: Catalog, mode: str, options: Options) -> _Bound:
    table: Table | None = None
    options = options.with_value("execution.runtime-mode", mode)
    if isinstance(statement, statements.Insert):
        logical: Node = bind_insert(statement, catalog, options)
        found = catalog.get(statement.table.text)
        table = found if isinstance(found, Table) else None
    else:
        logical = QueryBinder(catalog, options).bind(statement).node
    _refuse_namesakes(logical, statement.span)
    endless = _unbounded(logical, catalog)
    if mode == "automatic":
        mode = "streaming" if endless else "batch"
        options = options.with_value("execution.runtime-mode", mode)
    return _Bound(statement, logical, table, catalog, mode, options, endless)


def _refuse_namesakes(plan: Node, span: Span) -> None:
    """Raise UnsupportedError for two functions of one name, as a view may have one that was dropped since."""
    known: dict[str, UserFunction] = {}
    for function in functions_in(plan):
        other = known.setdefault(function.name.lower(), function)
        if other != function:
            message = f"{function.name} is {other.path} here, and {function.path} in a view that was made before"
            raise UnsupportedError(message, span=span, hint="DROP VIEW, and CREATE it anew")


def _unbounded(plan: Node, catalog: Catalog) -> str | None:
    """The first table of the plan that goes on forever."""
    tables = (catalog.find(node.table) for node in plan.walk() if isinstance(node, Scan))
    endless = (
        table.name for table in tables if isinstance(table, Table) and table.connector and table.connector.endless
    )
    return next(endless, None)
