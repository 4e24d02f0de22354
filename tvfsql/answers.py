"""Statements carried out where a person waits for them: rows on stdout, all else on stderr, a line while it takes."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable
from contextlib import closing, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO
from zoneinfo import ZoneInfo

from tvfsql.api import Compiled, Result, Session
from tvfsql.api.script import Message, Outcome, queries_of
from tvfsql.bind.call import AdvanceWatermark
from tvfsql.errors import UnsupportedError
from tvfsql.runtime.formats import write_rows
from tvfsql.runtime.progress import working

if TYPE_CHECKING:
    from tvfsql.api.result import Rows
    from tvfsql.runtime.stream.live import Live

APART = ("table", "markdown", "vertical")  # formats with an empty line between two answers


@dataclass
class Answers:
    """Prints what statements give, in `format`, to `out`. With `messages` a statement that worked says so."""

    session: Session
    format: str = "table"
    out: TextIO = field(default_factory=lambda: sys.stdout)
    messages: bool = False
    answered: bool = False  # whether there was an answer, so that the next is set apart from it

    def give(self, outcome: Outcome) -> None:
        """Carry out a statement and print its answer. Raises TvfSqlError; KeyboardInterrupt once all has stopped."""
        if isinstance(outcome, AdvanceWatermark):
            outcome = self.session.call(outcome)
        queries = queries_of(outcome)
        tell_warnings(queries)
        if isinstance(outcome, Message):
            if self.messages:
                print(outcome.text, file=self.out)
        elif not queries:
            self._print(Result(self.session, outcome).text(self.format))
        else:
            streams = any(query.mode == "streaming" for query in queries)
            try:
                text = self._run(queries)
            except KeyboardInterrupt:
                self._tell_counts(streams)
                raise
            self._tell_counts(streams)
            self._print(text)

    def _run(self, queries: tuple[Compiled, ...]) -> str:
        """Run a query or the INSERTs of a set. Gives what is still to be printed when the line has gone."""
        query = queries[0]
        with working("running", self._live()) as line, closing(line.above(self.out)) as above:
            self.session.spark  # noqa: B018  (start it under the progress line)
            if query.sink is None and not query.awaits_start:
                return Result(self.session, query).text(self.format)
            if query.sink is None:
                self._follow(query, above)
                return ""
            with redirect_stdout(above):  # what a `print` table prints
                self.session.insert(*queries)
        for sink in (query.sink for query in queries):
            if sink is not None and sink.connector is not None and sink.connector.name != "print":
                print(f"inserted into {sink.name}", file=sys.stderr)
        return ""

    def _follow(self, query: Compiled, above: TextIO) -> None:
        """Print the rows of a SELECT without end as they come: a table for each micro-batch that has some."""
        if self.format == "json":
            raise UnsupportedError(
                f"table {query.unbounded} has no end, so its rows cannot be one JSON array", hint="--format ndjson"
            )
        begun = False

        def take(rows: Rows) -> None:
            nonlocal begun
            names, types, found = rows
            text, header = io.StringIO(), io.StringIO()
            write_rows(names, types, found, self.format, text)
            write_rows(names, types, (), self.format, header)
            above.write(text.getvalue().removeprefix(header.getvalue() if begun else ""))
            begun = True

        self.session.follow(query, take)

    def _print(self, text: str) -> None:
        if text:
            self.out.write("\n" + text if self.answered and self.format in APART else text)
            self.out.flush()
            self.answered = True

    def _tell_counts(self, streams: bool) -> None:
        from tvfsql.runtime.counters import take_counts

        counts: dict[str, int | str] = {**take_counts()}
        if streams:
            from tvfsql.runtime.stream.counts import time_text

            counts |= {
                name: time_text(count) if name == "watermark" else count for name, count in self.session.counts.items()
            }
        for name, told in counts.items():
            print(f"{name}: {told}", file=sys.stderr)

    def _live(self) -> Callable[[], str | None]:
        """What the progress line says while streams run."""
        zone = ZoneInfo(self.session.options["table.local-time-zone"])
        lives: list[Live] = []

        def say() -> str | None:
            running = [run for run in self.session.streams.runs if run.active]
            if not running:
                return None
            from tvfsql.runtime.stream.live import Live

            if not lives:
                lives.append(Live(lambda: round(datetime.now(zone).replace(tzinfo=UTC).timestamp() * 1000)))
            return lives[0].text(running[0])

        return say


def tell_warnings(queries: Iterable[Compiled]) -> None:
    """What the compiler warns of, on stderr."""
    for query in queries:
        for warning in query.warnings:
            print(f"warning: {warning}", file=sys.stderr)
