"""The interactive shell: on a terminal with editing, history and completion; from a pipe, line by line.

Only `terminal`, `highlighting` and `live.view` load prompt_toolkit and pygments, and only if stdin is a terminal.
"""

from __future__ import annotations

import sys

from tvfsql.api import Session
from tvfsql.errors import DataError
from tvfsql.shell.commands import run_command
from tvfsql.shell.state import Shell


def run_shell(session: Session) -> int:
    """Read and run statements and commands until the input ends. Returns the exit code: 1 if a piped one failed."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        try:
            from tvfsql.shell.terminal import run_terminal
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in ("prompt_toolkit", "pygments"):
                raise
            raise DataError("the shell needs Python packages", hint="pip install 'tvfsql[shell]'") from None
        return run_terminal(session)
    shell = Shell(session, run_command)
    shell.run_lines(sys.stdin)
    return 1 if shell.failed else 0
