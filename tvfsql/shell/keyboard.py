"""The keyboard while a statement runs: typed text is not echoed and waits for the next prompt."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_echo() -> Iterator[None]:
    """Do not echo keys within the block, not even `^C`; they still interrupt. Without a terminal this has no effect."""
    try:
        import termios

        keyboard = sys.stdin.fileno()
        before = termios.tcgetattr(keyboard)
    except (ImportError, OSError, ValueError):  # Windows, no terminal, or no file
        yield
        return
    quiet = [*before]
    quiet[3] &= ~termios.ECHO
    termios.tcsetattr(keyboard, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSANOW, before)
