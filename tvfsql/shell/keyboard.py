"""The keyboard while a statement runs: what one types then waits for the next prompt, and is not echoed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_echo() -> Iterator[None]:
    """Keys are not echoed within the block, `^C` neither; they still interrupt. Without a terminal: nothing."""
    try:
        import termios

        keyboard = sys.stdin.fileno()
        before = termios.tcgetattr(keyboard)
    except (ImportError, OSError, ValueError):  # Windows; no terminal; no file
        yield
        return
    quiet = [*before]
    quiet[3] &= ~termios.ECHO
    termios.tcsetattr(keyboard, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSANOW, before)
