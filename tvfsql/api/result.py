"""The result of a statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tvfsql.api.compiled import Compiled
from tvfsql.api.script import Listing, Message, Outcome, Text
from tvfsql.errors import UnsupportedError
from tvfsql.options import ZONE, Options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

    from tvfsql.runtime.stream.driver.running import Running

Rows = tuple[list[str], list[str], "list[Row]"]  # names, Spark types, rows


class Runner(Protocol):
    """What a result needs of its session."""

    @property
    def spark(self) -> SparkSession: ...

    @property
    def options(self) -> Options: ...

    def stream(self, query: Compiled) -> list[Row]:
        """The rows of a streaming SELECT over all that its sources have now."""


@dataclass
class Result:
    """The result of a statement: a query whose rows can be asked for, a message, a listing, or a text.

    For an INSERT from an unbounded source, which is already running, `start()` and `stop()` control it.
    """

    session: Runner
    outcome: Outcome
    running: Running | None = None

    @property
    def query(self) -> Compiled:
        """The compiled query. Raises UnsupportedError if the statement is not a query."""
        if not isinstance(self.outcome, Compiled):
            raise UnsupportedError("this statement is not a query")
        return self.outcome

    def dataframe(self) -> DataFrame:
        """The rows as a DataFrame that runs exactly `query.code`. Raises UnsupportedError and DataError."""
        return self.query.dataframe(self.session.spark)

    def collect(self) -> list[Row]:
        """All rows; of a stream, after its input has ended.

        Raises DataError if the data do not fit the SQL, UnsupportedError if the statement is not a query or a source
        of a stream is unbounded.
        """
        from tvfsql.runtime.host.failures import translated

        if self.query.mode == "streaming":
            return self.session.stream(self.query)
        frame = self.dataframe()
        with translated():
            return frame.collect()

    def show(self) -> None:
        """Print the rows as a table on stdout, or the message, listing or text. Raises as `collect`."""
        print(self.text(), end="")

    def start(self) -> Any:
        """The StreamingQuery of an INSERT from an unbounded source. It runs until it is stopped, by `stop()` too.

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
            with translated():
                self.running.stop()
                self.running.wait()

    def text(self, format: str = "table") -> str:
        """The result as text, in a format of `tvfsql run`: table, csv, tsv, json, ndjson, markdown or vertical."""
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

    def rows(self) -> Rows:
        """Column names, Spark types and rows; instants as wall clocks of `table.local-time-zone`."""
        from tvfsql.runtime.frames.assigned_windows import with_local_times
        from tvfsql.runtime.host.failures import translated

        if self.query.mode == "streaming":
            kinds = {part.name: part.type for part in self.query.physical.schema}
            return list(kinds), list(kinds.values()), self.session.stream(self.query)
        frame = self.dataframe()
        with translated():
            local = with_local_times(frame, self.session.options[ZONE])
            return list(frame.columns), [kind for _, kind in frame.dtypes], local.collect()
