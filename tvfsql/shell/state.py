"""The state of a shell between two lines: its session, its settings, the last query, and how a statement runs."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from tvfsql.api import Session
from tvfsql.api.hints import with_set_mode
from tvfsql.errors import DataError, TvfSqlError, UnsupportedError
from tvfsql.runtime.host.status_line import working
from tvfsql.shell.drawing import DIM, PLAIN, Screen
from tvfsql.shell.interrupts import interruptible
from tvfsql.shell.pager import is_long, page, pager
from tvfsql.shell.splitting import chunks, is_command, mentions

if TYPE_CHECKING:
    from tvfsql.api.script import Outcome
    from tvfsql.charts import Chart

LAST = "_"  # the view of the last query


@dataclass
class Settings:
    """The settings that the shell's commands change. `limit`: the most rows of a result that are shown; 0: all."""

    format: str = "table"
    timing: bool = True
    expanded: str = "off"
    limit: int = 200
    null: str = "NULL"
    keys: str = "emacs"
    pager: str = "auto"


@dataclass
class Shell:
    """`terminal`: whether a person watches. `failed`: whether anything has failed. `text`: the text on the next
    prompt.
    """

    session: Session
    terminal: bool = False
    settings: Settings = field(default_factory=Settings)
    out: TextIO | None = None  # the file of \o; None: stdout
    last: str = ""  # the text of the last query
    view: str = ""  # the text of the view `_`
    is_viewed: bool = False  # whether the view is the last query
    chart: Chart | None = None  # what the next result is drawn as, if not as a table
    text: str = ""
    failed: bool = False
    ended: bool = False

    def run_lines(self, lines: Iterable[str], file: str | None = None) -> None:
        r"""Run statements and commands, up to `\q`. In a file the first error stops the run."""
        for before, text in chunks(lines):
            fine = self.run(text if file is None else "\n" * before + text, file)
            if self.ended or (file is not None and not fine):
                return

    def run_file(self, path: str) -> bool:
        """Run a script with statements and commands. Relative paths in it start at its folder."""
        script, before = self.session.script, self.session.script.folder
        try:
            with open(path, encoding="utf-8") as opened:
                lines = opened.readlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise DataError(f"the script {path} cannot be read: {reason}") from error
        script.folder = os.path.dirname(path)
        failed, self.failed = self.failed, False
        try:
            self.run_lines(lines, path)
            return not self.failed
        finally:
            script.folder = before
            self.failed |= failed

    def run(self, text: str, file: str | None = None, *, again: bool = False) -> bool:
        """Run a command or some statements, and print the results or the error. Returns False if they failed.

        With `again` the text is the last query, in which `_` keeps its former meaning.
        """
        from tvfsql.shell.commands import run_command

        begun = self.failed
        self.failed = False
        try:
            if is_command(text):
                run_command(self, text.strip())
            else:
                self._statements(text, file, again)
        except TvfSqlError as error:
            print(with_set_mode(error, self.session.script), file=sys.stderr)
            self.failed = True
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            self.failed = True
        except BrokenPipeError:
            raise
        except Exception as error:  # an internal error does not end the session
            print(f"internal error: {type(error).__name__}: {error}", file=sys.stderr)
            print("hint: please report it; the session goes on", file=sys.stderr)
            self.failed = True
        fine = not self.failed
        self.failed |= begun
        return fine

    def _statements(self, text: str, file: str | None, again: bool) -> None:
        from tvfsql.answers import tell_rest
        from tvfsql.shell.printing import last_query

        if self.last and not (again or self.is_viewed) and mentions(text, LAST):
            self._make_last_a_view()
        for outcome in self.session.script.outcomes(text, file):
            self.give(outcome)
            self.is_viewed &= again or not last_query(outcome)
        tell_rest(self.session.script)

    def _make_last_a_view(self) -> None:
        query = self.last
        if self.view and mentions(query, LAST):  # a view cannot read itself: this one reads the query before
            query = f"WITH {LAST} AS ({self.view}\n) SELECT * FROM ({self.last}\n)"
        try:
            list(self.session.script.outcomes(f"CREATE OR REPLACE VIEW {LAST} AS {query}"))
            self.view, self.is_viewed = query, True
        except UnsupportedError as error:
            problem = f"the last query cannot be the view {LAST}: {error.message}"
            raise UnsupportedError(problem, hint=error.hint) from error

    def give(self, outcome: Outcome) -> None:
        """Execute a statement and print its result."""
        from tvfsql.api.listings import Listing
        from tvfsql.api.script import Message, Text
        from tvfsql.shell.printing import ShellAnswers, last_query

        answers = ShellAnswers(self.session, self.settings.format, self.out or sys.stdout, messages=True, shell=self)
        begun = time.monotonic()
        if self.terminal and isinstance(outcome, Listing | Message | Text):
            self._interruptible(lambda: answers.give(outcome))  # while Spark starts, they do not wait for it
        elif self.terminal:
            self._interruptible(lambda: self._with_packages(lambda: answers.give(outcome)))
        else:
            answers.give(outcome)
        seconds = time.monotonic() - begun
        if answers.paged:
            page(answers.paged, self.pager_for(answers.paged))
        self.tell(answers.rows, seconds)
        self.last = last_query(outcome) or self.last

    def _with_packages(self, work: Callable[[], None]) -> None:
        """Start Spark again if it was started, while someone typed, without what the tables need now."""
        own = self.session.own
        with working("running"):
            lacking = own.lacks()  # waits for a Spark that is starting
        if lacking and not any(running.active for running in self.session.streams.runs):
            self.note(f"Spark starts again, with {', '.join(lacking)}")
            own.restart()
            own.silence()
        work()

    def _interruptible(self, work: Callable[[], None]) -> None:
        interruptible(work, self.cancel)

    def cancel(self, presses: int) -> None:
        """Stop the streams that run after their micro-batch, or at once if a key asked more than once; else a query."""
        for running in self.session.streams.runs:
            running.stopping.set()
            if presses > 1:
                running.at_once.set()
        if not any(running.active for running in self.session.streams.runs):
            self.session.own.cancel()

    def tell(self, rows: int | None, seconds: float) -> None:
        """Print `3 rows, 1.2 s` below a result on a terminal."""
        if not self.terminal:
            return
        parts = [] if rows is None else [f"{rows:,} row{'s' if rows != 1 else ''}"]
        parts += [f"{seconds:.1f} s"] if self.settings.timing and (rows is not None or seconds >= 0.1) else []
        if parts:
            self.note(", ".join(parts))

    def note(self, text: str) -> None:
        """Print a line about a result for a person; it is not part of the result."""
        if not self.terminal:
            return
        print(f"{DIM}{text}{PLAIN}" if self.colours else text, file=sys.stderr)

    def pager_for(self, text: str) -> list[str]:
        """The command of the pager that shows this text; empty: it is printed."""
        to_person = self.on_screen and self.out is None and self.chart is None
        wanted = self.settings.pager == "on" or (self.settings.pager == "auto" and is_long(text))
        return pager() if text and to_person and wanted else []

    @property
    def on_screen(self) -> bool:
        return self.terminal and sys.stdout.isatty()

    @property
    def colours(self) -> bool:
        return self.on_screen and not os.environ.get("NO_COLOR")

    @property
    def screen(self) -> Screen:
        """How rows are drawn now. Output to a file is not cut."""
        to_person = self.terminal and self.out is None
        width = shutil.get_terminal_size().columns if to_person else 0
        return Screen(width, self.settings.expanded, self.settings.null, self.colours and to_person)

    def close(self) -> None:
        """Stop everything that runs."""
        self.redirect(None)
        with suppress(Exception):  # Spark may be in any state
            self.session.close()

    def redirect(self, path: str | None) -> None:
        """Write results to a file; None: to stdout."""
        if self.out is not None:
            self.out.close()
            self.out = None
        if path is not None:
            try:
                self.out = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115  (until the next \o)
            except OSError as error:
                raise DataError(f"{path} cannot be written: {error.strerror}") from error
