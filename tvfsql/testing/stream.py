"""The stream of a script under test: one query per output, run micro-batch by micro-batch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tvfsql.api.compiled import Compiled
from tvfsql.api.program import Program
from tvfsql.api.script import Script, queries_of
from tvfsql.bind.statements.call import AdvanceWatermark
from tvfsql.catalog import Catalog, Table, TableColumn
from tvfsql.catalog.table_options import HISTORY
from tvfsql.errors import DataError, UnsupportedError
from tvfsql.named_files import read_text
from tvfsql.options import Options
from tvfsql.options.known import ZONE
from tvfsql.physical.operators import Calc, LateOutput, StreamOperator, TableSourceScan
from tvfsql.physical.row_operators import StreamUpdatingTopN
from tvfsql.physical.window_operators import StreamSliceMerge
from tvfsql.plan.analysis.sharing import Reused, Shared
from tvfsql.plan.checkpoint.changes import changes
from tvfsql.plan.node import Node
from tvfsql.plan.nodes import Item, Sink
from tvfsql.plan.tables.internal_columns import ALWAYS
from tvfsql.plan.values.scalar import text
from tvfsql.plan.window import Endless
from tvfsql.plan.window_nodes import AggregateByWindow
from tvfsql.runtime.cluster.files import LocalPlace
from tvfsql.runtime.stream.driver.checkpoints import refuse_changes
from tvfsql.runtime.stream.driver.in_process import InProcess, Message
from tvfsql.runtime.stream.exchange.late_rows import in_time, late_rows
from tvfsql.runtime.stream.time.execution import built_for
from tvfsql.syntax.parameters import texts_of
from tvfsql.testing.compare import Given
from tvfsql.testing.plans import by_itself, looked_up_by, over_views, tables_of, view_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SELECT = "query"  # the name of a SELECT among several outputs
IN_TIME = "$in time"  # the view of the rows that the INSERTs of a set have in common, without late ones


@dataclass
class Output:
    """A query and the stream that runs it. `shared`: what it has in common with other INSERTs of a set, which are one
    stream on Spark."""

    name: str
    query: Compiled
    stream: InProcess = field(default_factory=InProcess)
    shared: Node | None = None

    @cached_property
    def plan(self) -> Node:
        plan = by_itself(self.query.physical)
        return plan.input if isinstance(plan, Sink) else plan

    @cached_property
    def late(self) -> LateOutput | None:
        """Where late rows are separated: above the query, or above what the INSERTs of a set have in common."""
        return next((node for node in self.plan.walk() if isinstance(node, LateOutput)), None)

    @property
    def late_tables(self) -> tuple[Table, ...]:
        return self.late.tables if self.late is not None else ()

    @cached_property
    def asks_for_time(self) -> bool:
        """Whether its rows depend on the clock."""
        operators = (node for node in self.plan.walk() if isinstance(node, StreamOperator) and node.context.proctime)
        if not all(map(_changes_with_each_row, operators)):
            return True
        kept = (node for node in self.plan.walk() if isinstance(node, StreamSliceMerge | StreamUpdatingTopN))
        forgets = any(node.retention for node in kept)
        plan = self.plan.transform(_at_any_time)
        return forgets or over_views(plan, 0) != over_views(plan, 1)

    @property
    def program(self) -> Program:
        """The stream in the form in which it would run on Spark."""
        return Program((replace(self.query, physical=self.plan, sink=None),))

    def over_state_of(self, old: Output) -> Output:
        """The same query over the state of another one. Raises OptionError if a checkpoint would be refused."""
        kept, program = old.program.manifest, self.program
        refuse_changes(LocalPlace(Path("of the test")), changes(kept, program.manifest), changed_input=False)
        made = program.over(kept).queries[0]
        assert isinstance(made, Compiled)
        return Output(self.name, made, old.stream, self.shared)

    def micro_batch(
        self, spark: SparkSession, time: int, messages: Sequence[Message]
    ) -> tuple[DataFrame, DataFrame | None]:
        """The output rows of a micro-batch over the views, and rows with those that are late, if there are tables for
        them. `time` is in epoch ms."""
        self.stream.begin(time, messages)
        if self.late is None:
            return self._rows(spark, self.plan, time), None
        every = self._rows(spark, self.late, time)
        if self.plan is self.late:
            return in_time(every), every
        columns = tuple(TableColumn(part.name, part.type) for part in self.late.schema)
        kept = Table(IN_TIME, columns)
        in_time(every).createOrReplaceTempView(view_of(IN_TIME))
        above = self.plan.transform(lambda node: TableSourceScan(kept, kept.physical) if node == self.late else node)
        return self._rows(spark, above, time), every

    def _rows(self, spark: SparkSession, plan: Node, time: int) -> DataFrame:
        made = replace(self.query, physical=over_views(plan, time), sink=None)
        with built_for(self.stream):
            rows: DataFrame = Program((made,)).run("query", spark)
        return rows


@dataclass(frozen=True)
class UnderTest:
    """A compiled script."""

    outputs: tuple[Output, ...]
    zone: str

    @property
    def names(self) -> list[str]:
        late = (table.name for output in self.outputs for table in output.late_tables)
        return list(dict.fromkeys([*(output.name for output in self.outputs), *late]))

    @property
    def tables(self) -> dict[str, Table]:
        """The tables that it reads."""
        return {name: table for output in self.outputs for name, table in tables_of(output.plan).items()}

    @property
    def looked_up(self) -> frozenset[str]:
        """The tables that it only looks up, which keep their rows from step to step."""
        return frozenset(name for output in self.outputs for name in looked_up_by(output.plan))

    def over_state_of(self, old: UnderTest) -> UnderTest:
        """The changed script over the state of the old one."""
        if len(self.outputs) != len(old.outputs):
            raise DataError(
                f"the script has {len(self.outputs)} queries, but had {len(old.outputs)} before the restart"
            )
        pairs = zip(self.outputs, old.outputs, strict=True)
        return replace(self, outputs=tuple(new.over_state_of(before) for new, before in pairs))

    def micro_batch(
        self, spark: SparkSession, time: int, messages: Sequence[Message]
    ) -> tuple[Mapping[str, Given], int]:
        """Run a micro-batch. Returns the rows of each output, and the number of rows that were late for all their
        windows.
        """
        given: dict[str, Given] = {}
        sets, count = list[Node](), 0
        for output in self.outputs:
            rows, every = output.micro_batch(spark, time, messages)
            _add(given, output.name, rows, self.zone)
            if output.shared is not None and output.shared in sets:
                continue  # its late rows are those of another one
            sets += [output.shared] if output.shared is not None else []
            count += output.stream.late
            if every is None:
                continue
            for late in output.late_tables:
                columns = [column.name for column in late.written]
                _add(given, late.name, late_rows(every, late.name, columns), self.zone)
        return given, count


def compiled(file: Path, mode: str, options: Mapping[str, str], params: Mapping[str, str] | None = None) -> UnderTest:
    """The queries of a script with these values of its parameters. Raises TvfSqlError."""
    text = read_text(file)
    script = Script(Catalog(), Options.of(options), mode, folder=os.path.dirname(file))
    script.parameters.given = texts_of(params or {}, text)
    queries: list[Compiled] = []
    for outcome in script.outcomes(text, str(file)):
        if isinstance(outcome, AdvanceWatermark):
            raise UnsupportedError(f"{file} moves a watermark", hint="watermark: in a step of the test")
        queries += queries_of(outcome)
    outputs = tuple(Output(name, query, shared=_shared(query.physical)) for name, query in _named(queries))
    if not outputs:
        raise DataError(f"{file} has no query", hint="add a SELECT or an INSERT")
    for output in outputs:
        if not tables_of(output.plan):
            hint = "give these rows in the steps of a test, and leave the INSERT to another script"
            raise UnsupportedError(f"{file}: the query for {output.name} reads no table", hint=hint)
        if output.query.first_rows is not None:
            problem = f"{file}: tvfsql test has no first rows of a stream, but the query for {output.name} has a LIMIT"
            raise UnsupportedError(problem, hint="mode: batch, or leave out LIMIT")
        if past := next((table for table in tables_of(output.plan).values() if table.history), None):
            problem = f"{file}: tvfsql test does not read the history of {past.name}"
            raise UnsupportedError(problem, hint=f"leave out '{HISTORY}', and give its rows in the first step")
    return UnderTest(outputs, script.options[ZONE])


def _shared(plan: Node) -> Node | None:
    """What a plan has in common with others."""
    found = (
        node.input if isinstance(node, Shared) else node.of.plan
        for node in plan.walk()
        if isinstance(node, Shared | Reused)
    )
    return next(map(by_itself, found), None)


def _named(queries: Sequence[Compiled]) -> Iterator[tuple[str, Compiled]]:
    selects = 0
    for query in queries:
        selects += query.sink is None
        yield query.sink.name if query.sink else f"{SELECT}{f' {selects}' if selects > 1 else ''}", query


def _add(given: dict[str, Given], name: str, rows: DataFrame, zone: str) -> None:
    """Add rows to those of a table, which several queries may write."""
    from tvfsql.runtime.frames.shown_rows import shown_rows

    before = given[name].rows if name in given else ()
    made = tuple(tuple(row) for row in shown_rows(rows, zone))
    kinds = tuple("timestamp_ntz" if kind == "timestamp" else kind for _, kind in rows.dtypes)
    given[name] = Given(tuple(rows.columns), kinds, (*before, *made))


def _changes_with_each_row(node: StreamOperator) -> bool:
    of_groups = isinstance(node, AggregateByWindow) and isinstance(node.window, Endless)
    return of_groups or isinstance(node, StreamUpdatingTopN)


def _at_any_time(node: Node) -> Node:
    """The operator with a constant as the time of rows in a window that never ends: no result depends on it."""
    if not isinstance(node, Calc) or all(item.name != ALWAYS for item in node.items):
        return node
    items = (Item(ALWAYS, text("TIMESTAMP '1970-01-01'")) if item.name == ALWAYS else item for item in node.items)
    return replace(node, items=tuple(items))
