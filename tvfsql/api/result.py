"""What a statement gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tvfsql.api.compiled import Compiled
from tvfsql.api.script import Listing, Message, Outcome, Text
from tvfsql.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from tvfsql.api.session import Session
    from tvfsql.runtime.stream.run import Running

Rows = tuple[list[str], list[str], "list[Row]"]  # names, Spark types, rows


@dataclass
class Result:
    """A query's rows, when asked for; or a message, a listing, a text. An INSERT from a source without end runs
    from the start: then `start()` and `stop()` are its handle."""

    session: Session
    outcome: Outcome
    running: Running | None = None

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
        """The StreamingQuery of an INSERT whose source has no end. It runs until it, or this, is stopped.

        Raises UnsupportedError for any other statement.
        """
        if self.running is None:
            raise UnsupportedError(
                "start() gives the running query of an INSERT from a source without end",
                hint="collect() gives the rows of a SELECT; an INSERT that ends is done already",
            )
        from tvfsql.runtime.failures import translated

        with translated():
            return self.running.started()[0]

    def stop(self) -> None:
        """Stop an INSERT that runs, after the micro-batch that it is at. Raises DataError if it had failed."""
        from tvfsql.runtime.failures import translated

        if self.running is not None:
            with translated():
                self.running.stop()
                self.running.wait()

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

    def rows(self) -> Rows:
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
