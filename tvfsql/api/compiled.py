"""A compiled query: one attribute per stage, from the syntax tree to the Python text that runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
from tvfsql.planner import Planner, Step
from tvfsql.rules import PHASES
from tvfsql.syntax import ast

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Compiled:
    """A SELECT or an INSERT at every stage. `str()` is the code.

    `sql` is its text, `ast` its syntax tree, `logical` the plan before rules, `steps` what each rule did,
    `optimized` the plan after them, `physical` the operators that run, `code` the PySpark module.
    """

    sql: str
    ast: ast.Query | ast.Insert
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
        space: dict[str, Any] = {"__name__": "tvfsql.query"}
        exec(compile(self.code, "<tvfsql>", "exec"), space)  # the text is what runs
        found: Callable[[Any], Any] = space[name]
        return found


def compile_statement(
    statement: ast.Query | ast.Insert, source: str, catalog: Catalog, mode: str, options: Options
) -> Compiled:
    """Bind, plan, lower and emit one statement of the script `source`. Raises TvfSqlError."""
    span = statement.span
    table: Table | None = None
    options = options.with_value("execution.runtime-mode", mode)
    if isinstance(statement, ast.Insert):
        logical: Node = bind_insert(statement, catalog, options)
        found = catalog.get(statement.table.text)
        table = found if isinstance(found, Table) else None
    else:
        logical = QueryBinder(catalog, options).bind(statement).node
    _refuse_namesakes(logical, span)
    endless = _unbounded(logical, catalog)
    if mode == "automatic":
        mode = "streaming" if endless else "batch"
        options = options.with_value("execution.runtime-mode", mode)
    planner = Planner(PHASES, options)
    optimized = planner.plan(logical)
    try:
        physical = lower(optimized, catalog, options)
    except TvfSqlError as error:
        error.span = error.span or span
        raise
    return Compiled(
        source[span.start : span.end],
        statement,
        logical,
        tuple(planner.steps),
        optimized,
        physical,
        table,
        mode,
        endless,
    )


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
