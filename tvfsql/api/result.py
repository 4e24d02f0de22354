"""The result of a statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tvfsql.api.compiled import Compiled
from tvfsql.api.definitions import Message
from tvfsql.api.display import ROWS, html_table, preformatted
from tvfsql.api.hints import naming_topics
from tvfsql.api.listings import Listing
from tvfsql.api.script import Outcome, Text
from tvfsql.errors import DataError, TvfSqlError, UnsupportedError
from tvfsql.options import Options
from tvfsql.options.known import ZONE

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame, Row, SparkSession

    from tvfsql.runtime.stream.driver.running import Running

Rows = tuple[list[str], list[str], "list[Row]"]  # names, Spark types, rows


class Runner(Protocol):
    """The part of a session that a result uses."""

    @property
    def spark(self) -> SparkSession: ...

    @property
    def options(self) -> Options: ...

    def each_batch(self, query: Compiled, each: Callable[[DataFrame], None]) -> None:
        """Call `each` with every micro-batch of such a query."""


@dataclass(repr=False, eq=False)
class Result:
    """The result of a statement: a query whose rows can be asked for, a message, a listing, or a text.

    `collect`, `to_pandas`, `to_arrow`, `to_polars`, `show` and `dataframe` run the query anew at each call.
    `for row in result` and `len(result)` run it once.
    For an INSERT from an unbounded source, which is already running, `start()` and `stop()` control it.
    """

    session: Runner
    outcome: Outcome
    running: Running | None = None
    _rows: list[Any] | None = field(default=None, init=False)

    @property
    def query(self) -> Compiled:
        """The compiled query. Raises UnsupportedError if the statement is not a query."""
        if not isinstance(self.outcome, Compiled):
            raise UnsupportedError("this statement has no rows: it is not a query")
        return self.outcome

    def dataframe(self) -> DataFrame:
        """The rows as a DataFrame that runs exactly `query.code`. Raises UnsupportedError and DataError."""
        return self.query.dataframe(self.session.spark)

    def collect(self) -> list[Row]:
        """All rows; of a stream, after its input has ended. As Spark's `collect` does, it gives instants as times on
        the clock of this machine. A time of a year that `datetime` does not have is a string: `+10000-01-01
        00:00:00.000`.

        Raises DataError if the data do not fit the SQL, and UnsupportedError if the statement is not a query or if a
        streaming source is unbounded.
        """
        from tvfsql.runtime.frames.shown_rows import collected

        return self._fetched(collected)

    def show(self) -> None:
        """Print the rows as a table on stdout, or the message, listing or text. Raises the errors of `collect`."""
        print(self.text(), end="")

    def start(self) -> Any:
        """The StreamingQuery of an INSERT from an unbounded source. It runs until it is stopped, for example by
        `stop()`.

        Raises UnsupportedError for any other statement.
        """
        if self.running is None:
            raise UnsupportedError(
                "start() needs an INSERT from an unbounded table",
                hint="collect() returns the rows of a SELECT; a bounded INSERT is done already",
            )
        from tvfsql.runtime.host.failures import translated

        with translated():
            return self.running.started()[0]

    def stop(self) -> None:
        """Stop a running INSERT after its current micro-batch. Raises DataError if it has failed."""
        from tvfsql.runtime.host.failures import translated

        if self.running is not None:
            with naming_topics(self.query), translated():
                self.running.stop()
                self.running.wait()

    def text(self, format: str = "table") -> str:
        """The result as text, in a format of `tvfsql run`: table, csv, csv-safe, tsv, json, ndjson, markdown or
        vertical."""
        import io

        from tvfsql.runtime.host.row_formats import write_rows

        out = io.StringIO()
        match self.outcome:
            case Message(text) | Text(text):
                return text + "\n"
            case Listing(columns, listed):
                write_rows(columns, ["string"] * len(columns), listed, format, out)
            case Compiled():
                write_rows(*self.rows(), format, out)
        return out.getvalue()

    def rows(self, limit: int = 0) -> Rows:
        """Column names, Spark types and rows. Instants are shown in the wall-clock time of `table.local-time-zone`, and
        a time of a year that `datetime` does not have is a string.

        A batch query returns at most `limit` rows; 0: all.
        """
        from tvfsql.runtime.frames.shown_rows import shown_rows

        zone = self.session.options[ZONE]
        if self.query.mode == "streaming":
            kinds = {part.name: part.type.spark for part in self.query.physical.schema}
            return list(kinds), list(kinds.values()), self._fetched(lambda batch: shown_rows(batch, zone))
        frame = self.dataframe()
        rows = self._fetched(lambda frame: shown_rows(frame.limit(limit) if limit else frame, zone), frame)
        return list(frame.columns), [kind for _, kind in frame.dtypes], rows

    def _fetched(self, fetch: Callable[[DataFrame], list[Row]], frame: DataFrame | None = None) -> list[Row]:
        """The rows of the query by `fetch`, of a stream those of all its micro-batches. `frame`: those of batch, if it
        was made already."""
        from tvfsql.runtime.host.failures import translated

        if self.query.mode == "streaming":
            rows: list[Row] = []
            self.session.each_batch(self.query, lambda batch: rows.extend(fetch(batch)))
            return rows
        frame = self.dataframe() if frame is None else frame
        with naming_topics(self.query), translated():
            return fetch(frame)

    # ------------------------------------------------------------------------------------------ rows in Python

    def __iter__(self) -> Iterator[Any]:
        """The rows: Spark's Rows, or tuples of texts for SHOW, DESCRIBE and SET. They are read once and kept."""
        return iter(self._kept())

    def __len__(self) -> int:
        """The number of rows. They are read once and kept."""
        return len(self._kept())

    def __bool__(self) -> bool:
        """Always true, without running the query."""
        return True

    def _kept(self) -> list[Any]:
        if self._rows is None:
            self._rows = list(self.outcome.rows) if isinstance(self.outcome, Listing) else self.collect()
        return self._rows

    def to_arrow(self) -> pa.Table:
        """All rows as an Arrow table: TIMESTAMP without a zone, TIMESTAMP_LTZ as instants. Raises the errors of
        `collect`.
        """
        from tvfsql.runtime.frames.arrow_tables import one_table, text_table
        from tvfsql.runtime.host.failures import translated

        if isinstance(self.outcome, Listing):
            return text_table(self.outcome.columns, self.outcome.rows)
        if self.query.mode == "streaming":
            parts: list[pa.Table] = []
            self.session.each_batch(self.query, lambda batch: parts.append(batch.toArrow()))
            return one_table(parts, self.query.without_limit(self.session.spark))
        frame = self.dataframe()
        with translated():
            return frame.toArrow()

    def to_pandas(self) -> pd.DataFrame:
        """All rows as a pandas DataFrame: times as datetime64, instants with their zone. Raises the errors of
        `collect`.
        """
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """All rows as a polars DataFrame. Raises DataError if polars is not installed, and the errors of `collect`."""
        try:
            import polars
        except ImportError:
            raise DataError("polars is not installed", hint="pip install polars") from None
        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    # ------------------------------------------------------------------------------------------ display

    def __repr__(self) -> str:
        """One line. Runs no query."""
        match self.outcome:
            case Message(text) | Text(text):
                first, *others = text.splitlines() or [""]
                return f"<tvfsql result: {first}{' ...' if others else ''}>"
            case Listing(columns, rows):
                return f"<tvfsql result: {', '.join(columns)}; {len(rows)} row{'s' if len(rows) != 1 else ''}>"
            case Compiled():
                running = ", running" if self.running is not None and self.running.active else ""
                return f"<tvfsql result of {repr(self.outcome).removeprefix('<tvfsql ').removesuffix('>')}{running}>"
        return "<tvfsql result>"

    def _repr_html_(self) -> str:
        """A table with the first rows; a batch query runs for it. Streams and INSERTs are not run."""
        match self.outcome:
            case Message(text) | Text(text):
                return preformatted(text)
            case Listing(columns, listed):
                return html_table([(name, "string") for name in columns], listed)
            case Compiled(mode="batch", sink=None):
                try:
                    return self._first_rows()
                except TvfSqlError as error:
                    return preformatted(str(error))
        return preformatted(repr(self))

    def _first_rows(self) -> str:
        from tvfsql.runtime.host.row_formats import cells

        columns, kinds, rows = self.rows(ROWS + 1)
        return html_table([*zip(columns, kinds, strict=True)], cells(kinds, rows))
