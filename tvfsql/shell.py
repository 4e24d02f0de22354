"""The interactive shell. Statements end with a semicolon; a failed statement leaves the session unchanged."""

from __future__ import annotations

import sys
from contextlib import suppress

from tvfsql.api import Session
from tvfsql.errors import TvfSqlError

BANNER = "tvfsql: Flink's window SQL on Spark. End statements with a semicolon. QUIT; or Ctrl-D exits."
LEAVE = ("quit", "exit")


def run_shell(session: Session) -> int:
    """Read and run statements until the input ends. Returns the exit code."""
    with suppress(ImportError):
        import readline  # noqa: F401  (line editing and history for input())
    terminal = sys.stdin.isatty()
    if terminal:
        print(BANNER, file=sys.stderr)
    buffer = ""
    while True:
        try:
            line = input(("tvfsql> " if not buffer else "      > ") if terminal else "")
        except EOFError:
            break
        except KeyboardInterrupt:
            print(file=sys.stderr)
            buffer = ""
            continue
        if not buffer and line.strip().rstrip(";").lower() in LEAVE:
            return 0
        buffer += line + "\n"
        if line.rstrip().endswith(";"):
            _run(session, buffer)
            buffer = ""
    if buffer.strip():
        _run(session, buffer)
    if terminal:
        print(file=sys.stderr)
    return 0


def _run(session: Session, sql: str) -> None:
    from tvfsql.answers import Answers, tell_rest

    answers = Answers(session, messages=True)
    try:
        for outcome in session.script.outcomes(sql):
            answers.give(outcome)
        tell_rest(session.script)
    except TvfSqlError as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        session.spark.sparkContext.cancelAllJobs()
        print("interrupted", file=sys.stderr)
