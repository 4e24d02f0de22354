"""A session: a catalog, options, and a Spark that starts when rows are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tvfsql.api.compiled import Compiled
from tvfsql.api.script import Listing, Message, Outcome, Script, Text
from tvfsql.bind.statement import bind_watermark
from tvfsql.catalog import Catalog, Table, TableColumn
from tvfsql.errors import BindError, OptionError, Span, TvfSqlError, UnsupportedError
from tvfsql.options import Options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession


@dataclass(frozen=True)
class Result:
    """What a statement gives: a query's rows, when asked for; else a message, a listing or a text."""

    session: Session
    outcome: Outcome

    @property
    def query(self) -> Compiled:
        """The compiled query. Raises UnsupportedError if the statement has none."""
        if not isinstance(self.outcome, Compiled):
            raise UnsupportedError("this statement is no query")
        return self.outcome

    def dataframe(self) -> DataFrame:
        """The rows as a DataFrame, which runs exactly `query.code`."""
        return self.query.dataframe(self.session.spark)

    def collect(self) -> list[Row]:
        """All rows. Raises DataError if the data are not what the SQL needs."""
        from tvfsql.runtime.failures import translated

        if self.query.mode == "streaming":
            return self.session.stream(self.query)
        frame = self.dataframe()
        with translated():
            return frame.collect()

    def show(self) -> None:
        """Print the rows (or the message, listing or text) as a table on stdout."""
        print(self.text(), end="")

    def start(self) -> Any:
        """Start an INSERT whose source has no end; gives its StreamingQuery, which runs until it is stopped.

        Needs a checkpoint folder (`Session(checkpoint=...)`). Raises UnsupportedError for any other statement.
        """
        query = self.query
        folder = self.session.stream_folder(query) if query.awaits_start and query.sink else None
        if folder is None:
            raise UnsupportedError(
                "start() runs an INSERT from a source without end, in a session that has a checkpoint folder",
                hint="collect() gives the rows of a SELECT; an INSERT that ends is done already",
            )
        from tvfsql.runtime.stream import start

        return start(self.session.spark, lambda: query.run("insert", self.session.spark), folder)

    def text(self, format: str = "table") -> str:
        """The answer in one of the formats of `tvfsql run`."""
        import io

        from tvfsql.runtime.formats import write_rows

        out = io.StringIO()
        match self.outcome:
            case Message(text) | Text(text):
                return text + "\n"
            case Listing(columns, listed):
                write_rows(columns, ["string"] * len(columns), listed, format, out)
            case Compiled():
                write_rows(*self.rows(), format, out)
        return out.getvalue()

    def rows(self) -> tuple[list[str], list[str], list[Row]]:
        """Names, Spark types and rows; instants as wall clocks of `table.local-time-zone`."""
        from tvfsql.runtime.failures import translated
        from tvfsql.runtime.windows import with_local_times

        if self.query.mode == "streaming":
            kinds = {part.name: part.type for part in self.query.physical.schema}
            return list(kinds), list(kinds.values()), self.session.stream(self.query)
        frame = self.dataframe()
        with translated():
            local = with_local_times(frame, self.session.options["table.local-time-zone"])
            return list(frame.columns), [kind for _, kind in frame.dtypes], local.collect()


