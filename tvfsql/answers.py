"""Executes statements for a waiting person: rows on stdout, messages and a progress line on stderr."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, redirect_stdout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from tvfsql.api import Compiled, Result, Session
from tvfsql.api.definitions import Message
from tvfsql.api.script import Analyze, Outcome, Script, queries_of
from tvfsql.bind.statements.call import AdvanceWatermark
from tvfsql.errors import UnsupportedError
from tvfsql.options.known import ZONE
from tvfsql.runtime.host.row_formats import write_rows
from tvfsql.runtime.host.status_line import working

if TYPE_CHECKING:
    from pyspark.sql import Row

    from tvfsql.api.result import Rows
    from tvfsql.runtime.frames.dead_letters import DroppedRows
    from tvfsql.runtime.stream.driver.progress_text import ProgressText

APART = ("table", "markdown", "vertical")  # formats with an empty line between two results
WHOLE = (*APART, "json")  # those in which the rows of a result stand together


@dataclass
class Answers:
    """Prints the results of statements to `out`, in `format`. With `messages` it also reports other statements."""

    session: Session
    format: str = "table"
    out: TextIO = field(default_factory=lambda: sys.stdout)
    messages: bool = False
    answered: bool = False  # whether a result was printed, so that an empty line precedes the next

    def give(self, outcome: Outcome) -> None:
        """Execute a statement and print its result.

        Raises TvfSqlError, and KeyboardInterrupt after everything has stopped.
        """
        if isinstance(outcome, AdvanceWatermark):
            outcome = self.session.call(outcome)
        if isinstance(outcome, Analyze):
            tell_warnings([outcome.query])
            with working("running", self._live()):
                outcome = self.session.analyzed(outcome)
        queries = queries_of(outcome)
        tell_warnings(queries)
        if isinstance(outcome, Message):
            if self.messages:
                print(outcome.text, file=self.out)
        elif not queries:
            self._print(self.text_of(Result(self.session, outcome)))
        else:
            streams = any(query.mode == "streaming" and query.first_rows is None for query in queries)
            from tvfsql.runtime.frames.dead_letters import counting_dropped

            with counting_dropped() as dropped:
                try:
                    text = self._run(queries)
                except KeyboardInterrupt:
                    self._tell_counts(dropped, streams)
                    raise
            self._tell_counts(dropped, streams)
            self._print(text)

    def text_of(self, result: Result) -> str:
        """A result as printed."""
        return result.text(self.format)

    def written(self, columns: Sequence[str], types: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
        """Rows in the output format."""
        out = io.StringIO()
        write_rows(columns, types, rows, self.format, out)
        return out.getvalue()

    def _run(self, queries: tuple[Compiled, ...]) -> str:
        """Run a query or the INSERTs of a set. Returns the text to print once the progress line is removed."""
        query = queries[0]
        if query.sink is None and query.follows:
            whole = query.first_rows is not None and self.format in WHOLE
            return self._gathered(query) if whole else self._follow(query)
        with working("running", self._live()) as line, closing(line.above(self.out)) as above:
            self.session.spark_for(*queries)  # starts under the progress line
            if query.sink is None:
                return self.text_of(Result(self.session, query))
            with redirect_stdout(above):  # the output of a `print` table
                self.session.insert(*queries)
        for sink in (query.sink for query in queries):
            if sink is not None and sink.connector is not None and sink.connector.name != "print":
                print(f"inserted into {sink.name}", file=sys.stderr)
        return ""

    def _follow(self, query: Compiled) -> str:
        """Print the rows of an unbounded SELECT as they arrive: a table for each micro-batch with rows.

        Returns what is to be printed after it has ended.
        """
        if self.format == "json":
            raise UnsupportedError(
                f"table {query.unbounded} is unbounded, so its rows cannot be one JSON array", hint="--format ndjson"
            )
        begun = False

        def take(rows: Rows) -> None:
            nonlocal begun
            names, types, found = rows
            header = self.written(names, types, ()) if begun else ""
            above.write(self.written(names, types, found).removeprefix(header))
            begun = True

        with working("running", self._live()) as line, closing(line.above(self.out)) as above:
            self.session.spark_for(query)  # starts under the progress line
            self.session.follow(query, take)
        return ""

    def _gathered(self, query: Compiled) -> str:
        """Run an unbounded SELECT to its LIMIT. Returns its rows as text, after an interrupt those that have come."""
        names_and_types = query.names_and_types
        columns, types = [name for name, _ in names_and_types], [kind for _, kind in names_and_types]
        rows: list[Row] = []

        def take(found: Rows) -> None:
            types[:] = found[1]
            rows.extend(found[2])

        try:
            with working("running", self._live()):
                self.session.spark_for(query)  # starts under the progress line
                self.session.follow(query, take)
        except KeyboardInterrupt:
            self._print(self.drawn(columns, types, rows))
            raise
        return self.drawn(columns, types, rows)

    def drawn(self, columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
        """All rows of a result as printed."""
        return self.written(columns, types, rows)

    def _print(self, text: str) -> None:
        if text:
            self.out.write("\n" + text if self.answered and self.format in APART else text)
            self.out.flush()
            self.answered = True

    def _tell_counts(self, dropped: DroppedRows, streams: bool) -> None:
        lines = [f"{name}: {count}" for name, count in dropped.counts.items() if count]
        if streams:
            from tvfsql.runtime.stream.driver.progress_text import counter_lines, open_lines

            lines += counter_lines(self.session.streams.counts_of_runs)
            lines += (line for run in self.session.streams.runs for line in open_lines(run))
            lines += self.session.streams.kept_apart()
        for line in lines:
            print(line, file=sys.stderr)

    def _live(self) -> Callable[[], str | None]:
        """A function that returns the text of the progress line while streams run."""
        zone = self.session.options[ZONE]
        texts: list[ProgressText] = []

        def say() -> str | None:
            running = [run for run in self.session.streams.runs if run.active]
            if not running:
                return None
            from tvfsql.runtime.stream.driver.progress_text import ProgressText

            if not texts:
                texts.append(ProgressText(zone))
            return texts[0].text(running[0])

        return say


def tell_warnings(queries: Iterable[Compiled]) -> None:
    """Print the compiler's warnings to stderr."""
    for query in queries:
        _tell(query.warnings)


def tell_rest(script: Script) -> None:
    """Print the warnings of a finished script that no query has printed."""
    _tell(script.take_warnings())


def _tell(warnings: Iterable[str]) -> None:
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
