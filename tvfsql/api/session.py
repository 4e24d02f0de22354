"""A session: a catalog, options, and a Spark that starts when it is needed."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tvfsql.api.compiled import Compiled
from tvfsql.api.definitions import Message
from tvfsql.api.display import html_catalog
from tvfsql.api.hints import naming_topics
from tvfsql.api.own_spark import Needs, OwnSpark
from tvfsql.api.program import Program, run_inserts, streams_of
from tvfsql.api.result import Result, Rows
from tvfsql.api.script import Analyze, Parsed, Script, Text, queries_of
from tvfsql.api.streams.running import Build, Streams, wait_for
from tvfsql.api.streams.select import each_micro_batch
from tvfsql.api.tables.catalogs import SparkTables, Warehouse
from tvfsql.api.tables.dataframes import register
from tvfsql.bind.flink.zone import in_local_zone
from tvfsql.bind.function import function_of
from tvfsql.bind.statements.call import AdvanceWatermark, epoch_ms, table_with_watermark
from tvfsql.catalog import Catalog, Table, View
from tvfsql.errors import BindError, DataError, OptionError, OtherMode, Span, UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import FINAL, START_MODE, ZONE
from tvfsql.runtime.cluster.asked import MASTER, REMOTE
from tvfsql.runtime.cluster.places import place_of
from tvfsql.syntax import statements
from tvfsql.syntax.parameters import texts_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tvfsql.api.analyze.measured import Measured
    from tvfsql.api.openlineage.runs import Events
    from tvfsql.api.program import Stages
    from tvfsql.runtime.stream.driver.running import Running
    from tvfsql.runtime.stream.progress.metrics import Report


LOG = logging.getLogger("tvfsql")  # Python writes its warnings to stderr


class Session:
    """Runs scripts. `with Session() as session:` closes it at the end of the block.

    `spark`: the SparkSession to use; None starts one on first use. `master`: that of the Spark that starts, such as
    spark://host:7077 or yarn; `remote`: a Spark Connect server, such as sc://host:15002. Without both, SPARK_MASTER,
    SPARK_REMOTE or Spark's own files name it, or else it is local. `mode`: "batch" or "streaming"; None chooses
    streaming only if a table is unbounded. `options`: the options of SET, by key, and Spark's own settings, `spark.*`.
    Raises OptionError for an unknown key or an invalid value. `catalog`: tables, views and functions; the session adds
    to it. None starts with an empty one. `checkpoint`: the folder for the state of streams: the first one in its
    subfolder 1, the second in 2, and so on. None keeps the state in a temporary folder that is deleted with the query.
    `final`: the option tvfsql.final: a bounded run over the checkpoint fires all windows and closes its tables. If not,
    open windows wait for the next run (docs/streams.md#runs-ends-and-lulls).
    `allow_changed_input`: resume from a checkpoint even if open windows will mix results of the old and the new query,
    as after a change of WHERE, or with new aggregates or tables. See docs/streams.md#change-a-running-query.
    `start_mode`: the option tvfsql.start-mode (docs/streams.md#start-and-resume). `openlineage`: a file or a URL for
    events of OpenLineage about INSERTs; None: where the environment says, if it does (docs/lineage.md).
    """

    def __init__(
        self,
        spark: SparkSession | None = None,
        mode: str | None = "batch",
        options: Mapping[str, str] | None = None,
        catalog: Catalog | None = None,
        checkpoint: str | Path | None = None,
        final: bool | None = None,
        allow_changed_input: bool = False,
        start_mode: str | None = None,
        master: str | None = None,
        remote: str | None = None,
        openlineage: str | Path | None = None,
    ) -> None:
        asked = {key: url for key, url in ((MASTER, master), (REMOTE, remote)) if url is not None}
        if len(asked) > 1 or (asked and spark is not None):
            raise OptionError("a session has one of spark, master and remote")
        if start_mode is not None:
            asked[START_MODE.key] = start_mode
        if final is not None:
            asked[FINAL.key] = str(final).lower()
        options = {**(options or {}), **asked}
        self.openlineage = None if openlineage is None else str(openlineage)
        self.own = OwnSpark(self._needs, spark)
        folder = place_of(checkpoint, lambda: self.spark) if checkpoint is not None else None
        self.streams = Streams(folder, allow_changed_input)
        self.script = Script(catalog or Catalog(), Options.of(options), mode, warehouse=Warehouse())
        self.catalog.outside = SparkTables(self.own.with_catalogs)

    @property
    def spark(self) -> SparkSession:
        """The SparkSession in use; starts one if there is none, a local one unless a cluster is asked for.

        Raises DataError if no Java is found or no Spark is there, OptionError if a setting comes too late."""
        return self.own.get()

    def spark_for(self, *queries: Compiled) -> SparkSession:
        """The same, for queries that are to run. Before Spark starts, a checkpoint that another process uses is
        refused: DataError.
        """
        self.streams.refuse_in_use(len(streams_of(query for query in queries if query.mode == "streaming")))
        return self.spark

    def _needs(self) -> Needs:
        return Needs(frozenset(self.catalog.packages()), self.options.spark)

    def close(self) -> None:
        """Stop the running streams after their current micro-batch, and Spark if this session started it."""
        for running in self.streams.runs:
            running.stop()
        if "events" in self.__dict__ and self.events is not None:
            self.events.flush()
        self.own.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """One line: mode, tables and views, and whether Spark is running."""
        names = [*self.catalog.names(Table), *self.catalog.names(View)]
        known = ", ".join(names[:8]) + (f", ... ({len(names)})" if len(names) > 8 else "") if names else "none"
        spark = "running" if self.own.spark is not None else "not started"
        return f"<tvfsql session: mode {self.script.mode or 'automatic'}; tables: {known}; Spark {spark}>"

    def _repr_html_(self) -> str:
        return html_catalog(repr(self), self.catalog)

    @property
    def catalog(self) -> Catalog:
        return self.script.catalog

    @property
    def options(self) -> Options:
        return self.script.options

    @property
    def counts(self) -> dict[str, int]:
        """The counters of the running streams, or of the last ones: rowsIn, rowsOut, numLateRecordsDropped,
        numNullRowTimeRecordsDropped and numNullRowTimeRecordsSkipped (rows). With a stateful operator also watermark
        (epoch ms), stateRows and stateBytes. Empty if no stream has run. See docs/semantics.md#counters."""
        return self.streams.counts

    def metrics(self) -> dict[str, dict[str, Any]]:
        """The metrics of the streams that this session has started, by name (`pipeline.name`, or 1, 2, ...), as of
        their last micro-batches. Totals continue over restarts with a checkpoint. See docs/streams.md#metrics.
        """
        return {name: one.values for name, one in self.streams.metrics.items()}

    def execute(self, sql: str, *, file: str | None = None, params: Mapping[str, object] | None = None) -> list[Result]:
        """Run a script. Returns one result per statement, and one per INSERT of a STATEMENT SET.

        An INSERT has completed when this returns. If its source is unbounded, it keeps running, and its result can stop
        it. A SELECT runs when its result is asked for rows. `file` is the name in error messages; relative paths in the
        script start at its folder. `params` are values of the parameters that this script
        declares, by name: strings, numbers, booleans, dates and times (docs/sql/parameters.md). Raises TvfSqlError.
        """
        script, before = self.script, (self.script.folder, self.script.parameters.given)
        script.folder = os.path.dirname(file) if file is not None else script.folder
        try:
            if params is not None:
                script.parameters.given = {**script.parameters.given, **texts_of(params, sql)}
            return self._results(self.script.parsed(sql, file))
        finally:
            script.folder, script.parameters.given = before

    def _results(self, script: Parsed) -> list[Result]:
        results = []
        for outcome in self.script.executed(script):
            for warning in (line for query in queries_of(outcome) for line in query.warnings):
                LOG.warning("%s", warning)
            inserts = [query for query in queries_of(outcome) if query.sink is not None]
            if isinstance(outcome, AdvanceWatermark):
                results.append(Result(self, self.call(outcome)))
            elif isinstance(outcome, Analyze):
                results.append(Result(self, self.analyzed(outcome)))
            elif not inserts:
                results.append(Result(self, outcome))
            else:
                with naming_topics(*inserts):
                    running = self.start(*inserts)
                    if any(query.awaits_start for query in inserts):
                        results += [Result(self, query, running) for query in inserts]
                    else:
                        results += [Result(self, query) for query in inserts]
                        wait_for(running)
        return results

    def sql(self, sql: str) -> Result:
        """Run one statement. Raises BindError, before anything runs, if `sql` has none, several, or a set of several
        INSERTs; and the errors of `execute`.
        """
        parsed = self.script.parsed(sql)
        count = sum(map(_results_of, parsed.statements))
        if count != 1:
            problem = f"sql() takes one statement with one result, but this has {count}"
            raise BindError(problem, span=Span(0, len(sql)), hint="use execute()").within(sql)
        (result,) = self._results(parsed)
        return result

    def insert(self, *queries: Compiled) -> None:
        """Run INSERTs until they have completed: batch INSERTs one after the other, then all streams together.

        Raises DataError, and KeyboardInterrupt (Ctrl-C) after all streams have stopped.
        """
        with naming_topics(*queries):
            wait_for(self.start(*queries))

    def start(self, *queries: Compiled) -> Running | None:
        """Run the batch INSERTs, and start the streaming ones. Returns their handle, None without streams.

        Raises DataError, and OptionError if a checkpoint belongs to another query.
        """
        from tvfsql.runtime.host.failures import translated

        streams = [query for query in queries if query.mode == "streaming"]
        with translated():
            spark = self.spark_for(*streams)
            run_inserts(tuple(query for query in queries if query.mode != "streaming"), spark, self._told)
            if not streams:
                return None
            programs = [(program, _insert) for program in streams_of(streams)]
            if self.events is None:
                return self.streams.run(spark, programs)
            return self.events.of_streams(
                streams, self.catalog, self.script.file, partial(self.streams.run, spark, programs), self.streams
            )

    def _told(self, queries: Sequence[Stages]) -> AbstractContextManager[None]:
        """INSERTs in batch that run in this block are told to OpenLineage."""
        return nullcontext() if self.events is None else self.events.around(queries, self.catalog, self.script.file)

    @cached_property
    def events(self) -> Events | None:
        """What tells OpenLineage of INSERTs; None if neither the program nor the environment asks for it."""
        from tvfsql.api.openlineage.runs import Events, is_configured, open_client

        if self.openlineage is None and not is_configured():
            return None
        try:
            return Events(open_client(self.openlineage))
        except DataError as error:
            if self.openlineage is not None:
                raise
            LOG.warning("%s", error)
            return None

    def advance_watermark(self, when: datetime, table: str | None = None) -> int:
        """Advance the watermark of `table`, or of all tables, to `when` (a wall clock without zone).

        Affects the running streams of this session, and all streams that use its checkpoint, in any process.
        Returns their number. Raises BindError if the table does not exist or has no watermark, DataError if no
        stream is running.
        """
        name = table_with_watermark(table, self.catalog).name if table is not None else None
        told = self.streams.advance(epoch_ms(when), name)
        if not told:
            raise DataError(
                "no running stream has a watermark to advance",
                hint="--checkpoint DIR finds the streams of another process",
            )
        return told

    def call(self, asked: AdvanceWatermark) -> Message:
        """Execute a CALL. Raises DataError if no stream is running."""
        when = datetime(1970, 1, 1) + timedelta(milliseconds=asked.watermark)
        told = self.advance_watermark(when, asked.table)
        return Message(f"moved the watermark of {told} stream{'s' if told != 1 else ''}")

    def analyze(self, query: Compiled) -> Measured:
        """Run a SELECT and measure each of its operators. A stream runs until its input ends.

        Raises UnsupportedError for an INSERT and for an unbounded stream, and DataError.
        """
        from tvfsql.api.analyze.running import analyze

        return analyze(query, self)

    def analyzed(self, asked: Analyze) -> Text:
        """Execute an EXPLAIN ANALYZE. Raises as `analyze`."""
        from tvfsql.api.analyze.report import told

        return Text(told(self.analyze(asked.query), asked.query, asked.format))

    def measure_stream(self, query: Compiled, build: Build, report: Report) -> str:
        """Run a streaming SELECT, whose rows go where `build` sends them, until it ends, and report its micro-batches.

        Returns the id of Spark's query. Raises DataError.
        """
        self.streams.reports.append(report)
        try:
            running = self.streams.run(self.spark, [(Program((query,)), build)])
            wait_for(running)
        finally:
            self.streams.reports.remove(report)
        return str(running.started()[0].id)

    def each_batch(self, query: Compiled, each: Callable[[DataFrame], None]) -> None:
        """Run a streaming SELECT to the end of its input, and call `each` with every micro-batch.

        Raises DataError, UnsupportedError if a source is unbounded, and whatever `each` raises.
        """
        if query.awaits_start:
            raise UnsupportedError(
                f"table {query.unbounded} is unbounded, so collect() would never return",
                hint=OtherMode("batch", "INSERT INTO a table"),
            )
        with naming_topics(query):
            each_micro_batch(query, self.streams, self.spark_for(query), each)

    def follow(self, query: Compiled, take: Callable[[Rows], None]) -> None:
        """Run a streaming SELECT until it ends or KeyboardInterrupt stops it.

        Calls `take` with each micro-batch that has rows: column names, Spark types, rows. Instants are wall clocks
        of `table.local-time-zone`. Raises DataError, and whatever `take` raises.
        """
        from tvfsql.runtime.frames.shown_rows import shown_rows

        zone = self.options[ZONE]

        def each(batch: DataFrame) -> None:
            if rows := shown_rows(batch, zone):
                take((batch.columns, [kind for _, kind in batch.dtypes], rows))

        with naming_topics(query):
            each_micro_batch(query, self.streams, self.spark_for(query), each)

    def table(self, name: str) -> Result:
        """All rows of a table or view, such as `bid` or `shop.bid`. Raises BindError if it does not exist."""
        quoted = ".".join(f"`{part.replace('`', '``')}`" for part in name.split("."))
        return self.sql(f"SELECT * FROM {quoted}")

    def register(
        self, name: str, dataframe: Any, watermark: str | None = None, changelog_op: str | None = None
    ) -> None:
        """Register a DataFrame of Spark or pandas, an Arrow table, or any other object that exports Arrow data (polars,
        duckdb) as a table. Replaces any table of that name, and what another session has registered in the same Spark.

        In data of pandas, polars and Arrow, times without a zone become TIMESTAMP, others TIMESTAMP_LTZ; an index is
        dropped. `watermark`: the expression of WATERMARK FOR, over the time column, such as "bidtime - INTERVAL '5'
        SECOND". `changelog_op`: if the rows are changes, the STRING column with +I, -U, +U or -D. Raises BindError if
        such a column is missing or has the wrong type, or if the program has made a temporary view of that name, and
        DataError if the data cannot become a table.
        """
        with in_local_zone(self.options):
            register(self.catalog, lambda: self.spark, name, dataframe, watermark, changelog_op)

    def create_function(self, name: str, object: Any) -> None:
        """Register a Python function or class under a SQL name, and replace any other function of that name.

        It must be defined at the top level of a module or of the running script. Raises BindError if not, if its result
        type is unknown, or if `name` is a built-in function.
        """
        self.catalog.add_function(function_of(name, object), replace=True)


def _results_of(statement: statements.Statement) -> int:
    """The number of results of a statement: one, or one for each INSERT of a set."""
    inner = statement.statement if isinstance(statement, statements.Hinted) else statement
    return len(inner.inserts) if isinstance(inner, statements.StatementSet) else 1


def _insert(program: Program, spark: SparkSession) -> Any:
    """The writer of a stream of INSERTs."""
    return program.run("insert", spark)