class Session:
    """Runs scripts. `spark` is made on first use if none is given: a local one.

    `mode` is batch or streaming, None: by the tables; `options` are those of SET. Streams keep their state in
    the folder `checkpoint`, the first of the session in its folder 1 and so on, or in one that goes with the
    query; with `flush` the end of a bounded input fires every window. `counts` has what the last stream left
    out, by counter. Raises OptionError.
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
        self.checkpoint = Path(checkpoint) if checkpoint is not None else None
        self.flush = flush
        self.counts: dict[str, int] = {}
        self._streams = 0
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

    def execute(self, sql: str, *, file: str | None = None) -> list[Result]:
        """Run a script: one result per statement. An INSERT is done when this returns, unless its
        source has no end: that one waits for start(). A SELECT waits to be asked."""
        results = []
        for outcome in self.script.outcomes(sql, file):
            result = Result(self, outcome)
            if isinstance(outcome, Compiled) and outcome.sink is not None and not outcome.awaits_start:
                self.insert(outcome)
            results.append(result)
        return results

    def sql(self, sql: str) -> Result:
        """The result of one statement. Raises BindError if there are several."""
        results = self.execute(sql)
        if len(results) != 1:
            raise BindError(f"sql() takes one statement, not {len(results)}", hint="use execute()")
        return results[0]

    def insert(self, query: Compiled) -> None:
        """Run an INSERT. Raises DataError."""
        from tvfsql.runtime.failures import translated

        if query.mode == "streaming":
            self._to_end(query, lambda: query.run("insert", self.spark))
            return
        with translated():
            query.run("insert", self.spark)

    def stream(self, query: Compiled) -> list[Row]:
        """The rows of a streaming SELECT over all that its sources have now, as they came out. Raises DataError."""
        rows: list[Row] = []

        def take(batch: DataFrame, number: int) -> None:
            rows.extend(batch.collect())

        self._to_end(query, lambda: query.run("query", self.spark).writeStream.foreachBatch(take))
        return rows

    def stream_folder(self, query: Compiled) -> Path | None:
        """Where the session's next stream keeps its state; None if the session has no checkpoint.

        The folder holds the program that it belongs to. Raises OptionError if that is another one.
        """
        self._streams += 1
        if self.checkpoint is None:
            return None
        folder = self.checkpoint / str(self._streams)
        program = folder / "query.py"
        if program.exists() and program.read_text(encoding="utf-8") != query.code:
            raise OptionError(
                f"the checkpoint {folder} belongs to another query: {program} says which",
                hint="choose a new folder, or run the script as it was",
            )
        folder.mkdir(parents=True, exist_ok=True)
        program.write_text(query.code, encoding="utf-8")
        return folder

    def _to_end(self, query: Compiled, build: Callable[[], Any]) -> None:
        """Run a stream until all is read. Raises UnsupportedError if that would be never."""
        from tvfsql.runtime.failures import translated
        from tvfsql.runtime.stream import run_to_end

        if query.awaits_start:
            raise UnsupportedError(
                f"table {query.unbounded} has no end, so its rows cannot be awaited",
                hint="Session(checkpoint=...).sql('INSERT ...').start() runs until it is stopped; or --mode batch",
            )
        with TemporaryDirectory(prefix="tvfsql-") as scratch, translated():
            folder = self.stream_folder(query) or Path(scratch)
            self.counts = run_to_end(self.spark, build, folder, flush=self.flush)

    def register(self, name: str, dataframe: DataFrame, watermark: str | None = None) -> None:
        """Make a DataFrame a table. `watermark` is the expression of WATERMARK FOR, over its time column:
        "bidtime - INTERVAL '5' SECOND". Raises BindError if that column is missing or is no time."""
        from tvfsql.syntax.parser import parse_watermark

        columns = tuple(TableColumn(column, kind) for column, kind in dataframe.dtypes)
        mark = None
        if watermark is not None:
            try:
                mark = bind_watermark(parse_watermark(watermark), columns)
            except TvfSqlError as error:
                raise error.within(watermark) from error.__cause__
        dataframe.createOrReplaceTempView(name)
        self.catalog.add(Table(name, columns, None, mark), replace=True)


def compile(
    sql: str,
    catalog: Catalog | None = None,
    mode: str = "batch",
    options: Mapping[str, str] | None = None,
) -> Compiled:
    """The one query (or INSERT) of a script, compiled; statements before it may create what it needs.

    `catalog` is only read. No Spark and no JVM is started. Raises TvfSqlError.
    """
    script = Script(Catalog(dict(catalog.entries) if catalog else {}), Options.of(options), mode)
    queries = [outcome for outcome in script.outcomes(sql) if isinstance(outcome, Compiled)]
    if len(queries) != 1:
        found = "none" if not queries else str(len(queries))
        error = BindError(f"compile() takes a script with one query, and this has {found}", span=Span(0, len(sql)))
        raise error.within(sql)
    return queries[0]
