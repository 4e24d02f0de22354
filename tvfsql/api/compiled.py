"""A compiled query: one attribute per stage, from the syntax tree to the Python text that runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tvfsql.catalog import Table
from tvfsql.emit import program
from tvfsql.physical.operators import LateOutput
from tvfsql.physical.row_operators import unbounded_state
from tvfsql.plan.function import functions_in
from tvfsql.plan.node import Node
from tvfsql.plan.sharing import by_itself, shared_by
from tvfsql.planner import Step
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
        return Program((self,)).code

    @property
    def awaits_start(self) -> bool:
        """Whether it is a stream that would never be done."""
        return self.mode == "streaming" and self.unbounded is not None

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

        alone = Program((self,))
        with translated():
            if self.mode == "streaming" and shared_by([self.physical]):
                frame: DataFrame = alone.function("query")(alone.run("shared", spark))
            else:
                frame = alone.run("query", spark)
        return frame


@dataclass(frozen=True)
class Program:
    """What runs as one: a query, or the INSERTs of a set that share what they compute."""

    queries: tuple[Compiled, ...]

    @cached_property
    def code(self) -> str:
        return program([(query.sql, query.physical, query.sink) for query in self.queries])

    @property
    def awaits_start(self) -> bool:
        """Whether it is a stream that would never be done."""
        return any(query.awaits_start for query in self.queries)

    @property
    def operators(self) -> list[Node]:
        """The physical operators, those that are shared once."""
        plans = [query.physical for query in self.queries]
        return [node for plan in (*plans, *shared_by(plans)) for node in by_itself(plan).walk()]

    @property
    def late(self) -> list[Table]:
        """The tables for rows that come too late."""
        return [node.table for node in self.operators if isinstance(node, LateOutput)]

    def run(self, function: str, spark: SparkSession) -> Any:
        """Call a function of the module: `query`, `insert`, or `inserts`, which are all of a batch."""
        from tvfsql.runtime.failures import require_ansi

        require_ansi(spark)
        used = functions_in(tuple(query.physical for query in self.queries))
        if folders := {function.folder for function in used} - {""}:
            from tvfsql.runtime.functions import share_folders

            share_folders(spark, sorted(folders))
        return self.function(function)(spark)

    def function(self, name: str) -> Callable[[Any], Any]:
        """A function of the module."""
        found: Callable[[Any], Any] = _module(self.code)[name]
        return found


def streams_of(queries: Iterable[Compiled]) -> list[Program]:
    """The programs of streams: what share something run as one, in the place of the first of them."""
    groups: dict[object, tuple[Compiled, ...]] = {}
    for query in queries:
        key = next(iter(shared_by([query.physical])), id(query))
        groups[key] = (*groups.get(key, ()), query)
    return [*map(Program, groups.values())]


def run_inserts(inserts: tuple[Compiled, ...], spark: SparkSession) -> None:
    """Run INSERTs in batch, one after the other; what a set's INSERTs share is computed once."""
    if shared_by([insert.physical for insert in inserts]):
        Program(inserts).run("inserts", spark)
        return
    for insert in inserts:
        Program((insert,)).run("insert", spark)


def _module(code: str) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "tvfsql.query"}
    exec(compile(code, "<tvfsql>", "exec"), space)  # the text is what runs
    return space
