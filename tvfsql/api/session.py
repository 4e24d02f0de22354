"""A session: a catalog, options, and a Spark that starts when rows are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvfsql.api.compiled import Compiled, Program, run_inserts, streams_of
from tvfsql.api.result import Result, Rows
from tvfsql.api.script import Message, Script, queries_of
from tvfsql.api.streams import Streams
from tvfsql.bind.call import AdvanceWatermark, epoch_ms, table_with_watermark
from tvfsql.bind.function import function_of
from tvfsql.bind.statement import bind_watermark
from tvfsql.catalog import Catalog, Table, TableColumn
from tvfsql.catalog.changelog import op_column
from tvfsql.errors import BindError, DataError, Span, TvfSqlError, UnsupportedError
from tvfsql.options import Options
from tvfsql.plan.node import Field

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

    from tvfsql.runtime.stream.run import Running


class Session:
    """Runs scripts. `spark` is made on first use if none is given: a local one.

    `mode` is batch or streaming, None: by the tables; `options` are those of SET. Streams keep their state in
    the folder `checkpoint`, the first of the session in its folder 1 and so on, or in one that goes with the
    query; with `flush` the end of a bounded input fires every window. Raises OptionError.
    """

    def __init__(
        self,
        spark: SparkSession | None = None,
        mode: str | None = "batch",
        options: Mapping[str, str] | None = None,
        catalog: Catalog | None = None,
        checkpoint: str | Path | None = None,
        flush: bool = True,
    ) -> None:
        self._spark = spark
        self.streams = Streams(Path(checkpoint) if checkpoint is not None else None, flush)
        self.script = Script(catalog or Catalog(), Options.of(options), mode)

    @property
    def spark(self) -> SparkSession:
        """The SparkSession in use. Raises DataError if there is no Java to start one."""
        if self._spark is None:
            from tvfsql.runtime.spark import local_spark

            self._spark = local_spark(self.catalog.packages())
        return self._spark

    @property
    def catalog(self) -> Catalog:
        return self.script.catalog

    @property
    def options(self) -> Options:
        return self.script.options

    @property
    def counts(self) -> dict[str, int]:
        """What the streams that run, or ran last, have read, written, left out and hold: rowsIn, rowsOut,
        numLateRecordsDropped, numNullRowTimeRecordsDropped and -Skipped; with windows also watermark (epoch ms),
        stateRows and stateBytes. Empty if there was none."""
        return self.streams.counts

    def execute(self, sql: str, *, file: str | None = None) -> list[Result]:
        """Run a script: one result per statement, in a STATEMENT SET one per INSERT. An INSERT is done when this
        returns, unless a source has no end: then it runs, and its result is the handle. A SELECT waits to be asked."""
        results = []
        for outcome in self.script.outcomes(sql, file):
            inserts = [query for query in queries_of(outcome) if query.sink is not None]
            if isinstance(outcome, AdvanceWatermark):
                results.append(Result(self, self.call(outcome)))
            elif not inserts:
                results.append(Result(self, outcome))
            else:
                running = self.start(*inserts)
                if any(query.awaits_start for query in inserts):
                    results += [Result(self, query, running) for query in inserts]
                else:
                    results += [Result(self, query) for query in inserts]
                    self._wait(running)
        return results

    def sql(self, sql: str) -> Result:
        """The result of one statement. Raises BindError if there are several."""
        results = self.execute(sql)
        if len(results) != 1:
            raise BindError(f"sql() takes one statement, not {len(results)}", hint="use execute()")
        return results[0]

    def insert(self, *queries: Compiled) -> None:
        """Run INSERTs until they have ended: streams all at once, others one after the other.

        Raises DataError, and KeyboardInterrupt (Ctrl-C) once all streams have stopped.
        """
        self._wait(self.start(*queries))

    def start(self, *queries: Compiled) -> Running | None:
        """Run the INSERTs that are no streams, and start those that are. Raises DataError."""
        from tvfsql.runtime.failures import translated

        streams = [query for query in queries if query.mode == "streaming"]
        with translated():
            run_inserts(tuple(query for query in queries if query.mode != "streaming"), self.spark)
            if not streams:
                return None
            writers = [(program, partial(program.run, "insert", self.spark)) for program in streams_of(streams)]
            return self.streams.run(self.spark, writers, self.options)

    def advance_watermark(self, when: datetime, table: str | None = None) -> int:
        """Say that event time has come to `when` (a wall clock): of `table`, or of all that the streams read that
        run here, and with a checkpoint also those that another process runs over it.

        Gives how many streams were told. Raises BindError if there is no such table, DataError if no stream runs.
        """
        name = table_with_watermark(table, self.catalog).name if table is not None else None
        told = self.streams.advance(epoch_ms(when), name)
        if not told:
            raise DataError(
                "no stream is running whose watermark could move",
                hint="--checkpoint DIR names the streams that another process runs",
            )
        return told

    def call(self, asked: AdvanceWatermark) -> Message:
        """Carry out a CALL. Raises DataError."""
        when = datetime(1970, 1, 1) + timedelta(milliseconds=asked.watermark)
        told = self.advance_watermark(when, asked.table)
        return Message(f"moved the watermark of {told} stream{'s' if told != 1 else ''}")

    def stream(self, query: Compiled) -> list[Row]:
        """The rows of a streaming SELECT over all that its sources have now, as they came out.

        Raises DataError, and UnsupportedError if they would never end.
        """
        if query.awaits_start:
            raise UnsupportedError(
                f"table {query.unbounded} has no end, so its rows cannot be awaited",
                hint="INSERT INTO a table runs until it is stopped; or --mode batch",
            )
        rows: list[Row] = []
        self._each(query, lambda batch: rows.extend(batch.collect()))
        return rows

    def follow(self, query: Compiled, take: Callable[[Rows], None]) -> None:
        """Run a streaming SELECT until it ends or KeyboardInterrupt stops it, and give `take` the rows of each
        micro-batch that has some; instants as wall clocks of `table.local-time-zone`. Raises DataError."""
        from tvfsql.runtime.windows import with_local_times

        def each(batch: DataFrame) -> None:
            local = with_local_times(batch, self.options["table.local-time-zone"])
            if rows := local.collect():
                take((batch.columns, [kind for _, kind in batch.dtypes], rows))

        self._each(query, each)

    def _each(self, query: Compiled, each: Callable[[DataFrame], None]) -> None:
        """Run a streaming SELECT, and call `each` with every micro-batch. Raises what that raises."""
        from tvfsql.runtime.failures import translated
        from tvfsql.runtime.stream import counted_out

        raised: list[BaseException] = []

        def take(batch: DataFrame, number: int) -> None:
            try:
                each(batch)
            except BaseException as error:  # Spark would only tell its text
                raised.append(error)
                raise

        def build() -> Any:
            rows = program.run("query", self.spark)
            if program.late:
                return rows.writeStream.foreachBatch(program.function("late_output")(take))
            return counted_out(rows).writeStream.foreachBatch(take)

        program = Program((query,))
        try:
            self._wait(self.streams.run(self.spark, [(program, build)], self.options))
        except Exception:
            if not raised:
                raise
            with translated():
                raise raised[0] from None

    def _wait(self, running: Running | None) -> None:
        from tvfsql.runtime.failures import translated

        if running is not None:
            with translated():
                running.wait()

    def register(
        self, name: str, dataframe: DataFrame, watermark: str | None = None, changelog_op: str | None = None
    ) -> None:
        """Make a DataFrame a table. `watermark` is the expression of WATERMARK FOR, over its time column:
        "bidtime - INTERVAL '5' SECOND". `changelog_op` names the column that says what a row does, if rows are
        changes: +I, -U, +U or -D. Raises BindError if a column is missing or of another type."""
        from tvfsql.syntax.parser import parse_watermark

        columns = tuple(TableColumn(column, kind) for column, kind in dataframe.dtypes)
        mark = None
        if watermark is not None:
            try:
                mark = bind_watermark(parse_watermark(watermark), columns)
            except TvfSqlError as error:
                raise error.within(watermark) from error.__cause__
        dataframe.createOrReplaceTempView(name)
        op = op_column(changelog_op, [Field(part.name, part.type) for part in columns], None) if changelog_op else None
        self.catalog.add(Table(name, columns, None, mark, op=op), replace=True)

    def create_function(self, name: str, object: Any) -> None:
        """Make a Python function or class known to SQL, in the place of any other function of that name. It stands at
        the top level of a module, or of the script that runs. Raises BindError if it cannot be used so."""
        self.catalog.add_function(function_of(name, object), replace=True)


def compile(
    sql: str,
    catalog: Catalog | None = None,
    mode: str = "batch",
    options: Mapping[str, str] | None = None,
) -> Compiled:
    """The one query (or INSERT) of a script, compiled; statements before it may create what it needs.

    `catalog` is only read. No Spark and no JVM is started. Raises TvfSqlError.
    """
    script = Script(catalog.copy() if catalog else Catalog(), Options.of(options), mode)
    queries = [query for outcome in script.outcomes(sql) for query in queries_of(outcome)]
    if len(queries) != 1:
        found = "none" if not queries else str(len(queries))
        error = BindError(f"compile() takes a script with one query, and this has {found}", span=Span(0, len(sql)))
        raise error.within(sql)
    return queries[0]
