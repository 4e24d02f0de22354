"""Compiled statements as data, and the units in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tvfsql.api.tables.dataframes import refuse_replaced
from tvfsql.catalog import Table
from tvfsql.emit import Query, observed_operators, pipeline, program
from tvfsql.emit.jobs import CHECKPOINT, first_rows, job_arguments, letter_arguments, letter_scans
from tvfsql.options import StreamOptions
from tvfsql.physical.checkpoint.aligned import Aligned, aligned, aligned_scans
from tvfsql.physical.checkpoint.manifest import manifest_of
from tvfsql.physical.checkpoint.resume import with_old_names
from tvfsql.physical.operators import LateOutput, TableSourceScan
from tvfsql.physical.streams.micro_batch import input_tables, last_operators
from tvfsql.plan.analysis.sharing import by_itself, shared_by
from tvfsql.plan.checkpoint.manifest import Known, Manifest
from tvfsql.plan.node import Node, functions_in
from tvfsql.plan.nodes import Limit
from tvfsql.planner import Step
from tvfsql.room import with_room
from tvfsql.secrets import stars
from tvfsql.syntax import ast, statements

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Stages:
    """A SELECT or an INSERT with all its stages but the code, which belongs to its program."""

    sql: str
    ast: ast.Query | statements.Insert
    logical: Node
    steps: tuple[Step, ...]
    optimized: Node
    physical: Node
    sink: Table | None = None
    mode: str = "batch"
    unbounded: str | None = None  # the name of an unbounded table that it reads
    options: StreamOptions = field(default_factory=StreamOptions)
    spark: Mapping[str, str] = field(default_factory=dict)  # Spark's own settings that are set
    zone: str = "UTC"  # its `table.local-time-zone`
    of_script: tuple[str, ...] = ()  # warnings about the statements before it

    @property
    def shown_sql(self) -> str:
        """Its text with secrets hidden."""
        return stars(self.sql)

    @property
    def awaits_start(self) -> bool:
        """Whether it is a stream that only a stop ends."""
        return self.follows and self.first_rows is None

    @property
    def follows(self) -> bool:
        """Whether it is an unbounded stream, whose rows come over time."""
        return self.mode == "streaming" and self.unbounded is not None

    @property
    def first_rows(self) -> Limit | None:
        """The LIMIT after which a stream stops."""
        return first_rows(self.physical)


@dataclass(frozen=True)
class Program:
    """A unit that runs together: a query, or the INSERTs of a set that share parts of their plans."""

    queries: tuple[Stages, ...]
    known: tuple[Node, ...] = ()  # their physical plans without the tables that they add to a checkpoint
    added: tuple[int, ...] = ()  # the places of these tables among all

    @cached_property
    def code(self) -> str:
        return with_room(lambda: code_of([self.queries]))

    @property
    def job(self) -> dict[str, Any]:
        """The arguments of a stream's `Job`, except the one that builds its writer."""
        plans, sinks = [query.physical for query in self.queries], [query.sink for query in self.queries]
        return job_arguments(plans, sinks, self.queries[0].options)

    @cached_property
    def observed(self) -> dict[str, Node]:
        """The stateful operators of a stream, by the names under which its progress reports their metrics."""
        return with_room(lambda: observed_operators(_emitted([self.queries])))

    @cached_property
    def input_tables(self) -> dict[str, tuple[str | None, ...]]:
        """The tables that the inputs of those operators are; None: the rows of another operator."""
        return {name: input_tables(operator) for name, operator in self.observed.items()}

    @cached_property
    def last_operators(self) -> list[str]:
        """The names of those operators whose rows no other one reads."""
        plans = [query.physical for query in self.queries]
        last = [*last_operators([by_itself(plan) for plan in (*plans, *shared_by(plans))])]
        return [name for name, operator in self.observed.items() if operator in last]

    @property
    def letters(self) -> dict[str, Any] | None:
        """The same for the stream of its dead letters, `dead_letters(spark)`; None if it has none."""
        plans = [query.physical for query in self.queries]
        return letter_arguments(plans, self.queries[0].options) if letter_scans(plans) else None

    @property
    def kept_apart(self) -> tuple[list[str], list[str]]:
        """The tables of its late rows, and those of its dead letters."""
        plans = [query.physical for query in self.queries]
        operators = (node for plan in (*plans, *shared_by(plans)) for node in by_itself(plan).walk())
        late = (table.name for node in operators if isinstance(node, LateOutput) for table in node.tables)
        letters = (scan.dead_letters.name for scan in letter_scans(plans) if scan.dead_letters is not None)
        return list(dict.fromkeys(late)), list(dict.fromkeys(letters))

    def letters_manifest(self, kept: Manifest | None) -> Manifest:
        """The manifest in a checkpoint of its dead letters, which has the manifest `kept`."""
        scans = letter_scans([query.physical for query in self.queries])
        found = aligned_scans(scans, kept) if kept is not None else Aligned(tuple(scans))
        made = self._letters(scans)
        return replace(made, known=Known(self._letters(found.known), found.added)) if found.added else made

    def _letters(self, scans: Sequence[Node]) -> Manifest:
        first = scans[0]
        assert isinstance(first, TableSourceScan)
        return manifest_of(scans, [first.dead_letters], [query.shown_sql for query in self.queries])

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest in a checkpoint of this stream."""
        made = self._manifest([query.physical for query in self.queries])
        return replace(made, known=Known(self._manifest(self.known), self.added)) if self.added else made

    def _manifest(self, plans: Sequence[Node]) -> Manifest:
        sinks = [query.sink for query in self.queries]
        return with_room(lambda: manifest_of(plans, sinks, [query.shown_sql for query in self.queries]))

    def aligned(self, kept: Manifest) -> Program:
        """Return the same stream with its tables in the order of a checkpoint, and those that it lacks told apart."""
        found = with_room(lambda: aligned([query.physical for query in self.queries], kept))
        return self._of(found.plans, found.known, found.added)

    def over(self, kept: Manifest | None) -> Program:
        """Return the same stream over the state of a checkpoint, whose tables may have another order, and whose columns
        other names or another order. Returns itself if there is no state, or if it cannot resume from it.
        """
        if kept is None:
            return self
        made = self.aligned(kept)
        now = made.manifest.known.manifest if made.manifest.known else made.manifest
        plans = [query.physical for query in made.queries]
        renamed, known = with_room(lambda: [with_old_names(each, kept, now) for each in (plans, made.known)])
        return made._of(renamed, known, made.added)

    def _of(self, plans: Iterable[Node], known: Iterable[Node], added: tuple[int, ...]) -> Program:
        queries = (replace(query, physical=plan) for query, plan in zip(self.queries, plans, strict=True))
        return Program(tuple(queries), tuple(known), added)

    def run(self, function: str, spark: SparkSession) -> Any:
        """Call a function of the module: `query`, `insert`, or `inserts` (all INSERTs of a batch)."""
        from tvfsql.runtime.cluster.code import share
        from tvfsql.runtime.cluster.places import refuse_user_functions
        from tvfsql.runtime.host.failures import require_settings

        require_settings(spark)
        _know_headers(query.physical for query in self.queries)
        refuse_replaced([query.physical for query in self.queries], spark)
        used = [*functions_in(tuple(query.physical for query in self.queries))]
        if used and self.queries[0].mode == "streaming":
            refuse_user_functions(spark)
        if folders := {function.folder for function in used} - {""}:
            share(spark, sorted(folders))
        return self.function(function)(spark)

    def function(self, name: str) -> Callable[[Any], Any]:
        """A function of the module."""
        found: Callable[[Any], Any] = _module(self.code)[name]
        return found


def _know_headers(plans: Iterable[Node]) -> None:
    """Tell those who explain rows that cannot be read which files of CSV have a header that is left out."""
    from tvfsql.runtime.host.bad_rows import know_header

    for scan in (node for plan in plans for node in plan.walk() if isinstance(node, TableSourceScan)):
        source = scan.source.connector
        if source is not None and source.path and source.format == "csv":
            know_header(source.path, dict(source.options).get("header", "").lower() == "true")


def code_of(script: Iterable[Iterable[Stages]], checkpoint: str = CHECKPOINT) -> str:
    """The module that runs the queries of a script, grouped by statement, with its streams' state in `checkpoint`."""
    return program(_emitted(script), checkpoint)


