"""The command line: results on stdout, messages on stderr, and an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from tvfsql.cli import peek, run, set_up, understand, write
from tvfsql.cli.arguments import build_parser
from tvfsql.cli.background import commands
from tvfsql.cli.missing_tables import name_script
from tvfsql.cli.output import Exit
from tvfsql.cli.scripts import open_session
from tvfsql.errors import TvfSqlError

COMMANDS = {
    "run": run.run,
    "peek": peek.peek,
    "ps": commands.ps,
    "logs": commands.logs,
    "stop": commands.stop,
    "restart": commands.restart,
    "explain": understand.explain,
    "compile": understand.compile_to_code,
    "package": write.package,
    "check": understand.check,
    "rewrite": write.rewrite,
    "fmt": write.fmt,
    "lint": write.lint,
    "state": understand.state,
    "rescale": understand.rescale,
    "test": write.test,
    "lsp": write.lsp,
    "doctor": set_up.doctor,
    "init": write.init,
    "completion": set_up.completion,
}


def main(arguments: Sequence[str] | None = None, *, interrupted: str = "interrupted") -> int:
    """Run a command. Returns the exit code. `interrupted` is printed after a signal that stops it."""
    parser = build_parser()
    given = parser.parse_args(arguments)
    given.as_program = arguments is None
    given.arguments = sys.argv[1:] if arguments is None else [*arguments]  # for `run --detach`
    if given.as_program:
        gc.set_threshold(50_000)  # looking through what imports make takes a tenth of a short command
    if given.version:
        print(set_up.versions())
        return Exit.OK
    try:
        if given.command is None:
            from tvfsql.shell import run_shell

            return run_shell(open_session(given))
        code = COMMANDS[given.command](given, parser)
        sys.stdout.flush()
        return code
    except TvfSqlError as error:
        name_script(error, given)
        print(error, file=sys.stderr)
        return Exit.ERROR
    except KeyboardInterrupt:
        print(interrupted, file=sys.stderr)
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # the reader has closed the pipe: discard the rest
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
