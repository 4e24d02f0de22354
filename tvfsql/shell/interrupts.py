"""Runs work that Ctrl-C can end without breaking the connection to Spark."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
EVERY = 0.1  # seconds between checks
PATIENCE = 300.0  # the most seconds to wait for cancelled work
ENOUGH = 5  # number of presses after which waiting stops


def interruptible(work: Callable[[], T], cancel: Callable[[int], None]) -> T:
    """Return the result of `work`. It runs in its own thread, so a KeyboardInterrupt never hits a call to Java.

    At the first Ctrl-C `cancel` is called with 1, at the next with 2 and so on, until the work has ended; then this
    raises KeyboardInterrupt, whatever the work returned or raised.
    """
    given: list[T] = []
    raised: list[BaseException] = []

    done = threading.Event()

    def run() -> None:
        try:
            given.append(work())
        except BaseException as error:
            raised.append(error)
        finally:
            done.set()

    presses, waited = 0, 0.0
    try:
        threading.Thread(target=run, name="tvfsql-statement", daemon=True).start()
    except KeyboardInterrupt:  # the thread has started, and this waits for it
        presses = 1
    while not done.is_set() and waited < PATIENCE and presses < ENOUGH:
        try:
            done.wait(EVERY)
            if presses and not done.is_set():
                waited += EVERY
                with suppress(Exception):  # Spark may be between two jobs, or shutting down
                    cancel(presses)  # again, to cancel a job that began after the key was pressed
        except KeyboardInterrupt:
            presses += 1
    if presses:
        raise KeyboardInterrupt
    if raised:
        raise raised[0]
    return given[0]
