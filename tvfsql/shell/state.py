"""The state of a shell between two lines: its session, its settings, the last query, and how a statement runs."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tvfsql.api import Session
from tvfsql.api.hints import with_set_mode
from tvfsql.errors import TvfSqlError, UnsupportedError
from tvfsql.named_files import read_text
from tvfsql.runtime.host.status_line import working
from tvfsql.shell.display import Display
from tvfsql.shell.interrupts import cancel, interruptible
from tvfsql.shell.pager import page
from tvfsql.shell.splitting import chunks, is_command, mentions

if TYPE_CHECKING:
    from tvfsql.api.script import Outcome

LAST = "_"  # the view of the last query


@dataclass
class Shell(Display):
    """`run_command` runs a line that is a command. `failed`: whether anything has failed. `text`: the text on the next
    prompt.
    """

    session: Session
    run_command: Callable[[Shell, str], None]
    last: str = ""  # the text of the last query
    view: str = ""  # the text of the view `_`
    is_viewed: bool = False  # whether the view is the last query
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
        lines = io.StringIO(read_text(path), newline=None).readlines()
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
        begun = self.failed
        self.failed = False
        try:
            if is_command(text):
                self.run_command(self, text.strip())
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
            raise UnsupportedError(problem, hint=error.advice) from error

    def give(self, outcome: Outcome) -> None:
        """Execute a statement and print its result."""
        from tvfsql.api.definitions import Message
        from tvfsql.api.listings import Listing
        from tvfsql.api.script import Text
        from tvfsql.shell.printing import ShellAnswers, last_query

        answers = ShellAnswers(self.session, self.settings.format, self.out or sys.stdout, messages=True, display=self)
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
        interruptible(work, partial(cancel, self.session))

    def close(self) -> None:
        """Stop everything that runs."""
        self.redirect(None)
        with suppress(Exception):  # Spark may be in any state
            self.session.close()