def pipeline_of(script: Iterable[Iterable[Stages]]) -> str:
    """The module that defines the tables which a script fills as datasets of a declarative pipeline of Spark."""
    return with_room(lambda: pipeline(_emitted(script)))


def _emitted(script: Iterable[Iterable[Stages]]) -> list[Query]:
    return [
        Query(query.shown_sql, query.physical, query.sink, i, query.options, query.spark, query.zone)
        for i, statement in enumerate(script)
        for query in statement
    ]


def streams_of(queries: Iterable[Stages]) -> list[Program]:
    """The programs of streams. Queries that share a part form one program, at the position of the first of them."""
    groups: dict[object, tuple[Stages, ...]] = {}
    for query in queries:
        key = next(iter(shared_by([query.physical])), id(query))
        groups[key] = (*groups.get(key, ()), query)
    return [*map(Program, groups.values())]


def run_inserts(
    inserts: tuple[Stages, ...], spark: SparkSession, around: Callable[[Sequence[Stages]], AbstractContextManager[None]]
) -> None:
    """Run INSERTs in batch, one after the other, each `around` its run. Shared parts of the INSERTs of a set are
    computed once.
    """
    if shared_by([insert.physical for insert in inserts]):
        with around(inserts):
            Program(inserts).run("inserts", spark)
        return
    for insert in inserts:
        with around((insert,)):
            Program((insert,)).run("insert", spark)


def _module(code: str) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "tvfsql.query"}
    exec(compile(code, "<tvfsql>", "exec"), space)  # exactly the emitted text runs
    return space
