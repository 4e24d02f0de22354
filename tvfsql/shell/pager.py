"""Shows a long text in the user's pager, as psql does: `$PAGER`, otherwise less."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from tvfsql.errors import DataError

# of less, unless $LESS has others: do not wrap lines, keep colours, end if one screen holds it all, leave the text on
# the screen, and end at Ctrl-C
OPTIONS = {"LESS": "-SRFXK", "LESSCHARSET": "utf-8"}
AROUND = 2  # lines of the screen that a result cannot use: the number of rows, and the prompt


def pager(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The command of the pager. Empty: there is none, because `$PAGER` is blank or less is not installed.

    Raises DataError if `$PAGER` is not a command line.
    """
    named = environment.get("PAGER")
    if named is None:
        return ["less"] if shutil.which("less") else []
    try:
        return shlex.split(named)
    except ValueError as error:
        raise DataError(f"the pager {named} did not work: {error}", hint="PAGER=less tvfsql") from error


def scrolls_sideways(command: list[str]) -> bool:
    """Whether lines may be wider than the screen."""
    return bool(command) and os.path.basename(command[0]) == "less"


def is_long(text: str) -> bool:
    """Whether the lines do not fit the screen."""
    return text.count("\n") > shutil.get_terminal_size().lines - AROUND


def page(text: str, command: list[str]) -> None:
    """Write the text to the pager and wait for its end. Only the main thread may call this.

    Raises DataError if the pager cannot be started.
    """
    sys.stdout.flush()
    with _without_interrupts():
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, env=OPTIONS | os.environ)
        except OSError as error:
            print(text, end="")
            raise DataError(f"the pager {command[0]} did not work: {error.strerror}", hint="\\pager off") from error
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # the pager may end before it has read everything
            process.stdin.write(text.encode("utf-8", "replace"))
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.wait()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C is for the pager. A handler, since programs inherit signals that are ignored."""

    def nothing(number: int, frame: Any) -> None:
        return None

    before = signal.signal(signal.SIGINT, nothing)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
